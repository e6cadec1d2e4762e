// rocprof-compute's tables with a column per counter. Its merged pmc_perf.csv holds several passes
// side by side: pandas gives a pass's repeated bookkeeping columns a number (Wave_Size_3,
// Correlation_ID_3), the pass's counters follow them. Each pass is a recording of its own.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text/text.h"
#include "trace/counter_csv/fields.h"
#include "trace/counter_csv/table.h"

namespace perflab::trace::counter_csv {
namespace {

/// A column that holds a counter.
struct CounterColumn {
  std::size_t column = 0;
  std::string counter;  ///< without "[N]"
  std::uint32_t channel = kNone;
};

/// The columns of one pass.
struct Section {
  std::string suffix;  ///< of its bookkeeping columns: "" or "_3"
  std::vector<CounterColumn> counters;
};

struct Layout {
  std::vector<Section> sections;
  std::uint64_t ignored = 0;  ///< columns that are neither
};

/// "_3" of "Wave_Size_3"; empty for other names.
std::string_view pass_suffix(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos || name[last] != '_' || last + 1 == name.size()) return {};
  return is_bookkeeping(name.substr(0, last)) ? name.substr(last) : std::string_view{};
}

/// Position of the section with that suffix, which is added when it is new.
class SectionFinder {
 public:
  explicit SectionFinder(Layout& layout) : layout_(layout) {}
  Result<std::size_t> of(std::string_view suffix, const Table& table) {
    const auto [known, added] = by_suffix_.try_emplace(suffix, layout_.sections.size());
    if (!added) return known->second;
    if (by_suffix_.size() > kMostRecordings)
      return fail(ErrorCode::bad_input, fmt::format("{}: has more than {} passes side by side",
                                                    table.file(), kMostRecordings));
    layout_.sections.emplace_back(std::string(suffix), std::vector<CounterColumn>{});
    return known->second;
  }

 private:
  Layout& layout_;
  std::map<std::string_view, std::size_t> by_suffix_;
};

/// A counter of two passes has the second one's number behind its name as well.
std::string_view without_suffix(std::string_view name, std::size_t column, std::string_view suffix,
                                const Table& table) {
  if (suffix.empty() || !name.ends_with(suffix)) return name;
  const std::string_view base = name.substr(0, name.size() - suffix.size());
  const auto first = table.find(base);
  return first && *first < column ? base : name;
}

Result<Layout> lay_out(const Table& table) {
  Layout layout;
  SectionFinder sections(layout);
  PERFLAB_TRY(std::size_t current, sections.of("", table));
  for (std::size_t i = 0; i < table.names().size(); ++i) {
    const std::string_view name = table.names()[i];
    if (is_bookkeeping(name)) continue;
    if (const std::string_view suffix = pass_suffix(name); !suffix.empty()) {
      PERFLAB_TRY(current, sections.of(suffix, table));
      continue;
    }
    if (!is_counter_name(name)) {
      ++layout.ignored;
      continue;
    }
    Section& section = layout.sections[current];
    const auto [counter, channel] = split_channel(without_suffix(name, i, section.suffix, table));
    section.counters.push_back({.column = i, .counter = std::string(counter), .channel = channel});
  }
  // A table of times alone stays one recording without counters.
  const auto counts_nothing = [](const Section& section) { return section.counters.empty(); };
  if (!std::ranges::all_of(layout.sections, counts_nothing))
    std::erase_if(layout.sections, counts_nothing);
  else
    layout.sections.resize(1);
  return layout;
}

class WideReader final : public RowReader {
 public:
  WideReader(Layout layout, std::vector<DraftBuilder> builders, std::vector<bool> shares_times,
             std::shared_ptr<Table> table)
      : layout_(std::move(layout)),
        builders_(std::move(builders)),
        shares_times_(std::move(shares_times)),
        table_(std::move(table)) {}

  Result<void> row(Fields fields, std::size_t line) override {
    for (std::size_t i = 0; i < builders_.size(); ++i)
      PERFLAB_TRY_VOID(read_section(layout_.sections[i], builders_[i], fields, line));
    return {};
  }

  std::vector<Draft> take() override {
    std::vector<Draft> drafts;
    for (std::size_t i = 0; i < builders_.size(); ++i)
      for (Draft& draft : std::move(builders_[i]).take()) {
        draft.merged = builders_.size() > 1;
        draft.times_shared = shares_times_[i];
        drafts.push_back(std::move(draft));
      }
    if (!drafts.empty())
      count(drafts.front().report.dropped, {kTable, "column that is named like no counter"},
            layout_.ignored);
    return drafts;
  }

 private:
  Result<void> read_section(const Section& section, DraftBuilder& builder, Fields fields,
                            std::size_t line) {
    PERFLAB_TRY(const DraftBuilder::Target to, builder.target(fields, line));
    if (!to.added)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: the dispatch of line {} is in an earlier line as well",
                              table_->file(), line));
    Draft& draft = to.building->draft;
    std::uint64_t empty = 0;
    for (const CounterColumn& column : section.counters) {
      const std::string_view text = fields[column.column];
      if (trimmed(text).empty()) {
        ++empty;
        continue;
      }
      PERFLAB_TRY(const double value, read_value(table_->place(line, column.column), text));
      draft.cells.push_back({.dispatch = to.dispatch,
                             .counter = to.building->counter(column.counter),
                             .channel = column.channel,
                             .value = value});
    }
    count(draft.report.dropped, {kTable, "counter without a value"}, empty);
    return {};
  }

  Layout layout_;
  std::vector<DraftBuilder> builders_;  ///< by section
  std::vector<bool> shares_times_;
  std::shared_ptr<Table> table_;
};

}  // namespace

Result<std::unique_ptr<RowReader>> wide_reader(std::shared_ptr<Table> table) {
  PERFLAB_TRY(Layout layout, lay_out(*table));
  std::vector<DraftBuilder> builders;
  std::vector<bool> shares_times;
  for (const Section& section : layout.sections) {
    PERFLAB_TRY(const Columns columns, find_columns(Kind::compute_wide, *table, section.suffix));
    // The first pass's times have no number either way: with one pass more they are means.
    shares_times.push_back(layout.sections.size() > 1 && columns.start &&
                           table->names()[*columns.start] == "Start_Timestamp");
    builders.emplace_back(Kind::compute_wide, columns, table);
  }
  return std::make_unique<WideReader>(std::move(layout), std::move(builders),
                                      std::move(shares_times), std::move(table));
}

}  // namespace perflab::trace::counter_csv
