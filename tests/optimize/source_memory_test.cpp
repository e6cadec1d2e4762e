// Guards on memory: what a proposal may find there from an earlier launch, and pointers that it
// makes. Whatever is honest here was refused, or could be, and has to pass.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cheats/corpus.h"
#include "optimize/flow/call_names.h"
#include "optimize/guards/check_answer.h"
#include "optimize/guards/guards.h"

namespace perflab::optimize {
namespace {

using ::testing::HasSubstr;

struct GuardedBody {
  std::string body, wanted;
};

/// A source whose kernel's body is exchanged at "BODY".
class GuardedSource {
 public:
  GuardedSource(std::string text, std::string_view body, bool host) : text_(std::move(text)) {
    ParseOptions options;
    options.path = host ? "/nowhere/memory.cpp" : "/nowhere/memory.hip";
    options.host = host;
    model_ = parse_source(with(body), options);
  }
  [[nodiscard]] const Result<SourceModel>& model() const { return model_; }
  [[nodiscard]] std::string with(std::string_view body) const {
    std::string text = text_;
    return text.replace(text.find("BODY"), 4, body);
  }
  /// "passed", or the first failure's guard, reason and detail.
  [[nodiscard]] std::string outcome(const std::string& body) const {
    const auto results = check_source(*model_, with(body), {.kernel = "k", .workgroup_size = {}});
    if (!results) return describe(results.error());
    const GuardResult* const failed = first_failure(*results);
    if (failed == nullptr) return "passed";
    return std::string(to_string(failed->reason.value())) + ": " + failed->detail;
  }
  void expect(const std::vector<GuardedBody>& cases) const {
    for (const auto& [body, wanted] : cases) {
      const std::string got = outcome(body);
      EXPECT_EQ(got.substr(0, wanted.size()), wanted) << body << "\n" << got;
    }
  }
  void expect_passed(const std::vector<std::string>& bodies) const {
    for (const std::string& body : bodies) EXPECT_EQ(outcome(body), "passed") << body;
  }

