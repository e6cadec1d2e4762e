// optimize/model/source_model.h on one HIP source with everything that makes text searches fail,
// on host sources, and on input that makes parsers crash.
#include "optimize/model/source_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder.h"
#include "optimize/flow/call_names.h"
#include "optimize/model/source_loops.h"

namespace perflab::optimize {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kHostHeader =
    "#define __global__ __attribute__((annotate(\"rocm_perf_kernel\")))\n"
    "extern \"C\" void unknown(int*);\n";

ParseOptions host_options() {
  ParseOptions options;
  options.path = "/nowhere/source.cpp";
  options.host = true;
  return options;
}

Result<SourceModel> host_model(std::string_view source, std::string_view function = {}) {
  return parse_source(std::string(kHostHeader) + std::string(source), host_options(), function);
}

constexpr std::string_view kHipSource = R"hip(#include <hip/hip_runtime.h>
#include  "hip/hip_fp16.h"  // why not
#define KERNEL __global__
#define BOUNDS __launch_bounds__(kThreads, 2)
#define BLOCK 64
#define FOREACH(i, n) for (int i = 0; i < n; ++i)
#if 0
__global__ void not_compiled() {}
#endif
constexpr int kThreads = BLOCK * 2;
namespace ns {
namespace {
/* } a comment " with { */
__global__ void hidden(float* p) { p[0] = 1; }
}  // namespace
__global__ void declared(float* a, int n);
__device__ void meet() { __syncthreads(); }
template <int N> __device__ float twice(const float* p, int i) { return p[i] * N; }
template <typename T, int N>
[[maybe_unused]] __global__ void BOUNDS mixed(const T* __restrict__ in, T* out, int n) {
  __shared__ T tile[16][N + 1];
  extern __shared__ float dynamic[];
  const char* brace = R"x( } } { // )x";
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i] + tile[i][0];
  float* moved = dynamic;
  for (unsigned k = 0; k != 12; k += 3) moved[k] = moved[k] + 1;
  FOREACH(in_macro, n) out[in_macro] = 0;
  auto f = [&](int x) { return out[x] + brace[0]; };
  for (int called = 0; called < n; ++called) f(called);
}
}  // namespace ns
KERNEL void ns::declared(float* a, int n) {
  for (int meets = 0; meets < n; ++meets) { meet(); }
  for (int adds = 0; adds < n; ++adds) atomicAdd(&a[adds], 1.0f);
  for (int lane = 0; lane < n; ++lane) a[0] += __shfl_down(a[1], lane);
#pragma unroll 2
  // between
  for (int calls = 0; calls < n; ++calls) a[calls] = twice<2>(a, calls) + expf(a[0]);
}
#define MAKE(name) __global__ void name(float* p) { for (int i = 0; i < 4; ++i) p[i] = 0; }
MAKE(made)
extern "C" __global__ void places(float* const p, float** q, const float (*r)[4], float a[],
                                  volatile int* flag, float2 z) {
  p[0] = q[0][1] + r[0][1] + a[2] + z.x;
  *flag = 1;
}
__global__ void same(int* p) { p[0] = clock64(); asm volatile("s_nop 0"); }
__global__ void same(float* p) { float4 v = *(float4*)p; v.x += 1; p[1] = __expf(v.x); }
template <> __global__ void ns::mixed<double, 3>(const double*, double* out, int n) { out[0] = n; }
)hip";

/// Parsed once: HIP's headers take a while.
const SourceModel* hip_model() {
  static const auto model = [] {
    ParseOptions options;
    options.path = "/nowhere/source.hip";
    return parse_source(std::string(kHipSource), options);
  }();
  if (!model && model.error().code == ErrorCode::missing_tool) return nullptr;
  EXPECT_TRUE(model) << describe(model.error());
  return model ? &*model : nullptr;
}

class HipSource : public ::testing::Test {
 protected:
  void SetUp() override {
    model_ = hip_model();
    if (model_ == nullptr) GTEST_SKIP() << "no libclang or no HIP headers here";
  }
  [[nodiscard]] std::string text(const TextRange& range) const {
    return std::string(model_->at(range));
  }
  /// The innermost loop whose text has a word.
  [[nodiscard]] const Loop& loop(const SourceKernel& kernel, std::string_view word) const {
    const Loop* found = nullptr;
    for (const Loop& each : kernel.loops)
      if (model_->at(each.range).find(word) != std::string_view::npos) found = &each;
    EXPECT_NE(found, nullptr) << word;
    return *found;
  }
  const SourceModel* model_ = nullptr;
};

