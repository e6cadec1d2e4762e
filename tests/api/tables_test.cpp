// perflab_open(): tables of the sample recording, their columns as Arrow streams, and errors in
// parts. Only through perflab.h, as another program would.
#include "api/perflab.h"

#include <gmock/gmock.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/arrow_abi.h"

namespace perflab {
namespace {

struct FreeOpened {
  void operator()(perflab_documents* opened) const { perflab_free(opened); }
};
using Opened = std::unique_ptr<perflab_documents, FreeOpened>;

Opened open_one(const char* file) {
  const std::array<const char*, 1> traces = {file};
  perflab_inputs inputs;
  std::memset(&inputs, 0, sizeof inputs);
  inputs.size = sizeof inputs;
  inputs.traces = traces.data();
  inputs.trace_count = 1;
  return Opened(perflab_open(&inputs));
}

std::vector<std::string> table_names(const perflab_documents* opened) {
  std::vector<std::string> names;
  while (const char* name = perflab_table_name(opened, names.size())) names.emplace_back(name);
  return names;
}

std::vector<perflab_column> columns_of(perflab_documents* opened, const char* table) {
  std::size_t rows = 0, count = 0;
  EXPECT_EQ(perflab_table_size(opened, table, &rows, &count), 0) << table;
  std::vector<perflab_column> columns(count);
  for (std::size_t i = 0; i < count; ++i) {
    columns[i].size = sizeof(perflab_column);
    EXPECT_EQ(perflab_table_column(opened, table, i, &columns[i]), 0);
    EXPECT_EQ(columns[i].length, rows) << columns[i].name;
  }
  return columns;
}

perflab_column column_of(perflab_documents* opened, const char* table, std::string_view name) {
  for (const perflab_column& column : columns_of(opened, table))
    if (column.name == name) return column;
  ADD_FAILURE() << table << " has no " << name;
  return {};
}

std::string_view name_at(const perflab_column& column, std::size_t index) {
  const auto begin = static_cast<std::size_t>(column.name_offsets[index]);
  return {column.name_bytes + begin,
          static_cast<std::size_t>(column.name_offsets[index + 1]) - begin};
}

std::int64_t value_at(const perflab_column& column, std::size_t row) {
  switch (column.type) {
    case PERFLAB_INT8:
      return static_cast<const std::int8_t*>(column.data)[row];
    case PERFLAB_INT16:
      return static_cast<const std::int16_t*>(column.data)[row];
    case PERFLAB_INT32:
      return static_cast<const std::int32_t*>(column.data)[row];
    case PERFLAB_INT64:
      return static_cast<const std::int64_t*>(column.data)[row];
    case PERFLAB_BOOL8:
      return static_cast<const std::uint8_t*>(column.data)[row];
    default:
      ADD_FAILURE() << column.name << ": not for this test";
      return 0;
  }
}

TEST(ApiTables, HoldTheRowsOfTheRecording) {
  const Opened opened = open_one(PERFLAB_SAMPLE);
  ASSERT_EQ(perflab_status(opened.get()), 0) << perflab_message(opened.get());
  EXPECT_STREQ(perflab_error_name(opened.get()), "");
  EXPECT_STREQ(perflab_remedy(opened.get()), "");
  const perflab_column start = column_of(opened.get(), "dispatches", "start");
  const perflab_column end = column_of(opened.get(), "dispatches", "end");
  EXPECT_EQ(start.type, PERFLAB_INT64);
  EXPECT_STREQ(start.unit, "ns");
  ASSERT_GT(start.length, 0U);
  std::int64_t total = 0;
  for (std::size_t row = 0; row < start.length; ++row)
    total += value_at(end, row) - value_at(start, row);
  // Documents and columns are of one reading.
  EXPECT_THAT(perflab_document_text(opened.get(), "analysis"),
              testing::HasSubstr("\"kernel_time_ns\": " + std::to_string(total)));
}

// A row number leads to a row, a code to a name, and every name is needed, once, in order.
TEST(ApiTables, ReferToWhatExists) {
  const Opened opened = open_one(PERFLAB_SAMPLE);
  const std::vector<std::string> tables = table_names(opened.get());
  EXPECT_THAT(tables, testing::IsSupersetOf({"dispatches", "api_calls", "copies", "counters"}));
  std::size_t references = 0, coded = 0;
  for (const std::string& table : tables)
    for (const perflab_column& column : columns_of(opened.get(), table.c_str())) {
      SCOPED_TRACE(table + "." + column.name);
      std::size_t bound = column.name_count;
      if (column.refers_to != nullptr) {
        ASSERT_EQ(perflab_table_size(opened.get(), column.refers_to, &bound, nullptr), 0);
        ++references;
      } else if (column.name_offsets == nullptr) {
        continue;
      }
      std::set<std::int64_t> seen;
      for (std::size_t row = 0; row < column.length; ++row) {
        const std::int64_t value = value_at(column, row);
        ASSERT_TRUE(value == -1 || static_cast<std::size_t>(value) < bound) << row;
        if (value >= 0) seen.insert(value);
      }
      if (column.name_offsets == nullptr) continue;
      ++coded;
      EXPECT_EQ(seen.size(), column.name_count);
      for (std::size_t i = 1; i < column.name_count; ++i)
        EXPECT_LT(name_at(column, i - 1), name_at(column, i));
    }
  EXPECT_GT(references, 10U);
  EXPECT_GT(coded, 10U);
}

TEST(ApiTables, RefuseWhatIsNotThere) {
  const Opened opened = open_one(PERFLAB_SAMPLE);
  perflab_column column{};
  EXPECT_EQ(perflab_table_column(opened.get(), "dispatches", 0, &column), 2);  // no size
  column.size = sizeof column;
  EXPECT_EQ(perflab_table_column(opened.get(), "dispatches", 1000, &column), 2);
  EXPECT_EQ(perflab_table_column(opened.get(), "nothing", 0, &column), 2);
  EXPECT_EQ(perflab_table_size(opened.get(), nullptr, nullptr, nullptr), 2);
  EXPECT_EQ(perflab_table_stream(opened.get(), "dispatches", nullptr), 2);
  EXPECT_EQ(perflab_status(opened.get()), 0);  // that of the object stays
  // A caller of an older version, whose struct ends before the names.
  std::memset(&column, 0x5A, sizeof column);
  column.size = offsetof(perflab_column, name_offsets);
  EXPECT_EQ(perflab_table_column(opened.get(), "dispatches", 0, &column), 0);
  EXPECT_STREQ(column.name, "start");
  EXPECT_EQ(column.name_count, 0x5A5A5A5A5A5A5A5AU);
}

TEST(ApiTables, OfAFailedReadingAreNone) {
  const Opened failed = open_one("no such file.db");
  EXPECT_EQ(perflab_status(failed.get()), 3);
  EXPECT_STREQ(perflab_error_name(failed.get()), "bad_input");
  EXPECT_THAT(perflab_error_text(failed.get()), testing::HasSubstr("no such file.db"));
  EXPECT_EQ(perflab_table_name(failed.get(), 0), nullptr);
  EXPECT_EQ(perflab_table_size(failed.get(), "dispatches", nullptr, nullptr), 2);
  perflab_inputs nothing{};
  const Opened refused(perflab_open(&nothing));
  EXPECT_STREQ(perflab_error_name(refused.get()), "usage");
  // Text and remedy are the message's two parts.
  const std::string text = perflab_error_text(refused.get()),
                    remedy = perflab_remedy(refused.get());
  EXPECT_FALSE(remedy.empty());
  EXPECT_THAT(text, testing::Not(testing::HasSubstr(remedy)));
  EXPECT_THAT(perflab_message(refused.get()),
              testing::AllOf(testing::StartsWith(text), testing::HasSubstr(remedy)));
}

// What came from a stream lives without the object, and a child without its parent.
TEST(ApiTables, StreamsOutliveTheirObject) {
  Opened opened = open_one(PERFLAB_SAMPLE);
  const perflab_column start = column_of(opened.get(), "dispatches", "start");
  const std::vector<std::int64_t> copy(static_cast<const std::int64_t*>(start.data),
                                       static_cast<const std::int64_t*>(start.data) + start.length);
  ArrowArrayStream stream{};
  ASSERT_EQ(perflab_table_stream(opened.get(), "dispatches", &stream), 0);
  opened.reset();
  ArrowSchema schema{};
  ASSERT_EQ(stream.get_schema(&stream, &schema), 0);
  EXPECT_STREQ(schema.format, "+s");
  EXPECT_STREQ(schema.children[0]->name, "start");
  EXPECT_STREQ(schema.children[0]->format, "l");
  schema.release(&schema);
  EXPECT_EQ(schema.release, nullptr);
  ArrowArray batch{}, end{};
  ASSERT_EQ(stream.get_next(&stream, &batch), 0);
  ASSERT_EQ(stream.get_next(&stream, &end), 0);
  EXPECT_EQ(end.release, nullptr);  // one batch
  stream.release(&stream);
  EXPECT_EQ(batch.length, static_cast<std::int64_t>(copy.size()));
  ArrowArray moved = *batch.children[0];
  batch.children[0]->release = nullptr;
  batch.release(&batch);
  EXPECT_EQ(moved.buffers[1], start.data);  // no copy
  EXPECT_EQ(std::memcmp(moved.buffers[1], copy.data(), copy.size() * sizeof copy[0]), 0);
  moved.release(&moved);
}

}  // namespace
}  // namespace perflab
