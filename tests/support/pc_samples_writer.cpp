// Samples first, then the files of them.
#include "support/pc_samples_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <ostream>

#include "support/prng.h"

namespace perflab::test {
namespace {

constexpr std::uint64_t kFirstNs = 1'987'779'595'000'000, kLoadBase = 140'661'578'039'296;
constexpr std::uint64_t kCodeObject = 2, kFirstKernelId = 12;
constexpr std::uint64_t kKernelBytes = 0x1000, kInstructionBytes = 8;
constexpr std::array<const char*, 10> kPipes = {"valu",     "matrix", "lds", "lds_direct", "scalar",
                                                "vmem_tex", "flat",   "exp", "misc",       "brmsg"};

/// The pipe that a type of instruction goes to.
std::uint32_t pipe_of(const std::string& type) {
  constexpr std::array<std::pair<const char*, int>, 8> kOfTypes = {{{"VALU", 0},
                                                                    {"MATRIX", 1},
                                                                    {"LDS", 2},
                                                                    {"LDS_DIRECT", 3},
                                                                    {"SCALAR", 4},
                                                                    {"TEX", 5},
                                                                    {"FLAT", 6},
                                                                    {"EXPORT", 7}}};
  for (const auto& [name, bit] : kOfTypes)
    if (type == name) return 1U << bit;
  return 1U << 8;
}

std::uint64_t inst_index_of(const PcRun& run, std::size_t kernel, std::size_t instruction) {
  std::uint64_t index = instruction;
  for (std::size_t i = 0; i < kernel; ++i) index += run.kernels[i].instructions.size();
  return index;
}

/// A place of a list of weights, by chance.
template <class List, class Weight>
std::size_t draw(Prng& random, const List& list, const Weight& weight_of) {
  std::int64_t sum = 0;
  for (const auto& each : list) sum += weight_of(each);
  if (sum <= 0) return 0;
  std::int64_t at = random.below(sum);
  std::size_t place = 0;
  for (const auto& each : list) {
    at -= weight_of(each);
    if (at < 0) return place;
    ++place;
  }
  return 0;
}

class SampleMaker {
 public:
  explicit SampleMaker(const PcRun& run) : run_(run), random_(run.seed) {}

  std::vector<PcMade> make() {
    for (const PcDispatch& dispatch : pc_dispatches(run_))
      if (run_.until_dispatch < 0 || dispatch.id <= static_cast<std::uint64_t>(run_.until_dispatch))
        for (std::int64_t tick = 0; tick < run_.ticks; ++tick) add_tick(dispatch, tick);
    return std::move(made_);
  }

 private:
  bool one_of(std::int64_t permille) { return permille > 0 && random_.below(1000) < permille; }

  void add_tick(const PcDispatch& dispatch, std::int64_t tick) {
    const PcAgent& agent = run_.agents[dispatch.agent];
    const PcKernel& kernel = run_.kernels[dispatch.kernel];
    const std::uint64_t time = dispatch.start + static_cast<std::uint64_t>(tick * run_.tick_ns);
    for (int xcc = 0; xcc < agent.xccs; ++xcc) {
      const std::size_t common = draw(random_, kernel.instructions, &weight);
      const int slot = static_cast<int>(tick % 8);
      for (int cu = 0; cu < agent.engines * agent.cus_per_engine; ++cu) {
        const std::size_t own =
            run_.equal_ticks ? common : draw(random_, kernel.instructions, &weight);
        const std::uint64_t behind = 500 + 40 * static_cast<std::uint64_t>(random_.below(150));
        add(dispatch, own, time + behind,
            {xcc, cu / agent.cus_per_engine, 0, cu % agent.cus_per_engine, cu % 4,
             run_.equal_ticks ? slot : static_cast<int>(random_.below(8))});
      }
    }
  }

  static std::int64_t weight(const PcInstruction& instruction) { return instruction.weight; }

