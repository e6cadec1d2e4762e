// Transforms of real sources: their text, what forbids them, and that they compute what the source
// did: every variant of a dozen loops is compiled into one program, which compares them with the
// originals over empty, short, long and extreme ranges, under ASan and UBSan.
#include "optimize/transform/transforms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "base/temp_folder.h"

namespace perflab::optimize {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kMark = "__attribute__((annotate(\"rocm_perf_kernel\"))) ";

/// A model of host functions, each of which is a kernel.
SourceModel transform_model(const std::string& text) {
  const ParseOptions options{
      .path = "transforms.cpp", .arguments = {}, .host = true, .arch = "gfx942"};
  Result<SourceModel> model = parse_source(text, options);
  if (!model) {
    ADD_FAILURE() << describe(model.error()) << "\n" << text;
    return {};
  }
  return *std::move(model);
}
SourceModel model_of_loop(std::string_view header, std::string_view body,
                          std::string_view before = "") {
  return transform_model(
      fmt::format("{}void k(const float* a, float* y, int n, unsigned m, long l) {{\n{}\n  {}\n    "
                  "{}\n}}\n",
                  kMark, before, header, body));
}

constexpr TransformFacts kHost{.wave_size = 64, .workgroup_size = {}, .host = true};
constexpr TransformFacts kDevice{.wave_size = 64, .workgroup_size = 256, .host = false};

std::vector<std::string> offered_ids(const Transforms& transforms) {
  std::vector<std::string> ids;
  for (const TransformedSource& one : transforms.offered) ids.push_back(one.id);
  return ids;
}
std::string forbidden_guard(const Transforms& transforms, std::string_view id) {
  const auto found = std::ranges::find(transforms.forbidden, id, &ForbiddenTransform::id);
  return found == transforms.forbidden.end() ? "(not forbidden)" : found->guard;
}
std::string offered_text(const Transforms& transforms, std::string_view id) {
  const auto found = std::ranges::find(transforms.offered, id, &TransformedSource::id);
  if (found != transforms.offered.end()) return found->text;
  return fmt::format("(not offered; its guard: {})", forbidden_guard(transforms, id));
}

constexpr std::string_view kSaxpy =
    "void saxpy(const float* x, float* y, float a, int n) {\n"
    "  for (int i = 0; i < n; ++i) y[i] += a * x[i];\n"
    "}\n";

TEST(Transforms, UnrollsWithARest) {
  const SourceModel model = transform_model(fmt::format("{}{}", kMark, kSaxpy));
  ASSERT_EQ(model.kernels.size(), 1U);
  EXPECT_EQ(offered_text(transforms_of(model, 0, kHost), "unroll:2:2"),
            fmt::format("{}{}", kMark, R"(void saxpy(const float* x, float* y, float a, int n) {
  {
    int i = 0;
    const int rp_block_end_2 = n;
    if (i < rp_block_end_2 && static_cast<unsigned int>(rp_block_end_2) - static_cast<unsigned int>(i) > 1) {
      const int rp_block_main_2 = rp_block_end_2 - 1;
      for (; i < rp_block_main_2; ++i) {
        y[i] += a * x[i];
        ++i;
        y[i] += a * x[i];
      }
    }
    for (; i < rp_block_end_2; ++i)
      y[i] += a * x[i];
  }
}
)"));
}

TEST(Transforms, UnrollsExactlyWhenTheIterationsAreAMultiple) {
  const SourceModel model = model_of_loop("for (int i = 0; i < 12; i += 3)", "{ y[i] = a[i]; }");
  const Transforms transforms = transforms_of(model, 0, kHost);
  EXPECT_THAT(offered_text(transforms, "unroll:3:2"), HasSubstr(R"(
  for (int i = 0; i < 12; i += 3) {
    { y[i] = a[i]; }
    i += 3;
    { y[i] = a[i]; }
  }
})"));
  EXPECT_THAT(offered_text(transforms, "unroll:3:2"), Not(HasSubstr("rp_")));
  EXPECT_EQ(forbidden_guard(transforms, "unroll:3:8"), "trips");
}

TEST(Transforms, AsksTheCompilerToUnroll) {
  SourceModel model = model_of_loop("if (n) for (int i = 0; i < n; ++i)", "y[i] = 1;");
  EXPECT_THAT(offered_text(transforms_of(model, 0, kDevice), "pragma-unroll:3:8"),
              HasSubstr("  if (n) \n  #pragma unroll 8\n  for (int i = 0;"));
  EXPECT_EQ(forbidden_guard(transforms_of(model, 0, kHost), "pragma-unroll:3"), "host");
  model = model_of_loop("for (int i = 0; i < n; ++i)", "y[i] = 1;");
  EXPECT_THAT(offered_text(transforms_of(model, 0, kDevice), "pragma-unroll:3:8"),
              HasSubstr("{\n\n  #pragma unroll 8\n  for (int i = 0;"));
}

TEST(Transforms, SplitsASum) {
  const SourceModel model =
      transform_model(fmt::format("{}void dot(const float* x, float* out, int n) {{\n  float sum = "
                                  "0;\n  for (int i = n; i > 0; "
                                  "i--) {{ sum += x[i]; }}\n  out[0] = sum;\n}}\n",
                                  kMark));
  const Transforms transforms = transforms_of(model, 0, kHost);
  ASSERT_THAT(offered_ids(transforms), Not(IsEmpty()));
  EXPECT_EQ(transforms.offered[0].id, "split-accumulator:3:4");
  EXPECT_THAT(transforms.offered[0].summary, HasSubstr("the error budget decides"));
  EXPECT_THAT(offered_text(transforms, "split-accumulator:3:4"), HasSubstr(R"(  {
    int i = n;
    const int rp_block_end_3 = 0;
    if (i > rp_block_end_3 && static_cast<unsigned int>(i) - static_cast<unsigned int>(rp_block_end_3) > 3) {
      const int rp_block_main_3 = rp_block_end_3 + 3;
      float rp_sum_1 = 0, rp_sum_2 = 0, rp_sum_3 = 0;
      for (; i > rp_block_main_3; i--) {
        { sum += x[i]; }
        i--;
        { float& sum = rp_sum_1; { sum += x[i]; } }
        i--;
        { float& sum = rp_sum_2; { sum += x[i]; } }
        i--;
        { float& sum = rp_sum_3; { sum += x[i]; } }
      }
      sum += ((rp_sum_1 + rp_sum_2) + rp_sum_3);
    }
    for (; i > rp_block_end_3; i--)
      { sum += x[i]; }
  }
)"));
}

TEST(Transforms, HoistsWhatEveryIterationReads) {
  const SourceModel model =
      model_of_loop("for (int i = 0; i < n; ++i)", "{ y[i] = a[i] * a[m]; if (i) y[i] += a[7]; }");
  const Transforms transforms = transforms_of(model, 0, kHost);
  EXPECT_THAT(offered_text(transforms, "hoist:3:a[m]"), HasSubstr(R"(  {
    int i = 0;
    if (i < n) {
      const auto rp_once_3 = a[m];
      for (; i < n; ++i)
        { y[i] = a[i] * rp_once_3; if (i) y[i] += a[7]; }
    }
  }
)"));
  EXPECT_EQ(forbidden_guard(transforms, "hoist:3:a[7]"), "conditional");
}

TEST(Transforms, ReadsFourAtOnce) {
  const SourceModel model = model_of_loop("for (int i = 0; i < n; ++i)", "{ y[i] = a[i]; }");
  EXPECT_THAT(
      offered_text(transforms_of(model, 0, kHost), "wide-loads:3"),
      HasSubstr(
          R"(        typedef float rp_four_a_t __attribute__((vector_size(16), aligned(4), may_alias));
        const rp_four_a_t rp_four_a = *reinterpret_cast<const rp_four_a_t*>(a + i);
        { y[i] = rp_four_a[0]; }
        ++i;
        { y[i] = rp_four_a[1]; }
)"));
}

TEST(Transforms, RestrictsParametersAndReadsThroughAliases) {
  const SourceModel model = transform_model(fmt::format("{}{}", kMark, kSaxpy));
  const Transforms transforms = transforms_of(model, 0, kHost);
  EXPECT_THAT(
      offered_text(transforms, "restrict"),
      HasSubstr("saxpy(const float* __restrict__ x, float* __restrict__ y, float a, int n)"));
  EXPECT_THAT(offered_text(transforms, "read-only-alias:x"), HasSubstr(R"({
  const float* const rp_read_x = x;
  {
    const float* __restrict__ x = rp_read_x;
    {
  for (int i)"));
  for (const TransformedSource& one : transforms.offered) {
    if (one.id == "restrict" || one.id == "read-only-alias:x") {
      EXPECT_THAT(one.summary, HasSubstr("on the captured state only"));
    }
  }
}

TEST(Transforms, ForbidsPromisesAboutPointersThatMayMeet) {
  const SourceModel model = transform_model(fmt::format(
      "{}void swap(float* a, float* b, int n) {{\n  float *from = a, *to = b;\n"
      "  for (int i = 0; i < n; ++i) {{ to[i] = from[i]; float* other = from; from = to; to = "
      "other; }}\n}}\n",
      kMark));
  EXPECT_EQ(forbidden_guard(transforms_of(model, 0, kHost), "restrict"), "may_alias");
  const SourceModel reads = transform_model(
      fmt::format("{}void k(float* a, float* y, int n) {{ y[0] = a[n]; }}\n", kMark));
  EXPECT_EQ(forbidden_guard(transforms_of(reads, 0, kHost), "const-parameter:a"), "signature");
  const SourceModel alone =
      transform_model(fmt::format("{}void k(float* y, int n) {{ y[n] += 1; }}\n", kMark));
  EXPECT_EQ(forbidden_guard(transforms_of(alone, 0, kHost), "restrict"), "no_other_buffer");
}

/// What a loop of the model has that the text of a host source cannot say.
struct FlagCase {
  std::string_view guard;
  std::function<void(Loop&)> set;
};

TEST(TransformGuards, ForbidWhatMayNotBeRepeated) {
  const SourceModel clean = model_of_loop("for (int i = 0; i < n; ++i)", "{ y[i] = a[i] * a[m]; }");
  ASSERT_EQ(clean.kernels.size(), 1U);
  ASSERT_THAT(offered_ids(transforms_of(clean, 0, kDevice)),
              IsSupersetOf({"unroll:3:4", "pragma-unroll:3:4", "wide-loads:3", "hoist:3:a[m]"}));
  const std::vector<FlagCase> cases{
      {"barrier", [](Loop& loop) { loop.has_barrier = true; }},
      {"atomic", [](Loop& loop) { loop.has_atomic = true; }},
      {"dynamic_shared_memory", [](Loop& loop) { loop.uses_dynamic_shared = true; }},
      {"cross_lane", [](Loop& loop) { loop.crosses_lanes = true; }},
      {"assembly", [](Loop& loop) { loop.has_assembly = true; }},
      {"in_macro", [](Loop& loop) { loop.in_macro = true; }},
      {"already_unrolled", [](Loop& loop) { loop.pragma = TextRange{0, 1}; }},
      {"goto", [](Loop& loop) { loop.has_goto = true; }},
      {"not_innermost", [](Loop& loop) { loop.innermost = false; }},
  };
  for (const FlagCase& one : cases) {
    SourceModel model = clean;
    one.set(model.kernels[0].loops.at(0));
    const Transforms transforms = transforms_of(model, 0, kDevice);
    EXPECT_EQ(forbidden_guard(transforms, "unroll:3"), one.guard);
    EXPECT_EQ(forbidden_guard(transforms, "pragma-unroll:3"), one.guard);
    EXPECT_THAT(offered_ids(transforms), Not(Contains("wide-loads:3"))) << one.guard;
  }
  const std::vector<FlagCase> of_blocks{
      {"break", [](Loop& loop) { loop.has_break = true; }},
      {"return", [](Loop& loop) { loop.has_return = true; }},
      {"continue", [](Loop& loop) { loop.has_continue = true; }},
      {"unknown_call", [](Loop& loop) { loop.has_unknown_call = true; }},
      {"not_counted", [](Loop& loop) { loop.counted.reset(); }},
  };
  for (const FlagCase& one : of_blocks) {
    SourceModel model = clean;
    one.set(model.kernels[0].loops.at(0));
    const Transforms transforms = transforms_of(model, 0, kDevice);
    EXPECT_EQ(forbidden_guard(transforms, "unroll:3"), one.guard);
    EXPECT_THAT(offered_ids(transforms), Contains("pragma-unroll:3:4")) << one.guard;
    EXPECT_THAT(offered_ids(transforms), Not(Contains("hoist:3:a[m]"))) << one.guard;
  }
  for (const auto made = transforms_of(clean, 0, kHost);
       const ForbiddenTransform& one : made.forbidden) {
    EXPECT_FALSE(one.sentence.empty()) << one.id;
    EXPECT_FALSE(one.sentence.ends_with('.')) << one.id;
  }
}

TEST(TransformGuards, LanesThatReadEachOtherStayTogether) {
  SourceModel model = model_of_loop("for (int i = 0; i < 12; ++i)", "{ y[i] = a[i]; }");
  model.kernels.at(0).loops.at(0).crosses_lanes = true;
  const Transforms transforms = transforms_of(model, 0, kDevice);
  EXPECT_THAT(offered_ids(transforms), Contains("unroll:3:4"));
  EXPECT_EQ(forbidden_guard(transforms, "unroll:3:8"), "cross_lane");
}

struct ForbiddenLoop {
  std::string_view header, body, guard;
  std::string_view before;
};

TEST(TransformGuards, ForbidLoopsWhoseBlocksAreNotKnown) {
  const std::vector<ForbiddenLoop> cases{
      {"for (int i = 0; i != n; ++i)", "y[i] = 1;", "comparison", ""},
      {"for (int i = 0; i < n; i += f)", "y[i] = 1;", "step", "  const long f = l;"},
      {"for (int i = 0; i < n; i += 1 << 21)", "y[i] = 1;", "step", ""},
      {"for (unsigned i = m; i < m; --i)", "y[i] = 1;", "direction", ""},
      {"for (int i = 0; i < n * 0.5f; ++i)", "y[i] = 1;", "bound_type", ""},
      {"for (int i = 0; i < n; ++i)", "{ y[i] = 1; --n; }", "bound_changes", ""},
      {"for (int i = 0; i < y[0]; ++i)", "y[i] = 1;", "bound_changes", ""},
      {"for (int i = 0; i < n; i += f)", "{ y[i] = 1; f = 2; }", "step", "  int f = n;"},
  };
  for (const ForbiddenLoop& one : cases) {
    const SourceModel model = model_of_loop(one.header, one.body, one.before);
    ASSERT_EQ(model.kernels.size(), 1U);
    const Transforms transforms = transforms_of(model, 0, kHost);
    const std::string whole = forbidden_guard(transforms, "unroll:3");
    const std::string by_two = forbidden_guard(transforms, "unroll:3:2");
    // What the model itself does not count is refused as a whole.
    EXPECT_TRUE(by_two == one.guard || whole == "not_counted")
        << one.header << " " << one.body << ": " << whole << ", " << by_two;
  }
}

TEST(TransformGuards, ForbidBodiesThatMayNotBeCopied) {
  const std::string large = fmt::format("{{ y[i] = 1; /* {} */ }}", std::string(600, 'x'));
  const std::vector<ForbiddenLoop> cases{
      {"for (short i = 0; i < n; ++i)", "y[i] = 1;", "type", ""},
      {"for (int i = 0; i < n; ++i)", "{ static int f = 0; y[i] = f; }", "static_local", ""},
      {"for (int i = 0; i < n; ++i)", "{\n#if 1\n y[i] = 1;\n#endif\n }", "directive", ""},
      {"for (int i = 0; i < n; ++i)", "{ y[i] = __LINE__; }", "in_macro", ""},
      {"for (int i = 0; i < n; ++i)", "{ __shared__ float f; f = y[i]; }", "shared_declaration",
       "#define __shared__"},
      {"while (n > 0)", "{ --n; y[n] = 1; }", "not_counted", ""},
      {"for (int i = 0; i < n; ++i)", "{ if (a[i] < 0) break; y[i] = 1; }", "break", ""},
      {"for (int i = 0; i < n; ++i)", "{ if (a[i] < 0) continue; y[i] = 1; }", "continue", ""},
      {"for (int i = 0; i < n; ++i)", "{ if (a[i] < 0) return; y[i] = 1; }", "return", ""},
      {"for (int i = 0; i < n; ++i)", "{ y[i] = 1; i += n > 5; }", "not_counted", ""},
  };
  for (const ForbiddenLoop& one : cases) {
    const Transforms transforms =
        transforms_of(model_of_loop(one.header, one.body, one.before), 0, kHost);
    EXPECT_EQ(forbidden_guard(transforms, "unroll:3"), one.guard) << one.header << one.body;
  }
  const Transforms transforms =
      transforms_of(model_of_loop("for (int i = 0; i < n; ++i)", large), 0, kHost);
  EXPECT_THAT(offered_ids(transforms), Contains("unroll:3:4"));
  EXPECT_EQ(forbidden_guard(transforms, "unroll:3:8"), "too_large");
}

TEST(TransformGuards, ForbidSumsThatAreMore) {
  constexpr std::string_view kHeader = "for (int i = 0; i < n; ++i)";
  const std::vector<ForbiddenLoop> cases{
      {kHeader, "{ s += a[i]; y[i] = s; }", "loop_carried", "  float s = 0;"},
      {kHeader, "s += i;", "not_floating", "  int s = 0;"},
      {kHeader, "s += a[i];", "may_alias", "  float s = 0; float& other = s; other = 1;"},
      {kHeader, "s = s + a[i] * s;", "loop_carried", "  float s = 0;"},
      {kHeader, "s += a[i];", "not_floating", "  auto s = a[0];"},
  };
  for (const ForbiddenLoop& one : cases) {
    const Transforms transforms =
        transforms_of(model_of_loop(one.header, one.body, one.before), 0, kHost);
    EXPECT_EQ(forbidden_guard(transforms, "split-accumulator:3"), one.guard) << one.body;
  }
  const Transforms none =
      transforms_of(model_of_loop(kHeader, "s *= a[i];", "  float s = 1;"), 0, kHost);
  EXPECT_EQ(forbidden_guard(none, "split-accumulator:3"), "(not forbidden)");
  EXPECT_THAT(offered_ids(none), Not(Contains(StartsWith("split"))));
}

TEST(TransformGuards, ForbidSumsWithAnotherName) {
  const auto made = [](std::string_view before) {
    return transforms_of(model_of_loop("for (int i = 0; i < n; ++i)", "s += a[i];", before), 0,
                         kHost);
  };
  ASSERT_THAT(offered_ids(made("  float s = 0;")), Contains("split-accumulator:3:4"));
  for (const char* before :
       {"  float s = 0; float* other = &s; *other = 1;",
        "  float s = 0; const auto set = [&s] { s = 1; }; set();",
        "  float s = 0; const auto set = [&] { s = 1; }; set();",
        "  float s = 0; const float& other = s; y[0] = other;",
        "  float s = 0; auto&& other = s; other = 1;", "  float s = 0; float& other(s); other = 1;",
        "  float s = 0; float& other{s}; other = 1;", "  static float s = 0;",
        "  volatile float s = 0;"}) {
    const Transforms transforms = made(before);
    EXPECT_EQ(forbidden_guard(transforms, "split-accumulator:3"), "may_alias") << before;
    EXPECT_THAT(offered_ids(transforms), Not(Contains(StartsWith("split")))) << before;
  }
}

TEST(TransformGuards, ForbidHoistsOfWhatMayBeWritten) {
  constexpr std::string_view kHeader = "for (int i = 0; i < n; ++i)";
  const std::vector<ForbiddenLoop> cases{
      {kHeader, "y[i] = y[m];", "hoist:3:y[m]", ""},
      {kHeader, "q[i] = y[m];", "hoist:3:y[m]", "  float* q = y + 1;"},
      {kHeader, "*q = y[m];", "hoist:3:y[m]", "  float* q = y + 1;"},
  };
  for (const ForbiddenLoop& one : cases) {
    const Transforms transforms =
        transforms_of(model_of_loop(one.header, one.body, one.before), 0, kHost);
    EXPECT_EQ(forbidden_guard(transforms, one.guard), "written") << one.body;
  }
  const Transforms changed =
      transforms_of(model_of_loop(kHeader, "{ y[i] = a[k]; k += 2; }", "  int k = 0;"), 0, kHost);
  EXPECT_THAT(offered_ids(changed), Not(Contains(StartsWith("hoist"))));
  const Transforms chosen =
      transforms_of(model_of_loop(kHeader, "y[i] = i > 3 ? a[m] : 0;"), 0, kHost);
  EXPECT_EQ(forbidden_guard(chosen, "hoist:3:a[m]"), "conditional");
}

TEST(TransformGuards, MacrosMayHideWhatTheyTouch) {
  struct MacroCase {
    std::string_view define, body;
    bool hides;
  };
  const std::vector<MacroCase> cases{
      {"#define SCALE 4", "{ s += a[i] * y[m] * SCALE; }", false},
      {"#define SQUARE(x) ((x) * (x))", "{ s += SQUARE(a[i]) * y[m]; }", false},
      {"#define ROOT(x) __builtin_sqrtf(x)", "{ s += ROOT(a[i]) * y[m]; }", false},
      {"#define KEEP y[i] = s", "{ s += a[i] * y[m]; KEEP; }", true},
      {"#define STEP(x) (++(x))", "{ s += a[i] * y[m]; STEP(m); }", true},
      {"#define HALF_SUM (s * 0.5f)", "{ s += a[i] * y[m]; y[i] = HALF_SUM; }", true},
  };
  for (const MacroCase& one : cases) {
    const Transforms transforms =
        transforms_of(model_of_loop("for (int i = 0; i < n; ++i)", one.body,
                                    fmt::format("{}\n  float s = 0;", one.define)),
                      0, kHost);
    const std::string guard = forbidden_guard(transforms, "split-accumulator:4");
    EXPECT_EQ(guard, one.hides ? "macro" : "(not forbidden)") << one.define;
    if (one.hides) continue;
    EXPECT_THAT(offered_ids(transforms), IsSupersetOf({"split-accumulator:4:4", "hoist:4:y[m]"}))
        << one.define;
  }
}

TEST(TransformGuards, WritesInTheArgumentsOfMacrosAreSeen) {
  const SourceModel model =
      model_of_loop("for (int i = 0; i < n; ++i)", "{ y[i] = y[m] + NEXT(y[m] = 3); }",
                    "#define NEXT(x) ((x) + 1)");
  EXPECT_EQ(forbidden_guard(transforms_of(model, 0, kHost), "hoist:3:y[m]"), "written");
  const SourceModel other =
      model_of_loop("for (int i = 0; i < n; ++i)", "{ s += q[m] + NEXT(y[i] = 3); }",
                    "#define NEXT(x) ((x) + 1)\n float s = 0; const float* q = y;");
  EXPECT_EQ(forbidden_guard(transforms_of(other, 0, kHost), "hoist:4:q[m]"), "written");
  EXPECT_EQ(
      forbidden_guard(
          transforms_of(transform_model(fmt::format("#define COPY from = to\n{}void k(float* from, "
                                                    "float* to) {{ COPY; from[1] = to[2]; }}\n",
                                                    kMark)),
                        0, kHost),
          "restrict"),
      "macro");
}

/// The guards on what only a GPU's source has, read from one.
TEST(TransformGuards, SeeBarriersAtomicsLanesAndSharedMemory) {
  const std::string source = R"(#include <hip/hip_runtime.h>
extern __shared__ float pool[];
__global__ void guarded(const float* in, float* out, int n) {
  __shared__ float tile[32][32];
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32;
  for (int i = 0; i < n; ++i) { tile[row][lane] = in[i]; __syncthreads(); out[i] += tile[lane][row]; }
  for (int i = 0; i < n; ++i) atomicAdd(out + i, in[i]);
  for (int i = 0; i < n; ++i) out[i] = pool[i] + 1.0f;
  for (int i = 0; i < n; ++i) out[i] += __shfl_down(in[i], 1);
  float sum = 0;
  for (int i = lane; i < n; i += 32) sum += in[i] * sqrtf(in[n]);
  out[lane] = sum;
}
)";
  const Result<SourceModel> model = parse_source(
      source, {.path = "guarded.hip", .arguments = {}, .host = false, .arch = "gfx942"});
  ASSERT_TRUE(model.has_value()) << describe(model.error());
  ASSERT_EQ(model->kernels.size(), 1U);
  const Transforms transforms = transforms_of(*model, 0, kDevice);
  EXPECT_EQ(forbidden_guard(transforms, "unroll:6"), "barrier");
  EXPECT_EQ(forbidden_guard(transforms, "unroll:7"), "atomic");
  EXPECT_EQ(forbidden_guard(transforms, "unroll:8"), "dynamic_shared_memory");
  EXPECT_EQ(forbidden_guard(transforms, "unroll:9"), "cross_lane");
  EXPECT_THAT(offered_ids(transforms),
              IsSupersetOf({"split-accumulator:11:4", "unroll:11:2", "hoist:11:in[n]", "restrict",
                            "launch-bounds:256", "waves-per-eu:2", "pad-lds:tile"}));
  EXPECT_THAT(offered_text(transforms, "launch-bounds:256"),
              HasSubstr("__global__ void __launch_bounds__(256) guarded("));
  EXPECT_THAT(offered_text(transforms, "pad-lds:tile"), HasSubstr("float tile[32][(32) + 1];"));
}

TEST(Transforms, DeclaresTheLaunch) {
  SourceModel model = transform_model(fmt::format("{}{}", kMark, kSaxpy));
  SourceKernel& kernel = model.kernels.at(0);
  kernel.attribute_place = static_cast<std::uint32_t>(model.text.find("saxpy"));
  const Transforms transforms = transforms_of(model, 0, kDevice);
  EXPECT_THAT(offered_text(transforms, "launch-bounds:256"),
              HasSubstr("void __launch_bounds__(256) saxpy("));
  EXPECT_THAT(offered_text(transforms, "waves-per-eu:4"),
              HasSubstr("void __attribute__((amdgpu_waves_per_eu(4))) saxpy("));

  TransformFacts facts = kDevice;
  const auto guard = [&] {
    return forbidden_guard(transforms_of(model, 0, facts), "launch-bounds");
  };
  facts.workgroup_size = 96;
  EXPECT_EQ(guard(), "wave_multiple");
  facts.wave_size = 32;
  EXPECT_EQ(guard(), "(not forbidden)");
  facts.workgroup_size = 2048;
  EXPECT_EQ(guard(), "workgroup_size");
  facts.workgroup_size.reset();
  EXPECT_EQ(guard(), "workgroup_size");
  facts = kHost;
  EXPECT_EQ(guard(), "host");
  facts = kDevice;
  kernel.attributes = {{.name = "launch_bounds", .range = {}, .values = {128, 4}}};
  EXPECT_EQ(guard(), "has_attribute");
  EXPECT_EQ(forbidden_guard(transforms_of(model, 0, facts), "waves-per-eu"), "has_attribute");
  kernel.attributes.clear();
  kernel.attribute_place.reset();
  EXPECT_EQ(guard(), "in_macro");
}

/// A kernel with a shared array; the host's parser does not know that it is one.
SourceModel shared_model(const std::string& use) {
  SourceModel model = transform_model(fmt::format(
      "struct Index {{ int x, y; }};\n{}void k(const float* a, float* y, Index "
      "threadIdx) {{\n  const int lane = threadIdx.x;\n  float tile[32][32];\n  {}\n}}\n",
      kMark, use));
  const auto place = static_cast<std::uint32_t>(model.text.find("tile[32]"));
  if (!model.kernels.empty()) {
    model.kernels[0].shared_arrays = {{.name = "tile",
                                       .element_type = "float",
                                       .dimensions = {32, 32},
                                       .declaration = {place - 6, place + 12},
                                       .last_dimension = TextRange{place + 9, place + 11}}};
  }
  return model;
}

TEST(Transforms, PadsSharedRows) {
  const std::string columns = "tile[threadIdx.y][lane] = a[0]; y[0] = tile[lane][threadIdx.y];";
  SourceModel model = shared_model(columns);
  EXPECT_THAT(offered_text(transforms_of(model, 0, kDevice), "pad-lds:tile"),
              HasSubstr("float tile[32][(32) + 1];"));
  const auto guard = [&](const SourceModel& of) {
    return forbidden_guard(transforms_of(of, 0, kDevice), "pad-lds:tile");
  };
  EXPECT_EQ(guard(shared_model("y[0] = tile[threadIdx.y][lane];")), "no_column_access");
  EXPECT_EQ(guard(shared_model(columns + " float* p = &tile[0][0]; y[1] = p[3];")), "escapes");
  EXPECT_EQ(guard(shared_model(columns + " float* p = tile[0]; y[1] = p[3];")), "escapes");
  EXPECT_EQ(guard(shared_model(columns + " y[1] = sizeof(tile);")), "escapes");
  EXPECT_EQ(forbidden_guard(transforms_of(model, 0, kHost), "pad-lds:tile"), "host");
  SharedArray& array = model.kernels.at(0).shared_arrays[0];
  array.dimensions[1] = 31;
  EXPECT_EQ(guard(model), "no_conflict");
  array.dimensions[1] = 32;
  array.element_type = "Pair";
  EXPECT_EQ(guard(model), "element_type");
  array.dynamic = true;
  EXPECT_EQ(guard(model), "dynamic_shared_memory");
}

TEST(RulesProposer, OffersAllOnceAndStartsAfreshOnAnotherSource) {
  const std::string source = fmt::format("{}{}", kMark, kSaxpy);
  ParseOptions parse{.path = "transforms.cpp", .arguments = {}, .host = true, .arch = "gfx942"};
  const auto proposer = make_rules_proposer(parse, kHost);
  EXPECT_EQ(proposer->name(), "rules");
  EXPECT_FALSE(proposer->repairs());
  EXPECT_EQ(proposer->why_ended(), "");
  llm::Task task{.source = source,
                 .kernel = "saxpy",
                 .kernel_source = {},
                 .context = Json::object(),
                 .compiler_text = {},
                 .rejected_source = {},
                 .round = 1};
  const auto take_all = [&] {
    std::vector<llm::Proposal> all;
    for (;;) {
      Result<std::optional<llm::Proposal>> next = proposer->next(task);
      if (!next) ADD_FAILURE() << describe(next.error());
      if (!next || !*next) return all;
      all.push_back(**std::move(next));
    }
  };
  const std::vector<llm::Proposal> first = take_all();
  ASSERT_EQ(first.size(), transforms_of(transform_model(source), 0, kHost).offered.size());
  EXPECT_THAT(first.front().summary, StartsWith("unroll:2:4: unroll the loop at line 2 by 4"));
  EXPECT_THAT(proposer->why_ended(), HasSubstr(fmt::format("{} were proposed", first.size())));
  EXPECT_THAT(take_all(), IsEmpty());

  task.source = first.front().text;  // it was accepted
  const std::vector<llm::Proposal> second = take_all();
  EXPECT_THAT(second, Not(IsEmpty()));
  for (const llm::Proposal& one : second) {
    EXPECT_THAT(one.text, HasSubstr("rp_block_main_2")) << one.summary;
    EXPECT_THAT(one.summary, Not(StartsWith("unroll"))) << one.summary;
  }
  task.source = source;  // and taken back
  EXPECT_THAT(take_all(), IsEmpty());
  EXPECT_THAT(proposer->forbidden(),
              Contains(testing::Field(&ForbiddenTransform::guard, "already_unrolled")));

  parse.host = true;
  const auto device =
      make_rules_proposer(parse, {.wave_size = 64, .workgroup_size = {}, .host = false});
  task.context = {{"workgroup_size", 128}, {"wave_size", 64}};
  std::vector<std::string> summaries;
  for (;;) {
    const Result<std::optional<llm::Proposal>> next = device->next(task);
    if (!next || !*next) break;
    summaries.push_back((*next)->summary);
  }
  EXPECT_THAT(summaries, Contains(StartsWith("launch-bounds:128")));
}

TEST(RulesProposer, SaysWhatIsWrongWithTheSource) {
  const ParseOptions parse{
      .path = "transforms.cpp", .arguments = {}, .host = true, .arch = "gfx942"};
  llm::Task task{.source = "void k(int n) { for (;; }",
                 .kernel = "k",
                 .kernel_source = {},
                 .context = nullptr,
                 .compiler_text = {},
                 .rejected_source = {},
                 .round = 1};
  const auto broken = make_rules_proposer(parse, kHost)->next(task);
  ASSERT_FALSE(broken.has_value());
  EXPECT_EQ(broken.error().code, ErrorCode::bad_input);
  task.source = fmt::format("{}{}", kMark, kSaxpy);
  task.kernel = "daxpy";
  const auto other = make_rules_proposer(parse, kHost)->next(task);
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, ErrorCode::usage);
}

}  // namespace
}  // namespace perflab::optimize