 private:
  std::string text_;
  Result<SourceModel> model_ = fail(ErrorCode::internal, "not parsed");
};

const GuardedSource& memory_on_host() {
  static const GuardedSource source(R"(
#define __global__ __attribute__((annotate("rocm_perf_kernel")))
extern "C" void* memcpy(void*, const void*, unsigned long);
extern "C" void* memset(void*, int, unsigned long);
extern "C" float sinf(float); extern "C" float frexpf(float, int*);
struct Buffers { float* rows; long count; };
struct Pair { float a, b; };
union Shared { unsigned long number; float* pointer; };
template <class To, class From> To as(From value) { return (To)value; }
void fill(float* to, const float* from) { for (int i = 0; i < 4; ++i) to[i] = from[i]; }
void fill_reference(float& to) { to = 1; }
float total(const float* p) { return p[0] + p[1]; }
void half(Pair& to) { to.a = 1; }
void half_of(Pair* to) { to->a = 1; }
void both_of(Pair* to) { to->a = 1; to->b = 2; }
void either_of(Pair& to, int n) { if (n) { to.a = 1; return; } to.b = 1; }
void memcpy_later(float*, const float*, unsigned long) {}
struct Base { float x; };
struct Empty { float x; Empty() {} Empty(int) {} };
void adds(float* to) { to[0] += 1; }
__global__ void k(const float* in, float* out, Buffers buffers, int n) {
  float sum = 0;
BODY
  out[0] += sum;
}
)",
                                    "  sum += in[0];", true);
  EXPECT_TRUE(source.model()) << describe(source.model().error());
  return source;
}

TEST(LeftMemory, OfTheStackIsNotRead) {
  std::vector<GuardedBody> cases;
  for (
      const char* body :
      {"  float last; sum += last; last = in[0];", "  float last[4]; if (last[1] == 7) sum = 1;",
       "  float last; if (n > 1) last = in[0]; sum += last;",
       "  float last; for (int i = 0; i < n; ++i) last = in[i]; sum += last;",
       "  float last; if (n > 1) last = in[0]; if (n > 2) sum += last;",
       "  bool set = n > 1; float last; if (set) last = in[0]; set = true; if (set) sum += last;",
       "  float last[4]; last[0] = in[0]; sum += last[1];",
       "  float last[4]; last[0] = in[0]; sum += last[n];",
       "  float last[4]; memcpy(last, in, 4); sum += last[2];",
       "  Pair last; last.a = in[0]; sum += last.b;",
       "  Pair last; last.a = in[0]; Pair copy = last; sum += copy.a;",
       "  Pair last[2]; last[1].a = in[0]; sum += last[1].b;",
       "  struct L { float x; L() {} } last; sum += last.x;",
       "  struct L { float x, y; L() : x(1) {} } last; sum += last.y;",
       "  struct L { float x = 1, y; } last; sum += last.y;",
       "  struct L { float x; float operator()(float& to) { to = 1; return x; } } last; float o; "
       "sum += last(o);",
       "  Pair last __attribute__((aligned(16))); sum += last.a;",
       "  float last[4]; if (n > 1) last[n] = 1; sum += last[n];",
       "  union { char c; float all[4]; } last; last.c = 1; sum += last.all[2];",
       "  float last[4]; const float* p = last; sum += p[1];",
       "  float last; float& same = last; sum += same; same = 1;",
       "  float last[4]; float* p = last; if (n) p = last + 1; sum += *p;",
       "  float last; auto f = [&] { return last; }; sum += f(); last = 1;",
       "  float last; auto f = [=] { return last; }; last = 1; sum += f();",
       "  auto f = [&] { float last; return last; }; sum += f();",
       "  struct L { float f() { float last; return last; } } l; sum += 1; sum += l.f();",
       "  float last[4]; sum += total(last); memcpy(last, in, sizeof last);",
       "  float last[4]; adds(last); sum += last[0];",
       // A lambda is the first argument of its call: the parameters come behind it.
       "  float last[4]; float o[4] = {}; auto f = [](const float* p, float* q) { q[0] = 1; return "
       "p[0]; }; sum += f(last, o);",
       "  float last[4]; float o[4] = {}; auto f = [](float* q, const float* p) { q[0] = 1; return "
       "p[0]; }; sum += f(o, last);",
       "  float last; last += in[0]; sum = last;",
       "  float last; goto read; last = 1; read: sum += last;",
       "  float last; switch (n) { case 1: last = 1; break; case 2: break; } sum += last;",
       "  float last; sum += n > 1 ? (last = 1) : last;",
       "  float last; if (n > 1 && (last = in[0]) > 0) {} sum += last;",
       "  float last; (void)(n > 1 || (last = in[0]) > 0); sum += last;",
       "  float last; while (n > 1) { last = 1; break; } sum += last;",
       "  float last; do { if (n) break; last = 1; } while (false); sum += last;",
       "  float last[4]; for (float x : last) sum += x;",
       "  float last __attribute__((shared)); sum += last; last = 1;",
       // Parts of what is handed over, and members of what a constructor leaves to others.
       "  Pair last; half(last); sum += last.b;", "  Pair last; half_of(&last); sum += last.b;",
       "  Pair last; either_of(last, n); sum += last.b;",
       "  float last[4]; memcpy_later(last, in, 16); sum += last[1];",
       "  struct L : Base { L() {} } last; sum += last.x;",
       "  struct L : Empty { L() {} } last; sum += last.x;",
       "  struct L : Empty { L() : Empty(1) {} } last; sum += last.x;",
       "  struct L { float x; L() : L(1) {} L(int) {} } last; sum += last.x;",
       // What it reads may have changed.
       "  long* p = &buffers.count; float last; if (__atomic_load_n(p, 0)) last = 1; if "
       "(__atomic_load_n(p, 0)) sum += last;"})
    cases.push_back({body, "keeps_state: The body may read what an earlier launch left"});
  cases.push_back(
      {"  volatile float last = 1; sum += last;", "keeps_state: The body has volatile"});
  cases.push_back({"  sum += *(const volatile float*)in;", "keeps_state: The body has volatile"});
  memory_on_host().expect(cases);
  EXPECT_THAT(memory_on_host().outcome("  float last[4][2]; sum += last[n][0];"),
              HasSubstr("float last"));
}

TEST(LeftMemory, OfHonestBodiesWasWritten) {
  memory_on_host().expect_passed(
      {"  float a, b; a = in[0]; b = a; sum += a + b;",
       "  float a; if (n > 1) a = in[0]; else a = in[1]; sum += a;",
       "  float a; if (n > 1) a = in[0]; else return; sum += a;",
       "  float a; if (n > 1) a = in[0]; if (n > 1) sum += a;",
       "  float a; if (n > 1) a = in[0]; sum += n > 1 ? a : 0; if (n > 1 && a > 2) sum += 1;",
       "  float a; switch (n) { case 1: a = 1; break; default: a = 2; } sum += a;",
       "  float a; do { a = in[0]; } while (a > n); sum += a;",
       "  float v[4]; for (int i = 0; i < 4; ++i) v[i] = in[i]; for (int i = 0; i < 4; ++i) sum += "
       "v[i];",
       "  float v[4]; for (int i = 0; i < 4; ++i) { const int at = i + n; if (at < 9) v[i] = "
       "in[at]; "
       "}\n  for (int i = 0; i < 4; ++i) { const int at = i + n; if (at < 9) sum += v[i]; }",
       "  float v[4]; v[0] = in[0]; v[1] = in[1]; v[2] = in[2]; v[3] = in[3]; sum += v[n & 3];",
       "  float v[2][2]; for (auto& row : v) for (float& x : row) x = 0; sum += v[0][1];",
       "  float v[4]; memcpy(v, in, sizeof v); sum += v[2];",
       "  float v[4]; memset(v, 0, sizeof(v)); sum += v[2];",
       "  float v[4]; fill(v, in); sum += v[2] + total(v);",
       "  float v[4]; float* p = v; for (int i = 0; i < 4; ++i) *p++ = in[i]; sum += v[2];",
       "  float a; fill_reference(a); sum += a;",
       "  Pair p; both_of(&p); sum += p.b;",
       "  Pair p; half(p); half_of(&p); p.b = 2; sum += p.a + p.b;",
       "  struct L : Base { L() { x = 1; } } l; sum += l.x;",
       "  struct L : Base { L() : Base() {} } l; sum += l.x;",
       "  struct L { float x; L() : L(1) {} L(int i) : x(i) {} } l; sum += l.x;",
       "  int e; sum += frexpf(in[0], &e); sum += e;",
       "  Pair p; p.a = in[0]; p.b = in[1]; const Pair q = p; sum += q.b;",
       "  Pair p{}; Pair q = {1}; sum += p.a + q.b;",
       "  struct L { float x, y; L() : x(1) { y = 2; } } l; sum += l.x + l.y;",
       "  struct L { float x = 1, y = 2; } l; sum += l.x + l.y;",
       "  Pair p; float* v = &p.a; for (int i = 0; i < 2; ++i) v[i] = in[i]; sum += p.b;",
       "  float v[4]; int m = 0; for (int i = 0; i < n; ++i) if (m < 4) v[m++] = in[i];\n"
       "  for (int i = 0; i < m; ++i) sum += v[i];",
       "  float v[2][4]; int b = 0; for (int i = 0; i < 4; ++i) v[0][i] = in[i];\n"
       "  for (int k = 1; k < n; ++k) { for (int i = 0; i < 4; ++i) { sum += v[b][i]; v[1 - b][i] "
       "= "
       "in[i + k]; } b = 1 - b; }",
       "  union { float f; unsigned u; } bits; bits.f = in[0]; bits.u &= 1; sum += bits.f;",
       "  float a; auto f = [&] { sum += a; }; a = in[0]; f();",
       "  float a; auto f = [&](int i) { a = in[i]; }; f(1); sum += a;",
       "  float v[4]; auto f = [](const float* p, float* q) { for (int i = 0; i < 4; ++i) q[i] = "
       "p[i]; }; f(in, v); sum += v[1];",
       "  float a; auto f = [](float x, float& to) { to = x; }; f(in[0], a); sum += a;",
       "  float a; float& r = a; r = in[0]; sum += a;",
       "  float v[4]; sum += sizeof(v); (void)v;",
       "  float next; int i = 0; for (next = in[0]; i < n; ++i) { sum += next; next = in[i]; }",
       "  int i; for (i = 0; i < n; ++i) sum += in[i];",
       "  typedef float four __attribute__((vector_size(16))); four v; for (int i = 0; i < 4; ++i) "
       "v[i] = in[i]; sum += v[1];"});
}

TEST(MadePointers, AreRefused) {
  std::vector<GuardedBody> cases;
  for (const char* body :
       {"  const unsigned long at = (unsigned long)in; sum += at > 4096;",
        "  sum += *(const float*)((unsigned long)in + 64);",
        "  sum += *reinterpret_cast<const float*>(reinterpret_cast<unsigned long>(in) + 64);",
        "  sum += __builtin_bit_cast(unsigned long, in) > 1;",
        "  using P = float*; auto p = __builtin_bit_cast(P, 64UL); sum += *p;",
        "  auto b = __builtin_bit_cast(Buffers, (__int128)64); sum += *b.rows;",
        "  Buffers b = buffers; const long to[2] = {64, 1}; memcpy(&b, to, sizeof b); sum += "
        "b.rows[0];",
        "  struct { float* p; } b = {out}; long to = 64; memcpy(&b, &to, 8); sum += *b.p;",
        "  float* p = out; long to = 64; memcpy(&p, &to, 8); sum += *p;",
        "  float* p[2] = {out, out}; long to = 64; memcpy(p, &to, 8); sum += *p[0];",
        "  float* p = out; *reinterpret_cast<long*>(&p) = 64; sum += *p;",
        "  float* p = out; reinterpret_cast<long&>(p) = 64; sum += *p;",
        "  Buffers b = buffers; *(long*)&b = 64; sum += *b.rows;",
        "  Buffers b = buffers; (&b.count)[-1] = 64; sum += *b.rows;",
        "  long to[2] = {64, 1}; sum += *((Buffers*)to)->rows;",
        "  long to[2] = {64, 1}; sum += *reinterpret_cast<Buffers&>(to).rows;",
        "  union { long to; struct { float* p; } s; } u; u.to = 64; sum += *u.s.p;",
        "  union { long to[2]; Buffers b; } u = {{64, 1}}; sum += *u.b.rows;",
        "  union { struct { float* p; }; long to; } u; u.to = 64; sum += *u.p;",
        "  Shared u{64}; sum += *u.pointer;",
        "  sum += *as<float*>(64UL);",
        "  auto f = [](auto to) { return (float*)to; }; sum += *f(64UL);",
        "  auto f = [](auto like, auto to) { return (decltype(like))to; }; sum += *f(in, 64UL);",
        "  auto f = []<class T>(T, long to) { return (T)to; }; sum += *f(in, 64L);",
        "  sum += out[in - out];",
        "  out += in - out; sum += *out;",
        "  const float* a = in; const float* b = out; sum += a[b - a];",
        "  const float* p = in; while (p != out) ++p; sum += *p;",
        "  const float* p = in; while (p < buffers.rows) ++p; sum += *p;",
        "  const char* p = nullptr; p += 64; sum += *p;",
        "  const float* p = nullptr; sum += p[buffers.count];",
        "  const float* p = {}; sum += *(p + 16);",
        "  using P = const float*; sum += P()[16];",
        "  Buffers b{}; sum += b.rows[16];",
        "  sum += Buffers().rows[16];",
        "  Buffers b = {nullptr, 3}; sum += b.rows[16];",
        "  const float* p = static_cast<const float*>(nullptr) + 16; sum += *p;"})
    cases.push_back({body, "makes_pointers"});
  memory_on_host().expect(cases);
}

TEST(MadePointers, AreNotThoseThatAreDerived) {
  memory_on_host().expect_passed(
      {"  const float* end = in + n; for (const float* p = in; p != end; ++p) sum += *p;",
       "  const float* p = in; p += n; sum += p - in; if (p == nullptr) return;",
       "  const float* p = nullptr; p = in; sum += *p;",
       "  if (reinterpret_cast<unsigned long>(in) % 16 == 0) sum += 1;",
       "  if (((reinterpret_cast<unsigned long>(in) | reinterpret_cast<unsigned long>(out)) & 15) "
       "== 0) sum += 1;",
       "  if ((15 & (unsigned long)in) == 0) sum += 1;",
       "  if (((unsigned long)in & 15U) == 0U) sum += ((const Pair*)in)->a;",
       "  const float* rows[2] = {in, in + n}; sum += rows[1][0];",
       "  const Buffers b{out, 2}; sum += b.rows[1] + b.count;",
       "  Buffers b = buffers; sum += *b.rows;",
       "  struct Row { const float* p; int n; }; const Row row = {in, 1}; sum += row.p[row.n];",
       "  unsigned bits; memcpy(&bits, in, sizeof bits); sum += bits;",
       "  sum += __builtin_bit_cast(unsigned, in[0]);", "  sum += as<float>(n);",
       "  const float* p = n > 1 ? in : in + 1; sum += *p;",
       "  auto at = [&](const float* p, int i) { return p[i]; }; sum += at(in, 1);"});
}

/// What the original does may stay.
TEST(MadePointers, OfTheOriginalStay) {
  const GuardedSource source(R"(
#define __global__ __attribute__((annotate("rocm_perf_kernel")))
__global__ void k(const float* in, float* out, long address) {
  const float* far = (const float*)address;
  volatile float* seen = out;
  float kept[4];
BODY
  out[in - out] = kept[1] + seen[0];
}
)",
                             "", true);
  ASSERT_TRUE(source.model()) << describe(source.model().error());
  source.expect({{"  out[1] = far[0];", "passed"},
                 {"  seen[1] = 2;", "passed"},
                 {"  out[1] = *(const float*)(address + 4);", "makes_pointers"},
                 {"  volatile float mine = 1;  out[1] = mine;", "keeps_state"},
                 {"  float mine; out[1] = mine;", "keeps_state"}});
}

