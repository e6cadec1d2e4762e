// Packed files: members, damage, limits, and the beginning alone.
#include "base/system/gzip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/gzipped.h"
#include "base/temp_folder.h"

namespace perflab {
namespace {

using test::TempFolder;
using ::testing::HasSubstr;

TEST(Gzip, WholeFiles) {
  const TempFolder folder;
  const std::string text = R"({"cache": {"1": {"a": 1, "b": 1, "time": 1}}})";
  const std::string packed = gzipped(text);
  const auto read = [&](std::string_view bytes, std::size_t most = 1U << 20U) {
    return read_maybe_gzip(folder.write("file", bytes), most);
  };
  EXPECT_EQ(read(text), text);
  EXPECT_EQ(read(packed), text);
  EXPECT_EQ(read(gzipped("ab") + gzipped("") + gzipped("c")), "abc");
  for (std::size_t length = 2; length < packed.size(); ++length) {
    const auto cut = read(packed.substr(0, length));
    ASSERT_FALSE(cut.has_value()) << length;
    EXPECT_THAT(cut.error().message, HasSubstr("end early"));
  }
  for (const std::size_t place : {3U, 15U, 40U}) {
    std::string damaged = packed;
    damaged[place] = static_cast<char>(~damaged[place]);
    EXPECT_FALSE(read(damaged).has_value()) << place;
  }
  EXPECT_FALSE(read(packed + "trailing bytes").has_value());
  const std::string bomb = gzipped(std::string(std::size_t{16} << 20U, '0'));
  ASSERT_LT(bomb.size(), 100'000U);
  const auto exploded = read(bomb);
  ASSERT_FALSE(exploded.has_value());
  EXPECT_THAT(exploded.error().message, HasSubstr("more than 1048576 bytes"));
  EXPECT_FALSE(read_maybe_gzip(folder / "missing").has_value());
}

TEST(Gzip, TheBeginningAlone) {
  const TempFolder folder;
  const auto start = [&](std::string_view bytes, std::size_t most) {
    return start_of_maybe_gzip(folder.write("file", bytes), most);
  };
  EXPECT_EQ(start("plain text", 5), "plain");
  EXPECT_EQ(start("plain", 50), "plain");
  EXPECT_EQ(start("", 5), "");
  EXPECT_EQ(start(gzipped("packed text"), 6), "packed");
  EXPECT_EQ(start(gzipped("packed"), 60), "packed");
  EXPECT_EQ(start(gzipped("") + gzipped("ab") + gzipped("cd"), 3), "abc");
  // What is cut off or damaged: as much as there is.
  const std::string packed = gzipped("a text that is packed");
  for (std::size_t length = 0; length < packed.size(); ++length)
    EXPECT_LE(start(packed.substr(0, length), 60).size(), 21U) << length;
  EXPECT_EQ(start_of_maybe_gzip(folder / "missing", 5), "");
  EXPECT_EQ(start_of_maybe_gzip(folder / "", 5), "");
}

}  // namespace
}  // namespace perflab
