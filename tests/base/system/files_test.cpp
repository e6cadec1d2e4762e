// Whole reads, atomic writes, and the sentences for what goes wrong.
#include "base/system/files.h"

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

TEST(WriteFileAtomically, ReplacesNothingButFiles) {
  const TempFolder folder;
  const fs::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  fs::create_directory(folder / "taken");
  fs::create_symlink("taken", folder / "link");
  const std::vector<std::pair<fs::path, std::string>> places = {{pipe, "a pipe"},
                                                                {folder / "taken", "a folder"},
                                                                {folder / "link", "a folder"},
                                                                {"/dev/null", "a device"}};
  for (const auto& [path, what] : places) {
    const auto refused = write_file_atomically(path, "text");
    ASSERT_FALSE(refused.has_value()) << path;
    EXPECT_EQ(refused.error().code, ErrorCode::usage);
    EXPECT_EQ(refused.error().message,
              path.string() + ": cannot be written: it is " + what + ", not a file");
  }
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_EQ(entries_of(folder.path()), 3U);
}

TEST(WriteFileAtomically, WritesThroughLinks) {
  const TempFolder folder;
  fs::create_directory(folder / "far");
  const fs::path file = folder.write("far/file", "before");
  fs::create_symlink("far/file", folder / "relative");
  fs::create_symlink(folder / "relative", folder / "twice");
  ASSERT_TRUE(write_file_atomically(folder / "twice", "after").has_value());
  EXPECT_EQ(text_of(file), "after");
  fs::create_symlink("far/new", folder / "dangling");
  ASSERT_TRUE(write_file_atomically(folder / "dangling", "new").has_value());
  EXPECT_EQ(text_of(folder / "far/new"), "new");
  for (const char* link : {"relative", "twice", "dangling"})
    EXPECT_TRUE(fs::is_symlink(folder / link)) << link;
  fs::create_symlink("loop", folder / "loop");
  EXPECT_FALSE(write_file_atomically(folder / "loop", "text").has_value());
  EXPECT_EQ(entries_of(folder / "far"), 2U);
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

TEST(AtomicFile, IsThereOnlyWhenItIsWhole) {
  const TempFolder folder;
  const fs::path path = folder.write("file", "before");
  {
    auto file = AtomicFile::create(path);
    ASSERT_TRUE(file.has_value());
    file->write("half");
    EXPECT_EQ(text_of(path), "before");
  }
  EXPECT_EQ(text_of(path), "before");
  EXPECT_EQ(entries_of(folder.path()), 1U) << "nothing is left behind";
  auto file = AtomicFile::create(path);
  ASSERT_TRUE(file.has_value());
  for (const char* part : {"in ", "", "pieces"}) file->write(part);
  EXPECT_TRUE(file->commit().has_value());
  EXPECT_EQ(text_of(path), "in pieces");
  EXPECT_EQ(entries_of(folder.path()), 1U);
}

TEST(AtomicFile, NamesAPlaceThatCannotBeWritten) {
  const TempFolder folder;
  const auto file = AtomicFile::create(folder / "no/file");
  ASSERT_FALSE(file.has_value());
  EXPECT_EQ(file.error().code, ErrorCode::usage);
  EXPECT_THAT(file.error().message, HasSubstr("no/file: cannot be written: no such file"));
}

}  // namespace
}  // namespace perflab