constexpr std::string_view kDeviceBody = "  out[i] = in[i];";

/// HIP's headers take seconds to parse: honest bodies go through the guards together, each in a
/// block of its own, and what is refused is told by the facts about one kernel for each.
std::string in_one_body(const std::vector<std::string>& bodies) {
  std::string all;
  for (const std::string& body : bodies) all += "  {\n" + body + "\n  }\n";
  return all;
}

constexpr std::string_view kDeviceSource = R"(#include <hip/hip_runtime.h>
__device__ float block_sum(float v, float* scratch) {
  scratch[threadIdx.x] = v;
  __syncthreads();
  return scratch[0];
}
__device__ void meet() { __syncthreads(); }
__device__ float neighbour(float* p, int at) {
  p[at] = sinf(0.0f);
  return p[(at + 1) % 64];
}
)";
constexpr std::string_view kDeviceParameters =
    "(const T* in, T* out, const float* f, float* g, int n) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n";

/// Kernels k0, k1, ... with the bodies; missing: no HIP here.
std::optional<SourceModel> device_model(const std::vector<std::string>& bodies) {
  std::string text(kDeviceSource);
  for (std::size_t i = 0; i < bodies.size(); ++i)
    text += "template <typename T> __global__ void k" + std::to_string(i) +
            std::string(kDeviceParameters) + bodies[i] + "\n}\n";
  ParseOptions options;
  options.path = "/nowhere/memory.hip";
  auto model = parse_source(text, options);
  if (!model && model.error().code == ErrorCode::missing_tool) return std::nullopt;
  EXPECT_TRUE(model) << describe(model.error());
  return model ? std::optional(*std::move(model)) : std::nullopt;
}

