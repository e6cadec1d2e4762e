// Names are compared as text: no enum of the model stands between.
#include "pc_sampling/dom_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace perflab::test {
namespace {

using nlohmann::json;
namespace model = perflab::pc_sampling;

constexpr std::array<const char*, 10> kPipeKeys = {
    "valu", "matrix", "lds", "lds_direct", "scalar", "vmem_tex", "flat", "exp", "misc", "brmsg"};

std::string behind(const std::string& name, std::string_view prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

const json* by_id(const json& list, const char* key, std::uint64_t id) {
  if (id == 0) return nullptr;
  for (const json& each : list)
    if (each.at(key) == id) return &each;
  return nullptr;
}

std::string kernel_name(const json& run, std::uint64_t dispatch) {
  for (const json& each : run.at("buffer_records").at("kernel_dispatch")) {
    const json& info = each.at("dispatch_info");
    if (info.at("dispatch_id") != dispatch) continue;
    const json* kernel = by_id(run.at("kernel_symbols"), "kernel_id", info.at("kernel_id"));
    return kernel == nullptr ? "?" : kernel->at("formatted_kernel_name").get<std::string>();
  }
  return "-";
}

/// The name of the last kernel that begins at or before a place in the code.
std::string code_kernel(const json& run, std::uint64_t object, std::uint64_t offset) {
  const json* found = by_id(run.at("code_objects"), "code_object_id", object);
  if (found == nullptr) return "-";
  const std::uint64_t base = found->at("load_base");
  std::string name = "-";
  std::uint64_t last = 0;
  for (const json& each : run.at("kernel_symbols")) {
    if (each.at("kernel_id") == 0 || each.at("code_object_id") != object) continue;
    const std::uint64_t begin = each.at("kernel_address").at("handle").get<std::uint64_t>() - base;
    if (begin <= offset && begin >= last) {
      last = begin;
      name = each.at("formatted_kernel_name").get<std::string>();
    }
  }
  return name;
}

std::string state_of(const json& record) {
  if (!record.contains("snapshot")) return "";
  const json& snapshot = record.at("snapshot");
  unsigned issue = 0, stall = 0;
  for (std::size_t i = 0; i < kPipeKeys.size(); ++i) {
    issue |= snapshot.at(fmt::format("arb_state_issue_{}", kPipeKeys[i])).get<unsigned>() << i;
    stall |= snapshot.at(fmt::format("arb_state_stall_{}", kPipeKeys[i])).get<unsigned>() << i;
  }
  std::string memory;
  if (record.contains("memory_counters"))
    for (const char* key :
         {"load", "store", "bvh", "sample", "ds", "km", "async", "tensor", "xnack"})
      memory += fmt::format(",{}",
                            record.at("memory_counters").at(fmt::format("{}_cnt", key)).get<int>());
  return fmt::format(
      " issued={} type={} waves={} reason={} arbiter={:x}/{:x} dual={} lock={} memory={}",
      record.at("wave_issued").get<int>(),
      behind(record.at("inst_type"), "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_"),
      record.at("wave_cnt").get<int>(),
      behind(snapshot.at("stall_reason"), "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"),
      issue, stall, snapshot.at("dual_issue_valu").get<int>(),
      snapshot.contains("lck_err") ? snapshot.at("lck_err").get<int>() : 0, memory);
}

std::string dom_line(const json& run, const json& sample) {
  const json& record = sample.at("record");
  const json& place = record.at("hw_id");
  const std::uint64_t object = record.at("pc").at("code_object_id");
  const std::uint64_t offset = record.at("pc").at("code_object_offset");
  const std::int64_t index = sample.at("inst_index");
  const json& texts = run.at("strings").at("pc_sample_instructions");
  std::string text = "-", comment = "-";
  if (object != 0 && index >= 0 && static_cast<std::size_t>(index) < texts.size()) {
    text = texts.at(static_cast<std::size_t>(index));
    comment = run.at("strings").at("pc_sample_comments").at(static_cast<std::size_t>(index));
  }
  return fmt::format(
      "{} mask={:x} dispatch={} kernel={} object={} offset={} in={} text={} comment={} place={} "
      "group={}/{}/{} wave={}{}",
      record.at("timestamp").get<std::uint64_t>(), record.at("exec_mask").get<std::uint64_t>(),
      record.at("dispatch_id").get<std::uint64_t>(), kernel_name(run, record.at("dispatch_id")),
      object, offset, code_kernel(run, object, offset), text, comment,
      fmt::format(
          "{}.{}.{}.{}.{}.{}.{}.{}.{}.{}.{}", place.at("chiplet").get<int>(),
          place.at("shader_engine_id").get<int>(), place.at("shader_array_id").get<int>(),
          place.at("cu_or_wgp_id").get<int>(), place.at("simd_id").get<int>(),
          place.at("wave_id").get<int>(),
          place.at(place.contains("workgroup_id ") ? "workgroup_id " : "workgroup_id").get<int>(),
          place.at("microengine_id").get<int>(), place.at("pipe_id").get<int>(),
          place.at("queue_id").get<int>(), place.at("vm_id").get<int>()),
      record.at("wrkgrp_id").at("x").get<std::uint32_t>(),
      record.at("wrkgrp_id").at("y").get<std::uint32_t>(),
      record.at("wrkgrp_id").at("z").get<std::uint32_t>(), record.at("wave_in_grp").get<int>(),
      state_of(record));
}

std::string kernel_text(const model::PcSamples& samples, model::Index kernel,
                        const char* otherwise) {
  return kernel == model::kNone ? otherwise : samples.kernels[kernel].name;
}

std::string state_of_row(const model::PcSamples& samples, std::size_t row) {
  if (samples.flags.empty()) return "";
  std::string memory;
  if ((samples.flags[row] & model::kMemoryCounts) != 0) {
    const model::MemoryCounters& counts = samples.memory_counters[row];
    for (const int count : {counts.load, counts.store, counts.bvh, counts.sample, counts.ds,
                            counts.km, counts.async, counts.tensor, counts.xnack})
      memory += fmt::format(",{}", count);
  }
  return fmt::format(
      " issued={} type={} waves={} reason={} arbiter={:x}/{:x} dual={} lock={} memory={}",
      samples.issued(row) ? 1 : 0, to_string(samples.type[row]), samples.wave_count[row],
      samples.reasons[samples.reason[row]].name, samples.arbiter_issue[row],
      samples.arbiter_stall[row], (samples.flags[row] & model::kDualIssue) != 0 ? 1 : 0,
      (samples.flags[row] & model::kLockError) != 0 ? 1 : 0, memory);
}

std::string dispatch_text(const model::PcSamples& samples, std::size_t row) {
  const model::Index dispatch = samples.dispatch[row];
  if (dispatch == model::kNone) return "dispatch=0 kernel=-";
  const model::Dispatch& found = samples.dispatches[dispatch];
  return fmt::format("dispatch={} kernel={}", found.id,
                     kernel_text(samples, found.kernel, found.start ? "?" : "-"));
}

}  // namespace

std::vector<std::string> dom_lines(std::string_view text) {
  const json root = json::parse(text);
  std::vector<std::string> lines;
  for (const json& run : root.at("rocprofiler-sdk-tool"))
    for (const char* key : {"pc_sample_host_trap", "pc_sample_stochastic"})
      for (const json& sample : run.at("buffer_records").at(key))
        lines.push_back(dom_line(run, sample));
  return lines;
}

std::vector<std::string> lines_of(const model::PcSamples& samples) {
  std::vector<std::string> lines;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const model::Pc& pc = samples.pcs[samples.pc[row]];
    const model::HardwareId& place = samples.hardware[row];
    const model::Workgroup& group = samples.workgroup[row];
    lines.push_back(fmt::format(
        "{} mask={:x} {} object={} offset={} in={} text={} comment={} place={} group={}/{}/{} "
        "wave={}{}",
        samples.timestamp[row], samples.exec_mask[row], dispatch_text(samples, row),
        pc.code_object == model::kNone ? 0 : samples.code_objects[pc.code_object].id,
        pc.offset.value_or(~0ULL), kernel_text(samples, pc.kernel, "-"),
        pc.decoded ? pc.instruction : "-", pc.decoded ? pc.source_line : "-",
        fmt::format("{}.{}.{}.{}.{}.{}.{}.{}.{}.{}.{}", place.xcc, place.shader_engine,
                    place.shader_array, place.cu, place.simd, place.wave_slot, place.workgroup_slot,
                    place.microengine, place.pipe, place.queue, place.vm),
        group.x, group.y, group.z, samples.wave_in_group[row], state_of_row(samples, row)));
  }
  return lines;
}

std::vector<std::string> csv_lines_of(const model::PcSamples& samples) {
  std::vector<std::string> lines;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const model::Pc& pc = samples.pcs[samples.pc[row]];
    const std::string state =
        samples.flags.empty()
            ? ""
            : fmt::format(" issued={} type={} waves={} reason={}", samples.issued(row) ? 1 : 0,
                          to_string(samples.type[row]), samples.wave_count[row],
                          samples.reasons[samples.reason[row]].name);
    const model::Index agent = samples.dispatch[row] == model::kNone
                                   ? model::kNone
                                   : samples.dispatches[samples.dispatch[row]].agent;
    lines.push_back(
        fmt::format("{} mask={:x} {} {} on={} text={} comment={}{}", samples.timestamp[row],
                    samples.exec_mask[row], dispatch_text(samples, row),
                    // Only of what lies in no code object has a CSV the address.
                    pc.code_object == model::kNone && pc.offset && !pc.decoded ? *pc.offset : 0,
                    agent == model::kNone ? "-" : samples.agents[agent].product,
                    pc.decoded ? pc.instruction : "-", pc.decoded ? pc.source_line : "-", state));
  }
  std::ranges::sort(lines);
  return lines;
}

}  // namespace perflab::test
