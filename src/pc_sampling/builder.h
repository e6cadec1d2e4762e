// Puts one source's samples and tables into a PcSamples, in whatever order a file has them: ids are
// resolved when the source ends. Internal to src/pc_sampling.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "pc_sampling/model.h"

namespace perflab::pc_sampling {

/// A sample with the ids of its file.
struct RawSample {
  std::uint64_t timestamp = 0, exec_mask = 0, dispatch_id = 0;
  std::uint64_t code_object_id = 0, offset = 0;
  std::int64_t instruction = -1;  ///< row of the source's instructions; -1: none
  HardwareId hardware;
  Workgroup workgroup;
  std::uint8_t wave_in_group = 0, flags = 0, reason = 0, wave_count = 0;
  InstructionType type = InstructionType::none;
  std::uint16_t arbiter_issue = 0, arbiter_stall = 0;
  MemoryCounters memory;
};

/// Of one source: rows in any order, then finish(). Use once.
class Builder {
 public:
  Builder(PcSamples& samples, Source source);

  /// From here on samples are of this method. Error (bad_input): there are some of another.
  Result<void> use(Method method, Form form);
  /// Makes room for that many more samples.
  void reserve(std::size_t more);
  void add(const RawSample& sample);
  void dropped(std::uint64_t many = 1) { samples_.counts.dropped += many; }
  void malformed(std::uint64_t many = 1) { samples_.counts.malformed_rows += many; }

  InstructionType type_of(std::string_view name);
  std::uint8_t reason_of(std::string_view name);

  // The texts that RawSample::instruction counts. `source_line` rows may be fewer.
  void instruction(std::string_view text) { instructions_.emplace_back(text); }
  void source_line(std::string_view text) { source_lines_.emplace_back(text); }

  /// The row of that agent handle (CSV: node), made when it is new.
  Index agent(std::uint64_t handle);
  void agent_facts(Agent facts);
  void code_object(CodeObject object, std::uint64_t agent_handle);
  /// `address`: of the first byte of its code, absolute.
  void kernel(Kernel kernel, std::uint64_t code_object_id, std::optional<std::uint64_t> address);
  /// The row of a kernel id; kernels of the tables have one.
  void recorded_dispatch(Dispatch dispatch, std::uint64_t kernel_id);
  /// The row that has that dispatch id; kNone of 0.
  Index dispatch(std::uint64_t id);

  void finish();

  [[nodiscard]] PcSamples& samples() { return samples_; }
  [[nodiscard]] Source& source() { return samples_.sources.back(); }

 private:
  struct PcKey {
    std::uint64_t code_object = 0, offset = 0;
    std::int64_t instruction = 0;
    friend bool operator==(const PcKey&, const PcKey&) = default;
  };
  struct PcHash {
    std::size_t operator()(const PcKey& key) const;
  };
  /// What of a PC's samples is counted.
  enum class Oddity : std::uint8_t { none, undecoded, out_of_range, no_code_object };

  [[nodiscard]] Index source_index() const {
    return static_cast<Index>(samples_.sources.size() - 1);
  }
  Index pc(const PcKey& key);
  void count_unknown(std::string_view name, std::uint64_t& counter);
  void resolve_kernels();
  Oddity resolve_pc(Pc& pc, const PcKey& key);
  void count_samples(const std::vector<Oddity>& oddities);

  PcSamples& samples_;
  bool states_places_ = true;  ///< false: a CSV, which has neither code object nor offset
  // Where the source's rows begin in the tables, and what is not resolved yet of each.
  std::size_t first_row_ = 0, first_pc_ = 0, first_kernel_ = 0, first_dispatch_ = 0;
  struct RawKernel {
    std::uint64_t code_object = 0;
    std::optional<std::uint64_t> address;
  };
  struct RawDispatch {
    std::uint64_t kernel = 0;
    bool recorded = false;
  };
  std::vector<PcKey> raw_pcs_;
  std::vector<RawKernel> raw_kernels_;
  std::vector<RawDispatch> raw_dispatches_;
  std::vector<std::string> instructions_, source_lines_;
  std::unordered_map<std::uint64_t, Index> agents_, code_objects_, kernels_, dispatches_;
  std::unordered_map<PcKey, Index, PcHash> pcs_;
  /// By code object: (begin, kernel), by begin.
  std::unordered_map<Index, std::vector<std::pair<std::uint64_t, Index>>> begins_;
  // Of the sample before: the next is often like it.
  PcKey last_key_;
  Index last_pc_ = kNone;
  std::uint64_t last_dispatch_id_ = 0;
  Index last_dispatch_ = kNone;
};

}  // namespace perflab::pc_sampling
