// Names of columns by kind, and what the kinds share: the facts about a dispatch that stand in
// every row.
#include "trace/counter_csv/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <limits>

#include "base/text/csv.h"
#include "base/text/numbers.h"
#include "base/text/text.h"
#include "trace/agent_facts.h"
#include "trace/counter_csv/fields.h"

namespace perflab::trace::counter_csv {
namespace {

using OptionalColumn = std::optional<std::size_t> Columns::*;

/// What a kind calls the facts; "": it does not have them.
struct Names {
  std::string_view dispatch, agent, grid, workgroup, lds, scratch;
  std::string_view guid, process, thread, queue, kernel_id, sgprs, arch_vgprs, accum_vgprs;
};

constexpr Names kRocprofv3Names = {.dispatch = "Dispatch_Id",
                                   .agent = "Agent_Id",
                                   .grid = "Grid_Size",
                                   .workgroup = "Workgroup_Size",
                                   .lds = "LDS_Block_Size",
                                   .scratch = "Scratch_Size",
                                   .guid = "",
                                   .process = "Process_Id",
                                   .thread = "Thread_Id",
                                   .queue = "Queue_Id",
                                   .kernel_id = "Kernel_Id",
                                   .sgprs = "SGPR_Count",
                                   .arch_vgprs = "VGPR_Count",
                                   .accum_vgprs = "Accum_VGPR_Count"};

/// rocprof-compute's register columns are not reliable in its older files: they are not read.
constexpr Names kComputeNames = {.dispatch = "Dispatch_ID",
                                 .agent = "GPU_ID",
                                 .grid = "Grid_Size",
                                 .workgroup = "Workgroup_Size",
                                 .lds = "LDS_Per_Workgroup",
                                 .scratch = "Scratch_Per_Workitem",
                                 .guid = "GUID",
                                 .process = "PID",
                                 .thread = "TID",
                                 .queue = "Queue_ID",
                                 .kernel_id = "Kernel_ID",
                                 .sgprs = "",
                                 .arch_vgprs = "",
                                 .accum_vgprs = ""};

constexpr std::string_view kKernelName = "Kernel_Name";
constexpr std::string_view kStart = "Start_Timestamp";
constexpr std::string_view kEnd = "End_Timestamp";
constexpr std::string_view kCounterName = "Counter_Name";
constexpr std::string_view kCounterValue = "Counter_Value";

constexpr std::array<std::string_view, 21> kBookkeeping = {"Dispatch_ID",
                                                           "GPU_ID",
                                                           "GUID",
                                                           "Queue_ID",
                                                           "PID",
                                                           "TID",
                                                           "Grid_Size",
                                                           "Workgroup_Size",
                                                           "LDS_Per_Workgroup",
                                                           "Scratch_Per_Workitem",
                                                           "Arch_VGPR",
                                                           "Accum_VGPR",
                                                           "SGPR",
                                                           "Wave_Size",
                                                           "Kernel_Name",
                                                           "Start_Timestamp",
                                                           "End_Timestamp",
                                                           "Correlation_ID",
                                                           "Correlation_Id",
                                                           "Kernel_ID",
                                                           "XCC_Index"};

std::optional<std::size_t> find_column(Fields header, std::string_view name) {
  const auto found = name.empty() ? header.end() : std::ranges::find(header, name);
  if (found == header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header.begin());
}

/// a == b without a call for short texts: every row is compared with the last one field by field.
bool same_text(std::string_view a, std::string_view b) {
  const auto word = [](const char* at) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    return bits;
  };
  const std::size_t size = a.size();
  if (size != b.size()) return false;
  if (size > 2 * sizeof(std::uint64_t)) return a == b;
  if (size >= sizeof(std::uint64_t)) {
    const std::size_t last = size - sizeof(std::uint64_t);
    return word(a.data()) == word(b.data()) && word(a.data() + last) == word(b.data() + last);
  }
  for (std::size_t i = 0; i < size; ++i)
    if (a[i] != b[i]) return false;
  return true;
}

std::unexpected<Error> not_a_table(std::string_view file) {
  return fail(ErrorCode::bad_input,
              fmt::format("{}: is not an SQLite database, nor a table of counters (CSV)", file),
              "give rocpd databases (…_results.db), rocprofv3's …_counter_collection.csv, or "
              "rocprof-compute's pmc_perf.csv or results_*.csv");
}

}  // namespace

bool is_bookkeeping(std::string_view column) {
  return std::ranges::find(kBookkeeping, column) != kBookkeeping.end();
}

