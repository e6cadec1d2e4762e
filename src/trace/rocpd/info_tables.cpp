// The small tables of a recording: names, processes, agents, queues, streams, code objects, kernel
// symbols, counters. Of the process environment, which can hold a user's secrets, only the
// variables of base/rank_variables.h are kept (docs/facts/rocpd.md "What a reader survives").
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text/json.h"
#include "trace/agent_facts.h"
#include "trace/rank_variables.h"
#include "trace/rocpd/recording_loader.h"

namespace perflab::trace::rocpd {
namespace {

using Columns = std::span<const std::string_view>;

/// A positive integer of a small JSON text.
std::optional<std::int64_t> positive_in_text(std::string_view extdata, const char* key) {
  if (extdata.size() > (1 << 20)) return std::nullopt;
  const auto parsed = parse_json(extdata, "extdata");
  if (!parsed || !parsed->is_object()) return std::nullopt;
  return json_positive(*parsed, key);
}

/// Hardware figures come from extdata (docs/facts/rocpd.md "Agents").
AgentFacts facts_of_extdata(std::string_view extdata) {
  if (extdata.size() > (1 << 20)) return {};
  const auto parsed = parse_json(extdata, "extdata");
  return parsed && parsed->is_object() ? agent_facts(*parsed) : AgentFacts{};
}

/// The name of a kernel that the recording has none for.
std::string nameless_kernel(std::int64_t id) {
  return fmt::format("kernel {}", id);
}

/// How rocm-perf-record names its database's maker and a CUDA context's default stream.
constexpr std::string_view kRecorder = "rocm-perf-record";
constexpr std::string_view kNullStream = "Default Stream";

/// What rocm-perf-record says of the recording itself, in the process's extdata; a text of others
/// changes nothing. False: it names a platform that this version does not know.
bool read_recorder_facts(std::string_view extdata, Source& source) {
  if (extdata.size() > (1 << 20) || extdata.find(kRecorder) == std::string_view::npos) return true;
  const auto parsed = parse_json(extdata, "extdata");
  if (!parsed || !parsed->is_object()) return true;
  const auto text = [&](const char* key) { return json_text(*parsed, key); };
  if (text("collector") != kRecorder) return true;
  source.collector = kRecorder;
  const std::string platform = text("platform");
  if (platform == "cuda") source.platform = Platform::cuda;
  const auto complete = parsed->find("complete");
  source.complete = complete == parsed->end() || !complete->is_boolean() || complete->get<bool>();
  source.lost_records =
      std::max<std::int64_t>(json_integer(*parsed, "dropped_records").value_or(0), 0);
  source.second_client = text("second_client");
  if (const auto counters = parsed->find("counters");
      counters != parsed->end() && counters->is_object()) {
    source.counter_problem = json_text(*counters, "reason");
    source.counter_remedy = json_text(*counters, "remedy");
    const auto skipped = counters->find("skipped");
    if (skipped != counters->end() && skipped->is_object())
      for (const auto& [why, launches] : skipped->items())
        if (const auto many = json_positive(*skipped, why.c_str())) source.not_counted[why] = *many;
  }
  return platform == "cuda" || platform == "amd";
}

/// Environments are small: what is larger than this is damage.
constexpr std::size_t kMostEnvironment = 8 << 20;

/// Which rank the process is, by its environment: an object of texts. Of all variables only those
/// of base/rank_variables.h leave this function, as numbers.
RankFacts rank_facts(std::string_view environment) {
  if (environment.size() <= 2 || environment.size() > kMostEnvironment) return {};
  const auto parsed = parse_json(environment, "environment");
  if (!parsed || !parsed->is_object()) return {};
  return rank_of([&](std::string_view name) -> std::optional<std::string> {
    const auto variable = parsed->find(name);
    if (variable == parsed->end()) return std::nullopt;
    if (variable->is_string()) return variable->get<std::string>();
    if (variable->is_number_integer()) return variable->dump();
    return std::nullopt;
  });
}

/// Names of one range of rows.
struct StringChunk {
  std::vector<std::pair<std::int64_t, std::size_t>> rows;  ///< id, where its text ends
  std::string texts;                                       ///< behind each other
  std::uint64_t read = 0;

