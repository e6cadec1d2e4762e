// Grouping of dispatches by kernel, GPU and launch geometry, pass by pass.
#include "analyze/counters/counter_join.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "analyze/kernels/gpu.h"
#include "analyze/kernels/kernel_table.h"

namespace perflab::analyze {
namespace {

using trace::Index;
using trace::kNone;

std::uint32_t product(const std::array<std::uint32_t, 3>& size) {
  std::uint64_t all = 1;
  for (const std::uint32_t axis : size)
    if (__builtin_mul_overflow(all, std::uint64_t{axis}, &all)) return UINT32_MAX;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(all, UINT32_MAX));
}

/// Rank of each recording within its pass, or within the run that gives the times. Ranks tell the
/// processes of one run apart, so that the third dispatch of a process meets the third of its like.
std::vector<Index> ranks_of(const trace::Trace& trace, const Passes& passes,
                            const TimingScope& scope) {
  std::vector<Index> ranks(trace.sources.size(), 0);
  std::vector<std::int64_t> first_start(trace.sources.size(), INT64_MAX);
  const trace::DispatchColumns& all = trace.dispatches;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::int64_t& first = first_start[trace.source_of_track(all.track[i])];
    first = std::min(first, all.start[i]);
  }
  std::vector<Index> timed;
  for (Index source = 0; source < trace.sources.size(); ++source)
    if (scope.source_counts[source] && !passes.has_counters(source)) timed.push_back(source);
  std::ranges::stable_sort(timed, {}, [&](Index source) {
    return std::pair(first_start[source], std::string_view(trace.sources[source].guid));
  });
  for (Index rank = 0; rank < timed.size(); ++rank) ranks[timed[rank]] = rank;
  for (const Pass& pass : passes.passes)
    for (Index rank = 0; rank < pass.sources.size(); ++rank) ranks[pass.sources[rank]] = rank;
  return ranks;
}

class Joiner {
 public:
  Joiner(const trace::Trace& trace, const Passes& passes, const TimingScope& scope)
      : trace_(trace), passes_(passes), scope_(scope), ranks_(ranks_of(trace, passes, scope)) {
    flat_ = joins_flat_sizes(trace, passes);
    name_architectures();
    if (flat_)
      assumptions_.emplace_back(
          "a table of counters has grids and work-groups as products only: they are given as the "
          "first "
          "of three sizes, here and where dispatches are joined");
  }

  CounterJoin run() {
    find_counted_kernels();
    const trace::DispatchColumns& all = trace_.dispatches;
    for (Index i = 0; i < all.size(); ++i) note_gpu(i);
    for (Index i = 0; i < all.size(); ++i) add(i);
    CounterJoin join;
    join.assumptions = std::move(assumptions_);
    for (auto& [key, kernel] : kernels_) join.kernels.push_back(finish(key.second, kernel));
    std::ranges::sort(join.kernels, {}, [&](const JoinedKernel& kernel) {
      return std::pair(trace_.strings.view(kernel.name), std::string_view(kernel.architecture));
    });
    return join;
  }

 private:
  using Key = std::pair<Index, std::string_view>;  ///< name, architecture
  /// Launch geometry, and which of the GPUs of its recording.
  using ShapeKey = std::pair<Shape, std::size_t>;
  struct Building {
    Index agent = kNone;
    bool runtime_helper = true;
    std::map<Index, std::set<std::int64_t>> gpus;  ///< by recording
    std::map<ShapeKey, ShapeGroup> shapes;
  };

  void name_architectures() {
    std::set<std::string> known;
    for (const trace::Agent& agent : trace_.agents) {
      architectures_.push_back(architecture_of(agent));
      if (!architectures_.back().empty()) known.insert(architectures_.back());
    }
    if (known.size() != 1) return;
    std::set<Index> counting;  // agents with dispatches in a pass
    for (const trace::Track& track : trace_.tracks)
      if (passes_.has_counters(trace_.processes[track.process].source))
        counting.insert(track.agent);
    bool guessed = false;
    for (Index i = 0; i < trace_.agents.size(); ++i) {
      if (!architectures_[i].empty() || trace_.agents[i].type != "GPU") continue;
      architectures_[i] = *known.begin();
      guessed = guessed || counting.contains(i);
    }
    if (guessed)
      assumptions_.push_back(
          fmt::format("a table of counters does not say its GPU: taken to be "
                      "the {} of the other recordings",
                      *known.begin()));
  }

  [[nodiscard]] Key key_of(Index dispatch) const {
    const Index symbol = trace_.dispatches.kernel[dispatch];
    const Index agent = trace_.tracks[trace_.dispatches.track[dispatch]].agent;
    return {trace_.kernel_symbols[symbol].name,
            agent == kNone ? std::string_view() : std::string_view(architectures_[agent])};
  }

  void find_counted_kernels() {
    Index last = kNone;
    for (const Index dispatch : trace_.counters.dispatch) {
      const Index source = trace_.source_of_track(trace_.dispatches.track[dispatch]);
      if (dispatch != last && passes_.has_counters(source)) kernels_[key_of(dispatch)];
      last = dispatch;
    }
  }

  /// The kernel of a dispatch that is timed or of a pass; nullptr for others.
  Building* kernel_of(Index dispatch) {
    const Index track = trace_.dispatches.track[dispatch];
    if (!scope_.track_counts[track] &&
        passes_.pass_of_source[trace_.source_of_track(track)] == kNone)
      return nullptr;
    const auto found = kernels_.find(key_of(dispatch));
    return found == kernels_.end() ? nullptr : &found->second;
  }

