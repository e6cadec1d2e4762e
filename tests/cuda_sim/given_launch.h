// A launch of the stand-in driver as callbacks of CUPTI see it (src/cuda/launch_parameters.h).
#pragma once

#include <cstdint>

#include "cuda/launch_parameters.h"
#include "cuda_sim/sim.h"

namespace perflab::cuda_sim {

/// A launch as a callback is given it, by whichever of the calls.
struct GivenLaunch {
  GivenLaunch(cuda::Function function, const Launch& shape, cuda::Stream stream, void** parameters,
              void** extra)
      : plain{.function = function,
              .grid = {},
              .block = {},
              .shared_bytes = static_cast<std::uint32_t>(shape.dynamic_shared_memory),
              .stream = stream,
              .parameters = parameters,
              .extra = extra} {
    copy(shape.grid, plain.grid);
    copy(shape.block, plain.block);
    copy(shape.grid, config.grid);
    copy(shape.block, config.block);
    config.shared_bytes = plain.shared_bytes;
    config.stream = stream;
    if (shape.cluster.x != 0) {
      cuda::LaunchAttribute& one = attributes[config.attribute_count++];
      one.id = cuda::LaunchAttributeId::cluster_dimension;
      copy(shape.cluster, one.value.cluster);
    }
    if (shape.type == cuda::launch_type::cooperative) {
      cuda::LaunchAttribute& one = attributes[config.attribute_count++];
      one.id = cuda::LaunchAttributeId::cooperative;
      one.value.cooperative = 1;
    }
    config.attributes = attributes;
    extended = {.config = &config, .function = function, .parameters = parameters, .extra = extra};
  }
  GivenLaunch(const GivenLaunch&) = delete;
  GivenLaunch& operator=(const GivenLaunch&) = delete;

  [[nodiscard]] const void* of(const CallName& call) const {
    const bool is_extended = call.id == cuda::driver_call::launch_kernel_ex ||
                             call.id == cuda::driver_call::launch_kernel_ex_ptsz;
    return is_extended ? static_cast<const void*>(&extended) : &plain;
  }

  cuda::LaunchKernelParameters plain;
  cuda::LaunchAttribute attributes[2]{};
  cuda::LaunchConfiguration config{};
  cuda::LaunchKernelExParameters extended{};

  static void copy(const Dimensions& from, std::uint32_t (&into)[3]) {
    into[0] = static_cast<std::uint32_t>(from.x);
    into[1] = static_cast<std::uint32_t>(from.y);
    into[2] = static_cast<std::uint32_t>(from.z);
  }
};

}  // namespace perflab::cuda_sim