TEST_F(HipSource, KernelsAreFoundThroughTheTreeNotTheText) {
  std::vector<std::string> signatures;
  for (const SourceKernel& kernel : model_->kernels) signatures.push_back(kernel.signature);
  EXPECT_THAT(
      signatures,
      ElementsAre("void ns::(anonymous)::hidden(float *)",
                  "template <typename, int> void ns::mixed(const type-parameter-0-0 *, "
                  "type-parameter-0-0 *, int)",
                  "void ns::declared(float *, int)", "void made(float *)",
                  "void places(float *, float **, const float (*)[4], float *, volatile int *, "
                  "HIP_vector_type<float, 2>)",
                  "void same(int *)", "void same(float *)",
                  "void ns::mixed(const double *, double *, int)"));
  EXPECT_THAT(model_->includes, ElementsAre("<hip/hip_runtime.h>", "\"hip/hip_fp16.h\""));
  EXPECT_THAT(model_->library, HasSubstr("clang version"));
  EXPECT_EQ(model_->directives.size(), 10U);
  EXPECT_EQ(model_->skipped.size(), 1U);
}

TEST_F(HipSource, PlacesInTheTextAreThoseOfTheDefinition) {
  const SourceKernel& mixed = model_->kernels[1];
  EXPECT_TRUE(mixed.is_template);
  EXPECT_THAT(text(mixed.definition), ::testing::StartsWith("template <typename T, int N>"));
  EXPECT_THAT(text(mixed.definition), ::testing::EndsWith("f(called);\n}"));
  EXPECT_EQ(model_->text.substr(*mixed.attribute_place, 6), "mixed(");
  EXPECT_EQ(mixed.line, 20U);
  ASSERT_EQ(mixed.attributes.size(), 1U);
  EXPECT_EQ(mixed.attributes[0].name, "launch_bounds");
  EXPECT_THAT(mixed.attributes[0].values, ElementsAre(128, 2));
  EXPECT_EQ(mixed.attributes[0].range, TextRange{});
  const SourceKernel& declared = model_->kernels[2];
  EXPECT_THAT(text(declared.definition), ::testing::StartsWith("KERNEL void ns::declared"));
  EXPECT_EQ(model_->text.substr(*declared.attribute_place, 4), "ns::");
  const SourceKernel& made = model_->kernels[3];
  EXPECT_EQ(text(made.definition), "MAKE(made)");
  EXPECT_FALSE(made.attribute_place);
  EXPECT_TRUE(made.loops[0].in_macro);
}

TEST_F(HipSource, FindKernelTakesNamesAndSignatures) {
  EXPECT_EQ(*find_kernel(*model_, "ns::declared"), 2U);
  EXPECT_EQ(*find_kernel(*model_, "declared"), 2U);
  EXPECT_EQ(*find_kernel(*model_, "void same(float *)"), 6U);
  for (const char* name : {"", "same", "no_such"}) {
    const auto found = find_kernel(*model_, name);
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().code, ErrorCode::usage);
    EXPECT_THAT(found.error().message, HasSubstr("void same(float *)"));
  }
}

TEST_F(HipSource, ParametersTellWhereQualifiersGo) {
  const SourceKernel& places = model_->kernels[4];
  ASSERT_EQ(places.parameters.size(), 6U);
  const auto behind = [&](std::size_t i) {
    const auto at = places.parameters[i].behind_star;
    return at ? model_->text.substr(*at, 6) : std::string("-");
  };
  EXPECT_EQ(behind(0), " const");
  EXPECT_EQ(behind(1), " q, co");
  EXPECT_EQ(behind(3), "-");  // an array
  EXPECT_EQ(model_->text.substr(*places.parameters[0].before_pointee, 6), "float*");
  EXPECT_FALSE(places.parameters[1].before_pointee);  // const would be the inner pointer's
  EXPECT_TRUE(places.parameters[3].pointer);
  EXPECT_FALSE(places.parameters[5].pointer);
  EXPECT_TRUE(places.parameters[2].const_pointee);
  const std::vector<std::pair<bool, bool>> read_written{
      {false, true}, {true, false}, {true, false}, {true, false}, {false, true}, {false, false}};
  for (std::size_t i = 0; i < read_written.size(); ++i)
    EXPECT_EQ(std::pair(places.parameters[i].read, places.parameters[i].written), read_written[i])
        << places.parameters[i].name;
  const SourceKernel& mixed = model_->kernels[1];
  EXPECT_TRUE(mixed.parameters[0].restricted);
  EXPECT_FALSE(mixed.parameters[1].restricted);
  EXPECT_FALSE(mixed.parameters[0].written);
}

