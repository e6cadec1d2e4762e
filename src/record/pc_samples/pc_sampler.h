// Samples the PCs of every context of this process with CUPTI, kernels running side by side as they
// do without it (docs/facts/cuda_cupti.md "PC sampling"). Counts are collected while the program
// runs, and what is left when a context goes or the process ends.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "cuda/pc_sampling.h"
#include "record/counters/counter_problem.h"
#include "record/database/values.h"

namespace perflab::record {

class PcSampler {
 public:
  /// `period`: an exponent, 5 to 31; missing: CUPTI's choice, by the number of SMs. The libraries
  /// outlive it.
  PcSampler(const cuda::CuptiLibrary& cupti, std::optional<std::uint32_t> period);
  PcSampler(const PcSampler&) = delete;
  PcSampler& operator=(const PcSampler&) = delete;
  ~PcSampler();

  /// Begins to sample a context. What cannot be sampled is said in json(); the program goes on.
  void context_created(cuda::Context context);
  /// Takes what is left of a context, and no more after that.
  void context_going(cuda::Context context);
  /// Takes what CUPTI has at this moment. Waits for no GPU.
  void collect();
  /// Takes what is left of all contexts.
  void end();

  /// What was counted since the last call, by GPU, function, offset and reason.
  [[nodiscard]] std::vector<PcCount> take();
  /// Settings, sums and what went wrong, as JSON.
  [[nodiscard]] std::string json() const;

 private:
  struct Room;
  struct Sampled;
  using Key = std::tuple<std::uint32_t, std::uint64_t, std::string, std::uint64_t, std::string>;

  bool configure(Sampled& sampled);
  bool name_reasons(Sampled& sampled);
  void stop(Sampled& sampled);
  void add(const Sampled& sampled, const cuda::PcSamplingBuffer& buffer);
  bool good(const char* call, cuda::CuptiResult result);
  void complain(CounterFailure failure);

  const cuda::CuptiLibrary& cupti_;
  cuda::PcSampling api_;
  std::optional<std::uint32_t> period_;

  std::mutex contexts_mutex_;
  std::vector<std::shared_ptr<Sampled>> contexts_;

  mutable std::mutex mutex_;  ///< never held while CUPTI is called
  std::map<Key, std::uint64_t> counts_;
  std::uint64_t samples_ = 0, dropped_ = 0, other_ = 0, left_ = 0;
  bool hardware_buffer_full_ = false;
  std::optional<CounterFailure> problem_;
};

}  // namespace perflab::record
