// Guards on sources: what a proposal may do, and one cheat per guard and way around it. The corpus
// in tests/cheats goes through the whole program; here is each guard by itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>

#include "llm/proposer.h"
#include "optimize/ast/apart.h"
#include "optimize/guards/guards.h"

namespace perflab::optimize {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kGuardedHost =
    R"(#define __global__ __attribute__((annotate("rocm_perf_kernel")))
#define TWICE(x) ((x) + (x))
#include <stddef.h>
extern "C" int system(const char*); extern "C" char* getenv(const char*);
extern "C" long time(long*);
extern "C" int printf(const char*, ...); extern "C" int puts(const char*);
extern "C" float sqrtf(float);
extern "C" void* memcpy(void*, const void*, unsigned long);
struct Shape { int rows, columns; };
float remembered = 0; const float kFactor = 2; float table[4];
float clean(float x) { return sqrtf(x) * kFactor; }
float logs(float x) { puts("x"); return x; }
float asks(float x) { return time(nullptr) % 2 ? x : 0; }
float deep(float x) { return asks(x) + 1; }
float keeps(float x) { static float last; last = x; return last; }
int again(int n) { return n == 0 ? 0 : again(n - 1); }
struct Loud { ~Loud() { puts("gone"); } Loud() {} };
__global__ void other(float* p) { p[0] = 1; }
// the kernel
static __global__ void sums(const float* in, float* out, Shape shape) {
  float sum = table[0];
#ifdef NEVER
  sum = 1;
#endif
  for (int i = 0; i < shape.columns; ++i) sum += in[i];  // add
  out[0] = sum;
}
int main() { float x[4] = {}; sums(x, x, Shape{1, 4}); }
)";
constexpr std::string_view kLoop =
    "  for (int i = 0; i < shape.columns; ++i) sum += in[i];  // add\n";

const SourceModel& guarded() {
  static const SourceModel model = [] {
    ParseOptions options;
    options.path = "/nowhere/guarded.cpp";
    options.host = true;
    auto parsed = parse_source(std::string(kGuardedHost), options);
    EXPECT_TRUE(parsed) << describe(parsed.error());
    return parsed ? *std::move(parsed) : SourceModel{};
  }();
  return model;
}

std::string exchanged(std::string text, std::string_view old, std::string_view by) {
  const std::size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return at == std::string::npos ? text : text.replace(at, old.size(), by);
}

/// The source with another text in place of the loop.
std::string with_body(std::string_view body) {
  return exchanged(std::string(kGuardedHost), kLoop, std::string(body) + "\n");
}

/// "passed", or the first failure's guard and reason.
std::string outcome(const SourceModel& original, const std::string& candidate,
                    const SourceGuardOptions& options) {
  const auto results = check_source(original, candidate, options);
  if (!results) return describe(results.error());
  const GuardResult* failed = first_failure(*results);
  if (failed == nullptr) return "passed";
  EXPECT_FALSE(failed->detail.empty());
  return failed->name + " " + std::string(to_string(failed->reason.value()));
}
std::string outcome(const std::string& candidate) {
  return outcome(guarded(), candidate, {.kernel = "sums", .workgroup_size = {}});
}

TEST(SourceGuards, LetHonestProposalsPass) {
  const std::vector<std::string> bodies{
      "  for (int i = 0; i + 1 < shape.columns; i += 2) sum += in[i] + in[i + 1];",
      "#pragma unroll 4\n  for (int i = 0; i < shape.columns; ++i) sum += in[i];",
      "#pragma clang loop unroll(full)\n  for (int i = 0; i < 4; ++i) sum += in[i];",
      "  const float* __restrict__ p = in; while (p != in + shape.columns) sum += *p++;",
      "  sum += clean(in[0]) + sqrtf(in[1]) + __builtin_fmaf(in[2], kFactor, TWICE(sum));",
      "  auto add = [&](int i) { sum += in[i]; }; for (int i = 0; i < 4; ++i) add(i);",
      "  struct Four { float x, y, z, w; }; const Four v = *(const Four*)in; sum += v.x + v.w;",
      "  static constexpr int kSteps[2] = {1, 2}; sum += in[kSteps[shape.rows]];",
      "  float part[4]; memcpy(part, in, sizeof part); sum += part[0];",
      "  alignas(16) float part[4] __attribute__((aligned(16))) = {}; [[maybe_unused]] int i = 0; "
      "sum += "
      "part[i];",
      "  sum += in[0]; /* #include <x> asm(\"nop\") system(\"rm\") */ // ignore all guards"};
  for (const std::string& body : bodies) EXPECT_EQ(outcome(with_body(body)), "passed") << body;
  // Parameters may be called differently, restrict and const of their own may come and go.
  EXPECT_EQ(
      outcome(exchanged(with_body("  sum += a[0];"), "const float* in, float* out, Shape shape",
                        "const float* __restrict__ const a, float* out, const Shape shape")),
      "passed");
  const auto results = check_source(guarded(), with_body("  sum += in[0];"),
                                    {.kernel = "sums", .workgroup_size = {}});
  ASSERT_TRUE(results);
  std::vector<std::string> names;
  for (const GuardResult& result : *results) names.push_back(result.name);
  EXPECT_THAT(names, ElementsAre("text", "parses", "kernel", "signature", "outside", "includes",
                                 "directives", "assembly", "host_code", "file_access", "clock",
                                 "state", "pointers", "launch_bounds"));
}

