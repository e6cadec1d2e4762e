// Fuzzes the reader of SQLite's pages with damaged pages, SQLite being the judge: the same rows, or
// SQLite is asked. The input chooses one of a few small databases and lists bytes that are put into
// it (place and value): raw bytes seldom get past a schema.
#include <sqlite3.h>

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "scratch_file.h"
#include "support/pages_judge.h"

namespace {

/// Every width of integers, reals, texts and NULL in several leaves, holes, and overflow pages.
std::string make_database(int page_size, int auto_vacuum, bool vacuum) {
  sqlite3* db = nullptr;
  PERFLAB_CHECK(sqlite3_open(":memory:", &db) == SQLITE_OK);
  const std::string sql =
      "PRAGMA page_size=" + std::to_string(page_size) +
      "; PRAGMA auto_vacuum=" + std::to_string(auto_vacuum) +
      "; CREATE TABLE numbers(a INT, id INTEGER PRIMARY KEY, b REAL, c TEXT, d)"
      "; CREATE TABLE texts(a TEXT, b INT)"
      "; WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 60)"
      "  INSERT INTO numbers SELECT (1 << (x % 63)) - x % 3, x * 7, x / 8.0, 'text ' || x,"
      "  CASE x % 4 WHEN 0 THEN NULL WHEN 1 THEN x'3132' WHEN 2 THEN '12' ELSE -x END FROM n"
      "; INSERT INTO texts SELECT substr(hex(zeroblob(" +
      std::to_string(page_size) +
      ")), 1, id * id % (3 * length(c) * length(c))), id FROM numbers WHERE id < 300"
      "; DELETE FROM numbers WHERE id % 5 = 1; " +
      (vacuum ? "VACUUM" : "SELECT 1");
  PERFLAB_CHECK(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_int64 size = 0;
  unsigned char* bytes = sqlite3_serialize(db, "main", &size, 0);
  PERFLAB_CHECK(bytes != nullptr);
  std::string made(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  sqlite3_free(bytes);
  sqlite3_close(db);
  return made;
}

const std::vector<std::string>& databases() {
  static const std::vector<std::string> kDatabases = {
      make_database(512, 0, false), make_database(512, 1, true), make_database(1024, 2, false),
      make_database(4096, 0, false), make_database(65536, 0, true)};
  return kDatabases;
}

/// A target that judges nothing would find nothing.
void check_judged(const perflab::fuzz::ScratchFile& file) {
  for (const std::string& bytes : databases()) {
    PERFLAB_CHECK(file.fill(bytes.data(), bytes.size()));
    const auto judgement = perflab::test::judge_pages(file.path());
    PERFLAB_CHECK(judgement.has_value() && judgement->rows_from_pages > 200);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const perflab::fuzz::ScratchFile file("sqlite-pages-fuzz");
  static const bool kJudged = (check_judged(file), true);
  if (size == 0 || !kJudged) return 0;
  // The last one is large, and takes as long as ten others.
  const std::size_t which = data[0] % 32, large = databases().size() - 1;
  std::string bytes = databases()[which == 31 ? large : which % large];
  const std::span<const std::uint8_t> edits(data + 1, size - 1);
  for (std::size_t i = 0; i + 4 <= edits.size(); i += 4) {
    const std::size_t at = (std::size_t{edits[i]} << 16) | (std::size_t{edits[i + 1]} << 8) |
                           std::size_t{edits[i + 2]};
    bytes[at % bytes.size()] = static_cast<char>(edits[i + 3]);
  }
  if (!file.fill(bytes.data(), bytes.size())) return 0;
  const auto judgement = perflab::test::judge_pages(file.path());
  if (!judgement) return 0;  // its schema was hit
  if (!judgement->difference.empty()) std::fprintf(stderr, "%s\n", judgement->difference.c_str());
  PERFLAB_CHECK(judgement->difference.empty());
  return 0;
}
