// The three writers, and the random run.
#include "support/described_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text/json.h"
#include "support/rocpd_writer.h"

namespace perflab::test {
namespace {

constexpr std::int64_t kRunStart = 5'000'000'000'000;
constexpr std::int64_t kHandles = 37'944;  ///< of agent 0; the others follow
constexpr std::string_view kRangeKind = "MARKER_CORE_RANGE_API";

/// As rocprofv3 writes it: quotes within stand as they are.
std::string csv_text(std::string_view text) {
  return fmt::format("\"{}\"", text);
}

/// ALLOC and REAL, as a database has them.
std::pair<std::string, std::string> database_words(std::string_view operation) {
  const bool is_virtual = operation.find("VMEM_") != operation.npos;
  const bool frees = operation.ends_with("FREE");
  return {frees ? "FREE" : "ALLOC", is_virtual ? "VIRTUAL" : "REAL"};
}

/// Ids of kinds and operations, as the strings of a JSON file number them.
class RunNames {
 public:
  std::pair<std::size_t, std::size_t> id(const std::string& kind, const std::string& operation) {
    auto [found, added] = kinds_.try_emplace(kind, order_.size());
    if (added) order_.push_back({kind, {}});
    auto& operations = order_[found->second].second;
    const auto same = std::ranges::find(operations, operation);
    const auto at = static_cast<std::size_t>(same - operations.begin());
    if (same == operations.end()) operations.push_back(operation);
    return {found->second, at};
  }
  [[nodiscard]] Json json() const {
    Json all = Json::array();
    for (const auto& [kind, operations] : order_)
      all.push_back({{"kind", kind}, {"operations", operations}});
    return all;
  }

