// Parts of a run: what is read of a database is what a database has from which the other rows were
// deleted, and what is kept of a Trace of the whole run; and how much memory reading is taken for.
#include "trace/part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "support/big_trace.h"
#include "support/prng.h"
#include "support/quirks_trace.h"
#include "support/test_database.h"
#include "trace/read/read_trace.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

namespace fs = std::filesystem;
using test::test_folder;
using ::testing::HasSubstr;

/// A database that is edited.
class Edits {
 public:
  explicit Edits(const fs::path& path) {
    EXPECT_EQ(sqlite3_open(path.c_str(), &db_), SQLITE_OK);
    execute("PRAGMA foreign_keys=OFF; PRAGMA synchronous=OFF");
  }
  Edits(const Edits&) = delete;
  Edits& operator=(const Edits&) = delete;
  ~Edits() { sqlite3_close(db_); }

  void execute(const std::string& sql) {
    EXPECT_EQ(sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sql << ": " << sqlite3_errmsg(db_);
  }
  /// What a query gives, a row each.
  std::vector<std::string> rows(const std::string& sql) {
    std::vector<std::string> found;
    sqlite3_stmt* statement = nullptr;
    EXPECT_EQ(sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr), SQLITE_OK) << sql;
    while (sqlite3_step(statement) == SQLITE_ROW)
      found.emplace_back(reinterpret_cast<const char*>(sqlite3_column_text(statement, 0)));
    sqlite3_finalize(statement);
    return found;
  }
  /// Whole names of the tables with this base.
  std::vector<std::string> tables(const std::string& base) {
    return rows("SELECT name FROM sqlite_master WHERE type='table' AND (name = 'rocpd_" + base +
                "' OR name GLOB 'rocpd_" + base + "_[0-9a-f]*')");
  }

 private:
  sqlite3* db_ = nullptr;
};

constexpr const char* kFinished =
    " typeof(start) = 'integer' AND typeof(\"end\") = 'integer' AND start > 0 AND \"end\" >= "
    "start ";

/// The earliest start of anything in the files.
std::int64_t earliest(const Paths& files) {
  std::int64_t first = INT64_MAX;
  for (const fs::path& file : files) {
    Edits db(file);
    for (const char* base : {"kernel_dispatch", "region", "memory_copy"})
      for (const std::string& table : db.tables(base))
        for (const std::string& start : db.rows("SELECT start FROM " + table + " WHERE" +
                                                kFinished + "ORDER BY start LIMIT 1"))
          first = std::min<std::int64_t>(first, std::stoll(start));
  }
  return first;
}

void delete_outside(const fs::path& file, const Window& window) {
  Edits db(file);
  for (const char* base : {"kernel_dispatch", "region", "memory_copy", "memory_allocate"})
    for (const std::string& table : db.tables(base))
      db.execute("DELETE FROM " + table + " WHERE NOT (" + kFinished + "AND start >= " +
                 std::to_string(window.begin) + " AND start < " + std::to_string(window.end) + ")");
}

std::string dump_of(const Result<Trace>& trace) {
  return trace ? dump(*trace) : "error: " + describe(trace.error());
}