TEST_F(HipSource, WhatLoopsReachIsSeenThroughFunctions) {
  const SourceKernel& declared = model_->kernels[2];
  const Loop& meets = loop(declared, "meets");
  EXPECT_TRUE(meets.has_barrier);
  EXPECT_FALSE(meets.has_unknown_call);
  EXPECT_TRUE(loop(declared, "adds").has_atomic);
  const Loop& lane = loop(declared, "lane");
  EXPECT_TRUE(lane.crosses_lanes);
  EXPECT_FALSE(lane.has_barrier || lane.has_atomic || lane.has_unknown_call);
  const Loop& calls = loop(declared, "calls");
  EXPECT_FALSE(calls.has_barrier || calls.has_atomic || calls.crosses_lanes ||
               calls.has_unknown_call || calls.uses_shared || calls.has_assembly);
  EXPECT_EQ(text(*calls.pragma), "#pragma unroll 2");
  EXPECT_FALSE(lane.pragma);
  EXPECT_EQ(text(calls.body), "a[calls] = twice<2>(a, calls) + expf(a[0]);");
  EXPECT_TRUE(declared.parameters[0].read);
}

TEST_F(HipSource, SharedMemoryIsFollowedThroughPointers) {
  const SourceKernel& mixed = model_->kernels[1];
  const Loop& moved = loop(mixed, "moved");
  EXPECT_TRUE(moved.uses_shared && moved.uses_dynamic_shared);
  EXPECT_EQ(moved.counted->trips, 4);
  const Loop& first = loop(mixed, "threadIdx");
  EXPECT_TRUE(first.uses_shared);
  EXPECT_FALSE(first.uses_dynamic_shared);
  ASSERT_TRUE(first.counted);
  EXPECT_EQ(text(first.counted->first), "threadIdx.x");
  EXPECT_EQ(first.counted->step, "blockDim.x");
  EXPECT_TRUE(first.counted->bound_is_invariant);
  EXPECT_TRUE(loop(mixed, "FOREACH").in_macro);
  EXPECT_FALSE(loop(mixed, "f(called)").has_unknown_call);
  ASSERT_EQ(mixed.shared_arrays.size(), 2U);
  EXPECT_EQ(text(*mixed.shared_arrays[0].last_dimension), "N + 1");
  EXPECT_THAT(mixed.shared_arrays[0].dimensions, ElementsAre(16, std::nullopt));
  EXPECT_TRUE(mixed.shared_arrays[1].dynamic);
  EXPECT_EQ(mixed.shared_arrays[1].element_type, "float");
  const Subscript& tile = mixed.subscripts[2];
  EXPECT_EQ(tile.array + "|" + text(tile.index) + "|" + text(tile.range), "tile|0|tile[i][0]");
  EXPECT_TRUE(tile.shared && tile.is_read && !tile.is_written);
  EXPECT_TRUE(mixed.subscripts[0].is_written && !mixed.subscripts[0].is_read);
}

TEST_F(HipSource, FactsNameWhatABodyTouches) {
  const SourceKernel& same = model_->kernels[5];
  EXPECT_THAT(same.facts.calls, Contains("clock64"));
  EXPECT_THAT(same.facts.assembly, Not(IsEmpty()));
  const SourceKernel& vectors = model_->kernels[6];
  EXPECT_THAT(vectors.facts.calls, Contains("__expf"));
  EXPECT_FALSE(vectors.facts.integer_to_pointer);
  EXPECT_THAT(vectors.facts.assembly, IsEmpty());
  for (const SourceKernel& kernel : model_->kernels) EXPECT_THAT(kernel.facts.globals, IsEmpty());
}

// --- loops, on the host ------------------------------------------------------------------------

