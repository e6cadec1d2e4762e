// Tables with a row per dispatch and counter: rocprofv3's counter_collection.csv and
// rocprof-compute's results_*.csv and pmc_perf.csv. A counter that stands twice in a dispatch has
// its instances in rows.
#include <fmt/format.h>

#include "base/text/text.h"
#include "trace/counter_csv/fields.h"
#include "trace/counter_csv/table.h"

namespace perflab::trace::counter_csv {
namespace {

class LongReader final : public RowReader {
 public:
  LongReader(Kind kind, const Columns& columns, std::size_t name, std::size_t value,
             std::shared_ptr<Table> table)
      : builder_(kind, columns, table), name_(name), value_(value), table_(std::move(table)) {}

  Result<void> row(Fields fields, std::size_t line) override {
    PERFLAB_TRY(const DraftBuilder::Target to, builder_.target(fields, line));
    const std::string_view name = trimmed(fields[name_]);
    if (name.empty())
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: line {} has no counter name", table_->file(), line));
    if (trimmed(fields[value_]).empty()) {
      count(to.building->draft.report.dropped, {kTable, "counter without a value"}, 1);
      return {};
    }
    PERFLAB_TRY(const double value, read_value(table_->place(line, value_), fields[value_]));
    const auto [counter, channel] = split_channel(name);
    to.building->draft.cells.push_back({.dispatch = to.dispatch,
                                        .counter = to.building->counter(counter),
                                        .channel = channel,
                                        .value = value});
    return {};
  }

  std::vector<Draft> take() override { return std::move(builder_).take(); }

 private:
  DraftBuilder builder_;
  std::size_t name_, value_;
  std::shared_ptr<Table> table_;
};

}  // namespace

Result<std::unique_ptr<RowReader>> long_reader(Kind kind, std::shared_ptr<Table> table) {
  PERFLAB_TRY(const Columns columns, find_columns(kind, *table, ""));
  PERFLAB_TRY(const std::size_t name, table->require("Counter_Name"));
  PERFLAB_TRY(const std::size_t value, table->require("Counter_Value"));
  return std::make_unique<LongReader>(kind, columns, name, value, std::move(table));
}

}  // namespace perflab::trace::counter_csv
