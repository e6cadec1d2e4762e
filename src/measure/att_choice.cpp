// Ranks kernels and dispatches. rocprofv3 counts iterations by kernel id as dispatches are
// submitted (tool.cpp: is_targeted_kernel), which is the order of dispatch ids; a kernel id is one
// kernel of one code object as one process loaded it, for each GPU anew.
#include "measure/att_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyze/critical_path/critical_path.h"
#include "analyze/scope/passes.h"
#include "analyze/scope/timing_scope.h"

namespace perflab::measure {
namespace {

using trace::Index;

/// A dispatch and its place among those that are counted together.
struct Counted {
  std::size_t dispatch = 0;
  std::uint64_t ordinal = 1;
};

class Chooser {
 public:
  Chooser(const analyze::AnalyzedTrace& analyzed, const AttWish& wish, unsigned threads)
      : trace_(analyzed.trace),
        analysis_(analyzed.analysis),
        wish_(wish),
        scope_(analyze::find_timing_scope(trace_, analyze::find_passes(trace_))) {
    if (analysis_.critical_path) find_path(threads);
  }

  Result<AttChoice> run() {
    PERFLAB_TRY(const analyze::Kernel* const kernel, choose_kernel());
    choice_.kernel = kernel->name;
    choice_.mangled_name = kernel->mangled_name;
    collect_dispatches();
    PERFLAB_TRY(const Counted chosen, choose_one());
    choice_.duration = length(chosen.dispatch);
    choice_.iteration = chosen.ordinal;
    choice_.of = by_symbol_.at(trace_.dispatches.kernel[chosen.dispatch]).size();
    choice_.on_critical_path = lies_on_path(chosen.dispatch);
    add_notes(chosen.dispatch);
    return std::move(choice_);
  }

 private:
  /// The analysis keeps no nodes: they are large, and only wanted here.
  void find_path(unsigned threads) {
    analyze::CriticalPathOptions options;
    options.keep_nodes = true;
    options.gains = 0;
    options.threads = threads;
    const Result<analyze::CriticalPath> path = analyze::find_critical_path(trace_, scope_, options);
    if (!path) return;
    on_path_.resize(trace_.dispatches.size());
    for (analyze::NodeId node = 0; node < path->graph->size(); ++node)
      if (path->on_path[node] && path->graph->kind(node) == analyze::NodeKind::dispatch)
        on_path_[path->graph->row(node)] = true;
  }

  /// By time on the path, then by the longest dispatch; a helper only when nothing else is left.
  Result<const analyze::Kernel*> choose_kernel() const {
    std::map<std::string_view, std::int64_t> path_time;
    if (analysis_.critical_path)
      for (const analyze::KernelCriticality& row : analysis_.critical_path->kernels)
        path_time[trace_.strings.view(row.name)] = row.path_time;
    const analyze::Kernel* best = nullptr;
    const auto rank = [&](const analyze::Kernel& kernel) {
      const auto time = path_time.find(kernel.name);
      return std::tuple(!kernel.runtime_helper, time == path_time.end() ? 0 : time->second,
                        kernel.durations.max);
    };
    for (const analyze::Kernel& kernel : analysis_.kernels) {
      if (wish_.kernel && !wish_.kernel->found_in(kernel.name)) continue;
      if (best == nullptr || rank(kernel) > rank(*best)) best = &kernel;
    }
    if (best != nullptr) return best;
    return fail(ErrorCode::usage,
                wish_.kernel ? fmt::format("--att-kernel: no kernel of the run matches \"{}\"",
                                           wish_.kernel->text())
                             : std::string("there is no kernel to trace"),
                "rocm-perf analyze lists the kernels of a run");
  }

  [[nodiscard]] std::int64_t length(std::size_t dispatch) const {
    return trace_.dispatches.end[dispatch] - trace_.dispatches.start[dispatch];
  }