struct LoopCase {
  std::string statement;  ///< in a kernel of (int* p, int n), the first loop of it
  bool counts = true;
  std::optional<std::int64_t> trips = std::nullopt;
  bool invariant = true;
  std::string step = "1";
};

TEST(CountedLoops, CountOnlyWhenNothingSpeaksAgainstIt) {
  const std::vector<LoopCase> cases{
      {"for (int i = 0; i < 10; ++i) p[i] = 1;", true, 10},
      {"for (int i = 0; 10 > i; i++) p[i] = 1;", true, 10},
      {"for (int i = 9; i >= 0; --i) p[i] = 1;", true, 10, true, "-1"},
      {"for (long i = 3; i <= 9; i += 2) p[i] = 1;", true, 4, true, "2"},
      {"for (int i = 9; i > 0; i = i - 4) p[i] = 1;", true, 3, true, "-4"},
      {"for (unsigned char i = 0; i != 12; i += 5) p[i] = 1;", true, std::nullopt, true, "5"},
      {"for (unsigned i = 3; i >= 0; --i) p[i] = 1;", true, std::nullopt, true, "-1"},
      {"for (signed char i = 0; i <= 127; ++i) p[i] = 1;", true, std::nullopt},
      {"for (int i = 5; i < 5; ++i) p[i] = 1;", true, 0},
      {"for (int i = 0; i < n; i += n / 2 + 1) p[i] = 1;", true, std::nullopt, true, "n / 2 + 1"},
      {"for (int i = 0; i < n; i -= n + 1) p[i] = 1;", true, std::nullopt, true, "-(n + 1)"},
      {"int i; for (i = 0; i < n; ++i) p[i] = 1;", true},
      {"for (int i = 0; i < p[0]; ++i) p[i] = 1;", true, std::nullopt, false},
      {"for (int i = 0; i < n; ++i) n = p[i];", true, std::nullopt, false},
      {"int& m = n; for (int i = 0; i < m; ++i) p[i] = 1;", true, std::nullopt, false},
      {"int m = n; unknown(&m); for (int i = 0; i < m; ++i) p[i] = 1;", true, std::nullopt, false},
      {"const int m = n; for (int i = 0; i < m; ++i) p[i] = 1;", true},
      {"for (int i = 0; i < n; ++i) i += p[i];", false},
      {"for (int i = 0; i < n; ++i) { int* q = &i; *q = 3; }", false},
      {"for (int i = 0; i < n; ++i) { int& r = i; r = 3; }", false},
      {"for (int i = 0; i < n; ++i) { auto f = [&] { ++i; }; f(); }", false},
      {"for (int i = 0; i < n; ++i) unknown(&i);", false},
      {"for (int i = 0; i < n;) ++i;", false},
      {"for (int i = 0; ; ++i) break;", false},
      {"for (int i = 0, j = 0; i < n; ++i) p[i] = j;", false},
      {"for (int i = 1; i < n; i *= 2) p[i] = 1;", false},
      {"for (int i = 0; i < n; i += n) --n;", false, std::nullopt, true, ""},
      {"for (float i = 0; i < 3; ++i) p[0] = 1;", false},
      {"for (volatile int i = 0; i < 3; ++i) p[0] = 1;", false},
      {"static int i; for (i = 0; i < 3; ++i) p[0] = 1;", false},
      {"for (int* q = p; q < p + n; ++q) *q = 1;", false}};
  std::string source;
  for (std::size_t i = 0; i < cases.size(); ++i)
    source += "__global__ void k" + std::to_string(i) + "(int* p, int n) { " + cases[i].statement +
              " }\n";
  const auto model = host_model(source);
  ASSERT_TRUE(model) << describe(model.error());
  ASSERT_EQ(model->kernels.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const LoopCase& wanted = cases[i];
    ASSERT_EQ(model->kernels[i].loops.size(), 1U) << wanted.statement;
    const Loop& loop = model->kernels[i].loops[0];
    ASSERT_EQ(loop.counted.has_value(), wanted.counts) << wanted.statement;
    if (!loop.counted) continue;
    EXPECT_EQ(loop.counted->trips, wanted.trips) << wanted.statement;
    EXPECT_EQ(loop.counted->bound_is_invariant, wanted.invariant) << wanted.statement;
    EXPECT_EQ(loop.counted->step, wanted.step) << wanted.statement;
    EXPECT_EQ(loop.counted->declares_variable, !wanted.statement.starts_with("int i;"));
  }
}