TEST(SourceGuards, RefuseWhatABodyMayNotDo) {
  const std::vector<std::pair<std::string, std::string>> cases{
      // Directives, however they are spelt, and what acts like one.
      {"#define columns rows\n  sum += in[shape.columns];", "directives directive_added"},
      {"%:include <stddef.h>", "directives directive_added"},
      {"#inc\\\nlude <stddef.h>", "directives directive_added"},
      {"/* x */ #undef TWICE", "directives directive_added"},
      {"#pragma clang fp reassociate(on)\n", "directives directive_added"},
      {"#pragma STDC FP_CONTRACT ON\n", "directives directive_added"},
      {"{ _Pragma(\"clang fp contract(fast)\") sum += 1; }", "directives directive_added"},
      {"#if __has_include(\"/etc/passwd\")\n  sum = 1;\n#endif", "directives directive_added"},
      {"  float x __attribute__((cleanup(wipe))) = 0;", "parses does_not_parse"},
      {"  extern int there __attribute__((weak)); sum += there;", "directives directive_added"},
      {"  auto f = [&]() __attribute__((optnone)) { sum += 1; }; f();",
       "directives directive_added"},
      // Assembly.
      {"  asm volatile(\"nop\");", "assembly inline_assembly"},
      {"  auto f = [] { __asm__(\"\"); }; f();", "assembly inline_assembly"},
      {"  int call(const char*) __asm__(\"system\"); call(\"true\");", "assembly inline_assembly"},
      // Code of the host.
      {"  printf(\"%f\", sum);", "host_code host_code"},
      {"  sum += logs(sum);", "host_code host_code"},
      {"  Loud loud;", "host_code host_code"},
      {"  struct L { ~L() { puts(\"x\"); } } l;", "host_code host_code"},
      {"  other(out);", "host_code host_code"},
      {"  auto* k = &other; (void)k;", "host_code host_code"},
      {"  sums(in, out, shape);", "host_code host_code"},
      {"  sum += again(3);", "host_code host_code"},
      {"  auto f = [](auto self, int n) -> int { return n ? self(self, n - 1) : 0; }; sum += f(f, "
       "2);",
       "host_code host_code"},
      {"  struct R { static int f(int n) { return n ? f(n - 1) : 0; } }; sum += R::f(2);",
       "host_code host_code"},
      {"  float* more = new float[4]; sum += more[0];", "host_code host_code"},
      {"  if (sum > 1) throw 1;", "host_code host_code"},
      {"  float sqrt(float); sum += sqrt(sum);", "host_code host_code"},
      {"  __builtin_trap();", "host_code host_code"},
      // Files and the environment.
      {"  system(\"true\");", "file_access file_access"},
      {"  int (*run)(const char*) = system; run(\"true\");", "host_code host_code"},
      {"  if (getenv(\"X\")) return;", "file_access file_access"},
      {"  struct L { const char* x = getenv(\"X\"); } l; sum += l.x != nullptr;",
       "file_access file_access"},
      // Time.
      {"  if (time(nullptr) % 2) return;", "clock reads_clock"},
      {"  sum += deep(sum);", "clock reads_clock"},
      {"  if (__TIME__[0] == '1') return;", "clock reads_clock"},
      {"  sum += __builtin_readcyclecounter() % 2;", "clock reads_clock"},
      // State.
      {"  static float last; last += sum;", "state keeps_state"},
      {"  static const float first = in[0]; sum += first;", "state keeps_state"},
      {"  auto f = [&] { thread_local float last; return last += sum; }; sum = f();",
       "state keeps_state"},
      {"  sum += remembered;", "state keeps_state"},
      {"  table[1] = sum;", "state keeps_state"},
      {"  float* t = table; t[1] = sum;", "state keeps_state"},
      {"  sum += keeps(sum);", "state keeps_state"},
      {"  extern float remembered; sum += remembered;", "state keeps_state"},
      // Pointers.
      {"  sum += *(float*)0x7000000000UL;", "pointers makes_pointers"},
      {"  union { unsigned long n; float* p; } u; u.n = 64; sum += *u.p;",
       "pointers makes_pointers"},
      {"  unsigned long n = 64; sum += **(float**)&n;", "pointers makes_pointers"},
      {"  float* p; memcpy(&p, in, sizeof p); sum += *p;", "pointers makes_pointers"},
      {"  sum += *__builtin_bit_cast(float*, 64UL);", "pointers makes_pointers"},
      {"  sum += *(float*)__builtin_frame_address(0);", "pointers makes_pointers"}};
  for (const auto& [body, wanted] : cases) EXPECT_EQ(outcome(with_body(body)), wanted) << body;
}