  void collect_dispatches() {
    const trace::DispatchColumns& rows = trace_.dispatches;
    std::vector<bool> is_kernel;  // by symbol
    for (const trace::KernelSymbol& symbol : trace_.kernel_symbols)
      is_kernel.push_back(trace_.strings.view(symbol.name) == choice_.kernel);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (is_kernel[rows.kernel[i]] && scope_.track_counts[rows.track[i]])
        by_symbol_[rows.kernel[i]].push_back(i);
    for (auto& [symbol, dispatches] : by_symbol_)
      std::ranges::sort(dispatches, {}, [&](std::size_t i) {
        return std::tuple(rows.dispatch_id[i], rows.start[i], i);
      });
  }

  /// The longest on the path, else the longest; the first of equal ones.
  Result<Counted> choose_one() const {
    const auto rank = [&](const Counted& counted) {
      return std::tuple(lies_on_path(counted.dispatch), length(counted.dispatch),
                        -trace_.dispatches.start[counted.dispatch]);
    };
    std::optional<Counted> best;
    std::uint64_t most = 0;
    for (const auto& [symbol, dispatches] : by_symbol_) {
      most = std::max<std::uint64_t>(most, dispatches.size());
      for (std::size_t k = 0; k < dispatches.size(); ++k) {
        const Counted counted{.dispatch = dispatches[k], .ordinal = k + 1};
        if (wish_.iteration && counted.ordinal != *wish_.iteration) continue;
        if (!best || rank(counted) > rank(*best)) best = counted;
      }
    }
    if (best) return *best;
    return fail(ErrorCode::usage,
                fmt::format("--att-iteration {}: {} has {} dispatch{}", wish_.iteration.value_or(0),
                            choice_.kernel, most, most == 1 ? "" : "es"));
  }

  [[nodiscard]] bool lies_on_path(std::size_t dispatch) const {
    return !on_path_.empty() && on_path_[dispatch];
  }

  [[nodiscard]] const trace::Process& process_of(std::size_t dispatch) const {
    return trace_.processes[trace_.tracks[trace_.dispatches.track[dispatch]].process];
  }

  /// rocprofv3 traces the same iteration wherever the kernel reaches it.
  void add_notes(std::size_t chosen) {
    std::set<std::int64_t> pids;
    std::uint64_t reached = 0;
    for (const auto& [symbol, dispatches] : by_symbol_) {
      if (dispatches.size() < choice_.iteration) continue;
      ++reached;
      pids.insert(process_of(dispatches[choice_.iteration - 1]).pid);
    }
    if (pids.size() > 1)
      choice_.notes.push_back(
          fmt::format("{} processes reach dispatch {} of {}, and each is traced; it was chosen "
                      "for that of process {}",
                      pids.size(), choice_.iteration, choice_.kernel, process_of(chosen).pid));
    else if (reached > 1)
      choice_.notes.push_back(
          fmt::format("{} is loaded {} times (a GPU or a code object each) that all reach "
                      "dispatch {}: all of them are traced",
                      choice_.kernel, reached, choice_.iteration));
    if (analysis_.critical_path && !choice_.on_critical_path)
      choice_.notes.push_back(fmt::format("dispatch {} of {} is not on the critical path",
                                          choice_.iteration, choice_.kernel));
  }

  const trace::Trace& trace_;
  const analyze::Analysis& analysis_;
  const AttWish& wish_;
  analyze::TimingScope scope_;
  std::vector<bool> on_path_;                            // by dispatch; empty: there is no path
  std::map<Index, std::vector<std::size_t>> by_symbol_;  // dispatches of the kernel, in order
  AttChoice choice_;
};

}  // namespace

Result<AttChoice> choose_dispatch(const analyze::AnalyzedTrace& analyzed, const AttWish& wish,
                                  unsigned threads) {
  return Chooser(analyzed, wish, threads).run();
}

}  // namespace perflab::measure