TEST(CountedLoops, TripsAreCountedAsTheLoopRuns) {
  const auto runs = [](int first, int bound, int step, const std::string& comparison) {
    std::int64_t count = 0;
    const auto goes_on = [&](int i) {
      return comparison == "<"    ? i < bound
             : comparison == "<=" ? i <= bound
             : comparison == ">"  ? i > bound
             : comparison == ">=" ? i >= bound
                                  : i != bound;
    };
    for (int i = first; goes_on(i) && count < 100; i += step) ++count;
    return count == 100 ? std::optional<std::int64_t>{} : count;
  };
  for (const char* comparison : {"<", "<=", ">", ">=", "!="})
    for (int first = -4; first <= 4; ++first)
      for (int bound = -4; bound <= 4; ++bound)
        for (const int step : {-3, -2, -1, 1, 2, 3})
          EXPECT_EQ(trip_count(first, bound, step, comparison),
                    runs(first, bound, step, comparison))
              << first << comparison << bound << " step " << step;
  EXPECT_EQ(trip_count(0, 5, 0, "<"), std::nullopt);
  EXPECT_EQ(trip_count(INT64_MIN, INT64_MAX, 1, "<"), std::nullopt);
}

TEST(Loops, JumpsBelongToTheirLoop) {
  const auto model = host_model(R"(__global__ void k(int* p, int n) {
  for (int i = 0; i < n; ++i) { for (;;) { break; } switch (n) { case 1: break; } }
  while (n) { if (p[0]) continue; auto f = [] { return 1; }; p[1] = f(); }
  do { if (p[2]) return; } while (p[3]);
  int xs[2] = {}; for (auto x : xs) { if (x) goto end; else p[x] = 1; }
end:
  switch (n) { case 0: do { p[0] = 1; case 2:; } while (n); }
  for (int i = 0; i < n; ++i) if (p[i]) p[i] = 0; else unknown(p);
})");
  ASSERT_TRUE(model) << describe(model.error());
  const std::vector<Loop>& loops = model->kernels[0].loops;
  ASSERT_EQ(loops.size(), 7U);
  const auto jumps = [](const Loop& l) {
    return std::string(l.has_break ? "b" : "") + (l.has_continue ? "c" : "") +
           (l.has_return ? "r" : "") + (l.has_goto ? "g" : "");
  };
  std::vector<std::string> found;
  for (const Loop& loop : loops) found.push_back(jumps(loop));
  EXPECT_THAT(found, ElementsAre("", "b", "c", "r", "g", "g", ""));
  EXPECT_FALSE(loops[0].innermost);
  EXPECT_EQ(loops[1].parent, 0U);
  EXPECT_TRUE(loops[1].innermost);
  EXPECT_EQ(model->at(loops[3].range).back(), ';');
  EXPECT_EQ(model->at(loops[6].body), "if (p[i]) p[i] = 0; else unknown(p);");
  EXPECT_TRUE(loops[6].has_unknown_call);
}

// --- what a body does with memory --------------------------------------------------------------

TEST(Parameters, AreWrittenWhenSomethingMayWrite) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"x = p[0];", "r"},
      {"p[0] = 1;", "w"},
      {"p[0] += 1;", "rw"},
      {"++*p;", "rw"},
      {"*p++ = 1;", "w"},
      {"x = *(p + 2);", "r"},
      {"int* q = p; q[1] = 2;", "w"},
      {"int* q; q = p + 1; int* r = q; x = r[1];", "r"},
      {"int* q = x ? p : nullptr; *q = 1;", "w"},
      {"auto f = [=] { p[0] = 1; }; f();", "w"},
      {"auto f = [&] { return p[0]; }; x = f();", "r"},
      {"unknown(p);", "rw"},
      {"unknown(&p[1]);", "rw"},
      {"x = only_reads(p);", "r"},
      {"x = casts(p);", "rw"},
      {"int& r = p[0]; r = 1;", "rw"},
      {"int* box[1] = {p}; box[0][0] = 1;", "rw"},
      {"S s{p}; s.p[0] = 1;", "rw"},
      {"x = (long)p;", "rw"},
      {"x = (p != nullptr) + sizeof(p[0]);", ""},
      {"x = p - p;", ""},
      {"p = nullptr;", ""},
      {"((S*)p)->p = nullptr;", "w"},
      {"x = reinterpret_cast<S*>(p)->n;", "r"}};
  std::string source =
      "struct S { int* p; int n; };\n"
      "int only_reads(const int* q) { return q[0] + q[1]; }\n"
      "int casts(const int* q) { *(int*)q = 1; return 0; }\n";
  for (std::size_t i = 0; i < cases.size(); ++i)
    source +=
        "__global__ void k" + std::to_string(i) + "(int* p, int x) { " + cases[i].first + " }\n";
  const auto model = host_model(source);
  ASSERT_TRUE(model) << describe(model.error());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Parameter& p = model->kernels[i].parameters[0];
    EXPECT_EQ(std::string(p.read ? "r" : "") + (p.written ? "w" : ""), cases[i].second)
        << cases[i].first;
  }
}