const GuardedSource* memory_on_device() {
  static const GuardedSource source(std::string(kDeviceSource) +
                                        "template <typename T> __global__ void k" +
                                        std::string(kDeviceParameters) + "BODY\n}\n",
                                    kDeviceBody, false);
  if (!source.model() && source.model().error().code == ErrorCode::missing_tool) return nullptr;
  EXPECT_TRUE(source.model()) << describe(source.model().error());
  return &source;
}

TEST(LeftMemory, OfTheLdsIsNotRead) {
  const std::vector<std::string> bodies{
      "  __shared__ float last[64]; if (last[i] == 7.0f) return; last[i] = 7.0f; out[i] = in[i];",
      "  __shared__ float last; if (threadIdx.x == 0 && last > 1) g[0] = last; last = 2;",
      "  extern __shared__ float all[]; g[i] = all[i]; __syncthreads(); all[i] = f[i];",
      // Without a barrier the others' elements are those of before.
      "  __shared__ float last[64]; last[threadIdx.x] = f[i]; g[i] = last[63 - threadIdx.x];",
      "  __shared__ float last[64]; g[i] = atomicAdd(&last[0], 1.0f);",
      "  __shared__ float last[4]; last[0] = f[i]; __syncthreads(); g[i] = last[1];",
      "  __shared__ float last[64]; float* p = last; g[i] = p[1]; p[0] = 1;",
      "  __shared__ float last[8][8]; last[0][threadIdx.x] = 1; __syncthreads(); g[i] = "
      "last[1][0];",
      // Nor does any call in a function count as one, nor a fence, which waits for nobody.
      "  __shared__ float last[64]; g[i] = neighbour(last, threadIdx.x);",
      "  __shared__ float last[64]; last[threadIdx.x] = f[i]; __threadfence(); g[i] = last[63 - "
      "threadIdx.x];",
      "  __shared__ float last[64]; last[threadIdx.x] = f[i]; __builtin_amdgcn_s_waitcnt(0); g[i] "
      "= last[63 - threadIdx.x];",
      "  T last[4]; out[i] = last[n]; last[0] = in[i];", "  T last; T* p = &last; out[i] = *p;",
      "  T last; out[i] = -last;", "  float4 last; g[i] = last.x;",
      "  float4 last; last.x = f[i]; g[i] = last.y;",
      "  float4 last[2]; last[0] = make_float4(1, 2, 3, 4); g[i] = last[1].x;",
      "  __shared__ float last[64]; g[i] = __hip_atomic_load(&last[0], __ATOMIC_RELAXED, "
      "__HIP_MEMORY_SCOPE_WORKGROUP); last[i] = 1;"};
  const auto model = device_model(bodies);
  if (!model) GTEST_SKIP() << "no HIP here";
  for (std::size_t i = 0; i < bodies.size(); ++i)
    EXPECT_THAT(model->kernels.at(i).facts.unwritten_reads, ::testing::SizeIs(1)) << bodies[i];
}