std::optional<Kind> kind_of(Fields header) {
  const auto has = [&](std::string_view name) { return find_column(header, name).has_value(); };
  if (has(kCounterName) || has(kCounterValue))
    return has("Dispatch_Id") || has("Agent_Id") ? Kind::rocprofv3 : Kind::compute_long;
  const bool counted = std::ranges::any_of(header, [](std::string_view name) {
    return !is_bookkeeping(name) && name.find('_') != std::string_view::npos;
  });
  if (has("Dispatch_ID") && has(kKernelName) && (counted || has(kStart))) return Kind::compute_wide;
  return std::nullopt;
}

Table::Table(Fields header, std::string_view file) : file_(file) {
  names_.reserve(header.size());
  for (const std::string_view name : header) names_.emplace_back(trimmed(name));
}

Result<std::shared_ptr<Table>> Table::make(Fields header, std::string_view file) {
  std::shared_ptr<Table> table(new Table(header, file));  // the constructor is private
  for (std::size_t i = 0; i < table->names_.size(); ++i) {
    const std::string& name = table->names_[i];
    if (!table->columns_.emplace(name, i).second && is_counter_name(name))
      return fail(ErrorCode::bad_input, fmt::format("{}: has two columns {}", file, name));
  }
  return table;
}

std::optional<std::size_t> Table::find(std::string_view name) const {
  const auto found = name.empty() ? columns_.end() : columns_.find(name);
  if (found == columns_.end()) return std::nullopt;
  return found->second;
}

Result<std::size_t> Table::require(std::string_view name) const {
  if (const auto found = find(name)) return *found;
  return fail(ErrorCode::bad_input, fmt::format("{}: has no column {}", file_, name));
}

SharedText Table::shared(std::string_view text) {
  const auto known = texts_.find(text);
  if (known != texts_.end()) return known->second;
  SharedText kept(std::make_shared<const std::string>(text));
  texts_.emplace(text, kept);
  return kept;
}

Result<AgentLabel> Table::agent(std::size_t line, std::size_t column, std::string_view field) {
  const auto label = parse_agent_label(trimmed(field));
  if (!label) return bad_field(place(line, column), field, "names no GPU");
  if (agents_.insert(*label).second && agents_.size() > kMostAgents)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: names more than {} GPUs", file_, kMostAgents));
  return *label;
}

Result<Columns> find_columns(Kind kind, const Table& table, std::string_view suffix) {
  const Names& names = kind == Kind::rocprofv3 ? kRocprofv3Names : kComputeNames;
  const auto find = [&](std::string_view name) {
    const auto own = name.empty() ? std::nullopt : table.find(fmt::format("{}{}", name, suffix));
    return own ? own : table.find(name);
  };
  Columns columns;
  for (const auto& [to, name] : std::initializer_list<std::pair<std::size_t*, std::string_view>>{
           {&columns.dispatch, names.dispatch},
           {&columns.agent, names.agent},
           {&columns.kernel_name, kKernelName},
           {&columns.grid, names.grid},
           {&columns.workgroup, names.workgroup},
           {&columns.lds, names.lds},
           {&columns.scratch, names.scratch}}) {
    const auto own = find(name);
    if (own) {
      *to = *own;
    } else {
      PERFLAB_TRY(*to, table.require(name));
    }
  }
  for (const auto& [to, name] : std::initializer_list<std::pair<OptionalColumn, std::string_view>>{
           {&Columns::guid, kind == Kind::compute_wide ? "" : names.guid},
           {&Columns::process, names.process},
           {&Columns::thread, names.thread},
           {&Columns::queue, names.queue},
           {&Columns::kernel_id, names.kernel_id},
           {&Columns::start, kStart},
           {&Columns::end, kEnd},
           {&Columns::sgprs, names.sgprs},
           {&Columns::arch_vgprs, names.arch_vgprs},
           {&Columns::accum_vgprs, names.accum_vgprs}})
    columns.*to = find(name);
  // Tables of older profilers have no times at all; half of a time is damage.
  if (columns.start.has_value() != columns.end.has_value()) {
    PERFLAB_TRY(columns.start, table.require(kStart));
    PERFLAB_TRY(columns.end, table.require(kEnd));
  }
  return columns;
}

std::pair<std::string_view, std::uint32_t> split_channel(std::string_view counter) {
  const std::size_t open = counter.rfind('[');
  if (!counter.ends_with(']') || open == std::string_view::npos || open == 0)
    return {counter, kNone};
  const auto channel =
      whole_number<std::uint32_t>(counter.substr(open + 1, counter.size() - open - 2));
  if (!channel || *channel == kNone) return {counter, kNone};
  return {counter.substr(0, open), *channel};
}

