// XXH3-64 against published values.
#include "base/hash.h"

#include <gtest/gtest.h>

namespace perflab {
namespace {

// XXH3_64bits with seed 0; the empty input's value is the one in xxHash's own test vectors.
TEST(ContentHash, IsXxh3) {
  EXPECT_EQ(content_hash(""), 0x2D06800538D394C2U);
  EXPECT_EQ(content_hash_text(""), "xxh3:2d06800538d394c2");
}

TEST(ContentHash, TellsContentsApart) {
  EXPECT_EQ(content_hash("kernel"), content_hash(std::string("kernel")));
  EXPECT_NE(content_hash("kernel"), content_hash("Kernel"));
  EXPECT_NE(content_hash(std::string(1, '\0')), content_hash(""));
}

TEST(ContentHash, TextHasSixteenDigits) {
  for (const char* text : {"", "a", "abc", "a longer text than sixteen bytes"})
    EXPECT_EQ(content_hash_text(text).size(), 21U);
}

}  // namespace
}  // namespace perflab
