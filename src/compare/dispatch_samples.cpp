// Grouping of dispatches by kernel name within a run.
#include "compare/dispatch_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyze/kernels/kernel_table.h"
#include "analyze/scope/passes.h"
#include "analyze/scope/timing_scope.h"

namespace perflab::compare {
namespace {

using trace::Index;

/// The run of each recording, where recordings of one command followed each other; else all are of
/// run 0.
std::vector<std::size_t> runs_of_sources(const trace::Trace& trace,
                                         const analyze::TimingScope& scope) {
  std::vector<std::size_t> runs(trace.sources.size(), 0);
  if (scope.sequential < 2) return runs;
  std::size_t next = 0;
  std::map<Index, std::size_t> found;  // in the order of time, that of the dispatches
  for (const Index track : trace.dispatches.track) {
    if (!scope.track_counts[track]) continue;
    const Index source = trace.source_of_track(track);
    if (found.try_emplace(source, next).second) ++next;
  }
  for (const auto& [source, run] : found) runs[source] = run;
  return runs;
}

std::string mangled_name_of(const trace::Trace& trace, const trace::KernelSymbol& symbol) {
  return symbol.known ? std::string(trace.strings.view(symbol.mangled_name)) : std::string();
}

/// All dispatches that count, by run and kernel name; `helpers`: the runtime's own kernels, else
/// the application's.
class Grouping {
 public:
  Grouping(const trace::Trace& trace, const analyze::TimingScope& scope, bool helpers)
      : trace_(trace), scope_(scope), run_of_(runs_of_sources(trace, scope)) {
    for (const trace::KernelSymbol& symbol : trace.kernel_symbols)
      wanted_.push_back(analyze::is_runtime_helper(trace, symbol) == helpers);
    group_of_.resize(wanted_.size());
    for (std::size_t i = 0; i < trace.dispatches.size(); ++i) add(i);
  }

  /// A run for every one that has dispatches.
  std::vector<RunSamples> runs() {
    std::vector<RunSamples> out;
    for (auto& [run, kernels] : runs_) {
      RunSamples& samples = out.emplace_back();
      for (auto& [name, group] : kernels) {
        for (const Index config : group.configs)
          group.samples.launches.push_back(trace_.launch_configs[config]);
        std::ranges::sort(group.samples.launches);
        samples.kernels.push_back(std::move(group.samples));
      }
    }
    return out;
  }

 private:
  struct Group {
    DispatchSamples samples;
    std::set<Index> configs;
  };

  void add(std::size_t i) {
    const trace::DispatchColumns& all = trace_.dispatches;
    if (!scope_.track_counts[all.track[i]] || !wanted_[all.kernel[i]]) return;
    Group*& group = group_of_[all.kernel[i]];
    if (group == nullptr) group = group_for(all.kernel[i], trace_.source_of_track(all.track[i]));
    group->samples.durations.push_back(all.end[i] - all.start[i]);
    group->configs.insert(all.config[i]);
  }

  /// A symbol is of one recording, and so of one run.
  Group* group_for(Index kernel, Index source) {
    const trace::KernelSymbol& symbol = trace_.kernel_symbols[kernel];
    const std::string name(trace_.strings.view(symbol.name));
    Group& group = runs_[run_of_[source]][name];
    group.samples.name = name;
    if (group.samples.mangled_name.empty())
      group.samples.mangled_name = mangled_name_of(trace_, symbol);
    return &group;
  }

  const trace::Trace& trace_;
  const analyze::TimingScope& scope_;
  std::vector<std::size_t> run_of_;
  std::vector<bool> wanted_;      // by kernel symbol
  std::vector<Group*> group_of_;  // by kernel symbol; null until its first dispatch
  std::map<std::size_t, std::map<std::string, Group>> runs_;
};

}  // namespace

Result<std::vector<RunSamples>> dispatch_samples(const trace::Trace& trace) {
  const analyze::TimingScope scope = analyze::find_timing_scope(trace, analyze::find_passes(trace));
  const std::string file = trace.sources.empty() ? "the recording" : trace.sources.front().file;
  if (!scope.times_known)
    return fail(
        ErrorCode::bad_input,
        fmt::format("{}: its times have lost their digits, so there are none to compare", file),
        "compare the databases that rocprofv3 wrote");
  std::vector<RunSamples> runs = Grouping(trace, scope, false).runs();
  const bool helpers = runs.empty();
  if (helpers) runs = Grouping(trace, scope, true).runs();
  if (runs.empty())
    return fail(ErrorCode::bad_input, fmt::format("{}: there is no kernel dispatch in it", file),
                "record a run that launches kernels: rocm-perf profile -- ./app");
  for (RunSamples& run : runs) {
    run.under_counters = scope.under_counters;
    run.only_runtime_helpers = helpers;
    run.synthetic = trace::synthetic_note(trace);
  }
  return runs;
}

}  // namespace perflab::compare
