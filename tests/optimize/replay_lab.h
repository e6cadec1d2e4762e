// The replay workshop with the worker's half in this process, on the fake device: a capture of
// out = 2 in, and code objects whose bodies are functions of the test.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "optimize/workshop/replay_bench.h"
#include "optimize/workshop/workshop_replay.h"
#include "replay/kernel_bench.h"

namespace perflab::optimize {

using replay::Failure;
using replay::Launch;
using test::buffer;
using test::FakeDevice;
using test::kCount;
using test::KernelBench;
using test::KernelBody;

inline void doubled(const Launch& launch) {
  for (std::size_t i = 0; i < kCount; ++i) buffer(launch, 1)[i] = buffer(launch, 0)[i] * 2;
}
inline std::vector<float> doubles() {
  std::vector<float> out(kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) out[i] = (static_cast<float>(i) + 1) * 2;
  return out;
}
/// Stands for the end of the process in a body.
struct Crash {};

/// A workshop on a capture of out = 2 in. Code objects are files that bodies are defined for.
class ReplayLab {
 public:
  explicit ReplayLab(KernelBody original = doubled, std::vector<float> before = {})
      : kernels_(before.empty() ? std::vector<float>(kCount) : before, doubles(),
                 std::move(original)) {
    options.build = "cp {source} {code_object}";
    options.caches = replay::Caches::restored;  // tests count dispatches
  }
  ReplayLab(const ReplayLab&) = delete;
  ReplayLab(ReplayLab&&) = delete;
  ReplayLab& operator=(const ReplayLab&) = delete;
  ReplayLab& operator=(ReplayLab&&) = delete;
  ~ReplayLab() { forget(); }

  ReplayWorkshopOptions options;
  int asked = 0, opened = 0;
  std::optional<FakeDevice> device;  ///< the one in use; bodies make it fail
  std::vector<Nanos> times{Nanos{1000}, Nanos{2000}, Nanos{3000}};  ///< of a device's dispatches

  void fail_with(Failure failure) {
    device->fault = replay::fail(failure, "on purpose", "").error();
  }
  KernelBench& kernels() { return kernels_; }

  Workshop& workshop() {
    if (workshop_ == nullptr) {
      auto made = make_replay_workshop(kernels_.written(), options, {},
                                       [this](const Json& request) { return ask(request); });
      EXPECT_TRUE(made) << made.error().message;
      workshop_ = std::move(*made);
    }
    return *workshop_;
  }
  static Built built(const std::filesystem::path& object) {
    Built out;
    out.code_object = object;
    out.hash = object.stem().string();
    out.variant.name = out.hash;
    out.variant.code_object = object;
    return out;
  }
  /// The source as it is: another code object than the captured one that computes the same.
  Built original() { return built(kernels_.define(kernels_.device.kernels["k"].body, "original")); }
  Result<Correctness> try_prove(const KernelBody& body) {
    return workshop().prove(original(), built(kernels_.define(body, "candidate")));
  }
  Correctness prove(const KernelBody& body) {
    auto proof = try_prove(body);
    EXPECT_TRUE(proof) << describe(proof.error());
    return proof ? std::move(*proof) : Correctness{};
  }
  Result<measure::BenchAnswer> ask(const Json& request) {
    ++asked;
    if (bench_ == nullptr) PERFLAB_TRY_VOID(start());
    device->objects = kernels_.device.objects;  // every request loads anew
    measure::BenchAnswer out;
    try {
      // Through text, as it travels.
      PERFLAB_TRY(const Json travelled, parse_json(to_canonical_text(request), "request"));
      PERFLAB_TRY(out.answer, bench_->answer(travelled));
    } catch (const Crash&) {
      out.ended = "was killed by SIGSEGV (segmentation fault)";
      out.step = step_;
      forget();
      return out;
    }
    if (bench_->lost()) forget();
    return out;
  }

 private:
  Result<void> start() {
    ++opened;
    step_.clear();
    device.emplace();
    device->kernels = kernels_.device.kernels;
    device->times = times;
    PERFLAB_TRY(bench_, ReplayBench::open(kernels_.written(), *device, setup_of(options),
                                          [this](std::string_view step) -> Result<void> {
                                            step_ = step;
                                            return {};
                                          }));
    return {};
  }
  void forget() {
    bench_.reset();
    device.reset();
  }

  KernelBench kernels_;
  std::unique_ptr<ReplayBench> bench_;
  std::unique_ptr<Workshop> workshop_;
  std::string step_;
};

/// The names of its checks, in their order.
inline std::vector<std::string> names_of(const Correctness& proof) {
  std::vector<std::string> names;
  for (const Check& check : proof.checks) names.push_back(check.name);
  return names;
}
/// Refused for this reason in the last check, with all the others passed.
inline void expect_refused(const Correctness& proof, Reason reason, const std::string& check) {
  EXPECT_EQ(proof.reason, reason) << (proof.reason ? to_string(*proof.reason) : "accepted");
  ASSERT_FALSE(proof.checks.empty());
  EXPECT_EQ(proof.checks.back().name, check);
  for (const Check& one : proof.checks) EXPECT_EQ(one.passed, &one != &proof.checks.back());
  EXPECT_EQ(proof.checks.front().name, "golden output");
  EXPECT_FALSE(proof.sentence.empty());
}

}  // namespace perflab::optimize
