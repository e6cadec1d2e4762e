// Writes what rocprofv3's PC sampling leaves (JSON, CSV and the tables beside it), from a
// description of kernels and of how they are sampled, so that tests have every form, method and
// fault without recordings. Same seed, same bytes. Facts: docs/facts/pc_sampling.md; the writer
// shares nothing with the readers of src/pc_sampling but those facts. Synthetic: no GPU ever gave
// these samples.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

namespace perflab::test {

/// An instruction of a kernel and what samples of it say.
struct PcInstruction {
  std::string text = "s_nop 0";
  std::string comment{};      ///< "file:line -> file:line"
  std::string type = "VALU";  ///< when it issues, without the names' prefix
  std::int64_t weight = 1;    ///< samples of it, against the others of the kernel
  std::int64_t issued_permille = 0;
  /// Of samples that did not issue: reasons, without the names' prefix, with their weights.
  std::vector<std::pair<std::string, std::int64_t>> reasons{{"WAITCNT", 1}};
  std::uint64_t exec_mask = ~0ULL;
};

struct PcKernel {
  std::string name = "vecCopy(double*, double*)";
  std::string mangled = "_Z7vecCopyPdS_";
  std::vector<PcInstruction> instructions{};
  std::int64_t dispatches = 1;
  std::int64_t waves = 8;  ///< on a busy CU, at most; samples have half of it to all
};

/// A GPU; dispatches take turns on the GPUs.
struct PcAgent {
  std::uint64_t handle = 18942;
  std::string arch = "gfx942";
  int xccs = 8;
  int engines = 4;         ///< shader engines of an XCC
  int cus_per_engine = 2;  ///< busy ones
  int wave_size = 64;
};

/// One process.
struct PcRun {
  bool stochastic = true;
  std::vector<PcAgent> agents{PcAgent{}};
  std::vector<PcKernel> kernels{};  ///< their dispatches take turns
  std::uint64_t seed = 1;
  std::int64_t ticks = 4;         ///< of each dispatch
  std::int64_t tick_ns = 31'207;  ///< 65,536 cycles at 2.1 GHz
  bool equal_ticks = false;       ///< all samples of an XCC's tick have one instruction
  // Faults, of a thousand samples each.
  std::int64_t lost = 0;              ///< are not in the files
  std::int64_t undecoded = 0;         ///< inst_index -1
  std::int64_t out_of_range = 0;      ///< inst_index beyond the texts
  std::int64_t no_code_object = 0;    ///< code object 0
  std::int64_t dispatch_unknown = 0;  ///< dispatch 0
  std::int64_t until_dispatch = -1;   ///< later ones have no samples; -1: all have
  std::int64_t pid = 4242;
  // Forms of the JSON.
  bool spaced_key = true;        ///< "workgroup_id " as it is written, not as it is documented
  bool lock_error = true;        ///< snapshots have lck_err
  bool memory_counters = false;  ///< samples have memory_counters, as gfx12's
  bool kernel_trace = true;      ///< kernel_dispatch has the dispatches; the table is written
  bool tables_last = false;      ///< samples stand before what they refer to
};

/// A sample; texts and names are those of the run.
struct PcMade {
  std::uint64_t timestamp = 0, exec_mask = 0, dispatch_id = 0;
  std::size_t kernel = 0, instruction = 0;
  std::uint64_t code_object = 0, offset = 0;
  std::int64_t inst_index = -1;  ///< into the texts of all kernels' instructions, one by one
  std::array<int, 6> place{};    ///< XCC, shader engine, shader array, CU, SIMD, slot
  std::uint32_t workgroup = 0;
  int wave_in_group = 0, waves = 0;
  bool issued = false;
  std::string type{}, reason{};
  std::uint32_t arbiter_issue = 0, arbiter_stall = 0;  ///< bits in the order of the file's keys
  std::array<int, 9> memory{};
};

/// The samples of a run, by dispatch, tick, XCC and CU.
std::vector<PcMade> make_pc_samples(const PcRun& run);

/// Of a dispatch, from 1 on.
struct PcDispatch {
  std::uint64_t id = 0;
  std::size_t kernel = 0, agent = 0;
  std::uint64_t start = 0, end = 0;
};
std::vector<PcDispatch> pc_dispatches(const PcRun& run);
/// First byte of a kernel's code from the code object's load base.
std::uint64_t pc_kernel_begin(std::size_t kernel);

/// The JSON of some processes: "rocprofiler-sdk-tool" with an element of each.
void write_pc_json(std::ostream& out, const std::vector<PcRun>& runs);
void write_pc_csv(std::ostream& out, const PcRun& run);
void write_pc_kernel_trace(std::ostream& out, const PcRun& run);
void write_pc_agent_info(std::ostream& out, const PcRun& run);

/// PREFIX_results.json, PREFIX_pc_sampling_<method>.csv (not without samples),
/// PREFIX_kernel_trace.csv and PREFIX_agent_info.csv into a folder, which is made. Aborts when that
/// cannot be done.
struct PcForms {
  bool json = true, csv = true;
};
void write_pc_run(const std::filesystem::path& folder, const std::string& prefix, const PcRun& run,
                  PcForms forms);

/// A copy kernel: loads, a wait for them, stores; nine of ten samples wait.
PcKernel pc_copy_kernel();
/// A kernel of matrix instructions, half of whose samples issue; the others find the pipe full.
PcKernel pc_matrix_kernel();

}  // namespace perflab::test
