// XXH3-64 and SHA-256 against published values.
#include "base/hash.h"

#include <gtest/gtest.h>

namespace perflab {
namespace {

// FIPS 180-2, appendix B.1, and the hash of nothing.
constexpr const char* kOfAbc =
    "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr const char* kOfNothing =
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

// XXH3_64bits with seed 0; the empty input's value is the one in xxHash's own test vectors.
TEST(ContentHash, OfKeysIsXxh3) {
  EXPECT_EQ(content_hash(""), 0x2D06800538D394C2U);
  EXPECT_EQ(key_text(""), "xxh3:2d06800538d394c2");
  for (const char* text : {"", "a", "abc", "a longer text than sixteen bytes"})
    EXPECT_EQ(key_text(text).size(), 21U);
}

TEST(ContentHash, OfEvidenceIsSha256) {
  EXPECT_EQ(content_hash_text(""), kOfNothing);
  EXPECT_EQ(content_hash_text("abc"), kOfAbc);
}

TEST(ContentHash, TellsContentsApart) {
  EXPECT_EQ(content_hash("kernel"), content_hash(std::string("kernel")));
  EXPECT_NE(content_hash("kernel"), content_hash("Kernel"));
  EXPECT_NE(content_hash(std::string(1, '\0')), content_hash(""));
}

TEST(ContentHash, IsComparedInTheFormInWhichItWasRecorded) {
  EXPECT_TRUE(is_hash_of(kOfAbc, "abc"));
  EXPECT_FALSE(is_hash_of(kOfAbc, "abd"));
  EXPECT_TRUE(is_hash_of(key_text("abc"), "abc"));
  EXPECT_FALSE(is_hash_of(key_text("abc"), "abd"));
  for (const char* none : {"", "abc", "sha256:", "xxh3:", "md5:900150983cd24fb0d6963f7d28e17f72"})
    EXPECT_FALSE(is_hash_of(none, "abc")) << none;
}

TEST(Sha256, TakesItsBytesInPieces) {
  Sha256 hash;
  EXPECT_EQ(hash.finish(), kOfNothing);
  hash.add("a", 1);
  hash.add("bc", 2);
  EXPECT_EQ(hash.finish(), kOfAbc);
  hash.add("abc", 3);
  Sha256 moved = std::move(hash);
  EXPECT_EQ(moved.finish(), kOfAbc) << "it began anew";
}

}  // namespace
}  // namespace perflab