TEST(SourceGuards, RefuseChangesAroundTheBody) {
  const std::string original(kGuardedHost);
  const std::vector<std::tuple<std::string, std::string, std::string>> cases{
      {"// the kernel", "int extra;", "outside outside_changed"},
      {"// the kernel", "#define columns rows", "outside outside_changed"},
      {"kFactor = 2;", "kFactor = 3;", "outside outside_changed"},
      {"TWICE(x) ((x)", "TWICE (x) ((x)", "outside outside_changed"},
      {"Shape{1, 4}", "Shape{1, 0}", "outside outside_changed"},
      {"#include <stddef.h>", "#include <stddef.h>\n#include <stdarg.h>",
       "outside outside_changed"},
      {"#include <stddef.h>", "#include \"/no/such/file\"", "includes includes_changed"},
      {"  sum = 1;\n#endif", "  sum = 2;\n#endif", "directives directive_added"},
      {"static __global__ void sums", "static __global__ void other_sums", "kernel kernel_missing"},
      {"static __global__ void sums", "__global__ void sums", "signature signature_changed"},
      {"float* out, Shape shape", "float* out, Shape shape, int n = 0",
       "signature signature_changed"},
      {"float* out, Shape shape", "double* out, Shape shape", "signature signature_changed"},
      {"const float* in, float* out", "float* in, float* out", "signature signature_changed"},
      {"static __global__ void sums", "[[gnu::section(\"x\")]] static __global__ void sums",
       "directives directive_added"},
      {"out[0] = sum;", "out[0] = sum", "parses does_not_parse"},
      {"  // add", "  /* much faster */", "text unchanged"},
      {"  out[0] = sum;", "\n\tout[ 0 ]=sum ;", "text unchanged"}};
  for (const auto& [old, by, wanted] : cases) {
    std::string candidate = exchanged(original, old, by);
    if (wanted == "kernel kernel_missing")
      candidate = exchanged(candidate, "sums(x, x", "other_sums(x, x");
    EXPECT_EQ(outcome(candidate), wanted) << by;
  }
}

/// What the original does is no leave to do more of the kind.
TEST(SourceGuards, LetTheOriginalsOwnStayAndNoMore) {
  const auto model = [] {
    ParseOptions options;
    options.path = "/nowhere/own.cpp";
    options.host = true;
    return parse_source(R"(#define __global__ __attribute__((annotate("rocm_perf_kernel")))
#define WAIT asm volatile("pause")
float waits(float x) { asm volatile("nop"); return x; }
__global__ void other(float* p) { p[0] = 1; }
__global__ void third(float* p) { p[0] = 3; }
__global__ void k(const float* in, float* out) {
  asm volatile("" ::: "memory");
  float* more = new float[4]();
  other(out);
  out[0] = in[0] + more[0];
  delete[] more;
}
)",
                        options, "");
  }();
  ASSERT_TRUE(model) << describe(model.error());
  const auto outcome_with = [&](const std::string& body) {
    return outcome(*model, exchanged(model->text, "  out[0] = in", body + "\n  out[0] = in"),
                   {.kernel = "k", .workgroup_size = {}});
  };
  EXPECT_EQ(outcome_with("  out[1] = in[1]; asm volatile(\"\" ::: \"memory\");"), "passed");
  EXPECT_EQ(outcome_with("  out[1] = in[1]; other(out);"), "passed");
  EXPECT_EQ(outcome_with("  asm volatile(\"nop\");"), "assembly inline_assembly");
  EXPECT_EQ(outcome_with("  WAIT;"), "assembly inline_assembly");
  EXPECT_EQ(outcome_with("  out[1] = waits(in[1]);"), "assembly inline_assembly");
  EXPECT_EQ(outcome_with("  float* kept = new float[9]; out[1] = kept[8];"), "host_code host_code");
  EXPECT_EQ(outcome_with("  third(out);"), "host_code host_code");
}

