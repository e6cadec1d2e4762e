// Written with tests/support's writer, read as `rocm-perf analyze --att DIR --out DIR` does.
#include "report/thread_trace_samples.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "analyze/pipeline.h"
#include "support/att_writer.h"

namespace perflab::report {
namespace {

using test::UiOutput;
using test::UiStep;

/// 400 lines, the tenth longer than documents show.
std::string large_header() {
  std::string text;
  for (int line = 1; line <= 400; ++line)
    text += line == 10 ? std::string(400, 'x') + "\n" : fmt::format("// line {}\r\n", line);
  return text;
}

UiOutput traced_scale() {
  UiOutput out;
  out.agent = 7;
  out.dispatch = 3;
  out.code = {{.text = "; _Z5scalePfi", .source = "scale(float*, int)"},
              {.text = "s_load_dwordx2 s[0:1], s[4:5], 0x0", .source = "/src/scale.hip:3"},
              {.text = "s_waitcnt lgkmcnt(0)", .source = "/src/scale.hip:3"},
              {.text = "global_load_dword v1, v0, s[0:1]",
               .source = "/usr/include/hip/vector.h:10 -> /src/scale.hip:4"},
              {.text = "s_waitcnt vmcnt(0)", .source = "/src/scale.hip:4"},
              {.text = "v_mul_f32_e32 v1, v1, v2",
               .source = "/usr/include/hip/vector.h:200 -> /src/scale.hip:4"},
              {.text = "v_exp_f32_e32 v1, v1", .source = "/gone/math.h:77 -> /src/scale.hip:5"},
              {.text = "s_cbranch_execz 12", .source = "/src/scale.hip:6"},
              {.text = "s_trap 2"},
              {.text = "global_store_dword v0, v1, s[0:1]", .source = "/src/scale.hip:7"},
              {.text = "s_endpgm", .source = "/src/scale.hip:8"}};
  out.kernels = {{1, "_Z5scalePfi"}};
  out.sources = {
      {"/src/scale.hip",
       "// scales \xff\n#include <hip/vector.h>\n__global__ void scale(float* x, int n) {\n"
       "  float v = x[threadIdx.x];\n\tv = exp(v);\n  if (n == 0) return;\n"
       "  x[threadIdx.x] = v;\n}\n"},
      {"/usr/include/hip/vector.h", large_header()}};
  const UiStep steps[] = {{.line = 1, .idle = 60},
                          {.line = 2, .issue = 0, .stall = 120, .causes = {1}},
                          {.line = 3},
                          {.line = 4, .issue = 0, .stall = 500, .causes = {3}},
                          {.line = 5},
                          {.line = 6, .stall = 12},
                          {.line = 7},
                          {.line = 9, .stall = 8},
                          {.line = 10, .idle = 20}};
  for (int i = 0; i < 6; ++i)
    test::add_ui_wave(out, {.simd = i % 4, .slot = i / 4, .begin = 1000 + 16 * i}, steps);
  return out;
}

UiOutput sampled_trace_files() {
  UiOutput out;
  out.agent = 7;
  out.dispatch = 4;
  out.code = {{.text = "; _Z4copyPf", .source = "copy(float*)"},
              {.text = "v_mov_b32_e32 v0, v1"},
              {.text = "s_endpgm"}};
  out.kernels = {{1, "_Z4copyPf"}};
  const UiStep steps[] = {{.line = 1, .idle = 10}, {.line = 2}};
  test::add_ui_wave(out, {.begin = 50}, steps);
  return out;
}

}  // namespace

analyze::Analysis sample_traced_kernels(const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(PERFLAB_BINARY_DIR) / "test-files" / name;
  fs::remove_all(folder);
  static_cast<void>(test::write_ui_output(folder, traced_scale()));
  fs::remove_all(test::write_ui_output(folder, sampled_trace_files()));
  analyze::AnalyzeOptions options;
  options.thread_traces = {folder};
  options.keep_trace_detail = true;
  auto analyzed = analyze::analyze_thread_traces(options);
  EXPECT_TRUE(analyzed) << describe(analyzed.error());
  return analyzed ? std::move(analyzed->analysis) : analyze::Analysis{};
}

}  // namespace perflab::report
