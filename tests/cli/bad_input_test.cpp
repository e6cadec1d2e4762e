// Every kind of bad input: one sentence that names the file, exit 3, nothing on stdout, nothing
// written.
#include <gmock/gmock.h>

#include <functional>

#include "cli/program.h"
#include "support/rocpd_writer.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Makes one bad file at the path.
struct BadInput {
  std::string name;
  std::string says;
  std::function<void(const fs::path&)> make;
};

/// How GoogleTest and ctest name the case.
void PrintTo(const BadInput& input, std::ostream* out) {
  *out << input.name;
}

void write_bytes(const fs::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// A good database with its bytes changed.
void write_changed(const fs::path& path, const std::function<void(std::string&)>& change) {
  std::string bytes = test::text_of(PERFLAB_SAMPLE);
  change(bytes);
  write_bytes(path, bytes);
}

void write_empty_trace(const fs::path& path) {
  test::RocpdWriter writer(path);
  ASSERT_TRUE(writer.close().has_value());
}

const std::vector<BadInput>& bad_inputs() {
  static const std::vector<BadInput> inputs = {
      {"missing", "no such file", [](const fs::path&) {}},
      {"empty", "is empty (0 bytes)", [](const fs::path& path) { write_bytes(path, ""); }},
      {"folder", "is a folder", [](const fs::path& path) { fs::create_directory(path); }},
      {"text", "is not an SQLite database",
       [](const fs::path& path) { write_bytes(path, std::string(5000, 'x')); }},
      {"short", "is not an SQLite database",
       [](const fs::path& path) { write_bytes(path, "SQLite format 3"); }},
      {"truncated", "is truncated",
       [](const fs::path& path) {
         write_changed(path, [](std::string& b) { b.resize(b.size() / 2); });
       }},
      {"damaged", "is damaged",
       [](const fs::path& path) {
         write_changed(path, [](std::string& b) { std::fill(b.begin() + 4096, b.end(), '\xEE'); });
       }},
      {"being_written", "is being written",
       [](const fs::path& path) {
         fs::copy_file(PERFLAB_SAMPLE, path);
         write_bytes(path.string() + "-journal", "not empty");
       }},
      {"being_written_wal", "is being written",
       [](const fs::path& path) {
         fs::copy_file(PERFLAB_SAMPLE, path);
         write_bytes(path.string() + "-wal", "not empty");
       }},
      {"old_format", "format of 2023",
       [](const fs::path& path) { ASSERT_TRUE(test::write_legacy_rocpd(path).has_value()); }},
      {"no_dispatches", "holds no kernel dispatch", write_empty_trace},
      {"schema_4", "is rocpd schema 4", [](const fs::path& path) {
         test::RocpdWriter writer(path, {.schema_version = "4.0.0"});
         ASSERT_TRUE(writer.close().has_value());
       }}};
  return inputs;
}

class BadInputTest : public testing::TestWithParam<BadInput> {};

TEST_P(BadInputTest, IsOneSentenceAndExit3AndNothingWritten) {
  const test::TempFolder folder;
  GetParam().make(folder / "bad.db");
  const Outcome outcome =
      rocm_perf(folder.path(), {"analyze", "bad.db", "--out", "docs", "--json"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, testing::StartsWith("rocm-perf: bad.db"));
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().says));
  EXPECT_LE(lines(outcome.err), 2) << outcome.err;  // the sentence, and what to try
  EXPECT_FALSE(fs::exists(folder / "docs"));
}

INSTANTIATE_TEST_SUITE_P(Kinds, BadInputTest, testing::ValuesIn(bad_inputs()),
                         [](const auto& tested) { return tested.param.name; });

TEST(BadInput, SqliteWithoutRocpdTables) {
  const test::TempFolder folder;
  // An SQLite database of another program: the sample's bytes with every table name changed.
  write_changed(folder / "other.db", [](std::string& bytes) {
    for (std::size_t at = bytes.find("rocpd_"); at != std::string::npos;
         at = bytes.find("rocpd_", at))
      bytes.replace(at, 6, "other_");
  });
  const Outcome outcome = rocm_perf(folder.path(), {"analyze", "other.db"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("without rocpd tables"));
}

TEST(BadInput, NoPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "skipped: root may read every file";
  const test::TempFolder folder;
  fs::copy_file(PERFLAB_SAMPLE, folder / "closed.db");
  fs::permissions(folder / "closed.db", fs::perms::none);
  const Outcome outcome = rocm_perf(folder.path(), {"analyze", "closed.db"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("ermission denied"));
}

}  // namespace
}  // namespace perflab::cli