  void clear() {
    rows.clear();
    texts.clear();
    read = 0;
  }
};

}  // namespace

Result<void> RecordingLoader::each(std::string_view base, Columns columns,
                                   const std::function<void(const Statement&)>& visit) {
  std::uint64_t rows = 0;
  PERFLAB_TRY_VOID(
      for_each_row(file_, set_.find(base), filter_, columns, [&](const Statement& row) {
        ++rows;
        visit(row);
      }));
  if (rows > 0) trace_.report.rows[std::string(base)] += rows;
  return {};
}

void RecordingLoader::dropped(std::string_view table, std::string_view reason, std::uint64_t many) {
  count(trace_.report.dropped, {std::string(table), std::string(reason)}, many);
}

void RecordingLoader::odd(std::string_view table, std::string_view reason, std::uint64_t many) {
  count(trace_.report.odd, {std::string(table), std::string(reason)}, many);
}

void RecordingLoader::left_out(std::string_view table, const LeftOut& rows) {
  const bool timed_sizes = table == "kernel_dispatch";
  if (!part_.is_all())
    return dropped(table, kOutsideOfPart, rows.unfinished + rows.malformed + rows.outside);
  dropped(table, "unfinished: no start time, or its end is before its start", rows.unfinished);
  dropped(table,
          timed_sizes ? "a time, kernel id or size is missing or no number"
                      : "a time or size is missing or no number",
          rows.malformed);
}

void RecordingLoader::find_wanted_kernels(std::size_t first_symbol) {
  if (!part_.kernel) return;
  for (std::size_t i = first_symbol; i < trace_.kernel_symbols.size(); ++i) {
    const KernelSymbol& symbol = trace_.kernel_symbols[i];
    wanted_kernels_.emplace_back(symbol.id,
                                 part_.kernel->found_in(trace_.strings.view(symbol.name)));
  }
  // Of an id that repeats the last row counts, as for kernels_.
  std::ranges::stable_sort(wanted_kernels_, {}, &std::pair<std::int64_t, bool>::first);
}

bool RecordingLoader::is_wanted_kernel(std::int64_t id) const {
  if (!part_.kernel) return true;
  const auto behind =
      std::ranges::upper_bound(wanted_kernels_, id, {}, &std::pair<std::int64_t, bool>::first);
  if (behind != wanted_kernels_.begin() && std::prev(behind)->first == id)
    return std::prev(behind)->second;
  return part_.kernel->found_in(nameless_kernel(id));
}

Index RecordingLoader::string_of(std::optional<std::int64_t> id) const {
  const Index index = strings_.find(id);
  return index == kNone ? 0 : index;
}

Index RecordingLoader::thread_of(std::optional<std::int64_t> id) {
  if (!id) return kNone;
  // Rows of one thread follow each other.
  if (last_thread_.second != kNone && last_thread_.first == *id) return last_thread_.second;
  Index thread = threads_.find(*id);
  if (thread == kNone) {
    thread = static_cast<Index>(trace_.threads.size());
    threads_.set(*id, thread);
    trace_.threads.push_back({.process = default_process_, .tid = *id});
  }
  last_thread_ = {*id, thread};
  return thread;
}

Index RecordingLoader::kernel_of(std::int64_t id) {
  const Index known = kernels_.find(id);
  if (known != kNone) return known;
  KernelSymbol symbol;
  symbol.source = source_;
  symbol.id = id;
  symbol.name = trace_.strings.intern(nameless_kernel(id));
  const auto index = static_cast<Index>(trace_.kernel_symbols.size());
  trace_.kernel_symbols.push_back(symbol);
  kernels_.set(id, index);
  return index;
}

Result<void> RecordingLoader::load() {
  first_stream_ = static_cast<Index>(trace_.streams.size());
  PERFLAB_TRY_VOID(load_strings());
  PERFLAB_TRY_VOID(load_processes());
  PERFLAB_TRY_VOID(load_threads());
  PERFLAB_TRY_VOID(load_agents());
  PERFLAB_TRY_VOID(load_queues_and_streams());
  PERFLAB_TRY_VOID(load_code_objects());
  PERFLAB_TRY_VOID(load_kernel_symbols());
  PERFLAB_TRY_VOID(load_counter_infos());
  PERFLAB_TRY(events_, read_events(file_, set_, filter_, trace_.report));
  if (state_.stack_base + events_.stack_limit > 0xFFFF'FFFE)
    return fail(
        ErrorCode::bad_input,
        fmt::format("{}: more than 4 billion correlation ids over all inputs", file_.path()),
        "analyze the databases one by one");
  if (part_.kernel) launching_.resize(events_.stack_limit);
  first_dispatch_ = trace_.dispatches.size();
  first_copy_ = trace_.copies.size();
  PERFLAB_TRY_VOID(load_dispatches());
  prepare_wanted_regions();
  PERFLAB_TRY_VOID(load_regions());
  PERFLAB_TRY_VOID(load_copies());
  PERFLAB_TRY_VOID(load_allocations());
  PERFLAB_TRY_VOID(load_call_arguments());
  PERFLAB_TRY_VOID(load_range_texts());
  wanted_.clear();
  PERFLAB_TRY_VOID(load_counters());
  state_.stack_base += events_.stack_limit;
  return {};
}

Result<void> RecordingLoader::load_strings() {
  const Table* table = set_.find("string");
  if (table == nullptr) return {};
  constexpr std::array<std::string_view, 2> kColumns = {"id", "string"};
  const auto decode = [](const auto& row, StringChunk& chunk) {
    ++chunk.read;
    std::int64_t id = 0;
    if (!row.integer(0, id)) return;
    chunk.texts += row.text(1);
    chunk.rows.emplace_back(id, chunk.texts.size());
  };
  const auto commit = [&](const StringChunk& chunk) {
    std::size_t begin = 0;
    for (const auto& [id, end] : chunk.rows) {
      const std::string_view text(chunk.texts.data() + begin, end - begin);
      strings_.set(id, trace_.strings.intern(text));
      begin = end;
    }
    if (chunk.read > 0) trace_.report.rows["string"] += chunk.read;
  };
  return scan<StringChunk>(file_, *table, filter_, kColumns, decode, commit);
}

Result<void> RecordingLoader::load_processes() {
  constexpr std::array<std::string_view, 4> kNodeColumns = {"id", "hash", "machine_id", "hostname"};
  PERFLAB_TRY_VOID(each("info_node", kNodeColumns, [&](const Statement& row) {
    const Node node{.machine_id = std::string(row.text(2)),
                    .hash = row.integer(1).value_or(0),
                    .hostname = std::string(row.text(3))};
    const auto [same, added] = state_.nodes.try_emplace(std::pair{node.hash, node.machine_id},
                                                        static_cast<Index>(trace_.nodes.size()));
    nodes_.set(row.integer(0).value_or(0), same->second);
    if (added) trace_.nodes.push_back(node);
  }));
  constexpr std::array<std::string_view, 8> kColumns = {"id",    "nid", "pid",     "command",
                                                        "start", "end", "extdata", "environment"};
  PERFLAB_TRY_VOID(each("info_process", kColumns, [&](const Statement& row) {
    const auto index = static_cast<Index>(trace_.processes.size());
    if (!read_recorder_facts(row.text(6), trace_.sources[source_]))
      odd("info_process", "recorded on a platform that this version does not know", 1);
    processes_.set(row.integer(0).value_or(0), index);
    if (default_process_ == kNone) default_process_ = index;
    trace_.processes.push_back({.source = source_,
                                .node = nodes_.find(row.integer(1)),
                                .pid = row.integer(2).value_or(0),
                                .command = std::string(row.text(3)),
                                .start = row.integer(4),
                                .end = row.integer(5),
                                .rank = rank_facts(row.text(7))});
  }));
  if (default_process_ != kNone) return {};
  // Rows need an owner even when the process table is missing or empty.
  default_process_ = static_cast<Index>(trace_.processes.size());
  trace_.processes.push_back(
      {.source = source_, .node = kNone, .pid = 0, .command = {}, .start = {}, .end = {}});
  odd("info_process", "recording without a process row", 1);
  return {};
}

Result<void> RecordingLoader::load_threads() {
  constexpr std::array<std::string_view, 3> kColumns = {"id", "pid", "tid"};
  return each("info_thread", kColumns, [&](const Statement& row) {
    const Index process = processes_.find(row.integer(1));
    threads_.set(row.integer(0).value_or(0), static_cast<Index>(trace_.threads.size()));
    trace_.threads.push_back({.process = process == kNone ? default_process_ : process,
                              .tid = row.integer(2).value_or(0)});
  });
}

Result<void> RecordingLoader::load_agents() {
  constexpr std::array<std::string_view, 9> kColumns = {
      "id",           "nid",        "type", "absolute_index", "name",
      "product_name", "model_name", "uuid", "extdata"};
  return each("info_agent", kColumns, [&](const Statement& row) {
    Agent agent;
    agent.id = row.integer(0).value_or(0);
    agent.node = nodes_.find(row.integer(1));
    agent.type = row.text(2);
    agent.absolute_index = row.integer(3).value_or(agent.id);
    agent.name = row.text(4);
    agent.product = row.text(5);
    agent.model = row.text(6);
    agent.uuid = row.integer(7).value_or(0);
    agent.facts = facts_of_extdata(row.text(8));
    // The same device, seen by another process of the node.
    const auto [same, added] = state_.agents.try_emplace(
        std::tuple{agent.node, agent.id, agent.type, agent.name, agent.product},
        static_cast<Index>(trace_.agents.size()));
    agents_.set(agent.id, same->second);
    if (added) trace_.agents.push_back(std::move(agent));
  });
}

Result<void> RecordingLoader::load_queues_and_streams() {
  constexpr std::array<std::string_view, 2> kColumns = {"id", "name"};
  PERFLAB_TRY_VOID(each("info_queue", kColumns, [&](const Statement& row) {
    const std::int64_t id = row.integer(0).value_or(0);
    queues_.set(id, static_cast<Index>(trace_.queues.size()));
    trace_.queues.push_back({.source = source_, .id = id, .name = std::string(row.text(1))});
  }));
  const bool is_cuda = trace_.sources[source_].platform == Platform::cuda;
  return each("info_stream", kColumns, [&](const Statement& row) {
    const std::int64_t id = row.integer(0).value_or(0);
    streams_.set(id, static_cast<Index>(trace_.streams.size()));
    trace_.streams.push_back(
        {.source = source_,
         .id = id,
         .name = std::string(row.text(1)),
         .null_stream = is_cuda ? std::optional(row.text(1) == kNullStream) : std::nullopt});
  });
}

Result<void> RecordingLoader::load_code_objects() {
  constexpr std::array<std::string_view, 7> kColumns = {
      "id", "agent_id", "uri", "load_base", "load_size", "load_delta", "extdata"};
  return each("info_code_object", kColumns, [&](const Statement& row) {
    CodeObject object;
    object.source = source_;
    object.id = row.integer(0).value_or(0);
    object.agent = agents_.find(row.integer(1));
    object.uri = row.text(2);
    object.load_base = static_cast<std::uint64_t>(row.integer(3).value_or(0));
    object.load_size = static_cast<std::uint64_t>(row.integer(4).value_or(0));
    object.load_delta = row.integer(5);
    object.file_bytes = positive_in_text(row.text(6), "memory_size");
    code_objects_.set(object.id, static_cast<Index>(trace_.code_objects.size()));
    trace_.code_objects.push_back(std::move(object));
  });
}

Result<void> RecordingLoader::load_kernel_symbols() {
  constexpr std::array<std::string_view, 11> kColumns = {"id",
                                                         "code_object_id",
                                                         "kernel_name",
                                                         "display_name",
                                                         "group_segment_size",
                                                         "private_segment_size",
                                                         "kernarg_segment_size",
                                                         "sgpr_count",
                                                         "arch_vgpr_count",
                                                         "accum_vgpr_count",
                                                         "kernel_object"};
  const std::size_t first = trace_.kernel_symbols.size();
  std::uint64_t negative = 0;
  PERFLAB_TRY_VOID(each("info_kernel_symbol", kColumns, [&](const Statement& row) {
    KernelSymbol symbol;
    symbol.source = source_;
    symbol.id = row.integer(0).value_or(0);
    symbol.known = true;
    symbol.code_object = code_objects_.find(row.integer(1));
    const std::string_view mangled = without_kd(row.text(2));
    symbol.mangled_name = trace_.strings.intern(mangled);
    const std::string_view display = without_kd(row.text(3));
    symbol.name =
        trace_.strings.intern(!display.empty()   ? display
                              : !mangled.empty() ? mangled
                                                 : std::string_view(nameless_kernel(symbol.id)));
    int column = 4;
    for (auto* size :
         {&symbol.static_lds_bytes, &symbol.scratch_bytes_per_lane, &symbol.kernarg_bytes,
          &symbol.sgprs, &symbol.arch_vgprs, &symbol.accum_vgprs}) {
      *size = row.integer(column++);
      if (size->value_or(0) >= 0) continue;
      size->reset();
      ++negative;
    }
    symbol.descriptor_address = row.integer(column);
    kernels_.set(symbol.id, static_cast<Index>(trace_.kernel_symbols.size()));
    trace_.kernel_symbols.push_back(symbol);
  }));
  odd("info_kernel_symbol", "a register count or size below 0: taken as missing", negative);
  mark_runtime_code_objects(first);
  find_wanted_kernels(first);
  return {};
}

void RecordingLoader::mark_runtime_code_objects(std::size_t first_symbol) {
  for (std::size_t i = first_symbol; i < trace_.kernel_symbols.size(); ++i) {
    const KernelSymbol& symbol = trace_.kernel_symbols[i];
    if (symbol.code_object != kNone &&
        trace_.strings.view(symbol.name).starts_with("__amd_rocclr_"))
      trace_.code_objects[symbol.code_object].of_runtime = true;
  }
}

Result<void> RecordingLoader::load_counter_infos() {
  const Table* values = set_.find("pmc_event");
  if (values == nullptr || (values->has_rowid && values->max_rowid < values->min_rowid)) return {};
  constexpr std::array<std::string_view, 6> kColumns = {"id",    "name",        "block",
                                                        "units", "description", "is_derived"};
  return each("info_pmc", kColumns, [&](const Statement& row) {
    const std::int64_t id = row.integer(0).value_or(0);
    const Index name = trace_.strings.intern(row.text(1));
    // The same counter of another recording, or of another agent of this one.
    const auto [same, added] =
        state_.counter_by_name.try_emplace(name, static_cast<Index>(trace_.counter_infos.size()));
    counters_.set(id, same->second);
    if (added)
      trace_.counter_infos.push_back({.name = name,
                                      .block = std::string(row.text(2)),
                                      .units = std::string(row.text(3)),
                                      .description = std::string(row.text(4)),
                                      .derived = row.integer(5).value_or(0) != 0});
  });
}

}  // namespace perflab::trace::rocpd