 private:
  std::map<std::string, std::size_t> kinds_;
  std::vector<std::pair<std::string, std::vector<std::string>>> order_;
};

Json handle(std::int64_t value) {
  return {{"handle", value}};
}

Json extent(const std::array<std::int64_t, 3>& size) {
  return {{"x", size[0]}, {"y", size[1]}, {"z", size[2]}};
}

Json dispatch_info(const DescribedRun& run, std::size_t number) {
  const auto& one = run.dispatches[number];
  return {{"agent_id", handle(kHandles + one.agent)},
          {"queue_id", handle(one.queue)},
          {"kernel_id", one.kernel + 1},
          {"dispatch_id", number + 1},
          {"private_segment_size", 0},
          {"group_segment_size", run.kernels[one.kernel].lds},
          {"workgroup_size", extent(one.workgroup)},
          {"grid_size", extent(one.grid)}};
}

std::string key_of_calls(std::string_view kind) {
  if (kind.starts_with("HIP")) return "hip_api";
  if (kind.starts_with("HSA")) return "hsa_api";
  if (kind.starts_with("RCCL")) return "rccl_api";
  return "marker_api";
}

Json agents_json() {
  Json agents = Json::array();
  for (std::int64_t i = 0; i < 3; ++i)
    agents.push_back({{"id", handle(kHandles + i)},
                      {"type", i == 0 ? 1 : 2},
                      {"node_id", i},
                      {"logical_node_id", i},
                      {"name", i == 0 ? "AMD EPYC" : "gfx942"},
                      {"product_name", i == 0 ? "AMD EPYC" : "AMD Instinct MI300X"},
                      {"model_name", ""},
                      {"device_id", 0},
                      {"cu_count", i == 0 ? 0 : 304},
                      {"wave_front_size", i == 0 ? 0 : 64}});
  return agents;
}

Json kernels_json(const DescribedRun& run) {
  Json kernels = Json::array();
  kernels.push_back({{"kernel_id", 0}, {"code_object_id", 0}, {"kernel_name", ""}});
  for (std::size_t i = 0; i < run.kernels.size(); ++i) {
    const auto& one = run.kernels[i];
    kernels.push_back({{"kernel_id", i + 1},
                       {"code_object_id", 1},
                       {"kernel_name", one.mangled + ".kd"},
                       {"kernel_object", 4096 * (i + 1)},
                       {"group_segment_size", one.lds},
                       {"private_segment_size", 0},
                       {"sgpr_count", one.sgprs},
                       {"arch_vgpr_count", one.vgprs},
                       {"accum_vgpr_count", one.accum},
                       {"formatted_kernel_name", one.name}});
  }
  return kernels;
}

/// What a range can say: quotes at its ends, of JSON, and line breaks.
std::string random_message(Prng& random, std::int64_t i) {
  switch (random.below(4)) {
    case 0:
      return fmt::format("step {}, \"a\"", i);
    case 1:
      return fmt::format(R"({{"step":{},"name":"","on":["a","b",1]}})", i);
    case 2:
      return fmt::format("step {}\n\"of\",7\nmany", i);
    default:
      return fmt::format("step {}", i);
  }
}

}  // namespace

DescribedRun random_run(Prng& random) {
  DescribedRun run;
  run.threads = {run.pid, 4250, 4251};
  run.kernels = {{.mangled = "_Z4axpyPf", .name = "axpy(float*, int const*, int)", .lds = 512},
                 {.mangled = "_Z4gemmv", .name = "void gemm<float, 2>(int, int)", .vgprs = 128},
                 {.mangled = "__amd_rocclr_copyBuffer", .name = "__amd_rocclr_copyBuffer"}};
  run.counters = {"SQ_WAVES", "TCC_HIT"};
  std::int64_t now = kRunStart;
  const auto step = [&] { return now += 1 + random.below(5000); };
  const std::int64_t many = 1 + random.below(40);
  for (std::int64_t i = 0; i < many; ++i) {
    const std::int64_t thread = run.threads[static_cast<std::size_t>(random.below(3))];
    const std::int64_t outer_id = 2 * i + 1, id = outer_id + 1;
    const bool nested = random.below(2) == 0;
    const std::int64_t outer_start = step(), start = step(), end = step(), outer_end = step();
    if (nested && random.below(2) == 0)
      run.calls.push_back({.kind = std::string(kRangeKind),
                           .name = "roctxThreadRangeA",
                           .message = random_message(random, i),
                           .start = outer_start,
                           .end = outer_end,
                           .thread = thread,
                           .id = outer_id,
                           .parent = 0});
    else if (nested)
      run.calls.push_back({.kind = "RCCL_API",
                           .name = "ncclAllReduce",
                           .message = {},
                           .start = outer_start,
                           .end = outer_end,
                           .thread = thread,
                           .id = outer_id,
                           .parent = outer_id});
    else if (random.below(8) == 0)
      run.calls.push_back({.kind = "MARKER_CONTROL_API",
                           .name = "roctxProfilerPause",
                           .message = {},
                           .start = outer_start,
                           .end = start,
                           .thread = thread,
                           .id = outer_id});
    const std::int64_t what = random.below(4);
    const std::int64_t stream = random.below(3);
    DescribedRun::Call call{.kind = "HIP_RUNTIME_API_EXT",
                            .name = "hipLaunchKernel",
                            .message = {},
                            .start = start,
                            .end = end,
                            .thread = thread,
                            .id = id,
                            .parent = nested ? outer_id : 0,
                            .arguments = {{"stream", fmt::format("0x{:x}", 4096 * (stream + 1))}}};
    if (what == 0) call.name = "hipMemcpyAsync";
    if (what == 1)
      call = {.kind = "HSA_CORE_API",
              .name = "hsa_signal_wait_scacquire",
              .message = {},
              .start = start,
              .end = end,
              .thread = thread,
              .id = id};
    if (what == 2) call.name = "hipStreamSynchronize";
    run.calls.push_back(call);
    const std::int64_t gpu = 1 + random.below(2), begin = step(), until = step();
    if (what == 0)
      run.copies.push_back({.kind = "MEMORY_COPY_HOST_TO_DEVICE",
                            .start = begin,
                            .end = until,
                            .bytes = random.below(1 << 20),
                            .from = 0,
                            .to = gpu,
                            .stream = stream,
                            .thread = thread,
                            .correlation = id});
    if (what != 3) continue;
    run.dispatches.push_back({.kernel = static_cast<std::size_t>(random.below(3)),
                              .start = begin,
                              .end = until,
                              .agent = gpu,
                              .queue = 1 + random.below(2),
                              .stream = stream,
                              .thread = thread,
                              .correlation = id,
                              .workgroup = {256, 1, 1},
                              .grid = {256 * (1 + random.below(100)), 1 + random.below(3), 1}});
    for (std::size_t counter = 0; counter < run.counters.size(); ++counter)
      if (random.below(3) == 0)
        run.values.push_back({.dispatch = run.dispatches.size() - 1,
                              .counter = counter,
                              .instances = {static_cast<double>(random.below(1000)), 7.0}});
    if (random.below(3) == 0) {
      const bool is_virtual = random.below(2) == 0;
      const std::string prefix = is_virtual ? "MEMORY_ALLOCATION_VMEM_" : "MEMORY_ALLOCATION_";
      const std::int64_t address = 0x7000'0000 + 4096 * i, a = step(), b = step();
      run.allocations.push_back({.operation = prefix + "ALLOCATE",
                                 .start = a,
                                 .end = b,
                                 .bytes = 4096,
                                 .address = address,
                                 .agent = gpu,
                                 .thread = thread});
      const std::int64_t c = step(), d = step();
      run.allocations.push_back({.operation = prefix + "FREE",
                                 .start = c,
                                 .end = d,
                                 .bytes = 0,
                                 .address = address,
                                 .agent = gpu,
                                 .thread = thread});
    }
  }
  return run;
}

Result<void> write_rocpd(const DescribedRun& run, const std::filesystem::path& path) {
  RocpdWriter writer(path, {.process = {.pid = run.pid}});
  for (const std::int64_t thread : run.threads)
    if (thread != run.pid) writer.thread({.tid = thread});
  const std::string gpu_facts = R"({"cu_count":304,"wave_front_size":64})";
  writer.agent({.id = 0, .type = "CPU", .name = "AMD EPYC", .product_name = "AMD EPYC"});
  for (const Id id : {1, 2}) writer.agent({.id = id, .absolute_index = id, .extdata = gpu_facts});
  for (const Id id : {0, 1, 2}) {
    writer.queue({.id = id});
    writer.stream({.id = id});
  }
  writer.code_object({});
  for (const auto& kernel : run.kernels)
    writer.kernel({.name = kernel.mangled,
                   .display_name = kernel.name,
                   .group_segment_size = kernel.lds,
                   .sgpr_count = kernel.sgprs,
                   .arch_vgpr_count = kernel.vgprs,
                   .accum_vgpr_count = kernel.accum});
  std::vector<Id> counters, events;
  for (const std::string& name : run.counters) counters.push_back(writer.counter({.name = name}));
  for (const auto& call : run.calls) {
    RegionRow row{.name = call.name, .start = call.start, .end = call.end, .tid = call.thread};
    row.event = {.category = call.kind, .stack_id = call.id, .parent_stack_id = call.parent};
    if (!call.message.empty()) row.event.extdata = Json{{"message", call.message}}.dump();
    for (const auto& [name, value] : call.arguments)
      row.arguments.push_back(argument("hipStream_t", name, value));
    writer.region(row);
  }
  for (const auto& one : run.dispatches)
    events.push_back(
        writer
            .dispatch({.kernel = static_cast<Id>(one.kernel) + 1,
                       .start = one.start,
                       .end = one.end,
                       .agent = one.agent,
                       .queue = one.queue,
                       .stream = one.stream,
                       .tid = one.thread,
                       .workgroup = {one.workgroup[0], one.workgroup[1], one.workgroup[2]},
                       .grid = {one.grid[0], one.grid[1], one.grid[2]},
                       .group_segment_size = run.kernels[one.kernel].lds,
                       .event = {.stack_id = one.correlation}})
            .event);
  for (const auto& one : run.copies)
    writer.copy({.name = one.kind,
                 .start = one.start,
                 .end = one.end,
                 .size = one.bytes,
                 .dst_agent = one.to,
                 .src_agent = one.from,
                 .stream = one.stream,
                 .tid = one.thread,
                 .event = {.stack_id = one.correlation}});
  for (const auto& one : run.allocations) {
    const auto [type, level] = database_words(one.operation);
    writer.allocation({.type = type,
                       .level = level,
                       .start = one.start,
                       .end = one.end,
                       .address = one.address,
                       .size = one.bytes,
                       .agent = one.agent,
                       .tid = one.thread});
  }
  for (const auto& value : run.values)
    writer.counter_values(events[value.dispatch], counters[value.counter], value.instances);
  return writer.close();
}

std::string json_of(const DescribedRun& run) {
  RunNames names;
  Json buffers = {{"kernel_dispatch", Json::array()},  {"hip_api", Json::array()},
                  {"hsa_api", Json::array()},          {"marker_api", Json::array()},
                  {"rccl_api", Json::array()},         {"memory_copy", Json::array()},
                  {"memory_allocation", Json::array()}};
  Json messages = Json::array(), counted = Json::array(), counters = Json::array();
  const auto record = [&](const std::string& kind, const std::string& operation, const auto& row) {
    const auto [kind_id, operation_id] = names.id(kind, operation);
    return Json{{"kind", kind_id},
                {"operation", operation_id},
                {"start_timestamp", row.start},
                {"end_timestamp", row.end},
                {"thread_id", row.thread}};
  };
  for (const auto& call : run.calls) {
    Json row = record(call.kind, call.name, call);
    row["correlation_id"] = {{"internal", call.id}, {"external", 0}, {"ancestor", call.parent}};
    if (call.kind.ends_with("_EXT")) {
      row["args"] = Json::array();
      for (const auto& [name, value] : call.arguments)
        row["args"].push_back({{"type", "hipStream_t"}, {"name", name}, {"value", value}});
    }
    if (!call.message.empty()) messages.push_back({{"key", call.id}, {"value", call.message}});
    buffers[key_of_calls(call.kind)].push_back(std::move(row));
  }
  for (std::size_t i = 0; i < run.dispatches.size(); ++i) {
    Json row = record("KERNEL_DISPATCH", "KERNEL_DISPATCH_COMPLETE", run.dispatches[i]);
    row["correlation_id"] = {{"internal", run.dispatches[i].correlation}, {"external", 0}};
    row["dispatch_info"] = dispatch_info(run, i);
    row["stream_id"] = handle(run.dispatches[i].stream);
    buffers["kernel_dispatch"].push_back(std::move(row));
  }
  for (const auto& one : run.copies) {
    Json row = record("MEMORY_COPY", one.kind, one);
    row["correlation_id"] = {{"internal", one.correlation}, {"external", 0}};
    row["dst_agent_id"] = handle(kHandles + one.to);
    row["src_agent_id"] = handle(kHandles + one.from);
    row["bytes"] = one.bytes;
    row["stream_id"] = handle(one.stream);
    buffers["memory_copy"].push_back(std::move(row));
  }
  for (const auto& one : run.allocations) {
    Json row = record("MEMORY_ALLOCATION", one.operation, one);
    const bool frees = one.operation.ends_with("FREE");
    row["agent_id"] = handle(frees ? 0 : kHandles + one.agent);
    row["address"] = fmt::format("0x{:016x}", one.address);
    row["allocation_size"] = one.bytes;
    buffers["memory_allocation"].push_back(std::move(row));
  }
  for (std::size_t i = 0; i < run.counters.size(); ++i)
    counters.push_back({{"id", handle(static_cast<std::int64_t>(i) + 1)},
                        {"name", run.counters[i]},
                        {"block", "SQ"},
                        {"description", ""},
                        {"is_derived", 0}});
  for (const auto& value : run.values) {
    Json records = Json::array();
    for (const double one : value.instances)
      records.push_back(
          {{"counter_id", handle(static_cast<std::int64_t>(value.counter) + 1)}, {"value", one}});
    const auto& of = run.dispatches[value.dispatch];
    counted.push_back({{"thread_id", of.thread},
                       {"dispatch_data",
                        {{"correlation_id", {{"internal", of.correlation}, {"external", 0}}},
                         {"start_timestamp", of.start},
                         {"end_timestamp", of.end},
                         {"dispatch_info", dispatch_info(run, value.dispatch)}}},
                       {"records", records},
                       {"stream_id", handle(of.stream)}});
  }
  const Json recording = {
      {"metadata",
       {{"node", {{"id", 0}, {"hash", 0}, {"machine_id", "0000"}, {"hostname", "node0"}}},
        {"pid", run.pid},
        {"init_time", kRunStart - 1000},
        {"fini_time", kRunStart + 1'000'000'000},
        {"command", {"/app/demo", "-n", "3"}}}},
      {"agents", agents_json()},
      {"counters", counters},
      {"strings", {{"buffer_records", names.json()}, {"marker_api", messages}}},
      {"code_objects",
       {{{"code_object_id", 0}},
        {{"code_object_id", 1}, {"agent_id", handle(kHandles + 1)}, {"uri", "file:///a"}}}},
      {"kernel_symbols", kernels_json(run)},
      {"callback_records", {{"counter_collection", counted}}},
      {"buffer_records", buffers}};
  return Json{{"rocprofiler-sdk-tool", Json::array({recording})}}.dump();
}

std::vector<std::pair<std::string, std::string>> csv_of(const DescribedRun& run) {
  std::map<std::string, std::string> tables;
  tables["agent_info"] =
      "\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\",\"Wave_Front_Size\",\"Cu_Count\",\"Name\","
      "\"Product_Name\",\"Model_Name\"\n"
      "0,0,\"CPU\",0,0,\"AMD EPYC\",\"AMD EPYC\",\"\"\n"
      "1,1,\"GPU\",64,304,\"gfx942\",\"AMD Instinct MI300X\",\"\"\n"
      "2,2,\"GPU\",64,304,\"gfx942\",\"AMD Instinct MI300X\",\"\"\n";
  const auto table = [&](const std::string& name, const char* header) -> std::string& {
    std::string& text = tables[name];
    if (text.empty()) text = header;
    return text;
  };
  for (const auto& call : run.calls)
    table(key_of_calls(call.kind) + "_trace",
          "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\","
          "\"Start_Timestamp\",\"End_Timestamp\"\n") +=
        fmt::format("{},{},{},{},{},{},{}\n", csv_text(call.kind),
                    csv_text(call.message.empty() ? call.name : call.message), run.pid, call.thread,
                    call.id, call.start, call.end);
  for (std::size_t i = 0; i < run.dispatches.size(); ++i) {
    const auto& one = run.dispatches[i];
    const auto& kernel = run.kernels[one.kernel];
    table("kernel_trace",
          "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\","
          "\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\","
          "\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\","
          "\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\","
          "\"Grid_Size_Y\",\"Grid_Size_Z\"\n") +=
        fmt::format(
            "\"KERNEL_DISPATCH\",\"Agent {}\",{},{},{},{},{},{},{},{},{},{},0,{},{},{},{},{},"
            "{},{},{},{}\n",
            one.agent, one.queue, one.stream, one.thread, i + 1, one.kernel + 1,
            csv_text(kernel.name), one.correlation, one.start, one.end, kernel.lds, kernel.vgprs,
            kernel.accum, kernel.sgprs, one.workgroup[0], one.workgroup[1], one.workgroup[2],
            one.grid[0], one.grid[1], one.grid[2]);
  }
  for (const auto& one : run.copies)
    table("memory_copy_trace",
          "\"Kind\",\"Direction\",\"Stream_Id\",\"Source_Agent_Id\",\"Destination_Agent_Id\","
          "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n") +=
        fmt::format("\"MEMORY_COPY\",\"{}\",{},\"Agent {}\",\"Agent {}\",{},{},{}\n", one.kind,
                    one.stream, one.from, one.to, one.correlation, one.start, one.end);
  for (const auto& one : run.allocations)
    table("memory_allocation_trace",
          "\"Kind\",\"Operation\",\"Agent_Id\",\"Allocation_Size\",\"Address\",\"Correlation_Id\","
          "\"Start_Timestamp\",\"End_Timestamp\"\n") +=
        fmt::format("\"MEMORY_ALLOCATION\",\"{}\",\"{}\",{},\"0x{:016x}\",0,{},{}\n", one.operation,
                    one.operation.ends_with("FREE") ? "" : fmt::format("Agent {}", one.agent),
                    one.bytes, one.address, one.start, one.end);
  for (const auto& value : run.values) {
    const auto& one = run.dispatches[value.dispatch];
    const auto& kernel = run.kernels[one.kernel];
    double sum = 0;
    for (const double instance : value.instances) sum += instance;
    table("counter_collection",
          "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\","
          "\"Thread_Id\",\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\","
          "\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\","
          "\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n") +=
        fmt::format("{},{},\"Agent {}\",{},{},{},{},{},{},{},{},0,{},{},{},\"{}\",{:.6f},{},{}\n",
                    one.correlation, value.dispatch + 1, one.agent, one.queue, run.pid, one.thread,
                    one.grid[0] * one.grid[1] * one.grid[2], one.kernel + 1, csv_text(kernel.name),
                    one.workgroup[0] * one.workgroup[1] * one.workgroup[2], kernel.lds,
                    kernel.vgprs, kernel.accum, kernel.sgprs, run.counters[value.counter], sum,
                    one.start, one.end);
  }
  return {tables.begin(), tables.end()};
}

}  // namespace perflab::test