/// Copies with the same names, in a folder of their own: sources have them.
Paths copies_of(const Paths& files, const fs::path& folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  Paths copies;
  for (const fs::path& file : files) {
    copies.push_back(folder / file.filename());
    fs::copy_file(file, copies.back());
  }
  return copies;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

/// Tracks and launch configurations numbered by their first use, and those without use left out:
/// a Trace of which a part is kept has them all. As text.
std::string renumbered(Trace& trace) {
  std::map<Index, Index> tracks, configs;
  std::vector<Track> used_tracks;
  std::vector<LaunchConfig> used_configs;
  const auto number = [](PackedColumn<Index>& column, std::map<Index, Index>& numbers,
                         const auto& all, auto& used) {
    column.transform([&](Index value, std::size_t) {
      const auto [at, fresh] = numbers.try_emplace(value, static_cast<Index>(used.size()));
      if (fresh) used.push_back(all[value]);
      return at->second;
    });
  };
  number(trace.dispatches.track, tracks, trace.tracks, used_tracks);
  number(trace.copies.track, tracks, trace.tracks, used_tracks);
  number(trace.dispatches.config, configs, trace.launch_configs, used_configs);
  trace.tracks = std::move(used_tracks);
  trace.launch_configs = std::move(used_configs);
  return dump(trace);
}
std::string renumbered(Trace&& trace) {
  return renumbered(trace);
}

/// The first line of two Traces as texts that is not the same in both, but for the counts of rows:
/// of a part those that are left out are counted. Empty: they are the same. `arguments`: whether
/// those of calls are looked at.
std::string difference(const std::string& a, const std::string& b, bool arguments = true) {
  std::istringstream left(a), right(b);
  const auto next = [&](std::istringstream& text) {
    std::string line;
    while (std::getline(text, line))
      if (!line.starts_with("rows ") && !line.starts_with("dropped ") &&
          !line.starts_with("odd ") && (arguments || !line.starts_with("arguments ")))
        return line;
    return std::string("(end)");
  };
  while (true) {
    const std::string in_a = next(left), in_b = next(right);
    if (in_a != in_b) return in_a + " | " + in_b;
    if (in_a == "(end)") return {};
  }
}

void expect_part(const Paths& files, const Part& part, const std::string& what) {
  Result<Trace> read_part = read(files, {.threads = 2, .part = part});
  const fs::path folder = files.front().parent_path() / "judge";
  const Paths copies = copies_of(files, folder);
  const Window window = window_of(part, earliest(files));
  for (const fs::path& copy : copies) delete_outside(copy, window);
  const std::string own = files.front().parent_path().string();
  EXPECT_EQ(difference(replaced(dump_of(read(copies, {.threads = 1})), folder.string(), own),
                       dump_of(read_part)),
            "")
      << what;
  EXPECT_TRUE(dump_of(read(files, {.threads = 1, .sqlite_only = true, .part = part})) ==
              dump_of(read_part))
      << what;
  const Result<Trace> whole = read(files);
  ASSERT_TRUE(whole && read_part) << what;
  EXPECT_EQ(difference(renumbered(keep_part(*whole, part)), renumbered(*read_part), false), "")
      << what;
}

TEST(Part, OfTimeIsWhatADatabaseWithoutTheOtherRowsHas) {
  test::Prng random(7);
  const auto upto = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(most));
  };
  std::vector<Paths> recordings;
  const fs::path folder = test_folder();
  for (const bool one_file : {true, false}) {
    const auto written =
        test::write_big_trace(folder / (one_file ? "one.db" : "files.db"), {.dispatches = 3'000,
                                                                            .processes = 2,
                                                                            .copies_every = 5,
                                                                            .arguments = true,
                                                                            .events_every = 16,
                                                                            .counters = true,
                                                                            .one_file = one_file});
    ASSERT_TRUE(written.has_value());
    recordings.push_back(written->files);
  }
  for (const Paths& files : recordings) {
    const Result<Trace> whole = read(files);
    ASSERT_TRUE(whole.has_value()) << describe(whole.error());
    const std::int64_t span = whole->dispatches.end.back() - earliest(files);
    for (int i = 0; i < 6; ++i) {
      Part part;
      if (i != 1) part.from = upto(span / 2);
      if (i != 2) part.to = part.from.value_or(0) + 1 + upto(span / 2);
      expect_part(files, part, files.front().filename().string() + " " + std::to_string(i));
    }
  }
}

