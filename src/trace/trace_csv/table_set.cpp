// Rows of the tables, with the columns of every version (docs/facts/rocprofv3_outputs.md "CSV").
#include "trace/trace_csv/table_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text/numbers.h"
#include "trace/agent_facts.h"
#include "trace/api_calls.h"
#include "trace/rank_variables.h"

namespace perflab::trace::trace_csv {
namespace {

/// A size that must fit 32 bits; nothing in the field is 0.
bool read_size_field(const Row& row, std::size_t column, std::uint32_t& out) {
  if (row.text(column).empty()) return true;
  const auto value = row.number(column);
  if (!value || *value > std::numeric_limits<std::uint32_t>::max()) return false;
  out = static_cast<std::uint32_t>(*value);
  return true;
}

}  // namespace

SetLoader::SetLoader(LoadState& state, std::string file, std::size_t expected_calls)
    : state_(state),
      trace_(state.trace),
      rows_(state,
            Source{.file = file,
                   .guid = {},
                   .schema_version = {},
                   .collector = "rocprofv3",
                   .synthetic = {},
                   .pass = pass_of(file)},
            Process{}, expected_calls),
      first_dispatch_(state.trace.dispatches.size()),
      first_region_(state.trace.regions.size()) {}

Result<void> SetLoader::one_process(std::optional<std::int64_t> pid, std::string_view guid,
                                    std::string_view file) {
  if (guid_.empty()) guid_ = guid;
  if (!pid_) pid_ = pid;
  if ((guid.empty() || guid == guid_) && (!pid || pid == pid_)) return {};
  return fail(ErrorCode::bad_input, fmt::format("{}: holds rows of several processes", file),
              "give the databases that the table was made of");
}

Index SetLoader::add_agent(Agent agent) {
  const auto same = std::ranges::find(trace_.agents, agent);
  const auto index = static_cast<Index>(same - trace_.agents.begin());
  if (same == trace_.agents.end()) trace_.agents.push_back(std::move(agent));
  return index;
}

Result<void> SetLoader::agents(std::string_view text, std::string_view file) {
  PERFLAB_TRY(machine_, counter_csv::read_agent_info(text, file));
  for (counter_csv::MachineAgent& each : machine_.agents) {
    each.agent.uuid = each.agent.facts.device_id.value_or(0);
    add_agent(each.agent);
  }
  return {};
}

Index SetLoader::agent_of(std::string_view label, std::string_view type_if_new) {
  if (label.empty()) return kNone;
  const auto known = agents_.find(label);
  if (known != agents_.end()) return known->second;
  const std::size_t blank = label.find(' ');
  const std::string_view word = blank == label.npos ? std::string_view{} : label.substr(0, blank);
  const auto number =
      whole_number<std::int64_t>(blank == label.npos ? label : label.substr(blank + 1));
  if (!number || *number < 0 ||
      (!word.empty() && word != "Agent" && word != "GPU" && word != "CPU"))
    return kNone;
  const counter_csv::MachineAgent* found = nullptr;
  const bool by_type = word == "GPU" || word == "CPU";
  std::int64_t left = *number;
  for (const auto& each : machine_.agents) {
    const bool hit = by_type ? each.agent.type == word && left-- == 0
                             : each.logical_node_id.value_or(-1) == *number;
    if (hit && found == nullptr) found = &each;
  }
  if (found == nullptr && !by_type)
    for (const auto& each : machine_.agents)
      if (each.node_id == number) found = &each;
  Agent agent;
  if (found != nullptr) {
    agent = found->agent;
  } else {
    agent.type = by_type ? word : type_if_new;
    agent.id = agent.absolute_index = *number;
  }
  const Index index = add_agent(std::move(agent));
  agents_.emplace(label, index);
  return index;
}

void SetLoader::add_kernels(const std::vector<KernelFacts>& found) {
  // In the order of what is said of them, not of the rows.
  std::map<KernelFacts, std::int64_t> added;
  for (const KernelFacts& kernel : found)
    if (!kernel_ids_.contains(kernel)) added.emplace(kernel, 0);
  std::vector<KernelFacts> order;
  for (const auto& [kernel, id] : added) order.push_back(kernel);
  std::ranges::sort(order, [&](const KernelFacts& a, const KernelFacts& b) {
    const std::string_view a_name = trace_.strings.view(a.name),
                           b_name = trace_.strings.view(b.name);
    return std::tie(a.id, a_name, a.sgprs, a.arch_vgprs, a.accum_vgprs) <
           std::tie(b.id, b_name, b.sgprs, b.arch_vgprs, b.accum_vgprs);
  });
  std::int64_t next = -1;  // of a kernel without an id, or one whose id has two names
  for (const KernelFacts& kernel : order) {
    KernelSymbol symbol;
    while (rows_.has_kernel(next)) --next;
    symbol.id = kernel.id && !rows_.has_kernel(*kernel.id) ? *kernel.id : next;
    symbol.known = true;
    symbol.name = kernel.name;
    // rocprofv3 writes names demangled unless asked not to.
    if (trace_.strings.view(kernel.name).starts_with("_Z")) symbol.mangled_name = kernel.name;
    symbol.sgprs = kernel.sgprs;
    symbol.arch_vgprs = kernel.arch_vgprs;
    symbol.accum_vgprs = kernel.accum_vgprs;
    kernel_ids_.emplace(kernel, symbol.id);
    rows_.add_kernel(std::move(symbol));
  }
}

Result<void> SetLoader::kernels(std::string_view text, std::string_view file) {
  enum : std::size_t {
    guid,
    pid,
    agent,
    queue,
    stream,
    thread,
    number,
    kernel,
    name,
    correlation,
    start,
    end,
    lds,
    static_lds,
    scratch,
    vgprs,
    accum,
    sgprs,
    wx,
    wy,
    wz,
    gx,
    gy,
    gz,
    count_of_columns
  };
  const std::array<Wanted, count_of_columns> wanted = {{
      {{"Guid"}},
      {{"Process_Id", "Pid"}},
      {{"Agent_Id"}, true},
      {{"Queue_Id"}},
      {{"Stream_Id"}},
      {{"Thread_Id", "Tid"}},
      {{"Dispatch_Id"}},
      {{"Kernel_Id"}},
      {{"Kernel_Name"}, true},
      {{"Correlation_Id"}},
      {{"Start_Timestamp"}, true},
      {{"End_Timestamp"}, true},
      {{"Group_Segment_Size"}},
      {{"LDS_Block_Size"}},
      {{"Scratch_Size", "Private_Segment_Size"}},
      {{"VGPR_Count", "Arch_VGPR_Count"}},
      {{"Accum_VGPR_Count"}},
      {{"SGPR_Count"}},
      {{"Workgroup_Size_X"}, true},
      {{"Workgroup_Size_Y"}, true},
      {{"Workgroup_Size_Z"}, true},
      {{"Grid_Size_X"}, true},
      {{"Grid_Size_Y"}, true},
      {{"Grid_Size_Z"}, true},
  }};
  std::vector<Pending> pending;
  const auto take = [&](const Row& row) -> Result<void> {
    PERFLAB_TRY_VOID(one_process(row.number(pid), row.text(guid), file));
    Pending one;
    const auto begin = row.number(start), until = row.number(end);
    LaunchConfig& config = one.row.config;
    // LDS_Block_Size is the kernel's static part. `rocpd convert` gives that name to the whole of
    // the dispatch; its tables have a Guid.
    const bool whole_lds = !row.text(lds).empty() || !row.text(guid).empty();
    if (!whole_lds) trace_.sources[rows_.source()].lds_known = false;
    const std::size_t lds_column = row.text(lds).empty() ? static_lds : lds;
    bool good = begin && until && read_size_field(row, lds_column, config.lds_bytes) &&
                read_size_field(row, scratch, config.scratch_bytes);
    for (std::size_t axis = 0; axis < 3; ++axis)
      good = good && read_size_field(row, wx + axis, config.workgroup[axis]) &&
             read_size_field(row, gx + axis, config.grid[axis]);
    if (!good) {
      rows_.malformed("kernel_dispatch");
      return {};
    }
    one.row.start = *begin;
    one.row.end = *until;
    note_time(*begin);
    one.row.dispatch_id = row.number(number).value_or(0);
    one.row.agent = agent_of(row.text(agent), "GPU");
    one.row.queue = row.number(queue);
    one.row.stream = row.number(stream);
    one.row.thread = row.number(thread);
    one.row.correlation = row.whole(correlation).value_or(0);
    one.kernel = {.id = row.number(kernel),
                  .name = trace_.strings.intern(without_kd(row.text(name))),
                  .sgprs = row.number(sgprs),
                  .arch_vgprs = row.number(vgprs),
                  .accum_vgprs = row.number(accum)};
    pending.push_back(std::move(one));
    return {};
  };
  PERFLAB_TRY_VOID(for_each_row(text, file, wanted, take));
  std::vector<KernelFacts> found;
  for (const Pending& one : pending)
    if (found.empty() || found.back() != one.kernel) found.push_back(one.kernel);
  add_kernels(found);
  for (Pending& one : pending) {
    one.row.kernel = kernel_ids_.at(one.kernel);
    rows_.dispatch(one.row);
  }
  return {};
}

Result<void> SetLoader::calls(std::string_view text, std::string_view file) {
  enum : std::size_t { guid, pid, thread, domain, name, correlation, start, end, count_of_columns };
  const std::array<Wanted, count_of_columns> wanted = {{
      {{"Guid"}},
      {{"Process_Id", "Pid"}},
      {{"Thread_Id", "Tid"}},
      {{"Domain", "Kind"}, true},
      {{"Function", "Name"}, true},
      {{"Correlation_Id"}},
      {{"Start_Timestamp"}, true},
      {{"End_Timestamp"}, true},
  }};
  return for_each_row(text, file, wanted, [&](const Row& row) -> Result<void> {
    PERFLAB_TRY_VOID(one_process(row.number(pid), row.text(guid), file));
    const auto begin = row.number(start), until = row.number(end);
    if (!begin || !until) {
      rows_.malformed("region");
      return {};
    }
    note_time(*begin);
    const Index category = trace_.strings.intern(row.text(domain));
    // Of ranges the table has the user's text in the place of the function. Of other calls of
    // roctx, such as pauses, it has the function.
    const bool range = row.text(domain).starts_with("MARKER_CORE");
    const Index region =
        rows_.call({.start = *begin,
                    .end = *until,
                    .name = range ? category : trace_.strings.intern(row.text(name)),
                    .category = category,
                    .thread = row.number(thread),
                    .correlation = row.whole(correlation).value_or(0)});
    if (range) rows_.message(region, row.text(name));
    return {};
  });
}

Result<void> SetLoader::copies(std::string_view text, std::string_view file) {
  enum : std::size_t {
    guid,
    pid,
    thread,
    direction,
    stream,
    source,
    destination,
    correlation,
    start,
    end,
    bytes,
    count_of_columns
  };
  const std::array<Wanted, count_of_columns> wanted = {{
      {{"Guid"}},
      {{"Process_Id", "Pid"}},
      {{"Thread_Id", "Tid"}},
      {{"Direction", "Operation"}, true},
      {{"Stream_Id"}},
      {{"Source_Agent_Id"}},
      {{"Destination_Agent_Id"}},
      {{"Correlation_Id"}},
      {{"Start_Timestamp"}, true},
      {{"End_Timestamp"}, true},
      {{"Size", "Bytes"}},
  }};
  return for_each_row(text, file, wanted, [&](const Row& row) -> Result<void> {
    PERFLAB_TRY_VOID(one_process(row.number(pid), row.text(guid), file));
    const auto begin = row.number(start), until = row.number(end);
    if (!begin || !until) {
      rows_.malformed("memory_copy");
      return {};
    }
    note_time(*begin);
    const auto size = row.number(bytes);
    if (!size) {
      trace_.sources[rows_.source()].copy_sizes_known = false;
      count(trace_.report.odd, {"memory_copy", "the table has no sizes of copies"}, 1);
    }
    // Versions before "MEMORY_COPY_" wrote the direction alone.
    std::string kind(row.text(direction));
    if (!kind.starts_with("MEMORY_COPY_")) kind = "MEMORY_COPY_" + kind;
    rows_.copy({.start = *begin,
                .end = *until,
                .bytes = size.value_or(0),
                .kind = trace_.strings.intern(kind),
                .source = agent_of(row.text(source), "UNK"),
                .destination = agent_of(row.text(destination), "UNK"),
                .stream = row.number(stream),
                .thread = row.number(thread),
                .correlation = row.whole(correlation).value_or(0)});
    return {};
  });
}

Result<void> SetLoader::allocations(std::string_view text, std::string_view file) {
  enum : std::size_t { guid, pid, operation, agent, size, address, start, end, count_of_columns };
  const std::array<Wanted, count_of_columns> wanted = {{
      {{"Guid"}},
      {{"Process_Id", "Pid"}},
      {{"Operation"}, true},
      {{"Agent_Id"}},
      {{"Allocation_Size"}, true},
      {{"Address"}},
      {{"Start_Timestamp"}, true},
      {{"End_Timestamp"}, true},
  }};
  return for_each_row(text, file, wanted, [&](const Row& row) -> Result<void> {
    PERFLAB_TRY_VOID(one_process(row.number(pid), row.text(guid), file));
    const auto begin = row.number(start), until = row.number(end), bytes = row.number(size);
    if (!begin || !until || !bytes) {
      rows_.malformed("memory_allocate");
      return {};
    }
    note_time(*begin);
    rows_.allocation({.start = *begin,
                      .end = *until,
                      .bytes = *bytes,
                      .address = row.whole(address).value_or(0),
                      .agent = agent_of(row.text(agent), "UNK")},
                     row.text(operation));
    return {};
  });
}

void SetLoader::counters(const counter_csv::Recording& recording) {
  const counter_csv::Content& content = recording.content;
  Source& source = trace_.sources[rows_.source()];
  source.times_known = source.times_known && content.times_known;
  if (!pid_) pid_ = content.pid;
  const auto facts = [&](const counter_csv::KernelKey& kernel) {
    return KernelFacts{.id = kernel.id,
                       .name = trace_.strings.intern(kernel.name.view()),
                       .sgprs = kernel.sgprs,
                       .arch_vgprs = kernel.arch_vgprs,
                       .accum_vgprs = kernel.accum_vgprs};
  };
  std::vector<const counter_csv::Dispatch*> unknown;
  std::vector<KernelFacts> kernels_found;
  for (const counter_csv::Dispatch& dispatch : content.dispatches)
    if (!rows_.has_dispatch(dispatch.id)) {
      unknown.push_back(&dispatch);
      kernels_found.push_back(facts(dispatch.kernel));
    }
  add_kernels(kernels_found);
  for (const counter_csv::Dispatch* dispatch : unknown) {
    // Only counted: this table has products of sizes.
    source.flat_sizes = true;
    note_time(dispatch->start);
    rows_.counted_dispatch(
        {.start = dispatch->start,
         .end = dispatch->end,
         .dispatch_id = dispatch->id,
         .kernel = kernel_ids_.at(facts(dispatch->kernel)),
         .agent = agent_of(fmt::format("{} {}", dispatch->agent.among_gpus ? "GPU" : "Agent",
                                       dispatch->agent.number),
                           "GPU"),
         .queue = dispatch->queue,
         .stream = std::nullopt,
         .thread = dispatch->thread,
         .config = dispatch->config,
         .correlation = 0});
  }
  std::vector<Index> counters;
  for (const std::string& name : content.counters) counters.push_back(state_.counter(name));
  for (const counter_csv::Value& value : content.values)
    rows_.counter(content.dispatches[value.dispatch].id, counters[value.counter], value.instances,
                  value.sum, value.min, value.max);
  for (const auto& [key, many] : recording.report.dropped) count(trace_.report.dropped, key, many);
  for (const auto& [key, many] : recording.report.odd) count(trace_.report.odd, key, many);
}

Result<void> SetLoader::finish_set() {
  Source& source = trace_.sources[rows_.source()];
  trace_.processes[rows_.process()].pid = pid_.value_or(0);
  trace_.processes[rows_.process()].rank = rank_of_name(source.file);  // tables have no environment
  // Without a guid: what tells recordings apart, whatever order the rows have.
  source.guid = !guid_.empty() ? guid_
                               : fmt::format("{}-{}-{}-{}", pid_.value_or(0), first_start_,
                                             trace_.dispatches.size() - first_dispatch_,
                                             trace_.regions.size() - first_region_);
  if (!state_.recordings.insert(source.guid).second)
    return given_twice(source.file, source.guid, "name every recording once");
  return rows_.finish_recording(counter_csv::kTable);
}

}  // namespace perflab::trace::trace_csv
