// Writes a decoded thread trace for the documents' playground: a synthetic one of a kernel of the
// sample trace (examples/decode_step.json), so that it joins it.
//     playground_trace FOLDER
#include <cstdio>

#include "support/att_writer.h"

namespace perflab::test {
namespace {

/// Waves that load, wait most of their time, compute and store.
UiOutput paged_attention() {
  UiOutput output{.agent = 1, .dispatch = 2};
  const std::string mangled =
      "_ZN6decode15paged_attentionILi128ELi16ELi256EEEvPfPK14__hip_bfloat16S4_S4_PKiS6_f";
  const std::string file = "/build/attention.hip";
  output.kernels = {{1, mangled}};
  output.code = {{.text = "; " + mangled, .source = "decode::paged_attention"},
                 {.text = "s_load_dwordx4 s[0:3], s[4:5], 0x0", .source = file + ":3"},
                 {.text = "s_waitcnt lgkmcnt(0)", .source = file + ":3"},
                 {.text = "global_load_dwordx4 v[0:3], v4, s[0:1]", .source = file + ":4"},
                 {.text = "s_waitcnt vmcnt(0)", .source = file + ":5"},
                 {.text = "v_fmac_f32_e32 v5, v0, v1", .source = file + ":5"},
                 {.text = "global_store_dword v4, v5, s[2:3]", .source = file + ":6"},
                 {.text = "s_endpgm", .source = file + ":7"}};
  output.sources = {{file,
                     "// a stand-in for the kernel's source\n"
                     "__global__ void paged_attention(float* out, const float4* keys) {\n"
                     "  const float4* from = keys;\n"
                     "  const float4 key = from[threadIdx.x];\n"
                     "  const float score = key.x * key.y;\n"
                     "  out[threadIdx.x] = score;\n"
                     "}\n"}};
  const std::vector<UiStep> steps{{.line = 1, .idle = 40},
                                  {.line = 2, .stall = 200, .causes = {1}},
                                  {.line = 3},
                                  {.line = 4, .stall = 900, .causes = {3}},
                                  {.line = 5, .stall = 8},
                                  {.line = 6, .stall = 12},
                                  {.line = 7}};
  for (int i = 0; i < 16; ++i)
    add_ui_wave(output, {.simd = i % 4, .slot = i / 4, .begin = 1000 + 40 * i}, steps);
  return output;
}

}  // namespace
}  // namespace perflab::test

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: playground_trace FOLDER\n", stderr);
    return 2;
  }
  perflab::test::write_ui_output(argv[1], perflab::test::paged_attention());
  return 0;
}
