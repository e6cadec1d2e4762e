// Whole reads, atomic writes, and the sentences for what goes wrong.
#include "base/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/temp_folder.h"

namespace perflab {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using test::text_of;
using testing::HasSubstr;
using testing::StartsWith;

std::size_t entries_of(const fs::path& folder) {
  const fs::directory_iterator all(folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(ReadFile, GivesEveryByte) {
  const TempFolder folder;
  std::string bytes(200'000, 'x');
  bytes[7] = '\0';
  bytes.back() = '\n';
  EXPECT_EQ(read_file(folder.write("data", bytes)), bytes);
  EXPECT_EQ(read_file(folder.write("empty", "")), "");
}

TEST(ReadFile, NamesTheFileInEveryError) {
  const TempFolder folder;
  const auto missing = read_file(folder / "missing");
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, ErrorCode::bad_input);
  EXPECT_EQ(missing.error().message,
            (folder / "missing").string() + ": cannot be opened: no such file or directory");
  const auto is_folder = read_file(folder.path());
  ASSERT_FALSE(is_folder.has_value());
  EXPECT_EQ(is_folder.error().message, folder.path().string() + ": is not a file");
}

TEST(ReadFile, NeitherWaitsForAPipeNorReadsADeviceWithoutEnd) {
  const TempFolder folder;
  const fs::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const fs::path& path : {pipe, fs::path("/dev/zero")}) {
    const auto read = read_file(path);
    ASSERT_FALSE(read.has_value()) << path;
    EXPECT_EQ(read.error().message, path.string() + ": is not a file");
  }
}

TEST(ReadFile, StopsAtTheLimit) {
  const TempFolder folder;
  const fs::path file = folder.write("data", "0123456789");
  EXPECT_EQ(read_file(file, 10), "0123456789");
  const auto too_large = read_file(file, 9);
  ASSERT_FALSE(too_large.has_value());
  EXPECT_EQ(too_large.error().message, file.string() + ": is larger than 9 bytes");
}

TEST(ReadFile, SaysWhenAccessIsDenied) {
  if (::geteuid() == 0) GTEST_SKIP() << "skipped: root may read everything";
  const TempFolder folder;
  const fs::path file = folder.write("data", "text");
  fs::permissions(file, fs::perms::none);
  const auto denied = read_file(file);
  ASSERT_FALSE(denied.has_value());
  EXPECT_THAT(denied.error().message, HasSubstr("permission denied"));
}

TEST(WriteFileAtomically, ReplacesTheOldTextAndLeavesNothingElse) {
  const TempFolder folder;
  const fs::path file = folder.write("document.json", "a longer old text");
  ASSERT_TRUE(write_file_atomically(file, "new").has_value());
  EXPECT_EQ(text_of(file), "new");
  EXPECT_EQ(entries_of(folder.path()), 1U);
}

TEST(WriteFileAtomically, FollowsTheUmask) {
  const TempFolder folder;
  const mode_t before = ::umask(0027);
  ASSERT_TRUE(write_file_atomically(folder / "document.json", "text").has_value());
  ::umask(before);
  struct stat info{};
  ASSERT_EQ(::stat((folder / "document.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0640U);
}

TEST(WriteFileAtomically, LeavesNothingWhenItFails) {
  const TempFolder folder;
  const auto no_folder = write_file_atomically(folder / "missing" / "document.json", "text");
  ASSERT_FALSE(no_folder.has_value());
  EXPECT_EQ(no_folder.error().code, ErrorCode::usage);
  EXPECT_THAT(no_folder.error().message,
              StartsWith((folder / "missing" / "document.json").string() + ": cannot be written"));
  fs::create_directory(folder / "taken");
  EXPECT_FALSE(write_file_atomically(folder / "taken", "text").has_value());
  EXPECT_TRUE(fs::is_directory(folder / "taken"));
  EXPECT_EQ(entries_of(folder.path()), 1U);
}

TEST(MakeDirectories, MakesParentsAndAcceptsWhatIsThere) {
  const TempFolder folder;
  EXPECT_TRUE(make_directories(folder / "a" / "b").has_value());
  EXPECT_TRUE(fs::is_directory(folder / "a" / "b"));
  EXPECT_TRUE(make_directories(folder / "a" / "b").has_value());
}

TEST(MakeDirectories, RefusesWhenAFileIsInTheWay) {
  const TempFolder folder;
  const fs::path file = folder.write("file", "text");
  for (const fs::path& path : {file, file / "below"}) {
    const auto refused = make_directories(path);
    ASSERT_FALSE(refused.has_value()) << path;
    EXPECT_EQ(refused.error().code, ErrorCode::usage);
    EXPECT_THAT(refused.error().message, StartsWith(path.string() + ": "));
  }
}

TEST(ErrnoText, StartsInLowerCase) {
  EXPECT_EQ(errno_text(EACCES), "permission denied");
  EXPECT_EQ(errno_text(EIO), "input/output error");
}

}  // namespace
}  // namespace perflab