TEST(LeftMemory, OfHonestTilesWasWritten) {
  const GuardedSource* const source = memory_on_device();
  if (source == nullptr) GTEST_SKIP() << "no HIP here";
  EXPECT_EQ(
      source->outcome(in_one_body(
          {"  __shared__ float tile[64]; if (i < n) tile[threadIdx.x] = f[i]; __syncthreads(); "
           "g[i] = "
           "tile[63 - threadIdx.x];",
           "  __shared__ T tile[16][17]; tile[threadIdx.y][threadIdx.x] = in[i]; __syncthreads(); "
           "out[i] = tile[threadIdx.x][threadIdx.y];",
           "  __shared__ T tile[2][64]; int now = 0; tile[0][threadIdx.x] = in[i]; meet();\n"
           "  for (int k = 0; k < n; ++k) { tile[1 - now][threadIdx.x] = in[i + k]; out[i] += "
           "tile[now][0]; meet(); now = 1 - now; }",
           "  __shared__ unsigned seen[64]; seen[threadIdx.x] = 0; __syncthreads(); "
           "atomicAdd(&seen[i % 64], 1u); __syncthreads(); g[i] = seen[threadIdx.x];",
           "  __shared__ float sums[16]; float s = f[i];\n"
           "  for (int o = warpSize / 2; o > 0; o >>= 1) s += __shfl_down(s, o);\n"
           "  if (threadIdx.x % warpSize == 0) sums[threadIdx.x / warpSize] = s;\n  "
           "__syncthreads();\n"
           "  if (threadIdx.x == 0) { float t = 0; for (int w = 0; w < 4; ++w) t += sums[w]; g[0] "
           "= t; "
           "}",
           "  __shared__ float total; if (threadIdx.x == 0) total = f[0]; __syncthreads(); g[i] = "
           "total;",
           "  __shared__ float own[64]; own[threadIdx.x] = f[i]; g[i] = own[threadIdx.x];",
           "  extern __shared__ float all[]; float* half = all + 64; half[threadIdx.x] = f[i]; "
           "__syncthreads(); g[i] = half[0];",
           "  __shared__ float scratch[64]; g[i] = block_sum(f[i], scratch);",
           "  __shared__ float s[64]; s[threadIdx.x] = f[i]; __builtin_amdgcn_wave_barrier(); "
           "g[i] = s[63 - threadIdx.x];",
           "  float4 v; v.x = f[0]; v.y = f[1]; v.z = f[2]; v.w = f[3]; const float4 w = v; g[i] = "
           "w.y "
           "+ "
           "v.z;",
           "  float4 v[2]; for (int k = 0; k < 2; ++k) v[k] = reinterpret_cast<const "
           "float4*>(f)[k]; "
           "v[0] += v[1]; g[i] = v[0].x;",
           "  T v[4]; T* p = &v[0]; for (int k = 0; k < 4; ++k) *p++ = in[k]; out[i] = -v[n];",
           "  T a; T* p = &a; *p = in[i]; a += in[0]; out[i] = a;",
           "  T v[4]; for (int k = 0; k < 4; ++k) v[k] = in[k]; out[i] = v[n] + v[0];",
           "  T v[4]; T* p = &v[0]; for (int k = 0; k < 4; ++k) *p++ = in[k]; out[i] = -v[n];",
           "  T a; T* p = &a; *p = in[i]; a += in[0]; out[i] = a;",
           "  extern __shared__ char raw[]; T* s = reinterpret_cast<T*>(raw); s[threadIdx.x] = "
           "in[i]; __syncthreads(); out[i] = s[0];",
           "  T v[4]; *reinterpret_cast<float4*>(v) = *reinterpret_cast<const float4*>(f); out[i] "
           "= "
           "v[n];",
           "  float4 v; float* p = reinterpret_cast<float*>(&v); for (int k = 0; k < 4; ++k) p[k] "
           "= "
           "f[k]; *reinterpret_cast<float4*>(g) = v;",
           "  if (in[i] != T(0) && in != nullptr) out[i] = in[i]; if (in[i] == in[n]) return;",
           "  float s, c; sincosf(f[i], &s, &c); g[i] = s + c;"})),
      "passed");
}

