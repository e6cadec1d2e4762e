#include "ranks/rank/work.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace perflab::ranks {

namespace {

using trace::Index;
using trace::kNone;
using trace::Trace;

constexpr std::size_t kKernelsOfStretch = 4;

/// Between two collectives; stretches do not overlap and are in order of time.
struct Stretch {
  std::int64_t from = 0, to = 0;
  std::int64_t covered = 0;  ///< end of what was counted as busy
};

/// Time of a kernel in a stretch.
struct Share {
  std::uint32_t stretch;
  Name kernel;
  std::int64_t time;
};

std::vector<Stretch> stretches_between(const std::vector<Collective>& collectives,
                                       std::int64_t begin, std::int64_t end) {
  std::vector<Stretch> all;
  std::int64_t last = begin;
  const auto add = [&](std::int64_t to) {
    all.push_back({.from = last, .to = std::max(to, last), .covered = last});
  };
  for (const Collective& one : collectives) {
    add(one.entry);
    last = std::max(last, one.exit);
  }
  add(end);
  return all;
}

void sort_by_time(std::vector<KernelTime>& kernels) {
  std::ranges::sort(kernels, {},
                    [](const KernelTime& one) { return std::tuple{-one.time, one.kernel}; });
}

class Sweep {
 public:
  Sweep(std::vector<Stretch> stretches, FoundWork& found)
      : stretches_(std::move(stretches)), found_(found) {
    found_.work.resize(stretches_.size());
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
      found_.work[i].length = stretches_[i].to - stretches_[i].from;
    }
  }

  /// Something that ran; in order of starts. `kernel`: kNoName for a copy.
  void add(std::int64_t start, std::int64_t end, Name kernel) {
    // The first stretch that ends behind the start.
    auto at = std::ranges::upper_bound(stretches_, start, {}, &Stretch::to);
    for (; at != stretches_.end() && at->from < end; ++at) {
      const std::int64_t from = std::max(start, at->from);
      const std::int64_t to = std::min(end, at->to);
      if (to <= from) continue;
      const auto number = static_cast<std::size_t>(at - stretches_.begin());
      Work& work = found_.work[number];
      if (to > at->covered) {
        work.busy += to - std::max(from, at->covered);
        at->covered = to;
      }
      if (kernel == kNoName) {
        work.copies += to - from;
      } else {
        shares_.push_back({static_cast<std::uint32_t>(number), kernel, to - from});
      }
    }
  }

  void finish() {
    std::ranges::sort(shares_, {}, [](const Share& one) {
      return std::tuple{one.stretch, one.kernel, one.time};
    });
    for (std::size_t i = 0; i < shares_.size();) {
      Work& work = found_.work[shares_[i].stretch];
      const std::uint32_t stretch = shares_[i].stretch;
      std::vector<KernelTime> kernels;
      for (; i < shares_.size() && shares_[i].stretch == stretch; ++i) {
        if (kernels.empty() || kernels.back().kernel != shares_[i].kernel) {
          kernels.push_back({.kernel = shares_[i].kernel});
        }
        ++kernels.back().dispatches;
        kernels.back().time += shares_[i].time;
      }
      sort_by_time(kernels);
      for (std::size_t k = kKernelsOfStretch; k < kernels.size(); ++k) {
        work.other_kernels += kernels[k].time;
      }
      kernels.resize(std::min(kernels.size(), kKernelsOfStretch));
      work.kernels = std::move(kernels);
    }
  }

 private:
  std::vector<Stretch> stretches_;
  FoundWork& found_;
  std::vector<Share> shares_;
};

}  // namespace

FoundWork find_work(const Trace& trace, Index process, Index agent,
                    const FoundCollectives& collectives, std::int64_t begin, std::int64_t end,
                    KernelNames& kernel_names) {
  FoundWork found;
  Sweep sweep(stretches_between(collectives.collectives, begin, end), found);
  std::map<Name, KernelTime> totals;
  auto next = collectives.dispatches.begin();
  Index copy = 0;
  const auto copies_before = [&](std::int64_t time) {
    for (; copy < trace.copies.size() && trace.copies.start[copy] <= time; ++copy) {
      const trace::Track& track = trace.tracks[trace.copies.track[copy]];
      if (track.process != process) continue;
      if (track.agent != agent && trace.copies.source_agent[copy] != agent) continue;
      sweep.add(trace.copies.start[copy], trace.copies.end[copy], kNoName);
    }
  };
  for (Index i = 0; i < trace.dispatches.size(); ++i) {
    const trace::Track& track = trace.tracks[trace.dispatches.track[i]];
    if (track.process != process || track.agent != agent) continue;
    while (next != collectives.dispatches.end() && next->first < i) ++next;
    if (next != collectives.dispatches.end() && next->first == i) continue;
    const std::int64_t start = trace.dispatches.start[i];
    copies_before(start);
    const Name kernel = kernel_names.of(trace.dispatches.kernel[i]);
    sweep.add(start, trace.dispatches.end[i], kernel);
    KernelTime& total = totals[kernel];
    total.kernel = kernel;
    ++total.dispatches;
    total.time += trace.dispatches.end[i] - start;
  }
  copies_before(std::numeric_limits<std::int64_t>::max());
  sweep.finish();
  for (const auto& [kernel, total] : totals) found.kernels.push_back(total);
  sort_by_time(found.kernels);
  return found;
}

}  // namespace perflab::ranks