  void add(const PcDispatch& dispatch, std::size_t number, std::uint64_t time,
           const std::array<int, 6>& place) {
    const PcKernel& kernel = run_.kernels[dispatch.kernel];
    const PcInstruction& instruction = kernel.instructions[number];
    PcMade made{
        .timestamp = time,
        .exec_mask = instruction.exec_mask,
        .dispatch_id = dispatch.id,
        .kernel = dispatch.kernel,
        .instruction = number,
        .code_object = kCodeObject,
        .offset = pc_kernel_begin(dispatch.kernel) + kInstructionBytes * number,
        .inst_index = static_cast<std::int64_t>(inst_index_of(run_, dispatch.kernel, number)),
        .place = place};
    const int xccs = run_.agents[dispatch.agent].xccs;
    made.workgroup = static_cast<std::uint32_t>(random_.below(500) * xccs + place[0]);
    made.wave_in_group = static_cast<int>(random_.below(4));
    made.waves = static_cast<int>(kernel.waves - random_.below(kernel.waves / 2 + 1));
    made.issued = one_of(instruction.issued_permille);
    made.reason = instruction
                      .reasons[draw(random_, instruction.reasons,
                                    [](const auto& reason) { return reason.second; })]
                      .first;
    set_state(made, instruction);
    for (int& count : made.memory) count = static_cast<int>(random_.below(8));
    break_some(made);
    if (!one_of(run_.lost)) made_.push_back(std::move(made));
  }

  void set_state(PcMade& made, const PcInstruction& instruction) {
    const std::uint32_t pipe = pipe_of(instruction.type);
    made.type = made.issued || made.reason == "ARBITER_NOT_WIN" ? instruction.type : "NO_INST";
    if (made.issued) {
      made.reason = "OTHER_WAIT";  // as gfx9 has it: it means nothing
      made.arbiter_issue = pipe;
    } else if (made.reason == "ARBITER_NOT_WIN") {
      made.arbiter_issue = pipe;
    } else if (made.reason == "ARBITER_WIN_EX_STALL") {
      made.arbiter_issue = made.arbiter_stall = pipe;
    } else if (one_of(300)) {
      made.arbiter_issue = 1;  // a neighbour issued VALU
    }
  }

  void break_some(PcMade& made) {
    if (one_of(run_.dispatch_unknown)) made.dispatch_id = 0;
    if (one_of(run_.no_code_object)) {
      made.code_object = 0;
      made.offset = kLoadBase + 0x100'0000 + made.offset;
      made.inst_index = -1;
    } else if (one_of(run_.undecoded)) {
      made.inst_index = -1;
    } else if (one_of(run_.out_of_range)) {
      made.inst_index += 100'000;
    }
  }

