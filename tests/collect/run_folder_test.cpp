// Folder numbers that are never used twice; databases that are, and files that only look like them.
#include "collect/run_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "base/parallel.h"
#include "base/temp_folder.h"

namespace perflab::collect {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;

fs::path make(const fs::path& root) {
  const auto folder = make_collection_folder(root);
  EXPECT_TRUE(folder.has_value()) << describe(folder.error());
  return folder.value_or(fs::path());
}

TEST(CollectionFolder, TakesTheNextNumber) {
  const TempFolder folder;
  const fs::path root = folder / "deep" / ".rocpd_profile";
  EXPECT_EQ(make(root), root / "0001");
  EXPECT_EQ(make(root), root / "0002");
  fs::remove(root / "0001");
  EXPECT_EQ(make(root), root / "0003");
}

TEST(CollectionFolder, LooksAtNumbersOnly) {
  const TempFolder folder;
  for (const char* name : {"0041", "7", "notes", "99x", "run_500", "99999999999999999999"})
    fs::create_directory(folder / name);
  EXPECT_EQ(make(folder.path()), folder / "0042");
  std::ofstream(folder / "9999") << "a file takes a number, too";
  EXPECT_EQ(make(folder.path()), folder / "10000");
}

TEST(CollectionFolder, IsAbsolute) {
  const TempFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  const fs::path made = make(".rocpd_profile");
  fs::current_path(before);
  EXPECT_TRUE(made.is_absolute());
  EXPECT_TRUE(fs::is_directory(made));
}

TEST(CollectionFolder, IsGivenToOneTakerOnly) {
  const TempFolder folder;
  std::vector<fs::path> taken(40);
  const auto done = parallel_for(taken.size(), 8, [&](unsigned, std::size_t i) -> Result<void> {
    PERFLAB_TRY(taken[i], make_collection_folder(folder.path()));
    return {};
  });
  ASSERT_TRUE(done.has_value());
  EXPECT_EQ(std::set(taken.begin(), taken.end()).size(), taken.size());
}

TEST(CollectionFolder, SaysWhenThePlaceCannotBeWritten) {
  const TempFolder folder;
  const auto refused = make_collection_folder(folder.write("file", "text"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::usage);
  if (::geteuid() == 0) GTEST_SKIP() << "skipped: root may write everywhere";
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  const auto denied = make_collection_folder(folder.path());
  fs::permissions(folder.path(), fs::perms::owner_all);
  ASSERT_FALSE(denied.has_value());
  EXPECT_THAT(denied.error().message, HasSubstr("permission denied"));
}

TEST(RunFolder, IsNeverAnExistingOne) {
  const TempFolder folder;
  EXPECT_EQ(make_run_folder(folder.path(), 1), folder / "run_1");
  const auto again = make_run_folder(folder.path(), 1);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, ErrorCode::usage);
}

TEST(LatestRun, IsTheFirstOfTheNewestCollectionThatHasOne) {
  const TempFolder folder;
  const fs::path root = folder / ".rocpd_profile";
  for (const char* run : {"0002/run_1", "0002/run_2", "0010/run_1/host", "0009/run_1"})
    fs::create_directories(root / run);
  for (const char* no_run : {"0011/counters", "notes/run_1"}) fs::create_directories(root / no_run);
  EXPECT_EQ(latest_run(folder.path()), root / "0010" / "run_1");
  EXPECT_EQ(latest_run(root), root / "0010" / "run_1");
  EXPECT_EQ(latest_run(root / "0002"), root / "0002" / "run_1");
  for (const char* itself : {"0002/run_2", "0011", "0010/run_1/host", "nowhere"})
    EXPECT_EQ(latest_run(root / itself), root / itself);
}

TEST(FindDatabases, FindsThemAtAnyDepthInAFixedOrder) {
  const TempFolder folder;
  fs::create_directories(folder / "host-b" / "pass_1");
  fs::create_directories(folder / "host-a");
  const fs::path deep = folder.write("host-b/pass_1/2_results.db", "12345");
  const fs::path named = folder.write("host-a/name_results.db", "1");
  const fs::path plain = folder.write("results.db", "12");
  static_cast<void>(folder.write("host-a/1_agent_info.csv", "x"));
  static_cast<void>(folder.write("host-a/other.db", "x"));
  const FoundDatabases found = find_databases(folder.path());
  ASSERT_EQ(found.databases.size(), 3U);
  EXPECT_EQ(found.databases[0].path, named);
  EXPECT_EQ(found.databases[1].path, deep);
  EXPECT_EQ(found.databases[1].size, Bytes{5});
  EXPECT_EQ(found.databases[2].path, plain);
  EXPECT_THAT(found.rejected, ElementsAre());
}

TEST(FindDatabases, RejectsWhatIsNoRegularFileWithText) {
  const TempFolder folder;
  const TempFolder elsewhere;
  const fs::path foreign = elsewhere.write("9_results.db", "another run's");
  fs::create_symlink(foreign, folder / "1_results.db");
  fs::create_directory_symlink(elsewhere.path(), folder / "linked");
  static_cast<void>(folder.write("2_results.db", ""));
  fs::create_directory(folder / "3_results.db");
  const FoundDatabases found = find_databases(folder.path());
  EXPECT_TRUE(found.databases.empty());
  EXPECT_THAT(found.rejected,
              ElementsAre((folder / "1_results.db").string() + ": is not a regular file",
                          (folder / "2_results.db").string() + ": is empty (0 bytes)",
                          (folder / "3_results.db").string() + ": is not a regular file"));
}

TEST(FindDatabases, SeesAJournalOfAWriterThatWasEnded) {
  const TempFolder folder;
  for (const char* name : {"1_results.db", "1_results.db-journal", "2_results.db"})
    static_cast<void>(folder.write(name, "bytes"));
  static_cast<void>(folder.write("2_results.db-journal", ""));
  const FoundDatabases found = find_databases(folder.path());
  ASSERT_EQ(found.databases.size(), 2U);
  EXPECT_TRUE(found.databases[0].unfinished);
  EXPECT_FALSE(found.databases[1].unfinished);
}

TEST(FindDatabases, SaysWhenTheFolderIsGone) {
  const FoundDatabases found = find_databases("/nonexistent/run_1");
  EXPECT_TRUE(found.databases.empty());
  EXPECT_EQ(found.rejected.size(), 1U);
}

}  // namespace
}  // namespace perflab::collect
