// rocprof-compute's tables with a column per counter. Its merged pmc_perf.csv holds several passes
// side by side: pandas gives a pass's repeated bookkeeping columns a number (Wave_Size_3,
// Correlation_ID_3), the pass's counters follow them. Each pass is a recording of its own.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/text.h"
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

/// Counters are called like C identifiers, with "[N]" behind when they are of one channel.
bool is_counter_name(std::string_view name) {
  const std::string_view base = split_channel(name).first;
  return !base.empty() && std::isalpha(static_cast<unsigned char>(base.front())) != 0 &&
         std::ranges::all_of(base, [](char c) {
           return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
         });
}

Result<Layout> lay_out(Fields header, std::string_view file) {
  Layout layout;
  layout.sections.emplace_back();
  std::set<std::string_view> seen;
  Section* current = &layout.sections.front();
  for (std::size_t i = 0; i < header.size(); ++i) {
    std::string_view name = trimmed(header[i]);
    if (!seen.insert(name).second && is_counter_name(name))
      return fail(ErrorCode::bad_input, fmt::format("{}: has two columns {}", file, name));
    if (is_bookkeeping(name)) continue;
    if (const std::string_view suffix = pass_suffix(name); !suffix.empty()) {
      const auto known = std::ranges::find(layout.sections, suffix, &Section::suffix);
      if (known == layout.sections.end())
        current = &layout.sections.emplace_back(std::string(suffix), std::vector<CounterColumn>{});
      else
        current = &*known;
      continue;
    }
    if (!is_counter_name(name)) {
      ++layout.ignored;
      continue;
    }
    // A counter of two passes has the second one's number behind its name as well.
    const std::string& suffix = current->suffix;
    if (!suffix.empty() && name.ends_with(suffix) &&
        seen.contains(name.substr(0, name.size() - suffix.size())))
      name.remove_suffix(suffix.size());
    const auto [counter, channel] = split_channel(name);
    current->counters.push_back({.column = i, .counter = std::string(counter), .channel = channel});
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
             Fields header, std::string_view file)
      : layout_(std::move(layout)),
        builders_(std::move(builders)),
        shares_times_(std::move(shares_times)),
        header_(header.begin(), header.end()),
        file_(file) {}

  Result<void> row(Fields fields, std::size_t line) override {
    for (std::size_t i = 0; i < builders_.size(); ++i)
      PERFLAB_TRY_VOID(read_section(layout_.sections[i], builders_[i], fields, line));
    return {};
  }

  std::vector<Draft> take() override {
    std::vector<Draft> drafts;
    for (std::size_t i = 0; i < builders_.size(); ++i)
      for (Draft& draft : std::move(builders_[i]).take()) {
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
                  fmt::format("{}: the dispatch of line {} stands in an earlier line as well",
                              file_, line));
    Draft& draft = to.building->draft;
    std::uint64_t empty = 0;
    for (const CounterColumn& column : section.counters) {
      const std::string_view text = fields[column.column];
      if (trimmed(text).empty()) {
        ++empty;
        continue;
      }
      PERFLAB_TRY(
          const double value,
          read_value({.file = file_, .line = line, .column = header_[column.column]}, text));
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
  std::vector<std::string> header_;
  std::string file_;
};

}  // namespace

Result<std::unique_ptr<RowReader>> wide_reader(Fields header, std::string_view file) {
  PERFLAB_TRY(Layout layout, lay_out(header, file));
  std::vector<DraftBuilder> builders;
  std::vector<bool> shares_times;
  for (const Section& section : layout.sections) {
    PERFLAB_TRY(const Columns columns,
                find_columns(Kind::compute_wide, header, section.suffix, file));
    // The first pass's times have no number either way: with one pass more they are means.
    shares_times.push_back(layout.sections.size() > 1 && columns.start &&
                           header[*columns.start] == "Start_Timestamp");
    builders.emplace_back(Kind::compute_wide, columns, header, std::string(file));
  }
  return std::make_unique<WideReader>(std::move(layout), std::move(builders),
                                      std::move(shares_times), header, file);
}

}  // namespace perflab::trace::counter_csv