  const PcRun& run_;
  Prng random_;
  std::vector<PcMade> made_;
};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

const char* type_prefix() {
  return "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_";
}
const char* reason_prefix() {
  return "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_";
}

void write_record(std::ostream& out, const PcRun& run, const PcMade& made) {
  const auto& place = made.place;
  out << R"({"record":{)";
  if (run.stochastic) out << R"("flags":{"has_mem_cnt":)" << (run.memory_counters ? 1 : 0) << "},";
  out << fmt::format(
      R"("hw_id":{{"chiplet":{},"wave_id":{},"simd_id":{},"pipe_id":0,"cu_or_wgp_id":{},)"
      R"("shader_array_id":{},"shader_engine_id":{},"workgroup_id{}":{},"vm_id":3,"queue_id":2,)"
      R"("microengine_id":1}},"pc":{{"code_object_id":{},"code_object_offset":{}}},"exec_mask":{},)"
      R"("timestamp":{},"dispatch_id":{},"corr_id":{{"internal":{},"external":106267246638496}},)"
      R"("wrkgrp_id":{{"x":{},"y":0,"z":0}},"wave_in_grp":{})",
      place[0], place[5], place[4], place[3], place[2], place[1], run.spaced_key ? " " : "",
      made.workgroup % 16, made.code_object, made.offset, made.exec_mask, made.timestamp,
      made.dispatch_id, made.dispatch_id, made.workgroup, made.wave_in_group);
  if (run.stochastic) {
    out << fmt::format(R"(,"wave_issued":{},"inst_type":"{}{}","wave_cnt":{},"snapshot":{{)"
                       R"("stall_reason":"{}{}","dual_issue_valu":0)",
                       made.issued ? 1 : 0, type_prefix(), made.type, made.waves, reason_prefix(),
                       made.reason);
    for (const char* what : {"issue", "stall"})
      for (std::size_t i = 0; i < kPipes.size(); ++i)
        out << fmt::format(R"(,"arb_state_{}_{}":{})", what, kPipes[i],
                           ((what[0] == 'i' ? made.arbiter_issue : made.arbiter_stall) >> i) & 1U);
    if (run.lock_error) out << R"(,"lck_err":0)";
    out << "}";
    if (run.memory_counters)
      out << fmt::format(
          R"(,"memory_counters":{{"load_cnt":{},"store_cnt":{},"bvh_cnt":{},"sample_cnt":{},)"
          R"("ds_cnt":{},"km_cnt":{},"async_cnt":{},"tensor_cnt":{},"xnack_cnt":{}}})",
          made.memory[0], made.memory[1], made.memory[2], made.memory[3], made.memory[4],
          made.memory[5], made.memory[6], made.memory[7], made.memory[8]);
  }
  out << R"(},"inst_index":)" << made.inst_index << "}";
}

void write_strings(std::ostream& out, const PcRun& run) {
  for (const bool comments : {false, true}) {
    out << (comments ? R"(,"pc_sample_comments":[)" : R"("strings":{"pc_sample_instructions":[)");
    const char* between = "";
    for (const PcKernel& kernel : run.kernels)
      for (const PcInstruction& instruction : kernel.instructions) {
        out << between << quoted(comments ? instruction.comment : instruction.text);
        between = ",";
      }
    out << "]";
  }
  out << R"(,"att_filenames":[],"code_object_snapshot_filenames":[""]},)";
}

void write_tables(std::ostream& out, const PcRun& run) {
  out << R"("agents":[{"id":{"handle":1},"type":1,"name":"a CPU","node_id":0})";
  for (const PcAgent& agent : run.agents)
    out << fmt::format(
        R"(,{{"size":312,"id":{{"handle":{}}},"type":2,"simd_count":{},"max_waves_per_simd":8,)"
        R"("wave_front_size":{},"num_xcc":{},"cu_count":{},"num_shader_banks":{},"simd_per_cu":4,)"
        R"("max_engine_clk_fcompute":2100,"name":"{}","product_name":"synthetic {}"}})",
        agent.handle, agent.xccs * agent.engines * agent.cus_per_engine * 4, agent.wave_size,
        agent.xccs, agent.xccs * agent.engines * agent.cus_per_engine, agent.xccs * agent.engines,
        agent.arch, agent.arch);
  out << R"(],"counters":[],)";
  write_strings(out, run);
  out << fmt::format(
      R"("code_objects":[{{"code_object_id":0,"agent_id":{{"handle":0}},"uri":"","load_base":0,)"
      R"("load_size":0}},{{"size":88,"code_object_id":{},"agent_id":{{"handle":{}}},)"
      R"("uri":"file:///app#offset=12288&size=8064","load_base":{},"load_size":{},"storage_type":2)"
      R"(}}],"kernel_symbols":[{{"kernel_id":0,"code_object_id":0,"kernel_name":"",)"
      R"("kernel_address":{{"handle":0}},"formatted_kernel_name":"0"}})",
      kCodeObject, run.agents[0].handle, kLoadBase,
      pc_kernel_begin(run.kernels.size()) + kKernelBytes);
  for (std::size_t i = 0; i < run.kernels.size(); ++i)
    out << fmt::format(
        R"(,{{"size":88,"kernel_id":{},"code_object_id":{},"kernel_name":"{}.kd",)"
        R"("kernel_object":{},"sgpr_count":16,"arch_vgpr_count":{},"accum_vgpr_count":4,)"
        R"("kernel_address":{{"handle":{}}},"formatted_kernel_name":{}}})",
        kFirstKernelId + i, kCodeObject, run.kernels[i].mangled, kLoadBase + 64 * i, 4 * (i + 1),
        kLoadBase + pc_kernel_begin(i), quoted(run.kernels[i].name));
  out << R"(],"host_functions":[],"summary":[],"callback_records":{"counter_collection":[]})";
}

void write_records(std::ostream& out, const PcRun& run) {
  out << R"("buffer_records":{"kernel_dispatch":[)";
  const char* between = "";
  if (run.kernel_trace)
    for (const PcDispatch& dispatch : pc_dispatches(run)) {
      out << between
          << fmt::format(
                 R"({{"size":184,"kind":11,"operation":2,"thread_id":1,"correlation_id":{{)"
                 R"("internal":{},"external":0}},"start_timestamp":{},"end_timestamp":{},)"
                 R"("dispatch_info":{{"size":72,"agent_id":{{"handle":{}}},"queue_id":{{"handle":)"
                 R"(2}},"kernel_id":{},"dispatch_id":{},"private_segment_size":0,)"
                 R"("group_segment_size":0,"workgroup_size":{{"x":256,"y":1,"z":1}},)"
                 R"("grid_size":{{"x":1048576,"y":1,"z":1}}}},"stream_id":{{"handle":0}}}})",
                 dispatch.id, dispatch.start, dispatch.end, run.agents[dispatch.agent].handle,
                 kFirstKernelId + dispatch.kernel, dispatch.id);
      between = ",";
    }
  out << R"(],"hip_api":[],"pc_sample_host_trap":[)";
  const auto samples = [&] {
    between = "";
    for (const PcMade& made : make_pc_samples(run)) {
      out << between;
      write_record(out, run, made);
      between = ",";
    }
  };
  if (!run.stochastic) samples();
  out << R"(],"pc_sample_stochastic":[)";
  if (run.stochastic) samples();
  out << "]}";
}

std::uint64_t node_of(std::size_t agent) {
  return agent + 2;
}

}  // namespace

std::uint64_t pc_kernel_begin(std::size_t kernel) {
  return kKernelBytes * (kernel + 1);
}

std::vector<PcDispatch> pc_dispatches(const PcRun& run) {
  std::vector<PcDispatch> all;
  std::int64_t most = 0;
  for (const PcKernel& kernel : run.kernels) most = std::max(most, kernel.dispatches);
  const auto lasts = static_cast<std::uint64_t>(run.ticks * run.tick_ns) + 10'000;
  for (std::int64_t turn = 0; turn < most; ++turn)
    for (std::size_t i = 0; i < run.kernels.size(); ++i) {
      if (turn >= run.kernels[i].dispatches) continue;
      const std::uint64_t start = kFirstNs + all.size() * (lasts + 5'000);
      all.push_back({.id = all.size() + 1,
                     .kernel = i,
                     .agent = all.size() % run.agents.size(),
                     .start = start,
                     .end = start + lasts});
    }
  return all;
}

std::vector<PcMade> make_pc_samples(const PcRun& run) {
  return SampleMaker(run).make();
}

void write_pc_json(std::ostream& out, const std::vector<PcRun>& runs) {
  out << R"({"rocprofiler-sdk-tool":[)";
  const char* between = "";
  for (const PcRun& run : runs) {
    out << between
        << fmt::format(R"({{"metadata":{{"node":{{"id":0,"hostname":"synthetic"}},"pid":{},)"
                       R"("init_time":1,"fini_time":2,"command":["app"]}},)",
                       run.pid);
    between = ",";
    if (!run.tables_last) {
      write_tables(out, run);
      out << ",";
    }
    write_records(out, run);
    if (run.tables_last) {
      out << ",";
      write_tables(out, run);
    }
    out << "}";
  }
  out << "]}";
}

void write_pc_csv(std::ostream& out, const PcRun& run) {
  out << R"("Sample_Timestamp","Exec_Mask","Dispatch_Id","Instruction","Instruction_Comment",)"
         R"("Correlation_Id")";
  if (run.stochastic)
    out << R"(,"Wave_Issued_Instruction","Instruction_Type","Stall_Reason","Wave_Count")";
  for (const PcMade& made : make_pc_samples(run)) {
    const PcInstruction& instruction = run.kernels[made.kernel].instructions[made.instruction];
    std::uint64_t texts = 0;
    for (const PcKernel& kernel : run.kernels) texts += kernel.instructions.size();
    const bool decoded =
        made.inst_index >= 0 && static_cast<std::uint64_t>(made.inst_index) < texts;
    std::string comment = decoded ? instruction.comment : "";
    if (made.code_object == 0)
      comment = fmt::format("Unrecognized code object id, physical virtual address of PC:{}",
                            made.offset);
    // Neither text has its quotes marked, and the last line has no end.
    out << fmt::format("\n{},{},{},\"{}\",\"{}\",{}", made.timestamp, made.exec_mask,
                       made.dispatch_id, decoded ? instruction.text : "", comment,
                       made.dispatch_id);
    if (run.stochastic)
      out << fmt::format(",{},\"{}{}\",\"{}{}\",{}", made.issued ? 1 : 0, type_prefix(), made.type,
                         reason_prefix(), made.reason, made.waves);
  }
}

void write_pc_kernel_trace(std::ostream& out, const PcRun& run) {
  out << R"("Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id",)"
         R"("Kernel_Name","Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size",)"
         R"("Scratch_Size","VGPR_Count","Accum_VGPR_Count","SGPR_Count","Workgroup_Size_X",)"
         R"("Workgroup_Size_Y","Workgroup_Size_Z","Grid_Size_X","Grid_Size_Y","Grid_Size_Z")"
         "\n";
  for (const PcDispatch& dispatch : pc_dispatches(run))
    out << fmt::format(
        "\"KERNEL_DISPATCH\",\"Agent {}\",2,0,1,{},{},\"{}\",{},{},{},0,0,{},4,16,"
        "256,1,1,1048576,1,1\n",
        node_of(dispatch.agent), dispatch.id, kFirstKernelId + dispatch.kernel,
        run.kernels[dispatch.kernel].name, dispatch.id, dispatch.start, dispatch.end,
        4 * (dispatch.kernel + 1));
}

void write_pc_agent_info(std::ostream& out, const PcRun& run) {
  out << R"("Node_Id","Logical_Node_Id","Agent_Type","Max_Waves_Per_Simd","Wave_Front_Size",)"
         R"("Num_Xcc","Cu_Count","Num_Shader_Banks","Simd_Per_Cu","Max_Engine_Clk_Fcompute",)"
         R"("Name","Product_Name")"
         "\n0,0,\"CPU\",0,0,1,64,0,0,0,\"a CPU\",\"a CPU\"\n";
  for (std::size_t i = 0; i < run.agents.size(); ++i) {
    const PcAgent& agent = run.agents[i];
    out << fmt::format("{},{},\"GPU\",8,{},{},{},{},4,2100,\"{}\",\"synthetic {}\"\n", node_of(i),
                       node_of(i), agent.wave_size, agent.xccs,
                       agent.xccs * agent.engines * agent.cus_per_engine,
                       agent.xccs * agent.engines, agent.arch, agent.arch);
  }
}

void write_pc_run(const std::filesystem::path& folder, const std::string& prefix, const PcRun& run,
                  PcForms forms) {
  std::filesystem::create_directories(folder);
  const auto write = [&](const std::string& name, const auto& fill) {
    std::ofstream out(folder / (prefix + name), std::ios::binary);
    fill(out);
    out.close();
    if (!out) {
      fmt::print(stderr, "{}: cannot be written\n", (folder / (prefix + name)).string());
      std::abort();
    }
  };
  if (forms.json) write("_results.json", [&](std::ostream& out) { write_pc_json(out, {run}); });
  if (!forms.csv) return;
  if (!make_pc_samples(run).empty())
    write(run.stochastic ? "_pc_sampling_stochastic.csv" : "_pc_sampling_host_trap.csv",
          [&](std::ostream& out) { write_pc_csv(out, run); });
  if (run.kernel_trace)
    write("_kernel_trace.csv", [&](std::ostream& out) { write_pc_kernel_trace(out, run); });
  write("_agent_info.csv", [&](std::ostream& out) { write_pc_agent_info(out, run); });
}

PcKernel pc_copy_kernel() {
  PcKernel kernel;
  const std::string line = "/app/copy.cpp:20";
  kernel.instructions = {
      {.text = "s_load_dwordx2 s[2:3], s[0:1], 0x0",
       .comment = "/app/copy.cpp:18",
       .type = "SCALAR",
       .weight = 1,
       .issued_permille = 1000},
      {.text = "s_waitcnt lgkmcnt(0)", .comment = "/app/copy.cpp:18", .weight = 4},
      {.text = "global_load_dwordx2 v[2:3], v[2:3], off",
       .comment = line,
       .type = "FLAT",
       .weight = 3,
       .issued_permille = 400,
       .reasons = {{"ARBITER_WIN_EX_STALL", 3}, {"ARBITER_NOT_WIN", 1}}},
      {.text = "s_waitcnt vmcnt(0)", .comment = line, .weight = 86},
      {.text = "v_add_f64 v[2:3], v[2:3], v[4:5]",
       .comment = "/rocm/runtime.h:? -> " + line,
       .weight = 3,
       .issued_permille = 700,
       .reasons = {{"ALU_DEPENDENCY", 2}, {"NO_INSTRUCTION_AVAILABLE", 1}}},
      {.text = "global_store_dwordx2 v[0:1], v[2:3], off",
       .comment = line,
       .type = "FLAT",
       .weight = 3,
       .issued_permille = 500,
       .reasons = {{"ARBITER_WIN_EX_STALL", 1}}}};
  return kernel;
}

PcKernel pc_matrix_kernel() {
  PcKernel kernel{.name = "gemm<float, 16>(float const*, float*)", .mangled = "_Z4gemmPKfPf"};
  kernel.instructions = {
      {.text = "ds_read_b128 v[4:7], v0",
       .comment = "/app/gemm.cpp:30",
       .type = "LDS",
       .weight = 6,
       .issued_permille = 600,
       .reasons = {{"ARBITER_NOT_WIN", 1}}},
      {.text = "s_waitcnt lgkmcnt(0)", .comment = "/app/gemm.cpp:31", .weight = 14},
      {.text = "v_mfma_f32_16x16x16_f16 a[0:3], v[4:5], v[6:7], a[0:3]",
       .comment = "/app/gemm.cpp:31",
       .type = "MATRIX",
       .weight = 70,
       .issued_permille = 500,
       .reasons = {{"ARBITER_WIN_EX_STALL", 5}, {"ARBITER_NOT_WIN", 1}}},
      {.text = "s_barrier",
       .comment = "/app/gemm.cpp:33",
       .type = "BARRIER",
       .weight = 10,
       .issued_permille = 100,
       .reasons = {{"BARRIER_WAIT", 1}}}};
  return kernel;
}

}  // namespace perflab::test
