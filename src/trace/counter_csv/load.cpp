// Recordings of tables into the columns of the Trace.
#include <algorithm>
#include <map>

#include "trace/counter_csv/read_counter_csv.h"
#include "trace/counter_csv/refuse_repeats.h"

namespace perflab::trace::counter_csv {
namespace {

/// Appends one recording. Use once.
class Loader {
 public:
  Loader(LoadState& state, const Recording& recording)
      : state_(state), trace_(state.trace), recording_(recording) {}

  void run() {
    const Content& content = recording_.content;
    source_ = static_cast<Index>(trace_.sources.size());
    trace_.sources.push_back({.file = recording_.file,
                              .guid = recording_.guid,
                              .schema_version = {},
                              .collector = recording_.collector,
                              .synthetic = {},
                              .pass = pass_of(recording_.file),
                              .counter_table = true,
                              .flat_sizes = true,
                              .times_known = content.times_known});
    process_ = static_cast<Index>(trace_.processes.size());
    trace_.processes.push_back({.source = source_,
                                .node = kNone,
                                .pid = content.pid.value_or(0),
                                .command = {},
                                .start = {},
                                .end = {}});
    add_kernels();
    const std::size_t first = trace_.dispatches.size();
    for (const Dispatch& dispatch : content.dispatches) add_dispatch(dispatch);
    add_values(static_cast<Index>(first));
    for (const auto& [key, many] : recording_.report.dropped)
      count(trace_.report.dropped, key, many);
    for (const auto& [key, many] : recording_.report.odd) count(trace_.report.odd, key, many);
    for (const auto& [table, many] : recording_.report.rows) trace_.report.rows[table] += many;
  }

 private:
  /// Kernels in the order of what the table says about them, not of the rows.
  void add_kernels() {
    for (const Dispatch& dispatch : recording_.content.dispatches)
      kernels_.try_emplace(dispatch.kernel, kNone);
    std::int64_t number = 0;
    for (auto& [kernel, index] : kernels_) {
      index = static_cast<Index>(trace_.kernel_symbols.size());
      KernelSymbol symbol;
      symbol.source = source_;
      symbol.id = kernel.id.value_or(number++);
      symbol.known = true;
      symbol.name = trace_.strings.intern(kernel.name.view());
      // rocprofv3 writes names demangled unless asked not to.
      if (kernel.name.view().starts_with("_Z")) symbol.mangled_name = symbol.name;
      symbol.sgprs = kernel.sgprs;
      symbol.arch_vgprs = kernel.arch_vgprs;
      symbol.accum_vgprs = kernel.accum_vgprs;
      trace_.kernel_symbols.push_back(symbol);
    }
  }

  Index agent(const AgentLabel& label) {
    const auto [known, added] = agents_.try_emplace(label, kNone);
    if (!added) return known->second;
    Agent found = agent_of(*recording_.machine, label);
    const auto same = std::ranges::find(trace_.agents, found);
    known->second = static_cast<Index>(same - trace_.agents.begin());
    if (same == trace_.agents.end()) trace_.agents.push_back(std::move(found));
    return known->second;
  }

  Index queue(std::optional<std::int64_t> id) {
    if (!id) return kNone;
    const auto [known, added] = queues_.try_emplace(*id, static_cast<Index>(trace_.queues.size()));
    if (added) trace_.queues.push_back({.source = source_, .id = *id, .name = {}});
    return known->second;
  }

  Index thread(std::optional<std::int64_t> id) {
    if (!id) return kNone;
    const auto [known, added] =
        threads_.try_emplace(*id, static_cast<Index>(trace_.threads.size()));
    if (added) trace_.threads.push_back({.process = process_, .tid = *id});
    return known->second;
  }

  void add_dispatch(const Dispatch& dispatch) {
    DispatchColumns& all = trace_.dispatches;
    all.start.push_back(dispatch.start);
    all.end.push_back(dispatch.end);
    all.dispatch_id.push_back(dispatch.id);
    all.kernel.push_back(kernels_.at(dispatch.kernel));
    all.config.push_back(state_.configs.intern(dispatch.config));
    all.track.push_back(state_.tracks.intern({.process = process_,
                                              .thread = thread(dispatch.thread),
                                              .agent = agent(dispatch.agent),
                                              .queue = queue(dispatch.queue),
                                              .stream = kNone}));
    all.launch.push_back(0);  // no stack code
  }

  void add_values(Index first_dispatch) {
    CounterColumns& all = trace_.counters;
    const std::size_t first_row = all.size();
    std::vector<Index> counters;
    for (const std::string& name : recording_.content.counters)
      counters.push_back(state_.counter(name));
    for (const Value& value : recording_.content.values) {
      all.dispatch.push_back(first_dispatch + value.dispatch);
      all.counter.push_back(counters[value.counter]);
      all.instances.push_back(value.instances);
      all.sum.push_back(value.sum);
      all.min.push_back(value.min);
      all.max.push_back(value.max);
    }
    name_accumulators(state_, first_row, kTable);
  }

  LoadState& state_;
  Trace& trace_;
  const Recording& recording_;
  Index source_ = kNone;
  Index process_ = kNone;
  std::map<KernelKey, Index> kernels_;
  std::map<AgentLabel, Index> agents_;
  std::map<std::int64_t, Index> queues_, threads_;
};

}  // namespace

Result<void> load(LoadState& state, std::vector<Recording> recordings) {
  sort_recordings(recordings);
  PERFLAB_TRY_VOID(refuse_repeats(state, recordings));
  for (const Recording& recording : recordings) Loader(state, recording).run();
  return {};
}

}  // namespace perflab::trace::counter_csv
