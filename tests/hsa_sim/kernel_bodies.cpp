// See kernel_bodies.h. A work-item of the grid handles the element of its number, as in the usual
// kernels with a bound n; blocks run one after the other.
#include "kernel_bodies.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
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

template <class T>
T* variable(const Invocation& run, std::string_view name) {
  void* const found = run.variable(name, sizeof(T));
  if (found == nullptr) {
    std::fputs("a kernel lacks its variable\n", stderr);
    std::abort();
  }
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

// What lies outside of the group's LDS is neither written nor read as it was.
void reverse(const Invocation& run) {
  const auto is = arguments<ArrayArguments>(run);
  const std::uint64_t group = std::max<std::uint64_t>(run.group, 1);
  std::vector<float> lds(run.group_segment_bytes / sizeof(float));
  for (std::uint64_t first = 0; first < elements(run, is.n); first += group) {
    const std::uint64_t count = std::min(group, elements(run, is.n) - first);
    for (std::uint64_t i = 0; i < count; ++i)
      if (i < lds.size()) lds[i] = is.x[first + i];
    for (std::uint64_t i = 0; i < count; ++i)
      is.x[first + i] = count - 1 - i < lds.size() ? lds[count - 1 - i] : -1;
  }
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
  auto* const nowhere = reinterpret_cast<volatile int*>(std::uintptr_t{64});
  *nowhere = 1;
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
    {"inplace", inplace},
    {"inplace_skips", inplace_skips},
    {"slow", slow},
    {"reverse", reverse},
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
