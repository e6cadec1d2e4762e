// Faults of the stand-in CUPTI, chosen by the environment: README.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/cupti_types.h"

namespace perflab::cuda_sim {

class Faults {
 public:
  static const Faults& get();

  /// What the call is to answer instead of doing anything; nothing: let it work.
  [[nodiscard]] std::optional<cuda::CuptiResult> answer(std::string_view call,
                                                        std::uint32_t argument = 0) const;
  /// Every so many-th record is dropped; 0: none.
  std::uint64_t drop_every = 0;
  /// The client that was there before us; empty: nobody.
  std::string second_client;
  std::uint32_t version = 130001;

 private:
  Faults();
  struct Fault {
    std::string call;
    std::optional<std::uint32_t> argument;
    cuda::CuptiResult answer;
  };
  std::vector<Fault> faults_;
};

}  // namespace perflab::cuda_sim
