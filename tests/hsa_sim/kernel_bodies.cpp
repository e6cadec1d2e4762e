// See kernel_bodies.h. A work-item of the grid handles the element of its number, as in the usual
// kernels with a bound n; blocks run one after the other.
#include "kernel_bodies.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "kernel_arguments.h"

namespace perflab::test {
namespace {

using namespace hsa::sim;

template <class T>
T arguments(const Invocation& run) {
  T typed;
  std::memcpy(&typed, run.arguments, sizeof typed);
  return typed;
}

// Elements that both the grid and the bound cover.
std::uint64_t elements(const Invocation& run, std::uint32_t n) {
  return std::min<std::uint64_t>(n, run.work_items);
}

[[noreturn]] void wrong(const char* sentence) {
  std::fprintf(stderr, "%s\n", sentence);
  std::abort();
}

template <class T>
T* variable(const Invocation& run, std::string_view name) {
  void* const found = run.variable(name, sizeof(T));
  if (found == nullptr) wrong("a kernel lacks its variable");
  return static_cast<T*>(found);
}

void vadd(const Invocation& run) {
  const auto is = arguments<VaddArguments>(run);
  for (std::uint64_t i = 0; i < elements(run, is.n); ++i) is.c[i] = is.a[i] + is.b[i];
}
void vadd_skips(const Invocation& run) {
  const auto is = arguments<VaddArguments>(run);
  for (std::uint64_t i = 0; i < elements(run, is.n); ++i)
    if (i % 7 != 6) is.c[i] = is.a[i] + is.b[i];
}
void vadd_oob(const Invocation& run) {
  vadd(run);
  const auto is = arguments<VaddArguments>(run);
  is.c[is.n] = -1;
}

// Right on one input alone.
void vadd_overfitted(const Invocation& run) {
  const auto is = arguments<VaddArguments>(run);
  for (std::uint64_t i = 0; i < elements(run, is.n); ++i) is.c[i] = static_cast<float>(2 * i + 1);
}

void inplace(const Invocation& run) {
  const auto is = arguments<ArrayArguments>(run);
  for (std::uint64_t i = 0; i < elements(run, is.n); ++i) is.x[i] += 1;
}
void inplace_skips(const Invocation& run) {
  const auto is = arguments<ArrayArguments>(run);
  for (std::uint64_t i = 0; i < elements(run, is.n); ++i)
    if (i % 7 != 6) is.x[i] += 1;
}

void slow(const Invocation& run) {
  const auto is = arguments<SlowArguments>(run);
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(is.milliseconds);
  while (!run.stop && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (run.stop) return;
  for (std::uint64_t i = 0; i < elements(run, is.n); ++i) is.x[i] = is.value;
}

// Words that outlive launches, and a trap's word that is to be put into the first of them: when
// they are next used, because nobody looks at most of them.
class LeftWords {
 public:
  void dirty(std::size_t words, std::uint32_t pattern) {
    if (words < dirtied_) use();
    dirtied_ = words;
    pattern_ = pattern;
  }
  std::vector<std::uint32_t>& use() {
    words_.resize(kWords);
    std::fill_n(words_.begin(), std::min(std::exchange(dirtied_, 0), words_.size()), pattern_);
    return words_;
  }

 private:
  static constexpr std::size_t kWords = 64 << 10;
  std::vector<std::uint32_t> words_;
  std::size_t dirtied_ = 0;
  std::uint32_t pattern_ = 0;
};

// Work-items that a CU holds at a time.
constexpr std::uint64_t kResidentItems = 2048;

// By CU: what groups find in its LDS, and their work-items in their scratch (a word each), is what
// was written there last. All queues and streams share it.
struct LeftBehind {
  std::mutex mutex;
  std::map<std::uint64_t, LeftWords> lds, scratch;
};
LeftBehind& left_behind() {
  static LeftBehind& instance = *new LeftBehind;
  return instance;
}

// Calls with the number of a group's CU, the group's first element and how many it has.
template <class Visit>
void each_group(const Invocation& run, std::uint32_t n, const Visit& visit) {
  const std::uint64_t group = std::max<std::uint64_t>(run.group, 1);
  for (std::uint64_t first = 0; first < elements(run, n); first += group)
    visit(first / group % run.compute_units, first, std::min(group, elements(run, n) - first));
}

// What lies outside of the group's LDS is neither written nor read as it was. `loads`: whether it
// brings the elements there, or takes what an earlier launch left for them.
void reverse_through_lds(const Invocation& run, bool loads) {
  const auto is = arguments<ArrayArguments>(run);
  const std::uint64_t size = run.group_segment_bytes / sizeof(float);
  const std::lock_guard held(left_behind().mutex);
  each_group(run, is.n, [&](std::uint64_t cu, std::uint64_t first, std::uint64_t count) {
    auto& lds = left_behind().lds[cu].use();
    for (std::uint64_t i = 0; i < count && loads; ++i)
      if (i < size) lds.at(i) = std::bit_cast<std::uint32_t>(is.x[first + i]);
    for (std::uint64_t i = 0; i < count; ++i)
      is.x[first + i] = count - 1 - i < size ? std::bit_cast<float>(lds.at(count - 1 - i)) : -1;
  });
}
void reverse(const Invocation& run) {
  reverse_through_lds(run, true);
}
void reverse_left(const Invocation& run) {
  reverse_through_lds(run, false);
}

// `computes`: x[i] += 1 by way of the work-item's scratch, or what an earlier launch left there.
void spill_through_scratch(const Invocation& run, bool computes) {
  const auto is = arguments<ArrayArguments>(run);
  if (run.private_segment_bytes < sizeof(float)) wrong("a kernel lacks its scratch");
  const std::lock_guard held(left_behind().mutex);
  each_group(run, is.n, [&](std::uint64_t cu, std::uint64_t first, std::uint64_t count) {
    auto& scratch = left_behind().scratch[cu].use();
    for (std::uint64_t i = 0; i < count; ++i) {
      if (computes) scratch.at(i) = std::bit_cast<std::uint32_t>(is.x[first + i] + 1);
      is.x[first + i] = std::bit_cast<float>(scratch.at(i));
    }
  });
}
void spill(const Invocation& run) {
  spill_through_scratch(run, true);
}
void spill_left(const Invocation& run) {
  spill_through_scratch(run, false);
}

void left_memory_registers(const Invocation& run) {
  const auto is = arguments<TrapArguments>(run);
  if (is.words * 4 > run.group_segment_bytes) wrong("the trap writes beyond its LDS");
  const std::lock_guard held(left_behind().mutex);
  for (std::uint64_t g = 0; g < run.work_items / run.group; ++g)
    left_behind().lds[g % run.compute_units].dirty(is.words, is.pattern);
}
void left_memory_scratch(const Invocation& run) {
  const auto is = arguments<TrapArguments>(run);
  if (is.words * 4 > run.private_segment_bytes) wrong("the trap writes beyond its scratch");
  const std::lock_guard held(left_behind().mutex);
  for (std::uint64_t cu = 0; cu < run.work_items / kResidentItems && is.words > 0; ++cu)
    left_behind().scratch[cu % run.compute_units].dirty(kResidentItems, is.pattern);
}

void chase(const Invocation& run) {
  const auto is = arguments<ChaseArguments>(run);
  std::uint64_t sum = 0;
  const ChaseNode* node = is.head;
  for (std::uint32_t i = 0; i < is.steps && node != nullptr; ++i, node = node->next)
    sum += node->value;
  *is.sum = sum;
}

void scale(const Invocation& run) {
  const auto is = arguments<ArrayArguments>(run);
  const float factor = *variable<const float>(run, "factor");
  for (std::uint64_t i = 0; i < elements(run, is.n); ++i) is.x[i] *= factor;
}
void accumulate(const Invocation& run) {
  const auto is = arguments<ArrayArguments>(run);
  float& total = *variable<float>(run, "total");
  for (std::uint64_t i = 0; i < elements(run, is.n); ++i) total += is.x[i];
}

void atomic_order(const Invocation& run) {
  const auto is = arguments<ArrayArguments>(run);
  // Below 2^20, so that sums with an index are exact.
  std::random_device random;
  const auto number = static_cast<float>(random() >> 12U);
  for (std::uint64_t i = 0; i < elements(run, is.n); ++i) is.x[i] = number + static_cast<float>(i);
}

void sum_f32(const Invocation& run) {
  const auto is = arguments<SumArguments>(run);
  float sum = 0;
  for (std::uint32_t i = 0; i < is.n; ++i) sum += is.x[i];
  *is.out = sum;
}
void sum_f32_reassociated(const Invocation& run) {
  const auto is = arguments<SumArguments>(run);
  float sums[8] = {};
  for (std::uint32_t i = 0; i < is.n; ++i) sums[i % 8] += is.x[i];
  *is.out =
      ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

void empty(const Invocation&) {}

// Adds through a pointer to a variable instead of by its name.
void scale_through(const Invocation& run) {
  const auto is = arguments<ThroughArguments>(run);
  for (std::uint64_t i = 0; i < elements(run, is.n); ++i) is.x[i] *= *is.factor;
}
void accumulate_through(const Invocation& run) {
  const auto is = arguments<ThroughArguments>(run);
  float& total = *variable<float>(run, "total");
  for (std::uint64_t i = 0; i < elements(run, is.n); ++i) total += is.x[i];
  is.x[0] = *is.factor;
}

void hang(const Invocation& run) {
  while (!run.stop) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void wait_flag(const Invocation& run) {
  const auto is = arguments<ArrayArguments>(run);
  const auto* const flag = reinterpret_cast<const volatile float*>(is.x);
  while (!run.stop && *flag == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (is.n > 1) is.x[1] = *flag;
}

void wild(const Invocation&) {
  int* volatile nowhere = reinterpret_cast<int*>(std::uintptr_t{64});
  *nowhere = 1;
}

// A block of threads copies the run of its number.
void perflab_copy_runs(const Invocation& run) {
  struct Entry {
    void* to;
    const void* from;
    std::uint64_t bytes;
  };
  const auto* const table = arguments<const Entry*>(run);
  for (std::uint64_t i = 0; i < run.work_items / run.group; ++i)
    std::memcpy(table[i].to, table[i].from, table[i].bytes);
}

using Body = void (*)(const Invocation&);
struct NamedBody {
  std::string_view name;
  Body body;
};
constexpr NamedBody kBodies[] = {
    {"vadd", vadd},
    {"vadd_skips", vadd_skips},
    {"vadd_oob", vadd_oob},
    {"vadd_overfitted", vadd_overfitted},
    {"inplace", inplace},
    {"inplace_skips", inplace_skips},
    {"slow", slow},
    {"reverse", reverse},
    {"reverse_left", reverse_left},
    {"spill", spill},
    {"spill_left", spill_left},
    {"perflab_copy_runs", perflab_copy_runs},
    {"perflab_probe", empty},
    {"left_memory_registers", left_memory_registers},
    {"left_memory_scratch", left_memory_scratch},
    {"chase", chase},
    {"scale", scale},
    {"accumulate", accumulate},
    {"atomic_order", atomic_order},
    {"sum_f32", sum_f32},
    {"sum_f32_reassociated", sum_f32_reassociated},
    {"empty", empty},
    {"scale_through", scale_through},
    {"accumulate_through", accumulate_through},
    {"hang", hang},
    {"wait_flag", wait_flag},
    {"wild", wild},
};

}  // namespace

bool run_body(std::string_view name, const Invocation& run) {
  const auto* const found = std::ranges::find(kBodies, name, &NamedBody::name);
  if (found == std::end(kBodies)) return false;
  found->body(run);
  return true;
}

}  // namespace perflab::test