  /// GPUs of each recording that ran the kernel. The application may be given another GPU each time
  /// it runs, and tables number GPUs otherwise than databases: their order is what counts.
  void note_gpu(Index dispatch) {
    const Index track = trace_.dispatches.track[dispatch];
    const Index agent = trace_.tracks[track].agent;
    if (agent == kNone) return;
    if (Building* const kernel = kernel_of(dispatch))
      kernel->gpus[trace_.source_of_track(track)].insert(trace_.agents[agent].absolute_index);
  }

  [[nodiscard]] std::size_t gpu_rank(const Building& kernel, Index source, Index agent) const {
    const auto gpus = kernel.gpus.find(source);
    if (agent == kNone || gpus == kernel.gpus.end()) return 0;
    return static_cast<std::size_t>(std::distance(
        gpus->second.begin(), gpus->second.lower_bound(trace_.agents[agent].absolute_index)));
  }

  void add(Index dispatch) {
    Building* const building = kernel_of(dispatch);
    if (building == nullptr) return;
    Building& kernel = *building;
    const Index track = trace_.dispatches.track[dispatch];
    const Index source = trace_.source_of_track(track);
    const bool timed = scope_.track_counts[track];
    const Index pass = passes_.pass_of_source[source];
    const Index agent = trace_.tracks[track].agent;
    if (kernel.agent == kNone) kernel.agent = agent;
    const Index symbol = trace_.dispatches.kernel[dispatch];
    kernel.runtime_helper =
        kernel.runtime_helper && is_runtime_helper(trace_, trace_.kernel_symbols[symbol]);
    const trace::LaunchConfig& launch = trace_.launch_configs[trace_.dispatches.config[dispatch]];
    Shape shape{.grid = launch.grid, .workgroup = launch.workgroup};
    if (flat_)
      shape = {.grid = {product(launch.grid), 1, 1},
               .workgroup = {product(launch.workgroup), 1, 1}};
    const std::size_t gpu = gpu_rank(kernel, source, agent);
    ShapeGroup& group = kernel.shapes[{shape, gpu}];
    group.shape = shape;
    group.gpu = gpu;
    group.in_pass.resize(passes_.passes.size());
    if (timed) group.timed.push_back(dispatch);
    if (pass != kNone) group.in_pass[pass].push_back(dispatch);
  }

  JoinedKernel finish(std::string_view architecture, Building& building) {
    JoinedKernel kernel;
    kernel.architecture = architecture;
    kernel.agent = building.agent;
    kernel.runtime_helper = building.runtime_helper;
    for (auto& [key, group] : building.shapes) {
      for (auto& dispatches : group.in_pass) order(dispatches);
      order(group.timed);
      kernel.shapes.push_back(std::move(group));
    }
    const ShapeGroup& first = kernel.shapes.front();
    Index any = first.timed.empty() ? kNone : first.timed.front();
    for (const auto& dispatches : first.in_pass)
      if (any == kNone && !dispatches.empty()) any = dispatches.front();
    kernel.name = trace_.kernel_symbols[trace_.dispatches.kernel[any]].name;
    return kernel;
  }

  /// By process, then by time: dispatches of the trace are in the order of time already.
  void order(std::vector<Index>& dispatches) const {
    std::ranges::stable_sort(dispatches, {}, [&](Index dispatch) {
      return ranks_[trace_.source_of_track(trace_.dispatches.track[dispatch])];
    });
  }

  const trace::Trace& trace_;
  const Passes& passes_;
  const TimingScope& scope_;
  std::vector<Index> ranks_;
  std::vector<std::string> architectures_;  ///< by Trace::agents
  std::vector<std::string> assumptions_;
  bool flat_ = false;
  std::map<Key, Building> kernels_;
};

}  // namespace

bool joins_flat_sizes(const trace::Trace& trace, const Passes& passes) {
  for (std::size_t source = 0; source < trace.sources.size(); ++source)
    if (trace.sources[source].flat_sizes && passes.has_counters(source)) return true;
  return false;
}

CounterIndex::CounterIndex(const trace::Trace& trace) : counters_(trace.counters) {
  if (counters_.size() == 0) return;
  first_.resize(trace.dispatches.size() + 1);
  std::size_t dispatch = 0;
  for (std::size_t row = 0; row < counters_.size(); ++row)
    while (dispatch <= counters_.dispatch[row]) first_[dispatch++] = row;
  while (dispatch < first_.size()) first_[dispatch++] = counters_.size();
}

std::pair<std::size_t, std::size_t> CounterIndex::rows(Index dispatch) const {
  if (first_.empty()) return {0, 0};
  return {first_[dispatch], first_[dispatch + 1]};
}

std::size_t CounterIndex::row(Index dispatch, Index counter) const {
  const auto [first, last] = rows(dispatch);
  const auto begin = counters_.counter.begin();
  const auto found = std::lower_bound(begin + static_cast<std::ptrdiff_t>(first),
                                      begin + static_cast<std::ptrdiff_t>(last), counter);
  const auto at = static_cast<std::size_t>(found - begin);
  return at < last && *found == counter ? at : kNone;
}

CounterJoin join_counters(const trace::Trace& trace, const Passes& passes,
                          const TimingScope& scope) {
  return Joiner(trace, passes, scope).run();
}

}  // namespace perflab::analyze