TEST(MadePointers, InTemplatesAreToldByTheSyntax) {
  const GuardedSource* const source = memory_on_device();
  if (source == nullptr) GTEST_SKIP() << "no HIP here";
  EXPECT_EQ(
      source->outcome(in_one_body(
          {"  const float4 v = *reinterpret_cast<const float4*>(in + i); g[i] = v.x;",
           "  const float4 v = ((const float4*)(in + 4 * i))[0]; g[i] = v.x;",
           "  auto p = in + i; g[i] = *reinterpret_cast<const float*>(p);",
           "  const float2 v = *reinterpret_cast<const float2*>(&in[i]); g[i] = v.x;",
           "  const T* p = i > n ? in : in + 1; p++; g[i] = *reinterpret_cast<const float*>(p + "
           "1);",
           "  out[i] = static_cast<T>(f[i]) + T(1) + (T)2;",
           "  if (reinterpret_cast<uintptr_t>(in + i) % alignof(float4) == 0) out[i] = in[i];",
           "  auto copy = [&](auto at) { out[at] = in[at]; }; copy(i);"})),
      "passed");
  const std::vector<std::string> bodies{
      "  g[i] = *reinterpret_cast<const float*>(n + i);",
      "  auto from = 64 + n; g[i] = *(const float*)(long)from;",
      "  auto load = [](auto at) { return *(const float*)at; }; g[i] = load(64L);",
      "  g[i] = **reinterpret_cast<float**>(out + i);",
      "  g[i] = out[in - out];",
      "  auto p = in + i; auto q = out + i; g[i] = p - q;",
      "  g[i] = *__builtin_bit_cast(const T*, 64L + i);",
      "  g[i] = *(decltype(in + i))(long)n;"};
  const auto model = device_model(bodies);
  ASSERT_TRUE(model);
  for (std::size_t i = 0; i < bodies.size(); ++i)
    EXPECT_TRUE(model->kernels.at(i).facts.integer_to_pointer) << bodies[i];
}

