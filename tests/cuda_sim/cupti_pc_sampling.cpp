// The stand-in CUPTI's PC sampling: four stall reasons; of each launch eight samples, at three
// places. Data come late, as CUPTI's do: what one call of cuptiPCSamplingGetData finds is given by
// the next, and the rest at the end. Facts: docs/facts/cuda_cupti.md "PC sampling".
#include "cuda_sim/cupti_pc_sampling.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "cuda/pc_sampling_types.h"
#include "cuda_sim/faults.h"

extern "C" perflab::cuda::CuptiResult cuptiGetContextId(perflab::cuda::Context context,
                                                        std::uint32_t* id);

namespace perflab::cuda_sim {
namespace {

using cuda::CuptiResult;

constexpr const char* reason_names[] = {
    "smsp__pcsamp_warps_issue_stalled_long_scoreboard",
    "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",
    "smsp__pcsamp_warps_issue_stalled_selected", "smsp__pcsamp_warps_issue_stalled_barrier"};
constexpr std::uint32_t first_index = 5;  // indices are no places in a list
constexpr std::uint64_t cubin_crc = 0xfedcba9876543210;

/// (function, offset) to samples by reason.
using Counts =
    std::map<std::pair<std::string, std::uint64_t>, std::map<std::uint32_t, std::uint32_t>>;

struct SampledContext {
  std::uint32_t id = 0;
  bool enabled = false;
  cuda::PcSamplingBuffer* at_end = nullptr;
  Counts fresh, ready;
};

struct SampledContexts {
  std::mutex mutex;
  std::map<cuda::Context, SampledContext> all;
};

SampledContexts& contexts() {
  // Never destroyed: exit handlers take samples.
  static SampledContexts& one = *new SampledContexts;
  return one;
}

/// Puts as many PCs into the buffer as have room, and takes them out of the counts.
void give(Counts& counts, cuda::PcSamplingBuffer& buffer) {
  buffer.pcs = 0;
  buffer.samples = buffer.dropped = buffer.other_samples = 0;
  while (!counts.empty() && buffer.pcs < buffer.room) {
    const auto& [place, reasons] = *counts.begin();
    cuda::PcSamplingPc& pc = buffer.data[buffer.pcs++];
    pc.cubin_crc = cubin_crc;
    pc.offset = place.second;
    // The client may free it, or never does, as with CUPTI.
    static std::map<std::string, std::string>& names = *new std::map<std::string, std::string>;
    pc.function = names.try_emplace(place.first, place.first).first->second.data();
    pc.reason_count = 0;
    for (const auto& [reason, samples] : reasons) {
      pc.reasons[pc.reason_count++] = {.reason = first_index + reason, .samples = samples};
      buffer.samples += samples;
    }
    counts.erase(counts.begin());
  }
  buffer.left = counts.size();
}

template <class Body>
CuptiResult sampling_call(const char* call, cuda::Context context, const Body& body) {
  if (const auto fault = Faults::get().answer(call)) return *fault;
  SampledContexts& s = contexts();
  const std::scoped_lock lock(s.mutex);
  return body(s.all[context]);
}

}  // namespace

void pc_sampling_saw(const Work& work) {
  if (work.kind != WorkKind::kernel || work.kernel == nullptr) return;
  SampledContexts& s = contexts();
  const std::scoped_lock lock(s.mutex);
  for (auto& [context, sampled] : s.all) {
    if (!sampled.enabled || sampled.id != work.context) continue;
    const std::string name = work.kernel->name;
    sampled.fresh[{name, 0x10}][2] += 2;
    sampled.fresh[{name, 0x20}][0] += 4;
    sampled.fresh[{name, 0x20}][1] += 1;
    sampled.fresh[{name, 0x30}][3] += 1;
  }
}

}  // namespace perflab::cuda_sim

namespace cuda = perflab::cuda;
using cuda::CuptiResult;
using perflab::cuda_sim::give;
using perflab::cuda_sim::reason_names;
using perflab::cuda_sim::SampledContext;
using perflab::cuda_sim::sampling_call;

#pragma GCC visibility push(default)
extern "C" {

CuptiResult cuptiPCSamplingSetConfigurationAttribute(cuda::PcSamplingConfigure* call) {
  return sampling_call(
      "cuptiPCSamplingSetConfigurationAttribute", call->context, [&](SampledContext& sampled) {
        if (!sampled.enabled) return CuptiResult::invalid_operation;
        for (std::size_t i = 0; i < call->count; ++i) {
          cuda::PcSamplingSetting& setting = call->settings[i];
          setting.status = CuptiResult::success;
          if (setting.attribute == cuda::PcSamplingAttribute::data_buffer)
            sampled.at_end = static_cast<cuda::PcSamplingBuffer*>(setting.value.buffer);
          if (setting.attribute == cuda::PcSamplingAttribute::period &&
              (setting.value.number < 5 || setting.value.number > 31))
            return setting.status = CuptiResult::invalid_operation;
        }
        return CuptiResult::success;
      });
}

CuptiResult cuptiPCSamplingEnable(cuda::PcSamplingCall* call) {
  std::uint32_t id = 0;
  if (cuptiGetContextId(call->context, &id) != CuptiResult::success)
    return CuptiResult::invalid_context;
  return sampling_call("cuptiPCSamplingEnable", call->context, [&](SampledContext& sampled) {
    if (sampled.enabled) return CuptiResult::invalid_operation;
    sampled.id = id;
    sampled.enabled = true;
    return CuptiResult::success;
  });
}

CuptiResult cuptiPCSamplingDisable(cuda::PcSamplingCall* call) {
  return sampling_call("cuptiPCSamplingDisable", call->context, [](SampledContext& sampled) {
    if (!sampled.enabled) return CuptiResult::invalid_operation;
    sampled.enabled = false;
    for (const auto& [place, reasons] : sampled.fresh)
      for (const auto& [reason, samples] : reasons) sampled.ready[place][reason] += samples;
    sampled.fresh.clear();
    if (sampled.at_end != nullptr) give(sampled.ready, *sampled.at_end);
    return CuptiResult::success;
  });
}

CuptiResult cuptiPCSamplingGetData(cuda::PcSamplingGetData* call) {
  return sampling_call("cuptiPCSamplingGetData", call->context, [&](SampledContext& sampled) {
    if (!sampled.enabled) return CuptiResult::invalid_operation;
    give(sampled.ready, *static_cast<cuda::PcSamplingBuffer*>(call->buffer));
    if (sampled.ready.empty()) sampled.ready.swap(sampled.fresh);
    return CuptiResult::success;
  });
}

CuptiResult cuptiPCSamplingGetNumStallReasons(cuda::PcSamplingReasonCount* call) {
  return sampling_call("cuptiPCSamplingGetNumStallReasons", call->context,
                       [&](SampledContext& sampled) {
                         if (!sampled.enabled) return CuptiResult::invalid_operation;
                         *call->count = std::size(reason_names);
                         return CuptiResult::success;
                       });
}

CuptiResult cuptiPCSamplingGetStallReasons(cuda::PcSamplingReasons* call) {
  return sampling_call("cuptiPCSamplingGetStallReasons", call->context, [&](SampledContext&) {
    for (std::size_t i = 0; i < call->count && i < std::size(reason_names); ++i) {
      call->indices[i] = perflab::cuda_sim::first_index + static_cast<std::uint32_t>(i);
      std::snprintf(call->names[i], cuda::PcSamplingReasons::kNameBytes, "%s", reason_names[i]);
    }
    return CuptiResult::success;
  });
}

}  // extern "C"
#pragma GCC visibility pop