TEST(Part, ReadsOnlyTheRangesThatItNeeds) {
  const auto path = test_folder() / "large.db";
  ASSERT_TRUE(test::write_big_trace(path, {.dispatches = 120'000, .processes = 1}).has_value());
  const auto whole = read(Paths{path});
  ASSERT_TRUE(whole.has_value());
  const std::int64_t span = whole->dispatches.end.back() - earliest({path});
  const Part part{.from = span / 2, .to = span / 2 + span / 100};
  auto kept = read(Paths{path}, {.threads = 2, .part = part});
  ASSERT_TRUE(kept.has_value());
  EXPECT_GT(kept->dispatches.size(), 500U);
  EXPECT_LT(kept->dispatches.size(), 5'000U);
  const auto ranges = [](const Trace& trace, const char* table) {
    std::uint64_t sum = 0;
    for (const auto& [range, many] : trace.report.ranges) sum += range.first == table ? many : 0;
    return sum;
  };
  EXPECT_LT(4 * ranges(*kept, "event"), ranges(*whole, "event"));
  EXPECT_LT(ranges(*kept, "kernel_dispatch"), 3 * ranges(*whole, "kernel_dispatch") / 2)
      << "all for the times, and those that are wanted";
  EXPECT_EQ(difference(renumbered(keep_part(*whole, part)), renumbered(*kept)), "");
  // What is not there is counted.
  EXPECT_EQ(
      kept->dispatches.size() + dropped(*kept, "kernel_dispatch", std::string(kOutsideOfPart)),
      120'000U);
  // Memory is taken for by what is kept.
  EXPECT_TRUE(read(Paths{path}, {.part = part, .memory = {.bytes = 8'000'000}}).has_value());
  const auto refused =
      read(Paths{path}, {.memory = {.bytes = 8'000'000, .per_dispatch = 0, .remedy = "less"}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::bad_input);
  EXPECT_THAT(describe(refused.error()),
              HasSubstr("large.db: needs about 0.0 GB of memory, and there are 0.0"));
  EXPECT_EQ(refused.error().remedy, "less");
  EXPECT_FALSE(
      read(Paths{path}, {.memory = {.bytes = 100'000'000, .per_dispatch = 1'000}}).has_value());
  EXPECT_TRUE(read(Paths{path}, {.memory = {.bytes = 100'000'000}}).has_value());
}

TEST(Part, OfAFileWithEveryQuirk) {
  const auto path = test_folder() / "quirks.db";
  ASSERT_TRUE(test::write_quirks(path).has_value());
  const Result<Trace> whole = read(Paths{path});
  ASSERT_TRUE(whole.has_value());
  const std::int64_t span = whole->dispatches.end.back() - earliest({path});
  for (const std::int64_t share : {0, 1, 2, 3}) {
    const Part part{.from = span * share / 4, .to = span * (share + 1) / 4};
    const auto of_pages = read(Paths{path}, {.threads = 2, .part = part});
    EXPECT_TRUE(dump_of(of_pages) ==
                dump_of(read(Paths{path}, {.sqlite_only = true, .part = part})));
    ASSERT_TRUE(of_pages.has_value());
    const Window window = window_of(part, earliest({path}));
    EXPECT_TRUE(std::ranges::all_of(of_pages->dispatches.start,
                                    [&](std::int64_t start) { return window.has(start); }));
  }
}

TEST(Part, OfKernelsHasTheirCallsAndCountersAlone) {
  const auto path = test_folder() / "kernels.db";
  ASSERT_TRUE(
      test::write_big_trace(path, {.dispatches = 2'000, .copies_every = 5, .counters = true})
          .has_value());
  const auto whole = read(Paths{path});
  ASSERT_TRUE(whole.has_value());
  const std::string name(kernel_name(*whole, 40));
  Part part;
  part.kernel = *Pattern::compile("^" + quoted_pattern(name) + "$");
  auto kept = read(Paths{path}, {.threads = 2, .part = part});
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(difference(renumbered(keep_part(*whole, part)), renumbered(*kept)), "");
  const auto names = kernel_names(*whole);
  ASSERT_EQ(kept->dispatches.size(), static_cast<std::size_t>(std::ranges::count(names, name)));
  EXPECT_GT(kept->dispatches.size(), 5U);
  EXPECT_EQ(kept->regions.size(), kept->dispatches.size());
  EXPECT_EQ(kept->copies.size(), 0U);
  EXPECT_GT(kept->counters.size(), 0U);
  EXPECT_EQ(launch_name(*kept, 0), "hipLaunchKernel");
  // With a window as well.
  part.from = (whole->dispatches.start[1000] - earliest({path}));
  auto both = read(Paths{path}, {.threads = 2, .part = part});
  ASSERT_TRUE(both.has_value());
  EXPECT_LT(both->dispatches.size(), kept->dispatches.size());
  EXPECT_EQ(difference(renumbered(keep_part(*whole, part)), renumbered(*both)), "");
}

}  // namespace
}  // namespace perflab::trace
