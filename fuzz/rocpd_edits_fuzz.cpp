// Fuzzes the rocpd reader with well-formed SQLite files whose contents are absurd: the input is a
// list of edits (a value of any type into any cell, a row or a table gone) to a small database that
// has every quirk, and calls of RCCL. Raw bytes seldom get past SQLite.
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/system/files.h"
#include "check_rocpd.h"
#include "support/quirks_trace.h"
#include "support/rocpd_writer.h"

namespace {

using perflab::fuzz::check_rocpd;

/// Takes numbers off the input; zeros when it is used up.
class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

  template <class T>
  T take() {
    T value{};
    const std::size_t size = std::min(sizeof value, bytes_.size());
    std::memcpy(&value, bytes_.data(), size);
    bytes_ = bytes_.subspan(size);
    return value;
  }
  std::string take_text() {
    const std::size_t size = std::min<std::size_t>(take<std::uint8_t>(), bytes_.size());
    std::string text(reinterpret_cast<const char*>(bytes_.data()), size);
    bytes_ = bytes_.subspan(size);
    return text;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

struct TableShape {
  std::string name;
  std::vector<std::string> columns;
};

struct Template {
  std::string bytes;
  std::vector<TableShape> tables;
};

std::vector<std::string> column_of(sqlite3* db, const std::string& sql) {
  std::vector<std::string> texts;
  sqlite3_exec(
      db, sql.c_str(),
      [](void* out, int, char** values, char**) {
        static_cast<std::vector<std::string>*>(out)->emplace_back(values[0] != nullptr ? values[0]
                                                                                       : "");
        return 0;
      },
      &texts, nullptr);
  return texts;
}

sqlite3* open_copy(const std::string& bytes) {
  sqlite3* db = nullptr;
  sqlite3_open(":memory:", &db);
  const auto size = static_cast<sqlite3_int64>(bytes.size());
  auto* copy = static_cast<unsigned char*>(sqlite3_malloc64(bytes.size()));
  std::memcpy(copy, bytes.data(), bytes.size());
  sqlite3_deserialize(db, "main", copy, size, size,
                      SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE);
  sqlite3_exec(db, "PRAGMA foreign_keys=OFF; PRAGMA ignore_check_constraints=ON", nullptr, nullptr,
               nullptr);
  return db;
}

/// One more process in the file: calls of RCCL with arguments, each its own parent, one in another.
void add_rccl_calls(const std::string& path) {
  using perflab::test::argument;
  perflab::test::RocpdWriter writer(path,
                                    {.guid = "00000009-7f00-7000-8000-000000000009",
                                     .node = {.id = 9, .hash = 9},
                                     .process = {.pid = 9}},
                                    {.append = true});
  constexpr std::int64_t kStart = 5'000'000'000'000;
  const auto gpu = writer.agent({});
  writer.queue();
  writer.stream();
  writer.code_object({});
  const auto kernel = writer.kernel({.name = "ncclDevKernel_Generic_1"});
  for (int i = 0; i < 4; ++i) {
    const auto stack = writer.next_stack_id();
    const std::int64_t at = kStart + i * 30;
    writer.region(
        {.name = i == 0 ? "ncclAlltoAll" : "ncclAllReduce",
         .start = at,
         .end = at + (i == 2 ? 50 : 20),  // the last one lies in it
         .event = {.category = "RCCL_API_EXT", .stack_id = stack, .parent_stack_id = stack},
         .arguments = {argument("size_t", "count", "1024"),
                       argument("ncclDataType_t", "datatype", "ncclFloat32"),
                       argument("ncclComm_t", "comm", "0x55aa"), argument("int", "root", "1"),
                       argument("int", "peer", "2"), argument("hipStream_t", "stream", "0x10")}});
    writer.dispatch({.kernel = kernel,
                     .start = at + 300,
                     .end = at + 320,
                     .agent = gpu,
                     .event = {.stack_id = stack}});
  }
  const auto closed = writer.close();
  if (!closed) std::fprintf(stderr, "%s\n", closed.error().message.c_str());
  PERFLAB_CHECK(closed.has_value());
}

Template make_template() {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("rocpd-edits-" + std::to_string(::getpid()) + ".db"))
                               .string();
  PERFLAB_CHECK(perflab::test::write_quirks(path).has_value());
  add_rccl_calls(path);
  Template made{.bytes = perflab::read_file(path).value_or(""), .tables = {}};
  std::filesystem::remove(path);
  sqlite3* db = open_copy(made.bytes);
  for (const std::string& name :
       column_of(db, "SELECT name FROM sqlite_master WHERE type='table' AND name LIKE 'rocpd%'"))
    made.tables.push_back(
        {name, column_of(db, "SELECT name FROM pragma_table_info('" + name + "')")});
  sqlite3_close(db);
  PERFLAB_CHECK(!made.tables.empty());
  return made;
}

void bind_any(sqlite3_stmt* statement, Input& input) {
  switch (input.take<std::uint8_t>() % 6) {
    case 0:
      sqlite3_bind_null(statement, 1);
      break;
    case 1:
      sqlite3_bind_int64(statement, 1, input.take<std::int64_t>());
      break;
    case 2:
      sqlite3_bind_int64(statement, 1, input.take<std::int8_t>());
      break;
    case 3:
      sqlite3_bind_double(statement, 1, input.take<double>());
      break;
    default: {
      const std::string text = input.take_text();
      const bool blob = text.size() % 5 == 4;
      if (blob)
        sqlite3_bind_blob(statement, 1, text.data(), static_cast<int>(text.size()),
                          SQLITE_TRANSIENT);
      else
        sqlite3_bind_text(statement, 1, text.data(), static_cast<int>(text.size()),
                          SQLITE_TRANSIENT);
    }
  }
}

void edit(sqlite3* db, const Template& base, Input& input) {
  const TableShape& table = base.tables[input.take<std::uint16_t>() % base.tables.size()];
  const std::string& column = table.columns[input.take<std::uint8_t>() % table.columns.size()];
  const std::uint8_t action = input.take<std::uint8_t>();
  std::string sql = "UPDATE OR IGNORE \"" + table.name + "\" SET \"" + column + "\"=?1";
  if (action % 16 == 14) sql = "DELETE FROM \"" + table.name + "\"";
  if (action == 255)
    sql = "DROP TABLE \"" + table.name + "\"";
  else if (action % 4 != 0)
    sql += " WHERE rowid=?2";
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK) return;
  bind_any(statement, input);
  sqlite3_bind_int64(statement, 2, input.take<std::uint8_t>() % 32 + 1);
  sqlite3_step(statement);
  sqlite3_finalize(statement);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Template kBase = make_template();
  Input input({data, size});
  sqlite3* db = open_copy(kBase.bytes);
  for (int edits = 0; edits < 12 && !input.empty(); ++edits) edit(db, kBase, input);
  sqlite3_int64 edited_size = 0;
  unsigned char* edited = sqlite3_serialize(db, "main", &edited_size, 0);
  sqlite3_close(db);
  if (edited == nullptr) return 0;
  check_rocpd({edited, static_cast<std::size_t>(edited_size)});
  sqlite3_free(edited);
  return 0;
}
