// Texts in JSON.
#include "record/json_text.h"

#include <gtest/gtest.h>

namespace perflab::record {
namespace {

TEST(RecordJsonText, IsAlwaysUtf8) {
  EXPECT_EQ(json_text("step \"1\" \\ é\n"), "\"step \\\"1\\\" \\\\ é\\u000a\"");
  EXPECT_EQ(json_text("\xff|\xc3|\xed\xa0\x80"),
            "\"\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
  EXPECT_EQ(json_text("\xf0\x9f\x98\x80"), "\"\xf0\x9f\x98\x80\"");
}

}  // namespace
}  // namespace perflab::record
