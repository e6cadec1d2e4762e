// The words of a platform, for text that a person reads: AMD's documents say wave, CU, work-group,
// LDS and VGPR where NVIDIA's say warp, SM, block, shared memory and register
// (docs/facts/cuda_architectures.md "Words"). Fields of documents have one set of names for both.
//
// Use: `const Terms& t = terms(platform_of(gpu.architecture));`, then t.wave, t.waves, t.cu, ...
// in fmt::format. A word stands as it does inside a sentence, its plural beside it; nothing is to
// be glued on ("{}s"). Words that are no nouns of a GPU (kernel, grid, occupancy) are the same.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace perflab::hal {

/// Whose GPU it is; decides which fields an architecture's table has, and the words.
enum class Platform { amd, nvidia };

/// Stable names, the same as in the tables: "amd", "nvidia".
constexpr std::string_view to_string(Platform platform) {
  return platform == Platform::amd ? "amd" : "nvidia";
}

/// PCI vendor ids.
inline constexpr std::uint32_t kVendorAmd = 0x1002;
inline constexpr std::uint32_t kVendorNvidia = 0x10de;

/// The platform of an architecture's name ("gfx942", "sm_90a"), whether the tables have it or not.
constexpr Platform platform_of(std::string_view architecture) {
  return architecture.starts_with("sm_") ? Platform::nvidia : Platform::amd;
}

/// The words of one platform, lower case unless they are always written otherwise.
struct Terms {
  std::string_view vendor;  ///< "AMD", "NVIDIA"
  std::string_view wave;    ///< what executes one instruction together: "wave", "warp"
  std::string_view waves;
  std::string_view lane;  ///< a place in a wave
  std::string_view lanes;
  std::string_view work_item;  ///< "work-item", "thread"
  std::string_view work_items;
  std::string_view workgroup;  ///< "work-group", "block"
  std::string_view workgroups;
  std::string_view a_workgroup;  ///< with its article
  std::string_view cu;           ///< "CU", "SM"
  std::string_view cus;
  std::string_view simd;  ///< a quarter (half) of a CU: "SIMD", "sub-partition"
  std::string_view simds;
  std::string_view lds;   ///< "LDS", "shared memory"
  std::string_view vgpr;  ///< registers of a lane: "VGPR", "register"
  std::string_view vgprs;
  std::string_view scratch;   ///< memory that spilled registers go to: "scratch", "local memory"
  std::string_view dispatch;  ///< one execution of a kernel: "dispatch", "launch"
  std::string_view dispatches;
  std::string_view queue;  ///< what orders them: "queue", "stream"
  std::string_view queues;
  std::string_view matrix;   ///< "matrix", "tensor": pipe, instructions
  std::string_view runtime;  ///< the API that programs call: "HIP", "CUDA"
  std::string_view marker;   ///< the library of ranges: "roctx", "NVTX"
};

inline constexpr Terms kAmdTerms{.vendor = "AMD",
                                 .wave = "wave",
                                 .waves = "waves",
                                 .lane = "lane",
                                 .lanes = "lanes",
                                 .work_item = "work-item",
                                 .work_items = "work-items",
                                 .workgroup = "work-group",
                                 .workgroups = "work-groups",
                                 .a_workgroup = "a work-group",
                                 .cu = "CU",
                                 .cus = "CUs",
                                 .simd = "SIMD",
                                 .simds = "SIMDs",
                                 .lds = "LDS",
                                 .vgpr = "VGPR",
                                 .vgprs = "VGPRs",
                                 .scratch = "scratch",
                                 .dispatch = "dispatch",
                                 .dispatches = "dispatches",
                                 .queue = "queue",
                                 .queues = "queues",
                                 .matrix = "matrix",
                                 .runtime = "HIP",
                                 .marker = "roctx"};

inline constexpr Terms kNvidiaTerms{.vendor = "NVIDIA",
                                    .wave = "warp",
                                    .waves = "warps",
                                    .lane = "lane",
                                    .lanes = "lanes",
                                    .work_item = "thread",
                                    .work_items = "threads",
                                    .workgroup = "block",
                                    .workgroups = "blocks",
                                    .a_workgroup = "a block",
                                    .cu = "SM",
                                    .cus = "SMs",
                                    .simd = "sub-partition",
                                    .simds = "sub-partitions",
                                    .lds = "shared memory",
                                    .vgpr = "register",
                                    .vgprs = "registers",
                                    .scratch = "local memory",
                                    .dispatch = "launch",
                                    .dispatches = "launches",
                                    .queue = "stream",
                                    .queues = "streams",
                                    .matrix = "tensor",
                                    .runtime = "CUDA",
                                    .marker = "NVTX"};

/// The words of the platform.
constexpr const Terms& terms(Platform platform) {
  return platform == Platform::amd ? kAmdTerms : kNvidiaTerms;
}

/// A sentence that was written in AMD's words (rules, features, advice) in the platform's, whole
/// words only: "work-groups" becomes "blocks", "a CU" becomes "an SM". As it is on AMD. Not for
/// names of kernels or files.
std::string in_terms(std::string_view text, Platform platform);

/// A field's name as words that a person reads: "busy_cus_waves" as "busy cus waves", on NVIDIA
/// "busy SMs warps". The names of pipes too, which fields have in AMD's words: "mfma" is "tensor".
std::string field_in_terms(std::string_view field, Platform platform);

}  // namespace perflab::hal