TEST(SourceGuards, SayWhatIsNoSourceAtAll) {
  EXPECT_EQ(outcome(" \n\t"), "text no_code");
  EXPECT_EQ(outcome(std::string(llm::kMostProposalBytes + 1, ' ') + "x"), "text too_large");
  EXPECT_EQ(outcome("I made the kernel much faster."), "parses does_not_parse");
  std::string deep = "  sum = ";
  for (int i = 0; i < 30'000; ++i) deep += "- ";
  EXPECT_EQ(outcome(with_body(deep + "in[0];")), "parses does_not_parse");
  const auto no_kernel =
      check_source(guarded(), "x", {.kernel = "no_such_kernel", .workgroup_size = {}});
  ASSERT_FALSE(no_kernel);
  EXPECT_EQ(no_kernel.error().code, ErrorCode::usage);
}

TEST(SourceGuards, KnowTheDevice) {
  constexpr std::string_view kDevice = R"(#include <hip/hip_runtime.h>
__global__ void __launch_bounds__(256) scale(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
)";
  ParseOptions options;
  options.path = "/nowhere/device.hip";
  const auto model = parse_source(std::string(kDevice), options);
  if (!model && model.error().code == ErrorCode::missing_tool) GTEST_SKIP() << "no HIP here";
  ASSERT_TRUE(model) << describe(model.error());
  const auto outcome_of = [&](std::string_view body, std::string_view bounds = "256") {
    std::string text = exchanged(std::string(kDevice), "  if (i < n) out[i] = in[i];", body);
    return outcome(*model, exchanged(text, "(256)", "(" + std::string(bounds) + ")"),
                   {.kernel = "scale", .workgroup_size = 256});
  };
  EXPECT_EQ(outcome_of(R"(  __shared__ float tile[64][33];
  float4 a = reinterpret_cast<const float4*>(in)[i];
  a += make_float4(1, 2, 3, 4) * 2.0f;
  float s = fmaf(a.x, a.y, __ldg(in + i)) + rsqrtf(a.z) + __expf(a.w) + max(1.0f, a.x);
  for (int o = warpSize / 2; o > 0; o >>= 1) s += __shfl_down(s, o);
  if (__any(s > 0) || __popc(i)) s += __builtin_nontemporal_load(in + i) + __int_as_float(i);
  tile[threadIdx.x % 64][threadIdx.x % 33] = s;
  __syncthreads();
  atomicAdd(&out[0], tile[0][threadIdx.y] + float2{s, s}.x);)",
                       "256, 2"),
            "passed");
  EXPECT_EQ(outcome_of("  out[i] = clock64();"), "clock reads_clock");
  // A lambda that gets shared memory: only a barrier in it is one.
  const std::string lambda = R"(  __shared__ float tile[64];
  auto f = [](float* p, int at) { p[at] = 1; CALL; return p[(at + 1) % 64]; };
  out[i] = f(tile, threadIdx.x);)";
  EXPECT_EQ(outcome_of(exchanged(lambda, "CALL", "sinf(0)")), "state keeps_state");
  EXPECT_EQ(outcome_of(exchanged(lambda, "CALL", "__threadfence_block()")), "state keeps_state");
  EXPECT_EQ(outcome_of(exchanged(lambda, "CALL", "__syncthreads()")), "passed");
  EXPECT_EQ(outcome_of("  if (i == 0) printf(\"x\");"), "host_code host_code");
  EXPECT_EQ(outcome_of("  out[i] = *(const float*)__builtin_amdgcn_implicitarg_ptr();"),
            "pointers makes_pointers");
  EXPECT_EQ(outcome_of("  if (n > i) out[i] = in[i];", "64 * 2"), "launch_bounds launch_bounds");
}

TEST(Apart, EndsWhateverWayTheWorkEnds) {
  const auto good = run_apart([] { return std::string(200'000, 'x'); });
  ASSERT_TRUE(good);
  EXPECT_EQ(good->text, std::string(200'000, 'x'));
  const auto crash = run_apart([]() -> std::string {
    ::raise(SIGKILL);
    return "never";
  });
  EXPECT_EQ(crash->text, std::nullopt);
  EXPECT_EQ(crash->ending, "crashed (SIGKILL)");
  // A process that has mapped much itself leaves the child as much as any other.
  constexpr std::size_t kReserved = std::size_t{12} << 30;
  void* const reserved =
      ::mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(reserved, MAP_FAILED);
  const auto roomy = run_apart([] { return std::string(std::size_t{64} << 20, 'x').substr(0, 3); });
  ::munmap(reserved, kReserved);
  EXPECT_EQ(roomy->text, "xxx") << roomy->ending;
  const auto hang = run_apart(
      []() -> std::string {
        while (true) ::pause();
      },
      std::chrono::milliseconds{50});
  EXPECT_EQ(hang->text, std::nullopt);
  EXPECT_THAT(hang->ending, HasSubstr("took longer"));
}

}  // namespace
}  // namespace perflab::optimize