TEST(Facts, StateAndPointersAreSeen) {
  const auto model = host_model(R"(int counter; const int kConstant = 3; int table[4];
extern "C" void* memcpy(void*, const void*, unsigned long);
struct Class { static int shared; static constexpr int kNumber = 1; };
__global__ void clean(int* p) { static constexpr int kTable[2] = {1, 2};
  p[0] = kConstant + kTable[p[1]] + Class::kNumber + table[1]; }
__global__ void state(int* p) { static const int once = p[0]; thread_local int mine;
  p[1] = counter + once + mine + Class::shared++; }
__global__ void numbers(int* p) { p[0] = *(int*)0x1000UL; }
__global__ void words(int* p) { union { long n; int* q; } u; u.n = p[0]; *u.q = 1; }
__global__ void bytes(int* p) { int* q; memcpy(&q, p, 8); *q = 1; }
__global__ void inner(long* p) { **(int**)p = 1; }
__global__ void fine(int* p) { int* q = nullptr; q = p; *(float*)q = 1; memcpy(p, q, 4); }
__global__ void extra(int* p) { extern int hidden; p[0] = hidden; p[1] = *new int(3); }
)");
  ASSERT_TRUE(model) << describe(model.error());
  const auto facts = [&](const char* name) -> const BodyFacts& {
    return model->kernels[*find_kernel(*model, name)].facts;
  };
  EXPECT_THAT(facts("clean").globals, ElementsAre("table"));
  EXPECT_THAT(facts("clean").written_globals, IsEmpty());
  EXPECT_THAT(facts("clean").static_locals, IsEmpty());
  EXPECT_THAT(facts("state").globals, ElementsAre("Class::shared", "counter"));
  EXPECT_THAT(facts("state").written_globals, ElementsAre("Class::shared"));
  EXPECT_THAT(facts("state").static_locals, ElementsAre("mine", "once"));
  for (const char* name : {"numbers", "words", "bytes", "inner"})
    EXPECT_TRUE(facts(name).integer_to_pointer) << name;
  EXPECT_FALSE(facts("fine").integer_to_pointer);
  EXPECT_THAT(facts("extra").globals, ElementsAre("hidden"));
  EXPECT_THAT(facts("extra").exceptions_or_new, Not(IsEmpty()));
}

TEST(CallNames, SayWhatAFunctionDoes) {
  using enum CallKind;
  const std::vector<std::pair<std::string_view, CallKind>> cases{
      {"__syncthreads", barrier},
      {"__syncthreads_or", barrier},
      {"__threadfence_block", fence},
      {"__ockl_grid_sync", barrier},
      {"__ockl_multi_grid_is_valid", fence},
      {"hipCmulf", harmless},
      {"hipCtxSynchronize", unknown},
      {"atomicAdd", atomic},
      {"std::atomic_ref::fetch_add", atomic},
      {"__shfl_down_sync", lanes},
      {"__builtin_amdgcn_mov_dpp8", lanes},
      {"sqrtf", harmless},
      {"std::fma", harmless},
      {"__builtin_fmaf", harmless},
      {"__float2int_rn", harmless},
      {"__fadd_rn", harmless},
      {"__expf", harmless},
      {"__hadd2", harmless},
      {"__builtin_add_overflow", harmless},
      {"clock64", clock},
      {"std::chrono::steady_clock::now", clock},
      {"__builtin_amdgcn_s_getreg", clock},
      {"fopen", outside},
      {"std::getenv", outside},
      {"execve", outside},
      {"std::basic_ofstream::basic_ofstream", outside},
      {"__builtin_amdgcn_dispatch_ptr", makes_pointer},
      {"__builtin_amdgcn_s_setreg", unknown},
      {"__builtin_ia32_ldmxcsr", unknown},
      {"__builtin_trap", unknown},
      {"printf", unknown},
      {"mine::sqrtf", unknown},
      {"fmaff", unknown}};
  for (const auto& [name, kind] : cases) EXPECT_EQ(kind_of_call(name), kind) << name;
}