bool is_counter_name(std::string_view name) {
  const std::string_view base = split_channel(name).first;
  return !base.empty() && std::isalpha(static_cast<unsigned char>(base.front())) != 0 &&
         std::ranges::all_of(base, [](char c) {
           return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
         });
}

Index DraftBuilder::Building::counter(std::string_view name) {
  // Dispatches name the same counters in the same order.
  if (next >= draft.counters.size()) next = 0;
  if (next < draft.counters.size() && draft.counters[next] == name) return next++;
  const auto known = counters.find(name);
  if (known != counters.end()) {
    next = known->second + 1;
    return known->second;
  }
  const auto index = static_cast<Index>(draft.counters.size());
  counters.emplace(name, index);
  draft.counters.emplace_back(name);
  return index;
}

DraftBuilder::DraftBuilder(Kind kind, const Columns& columns, std::shared_ptr<Table> table)
    : kind_(kind),
      columns_(columns),
      table_(std::move(table)),
      used_columns_({columns.dispatch, columns.agent, columns.kernel_name, columns.grid,
                     columns.workgroup, columns.lds, columns.scratch}) {
  for (const auto& column :
       {columns.guid, columns.process, columns.thread, columns.queue, columns.kernel_id,
        columns.start, columns.end, columns.sgprs, columns.arch_vgprs, columns.accum_vgprs})
    if (column) used_columns_.push_back(*column);
}

Result<std::int64_t> DraftBuilder::whole(Fields fields, std::size_t line,
                                         std::size_t column) const {
  return read_whole(table_->place(line, column), fields[column]);
}

Result<std::optional<std::int64_t>> DraftBuilder::maybe_whole(
    Fields fields, std::size_t line, std::optional<std::size_t> column) const {
  if (!column || trimmed(fields[*column]).empty()) return std::nullopt;
  PERFLAB_TRY(const std::int64_t value, whole(fields, line, *column));
  return std::optional(value);
}

Result<void> DraftBuilder::read_times(Fields fields, std::size_t line, Dispatch& dispatch,
                                      Draft& draft) const {
  draft.has_times = columns_.start.has_value();
  if (!draft.has_times) return {};
  for (const auto& [to, column] :
       {std::pair{&dispatch.start, *columns_.start}, std::pair{&dispatch.end, *columns_.end}}) {
    PERFLAB_TRY(const Time time, read_time(table_->place(line, column), fields[column]));
    *to = time.ns;
    draft.lost_digits = draft.lost_digits || !time.exact;
  }
  return {};
}

Result<Dispatch> DraftBuilder::read_dispatch(Fields fields, std::size_t line, Draft& draft) const {
  Dispatch dispatch;
  PERFLAB_TRY(dispatch.id, whole(fields, line, columns_.dispatch));
  const std::string_view name = without_kd(trimmed(fields[columns_.kernel_name]));
  if (name.empty())
    return fail(ErrorCode::bad_input, fmt::format("{}: line {}: dispatch {} has no kernel name",
                                                  table_->file(), line, dispatch.id));
  dispatch.kernel.name = table_->shared(name);
  PERFLAB_TRY(dispatch.agent, table_->agent(line, columns_.agent, fields[columns_.agent]));
  for (const auto& [to, column] : {std::pair{&dispatch.config.grid[0], columns_.grid},
                                   std::pair{&dispatch.config.workgroup[0], columns_.workgroup},
                                   std::pair{&dispatch.config.lds_bytes, columns_.lds},
                                   std::pair{&dispatch.config.scratch_bytes, columns_.scratch}}) {
    PERFLAB_TRY(const std::int64_t size, whole(fields, line, column));
    if (size > std::numeric_limits<std::uint32_t>::max())
      return bad_field(table_->place(line, column), fields[column],
                       "is more than a dispatch can have");
    *to = static_cast<std::uint32_t>(size);
  }
  for (std::size_t axis = 1; axis < 3; ++axis)
    dispatch.config.grid[axis] = dispatch.config.workgroup[axis] = 1;
  PERFLAB_TRY(dispatch.kernel.id, maybe_whole(fields, line, columns_.kernel_id));
  PERFLAB_TRY(dispatch.kernel.sgprs, maybe_whole(fields, line, columns_.sgprs));
  PERFLAB_TRY(dispatch.kernel.arch_vgprs, maybe_whole(fields, line, columns_.arch_vgprs));
  PERFLAB_TRY(dispatch.kernel.accum_vgprs, maybe_whole(fields, line, columns_.accum_vgprs));
  PERFLAB_TRY(dispatch.queue, maybe_whole(fields, line, columns_.queue));
  PERFLAB_TRY(dispatch.thread, maybe_whole(fields, line, columns_.thread));
  PERFLAB_TRY_VOID(read_times(fields, line, dispatch, draft));
  return dispatch;
}