TEST(Builtins, OfTheProcessorPassUnlessTheyReachFurther) {
  const GuardedSource* const source = memory_on_device();
  if (source == nullptr) GTEST_SKIP() << "no HIP here";
  EXPECT_EQ(source->outcome(in_one_body(
                {"  auto rsrc = __builtin_amdgcn_make_buffer_rsrc((void*)f, 0, n, 0x27000);\n"
                 "  g[i] = __builtin_bit_cast(float, __builtin_amdgcn_raw_buffer_load_b32(rsrc, i, "
                 "0, 0));",
                 "  g[i] = __builtin_amdgcn_trig_preopf(f[i], 0); __builtin_amdgcn_s_dcache_inv();",
                 "  __builtin_amdgcn_s_sleep(1); g[i] = __builtin_amdgcn_qsad_pk_u16_u8(i, n, i);",
                 "  if (i >= n) __builtin_amdgcn_endpgm(); out[i] = in[i];"})),
            "passed");
  source->expect({{"  const float* p = nullptr; auto r = "
                   "__builtin_amdgcn_make_buffer_rsrc((void*)p, 0, n, 0);\n"
                   "  g[i] = __builtin_amdgcn_raw_buffer_load_b32(r, i, 0, 0);",
                   "makes_pointers"},
                  {"  auto r = __builtin_amdgcn_make_buffer_rsrc((void*)(long)n, 0, n, 0);\n"
                   "  g[i] = __builtin_amdgcn_raw_buffer_load_b32(r, i, 0, 0);",
                   "makes_pointers"}});
  using enum CallKind;
  const std::vector<std::pair<std::string_view, CallKind>> kinds{
      {"s_getpc", makes_pointer},
      {"queue_ptr", makes_pointer},
      {"dispatch_ptr", makes_pointer},
      {"some_new_ptr", makes_pointer},
      {"tensor_load_to_lds", makes_pointer},
      {"image_bvh8_intersect_ray", makes_pointer},
      {"s_setreg", unknown},
      {"s_sendmsg", unknown},
      {"s_sendmsghalt", unknown},
      {"ds_gws_sema_v", unknown},
      {"s_ttracedata_imm", unknown},
      {"s_incperflevel", unknown},
      {"set_fpenv", unknown},
      {"interp_mov", unknown},
      {"dispatch_id", unknown},
      {"s_sethalt", unknown},
      {"s_memtime", clock},
      {"s_memrealtime", clock},
      {"s_getreg", clock},
      {"s_sendmsg_rtnl", clock},
      {"s_get_shader_cycles_u64", clock},
      {"raw_buffer_load_b128", device},
      {"global_load_lds", device},
      {"ds_read_tr16_b64_v4i16", device},
      {"bitop3_b32", device},
      {"make_buffer_rsrc", device},
      {"permlane16_swap", lanes},
      {"fdot2_f32_bf16", harmless},
      {"s_waitcnt", fence},
      {"wave_barrier", barrier},
      {"s_barrier", barrier},
      {"s_barrier_wait", barrier},
      {"s_barrier_signal", fence}};
  for (const auto& [name, kind] : kinds)
    EXPECT_EQ(kind_of_call("__builtin_amdgcn_" + std::string(name)), kind) << name;
}

