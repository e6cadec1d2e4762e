// What reading rocprofv3's JSON costs beside simdjson: writes a file of calls and dispatches, reads
// it as `analyze` does, or only parses it with simdjson's DOM. Prints one JSON line: processor
// seconds and peak memory.
#include <fmt/format.h>
#include <simdjson.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "reader_cost.h"
#include "trace/load_state.h"
#include "trace/rocprofv3_json/read_rocprofv3_json.h"

namespace {

using perflab::bench::cpu_seconds;
using perflab::bench::print_cost;

/// As many launches as asked for: a call with its argument, and its dispatch.
int generate(const char* file, std::uint64_t launches) {
  std::ofstream out(file, std::ios::binary);
  out << R"({"rocprofiler-sdk-tool":[{"metadata":{"pid":1,"init_time":1,"fini_time":2},"agents":[)"
         R"({"id":{"handle":9},"type":2,"node_id":1,"name":"gfx942"}],"counters":[],"strings":{"buffer_records":)"
         R"([{"kind":"NONE","operations":[]},{"kind":"HIP_RUNTIME_API_EXT","operations":[)"
         R"("hipLaunchKernel"]}]},"code_objects":[],)"
         R"("kernel_symbols":[{"kernel_id":1,"kernel_name":"k.kd"}],)"
         R"("callback_records":{"counter_collection":[]},"buffer_records":{"kernel_dispatch":[)";
  for (std::uint64_t i = 0; i < launches; ++i)
    out << fmt::format(
        R"({}{{"size":184,"kind":11,"operation":2,"thread_id":908,"correlation_id":{{"internal":{},)"
        R"("external":0}},"start_timestamp":{},"end_timestamp":{},"dispatch_info":{{"size":72,)"
        R"("agent_id":{{"handle":9}},"queue_id":{{"handle":1}},"kernel_id":1,"dispatch_id":{},)"
        R"("private_segment_size":0,"group_segment_size":1024,"workgroup_size":{{"x":256,"y":1,)"
        R"("z":1}},"grid_size":{{"x":65536,"y":1,"z":1}}}},"stream_id":{{"handle":0}}}})",
        i == 0 ? "" : ",", i + 1, 63'857'982'592'000 + 5000 * i, 63'857'982'594'840 + 5000 * i,
        i + 1);
  out << R"(],"hip_api":[)";
  for (std::uint64_t i = 0; i < launches; ++i)
    out << fmt::format(
        R"({}{{"size":80,"kind":1,"operation":0,"correlation_id":{{"internal":{},"external":0,)"
        R"("ancestor":0}},"start_timestamp":{},"end_timestamp":{},"thread_id":908,"args":[{{"type":)"
        R"("hipStream_t","name":"stream","value":"0x10"}}],"retval":0}})",
        i == 0 ? "" : ",", i + 1, 63'857'982'590'000 + 5000 * i, 63'857'982'591'500 + 5000 * i);
  out << "]";
  for (const char* other : {"hsa_api", "marker_api", "rccl_api", "memory_copy", "memory_allocation",
                            "scratch_memory", "rocdecode_api", "rocjpeg_api"})
    out << ",\"" << other << "\":[]";
  out << "}}]}";
  return out.good() ? 0 : 1;
}

int read_rows(const char* file) {
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::uint64_t bytes = text.size();
  const double begin = cpu_seconds();
  perflab::trace::Trace trace;
  perflab::trace::LoadState state(trace);
  if (!perflab::trace::rocprofv3_json::load_text(state, std::move(text), file)) return 1;
  perflab::trace::finish(state);
  return print_cost("read", cpu_seconds() - begin, bytes, "rows",
                    trace.dispatches.size() + trace.regions.size());
}

int parse_only(const char* file) {
  simdjson::padded_string text;
  if (simdjson::padded_string::load(file).get(text) != simdjson::SUCCESS) return 1;
  const double begin = cpu_seconds();
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(text).get(root) != simdjson::SUCCESS) return 1;
  return print_cost("parse", cpu_seconds() - begin, text.size(), "rows", 0);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 2 ? argv[1] : "";
  if (what == "generate" && argc > 3)
    return generate(argv[2], static_cast<std::uint64_t>(std::atoll(argv[3])));
  if (what == "read") return read_rows(argv[2]);
  if (what == "parse") return parse_only(argv[2]);
  fmt::print(stderr, "usage: {} generate FILE LAUNCHES | read FILE | parse FILE\n", argv[0]);
  return 2;
}
