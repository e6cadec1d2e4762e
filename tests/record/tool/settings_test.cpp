// What the environment can ask for, and what it cannot.
#include "record/tool/settings.h"

#include <gtest/gtest.h>

#include "base/temp_folder.h"
#include "record/protocol.h"

namespace perflab::record {
namespace {

TEST(RecordSettings, WordsOfWhatIsRecorded) {
  const auto kernels = parse_what("kernels");
  ASSERT_TRUE(kernels);
  EXPECT_EQ(what_words_json(*kernels), "[\"kernels\"]");
  const auto some = parse_what("kernels,api,ranges");
  ASSERT_TRUE(some);
  EXPECT_EQ(what_words_json(*some), "[\"kernels\", \"api\", \"ranges\"]");
  EXPECT_EQ(what_words_json({}), "[\"kernels\", \"api\", \"memory\", \"ranges\", \"sync\"]");
}

TEST(RecordSettings, SyncIsArgumentsOfCallsAndNeedsThem) {
  const auto what = parse_what("sync");
  ASSERT_TRUE(what);
  EXPECT_FALSE(what->sync);
}

TEST(RecordSettings, AnUnknownWordIsAnError) {
  const auto what = parse_what("kernels,apis");
  ASSERT_FALSE(what);
  EXPECT_EQ(what.error().code, ErrorCode::usage);
}

TEST(RecordSettings, WithoutAFolderNothingIsAsked) {
  const test::ScopedVariable none(kFolderVariable, "");
  const auto settings = settings_from_environment();
  ASSERT_TRUE(settings);
  EXPECT_FALSE(*settings);
}

TEST(RecordSettings, TheEnvironmentIsRead) {
  const test::ScopedVariable folder(kFolderVariable, "/tmp/x");
  const test::ScopedVariable what(kWhatVariable, "memory");
  const test::ScopedVariable patience(kPatienceVariable, "250");
  const auto settings = settings_from_environment();
  ASSERT_TRUE(settings);
  ASSERT_TRUE(*settings);
  EXPECT_EQ((*settings)->folder, "/tmp/x");
  EXPECT_TRUE((*settings)->what.memory);
  EXPECT_FALSE((*settings)->what.calls);
  EXPECT_EQ((*settings)->patience, std::chrono::milliseconds(250));
  const test::ScopedVariable bad(kPatienceVariable, "soon");
  EXPECT_FALSE(settings_from_environment());
}

}  // namespace
}  // namespace perflab::record