// --- other sources -----------------------------------------------------------------------------

TEST(HostSource, PlainFunctionsCountWhenNamed) {
  const auto none = host_model("void f(int* p) { p[0] = 1; }");
  ASSERT_TRUE(none);
  EXPECT_THAT(none->kernels, IsEmpty());
  EXPECT_EQ(find_kernel(*none, "").error().code, ErrorCode::usage);
  const auto named = host_model("namespace n { void f(int* p) { p[0] = 1; } void g() {} }", "n::f");
  ASSERT_TRUE(named);
  ASSERT_EQ(named->kernels.size(), 1U);
  EXPECT_EQ(named->kernels[0].name, "n::f");
  EXPECT_EQ(named->kernels[0].signature, "void n::f(int *)");
}

TEST(HostSource, LineEndsAndLettersDoNotMovePlaces) {
  const auto model = parse_source(
      "\xEF\xBB\xBF#define __global__ __attribute__((annotate(\"rocm_perf_kernel\")))\r\n"
      "// gr\xC3\xB6\xC3\x9F"
      "er } {\r\n"
      "static __global__ void k(int *p, int n = 3)\r\n{\r\n"
      "  for (int \xC3\xA4 = 0; \xC3\xA4 < n; ++\xC3\xA4)\r\n    p[\xC3\xA4] = '}';\r\n}\r\n",
      host_options());
  ASSERT_TRUE(model) << describe(model.error());
  const SourceKernel& kernel = model->kernels.at(0);
  EXPECT_EQ(kernel.signature, "static void k(int *, int = 3)");
  EXPECT_EQ(model->at(kernel.definition).substr(0, 12), "static __glo");
  EXPECT_EQ(model->at(kernel.definition).back(), '}');
  EXPECT_EQ(model->at(kernel.loops.at(0).body), "p[\xC3\xA4] = '}';");
  EXPECT_EQ(kernel.loops[0].line, 5U);
  EXPECT_EQ(replaced(model->text, kernel.body, "{}").substr(kernel.body.begin), "{}\r\n");
}

TEST(HostileSource, IsAnErrorAndNotACrash) {
  std::string ifs = "__global__ void k(int* p) { ", elses = ifs, minuses = ifs + "p[0] = ";
  for (int i = 0; i < 8'000; ++i) ifs += "if (p[0]) ";
  for (int i = 0; i < 8'000; ++i) elses += "if (p[0]) p[1]; else ";
  for (int i = 0; i < 30'000; ++i) minuses += "- ";
  std::string sum = "__global__ void k(int* p) { p[0] = 1";
  for (int i = 0; i < 1'000; ++i) sum += "+p[1]";
  const std::vector<std::string> sources{ifs + "p[1] = 0; }",
                                         elses + "p[1] = 0; }",
                                         minuses + "p[1]; }",
                                         sum + "; }",
                                         "void f() { " + std::string(100'000, '(') + "; }",
                                         "void f() " + std::string(100'000, '{'),
                                         "__global__ void k(int* p) { p[0] = \"abc",
                                         "/* ",
                                         "const char* s = R\"x(",
                                         "#include \"no such file\"",
                                         std::string("\0\1\2\xFF\xFE", 5)};
  for (const std::string& source : sources) {
    const auto model = host_model(source);
    ASSERT_FALSE(model) << source.substr(0, 60);
    EXPECT_EQ(model.error().code, ErrorCode::bad_input) << describe(model.error());
    EXPECT_THAT(model.error().message, HasSubstr("/nowhere/source.cpp"));
  }
  EXPECT_TRUE(host_model(""));
  EXPECT_TRUE(host_model(std::string("int a;\0int b;", 13)));
}

}  // namespace
}  // namespace perflab::optimize