Result<DraftBuilder::Building*> DraftBuilder::building_of(Fields fields, std::size_t line) {
  const std::string guid(columns_.guid ? trimmed(fields[*columns_.guid]) : std::string_view{});
  PERFLAB_TRY(const auto pid, maybe_whole(fields, line, columns_.process));
  Building& building = building_[{guid, pid.value_or(-1)}];
  if (building_.size() > kMostRecordings)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: holds more than {} recordings (processes, or GUIDs)",
                            table_->file(), kMostRecordings));
  building.draft.guid = guid;
  building.draft.pid = pid;
  return &building;
}

Result<DraftBuilder::Target> DraftBuilder::find_or_add(Building& building, Fields fields,
                                                       std::size_t line) {
  Draft& draft = building.draft;
  PERFLAB_TRY(Dispatch dispatch, read_dispatch(fields, line, draft));
  const auto [known, added] = building.dispatches.try_emplace(
      dispatch.id, static_cast<Index>(draft.dispatches.size()), line);
  if (added) {
    draft.dispatches.push_back(std::move(dispatch));
  } else if (draft.dispatches[known->second.first] != dispatch) {
    return fail(ErrorCode::bad_input,
                fmt::format("{}: dispatch {} of line {} is another one than that of line {}",
                            table_->file(), known->first, line, known->second.second),
                "give the tables of several runs as files of their own");
  }
  return Target{.building = &building, .dispatch = known->second.first, .added = added};
}

Result<DraftBuilder::Target> DraftBuilder::target(Fields fields, std::size_t line) {
  const auto same = [&](std::size_t i) {
    return same_text(last_fields_[i], fields[used_columns_[i]]);
  };
  bool again = !last_fields_.empty();
  for (std::size_t i = 0; again && i < used_columns_.size(); ++i) again = same(i);
  if (again) {
    last_target_.added = false;
    return last_target_;
  }
  PERFLAB_TRY(Building* const building, building_of(fields, line));
  PERFLAB_TRY(last_target_, find_or_add(*building, fields, line));
  if (kind_ == Kind::compute_wide) return last_target_;
  last_fields_.clear();
  for (const std::size_t column : used_columns_) last_fields_.emplace_back(fields[column]);
  return last_target_;
}

std::vector<Draft> DraftBuilder::take() && {
  std::vector<Draft> drafts;
  for (auto& [key, building] : building_) drafts.push_back(std::move(building.draft));
  return drafts;
}

Result<TableRows> read_rows(const ReadBytes& read, std::string_view file, unsigned threads) {
  std::optional<Kind> kind;
  std::unique_ptr<RowReader> reader;
  TableRows found;
  const auto status = for_each_csv_row(
      read, file,
      [&](std::span<const std::string_view> fields, std::size_t line) -> Result<void> {
        if (reader) {
          ++found.rows;
          return reader->row(fields, line);
        }
        kind = kind_of(fields);
        if (!kind) return not_a_table(file);
        PERFLAB_TRY(std::shared_ptr<Table> table, Table::make(fields, file));
        PERFLAB_TRY(reader, *kind == Kind::compute_wide ? wide_reader(std::move(table))
                                                        : long_reader(*kind, std::move(table)));
        return {};
      },
      threads);
  if (!status && !kind) return not_a_table(file);
  if (!status) return std::unexpected(status.error());
  found.kind = *kind;
  found.drafts = reader->take();
  return found;
}

std::vector<Recording> finish_rows(TableRows rows, std::string_view file,
                                   std::shared_ptr<const SystemInfo> machine) {
  std::vector<Recording> recordings;
  for (Draft& draft : rows.drafts) {
    Recording recording = finish_draft(std::move(draft), machine->l2_channels);
    recording.file = file;
    recording.collector = rows.kind == Kind::rocprofv3 ? "rocprofv3" : "rocprof-compute";
    recording.machine = machine;
    recordings.push_back(std::move(recording));
  }
  if (!recordings.empty() && rows.rows > 0) recordings.front().report.rows[kTable] += rows.rows;
  return recordings;
}

}  // namespace perflab::trace::counter_csv