/// The proposals of tests/cheats that are about memory and pointers, by the guards alone.
TEST(Cheats, WithMemoryAndPointersAreRefusedByTheGuards) {
  const std::string original = test::text_of(PERFLAB_SOURCE_DIR "/tests/cheats/original.hip");
  ParseOptions options;
  options.path = "/nowhere/original.hip";
  options.host = true;
  options.arguments = {"-I" PERFLAB_SOURCE_DIR "/examples/host"};
  const auto model = parse_source(original, options);
  ASSERT_TRUE(model) << describe(model.error());
  std::size_t refused = 0;
  for (const test::Cheat& cheat : test::read_corpus(original)) {
    const std::string& wanted = cheat.expected.front();
    if (wanted != "keeps_state" && wanted != "makes_pointers" && wanted != "accepted") continue;
    const auto results =
        check_source(*model, cheat.source, {.kernel = "row_sums", .workgroup_size = 64});
    ASSERT_TRUE(results) << describe(results.error());
    const GuardResult* const failed = first_failure(*results);
    EXPECT_EQ(failed == nullptr ? "accepted" : to_string(failed->reason.value()), wanted)
        << cheat.name << ": " << (failed == nullptr ? "" : failed->detail);
    refused += failed != nullptr ? 1U : 0U;
  }
  EXPECT_GE(refused, 15U);
}

TEST(CheckAnswers, CountOnlyWhole) {
  const GuardResults results{
      {.name = "text", .passed = true, .reason = {}, .detail = "a note"},
      {.name = "state", .passed = false, .reason = Reason::keeps_state, .detail = "why"}};
  const auto again = answered_check(check_answer(results));
  ASSERT_TRUE(again) << describe(again.error());
  ASSERT_EQ(again->size(), 2U);
  EXPECT_EQ(again->at(0).detail, "a note");
  EXPECT_EQ(again->at(1).reason, Reason::keeps_state);
  const auto error = answered_check(check_answer(
      std::unexpected(Error{ErrorCode::missing_tool, "no clang", {"here"}, "install it"})));
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().code, ErrorCode::missing_tool);
  EXPECT_EQ(error.error().remedy, "install it");
  for (const char* text :
       {"", "{", "[]", "null", "{}", R"({"results":[]})", R"({"results":{}})", R"({"results":[1]})",
        R"({"results":[{"name":"text","passed":true}]})",
        R"({"results":[{"name":"text","passed":1,"reason":"","detail":""}]})",
        R"({"results":[{"name":"text","passed":true,"reason":"keeps_state","detail":""}]})",
        R"({"results":[{"name":"text","passed":false,"reason":"","detail":""}]})",
        R"({"results":[{"name":"text","passed":false,"reason":"no_such","detail":""}]})",
        R"({"message":"m","notes":[],"remedy":""})",
        R"({"code":0,"message":"m","notes":[],"remedy":""})",
        R"({"code":"no_such","message":"m","notes":[],"remedy":""})",
        R"({"code":"usage","message":"m","notes":[1],"remedy":""})",
        R"({"code":"usage","message":"m","notes":[]})"}) {
    const auto broken = answered_check(text);
    ASSERT_FALSE(broken) << text;
    EXPECT_EQ(broken.error().code, ErrorCode::internal) << text;
  }
}

}  // namespace
}  // namespace perflab::optimize
