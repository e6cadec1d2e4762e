// That transforms keep what a loop computes: every variant of a dozen loops is compiled into one
// program, each in a namespace of its own, and compared with the original over empty, short, long
// and extreme ranges, under ASan and UBSan. Terms of sums are whole numbers, so that any order of
// additions gives the same sum.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "base/temp_folder.h"
#include "optimize/guards/guards.h"
#include "optimize/transform/transforms.h"

namespace perflab::optimize {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

/// A loop, the type of its range, and the families of transforms that must have been tried on it.
struct SemanticCase {
  std::string_view name;
  std::string_view range;  ///< of the driver: what first and bound are
  std::string_view text;   ///< the kernel's definition; VISIT notes the variable's value
  std::set<std::string> families;
};

/// visit() notes which values a loop's variable took, in which order.
constexpr std::string_view kRows = "const float* a, const float* b, float* y, Visits* v";
constexpr std::string_view kHeaders =
    "#include <climits>\n#include <cstdio>\n#include <string>\n#include <vector>\n";
constexpr std::string_view kPrelude = R"(
using uint = unsigned int;
using ulong = unsigned long;
struct Visits { ulong hash, count; };
inline void visit(Visits* v, ulong i) { v->hash = v->hash * 31 + i; ++v->count; }
)";

const std::vector<SemanticCase>& semantic_cases() {
  static const std::vector<SemanticCase> kCases{
      {"up",
       "int",
       "void up(ROWS, int first, int bound, int) {\n"
       "  for (int i = first; i < bound; ++i) visit(v, (ulong)i);\n}",
       {"unroll"}},
      {"up_to",
       "uint",
       "void up_to(ROWS, uint first, uint bound, uint) {\n"
       "  for (unsigned i = first; i <= bound; i += 3) { visit(v, (ulong)i); }\n}",
       {"unroll"}},
      {"down_to",
       "long",
       "void down_to(ROWS, long first, long bound, long) {\n"
       "  for (long i = bound; i >= first; i -= 2) { visit(v, (ulong)i); }\n}",
       {"unroll"}},
      {"down",
       "int",
       "void down(ROWS, int first, int bound, int) {\n"
       "  for (int i = bound; i > first; i--) visit(v, (ulong)i);\n}",
       {"unroll"}},
      {"down_unsigned",
       "ulong",
       "void down_unsigned(ROWS, ulong first, ulong bound, ulong) {\n"
       "  for (unsigned long i = bound; i > first; --i) { visit(v, (ulong)i); }\n}",
       {"unroll"}},
      {"mixed",
       "ulong",
       "void mixed(ROWS, ulong first, ulong bound, ulong) {\n"
       "  const int begin = (int)first;\n"
       "  for (int i = begin; i < bound; i++) { visit(v, (ulong)i); }\n}",
       {"unroll"}},
      {"mixed_signs",
       "int",
       "void mixed_signs(ROWS, int first, int bound, int) {\n"
       "  for (int i = first; i < (unsigned)bound; i += 1) { visit(v, (ulong)i); }\n}",
       {"unroll"}},
      {"wider",
       "int",
       "void wider(ROWS, int first, int bound, int) {\n"
       "  for (unsigned i = (unsigned)first; i < (long)bound + 1; i += 2) { visit(v, (ulong)i); "
       "}\n}",
       {"unroll"}},
      {"strided",
       "int+",
       "void strided(ROWS, int first, int bound, int stride) {\n"
       "  for (int i = first; i < bound; i += stride) { visit(v, (ulong)i); }\n}",
       {"unroll"}},
      {"strided_to",
       "uint+",
       "void strided_to(ROWS, uint first, uint bound, uint stride) {\n"
       "  for (unsigned i = first; i <= bound; i += stride) { visit(v, (ulong)i); }\n}",
       {"unroll"}},
      {"visible",
       "int",
       "void visible(ROWS, int first, int bound, int) {\n"
       "  int i = first;\n"
       "  for (i = first; i < bound; ++i) { visit(v, (ulong)i); }\n  v->count += 1000 * "
       "(ulong)i;\n}",
       {"unroll"}},
      {"branchy",
       "int",
       "void branchy(ROWS, int first, int bound, int) {\n"
       "  ulong odd = 0;\n"
       "  for (int i = first; i < bound; ++i) { int half = i / 2; if (i % 2 != 0) { odd += "
       "(ulong)half; } else { visit(v, (ulong)half); } /* } */ }\n  v->hash += odd;\n}",
       {"unroll"}},
      {"exact",
       "none",
       "void exact(ROWS, int, int n, int) {\n"
       "  for (int i = 3; i < 67; i += 4) y[n > 0 ? i % n : 0] += (float)(i + n);\n}",
       {"unroll"}},
      {"dot",
       "elements",
       "void dot(ROWS, int, int n, int) {\n"
       "  float sum = 0;\n"
       "  for (int i = 0; i < n; ++i) sum += a[i] * b[i];\n  y[0] = sum;\n}",
       {"unroll", "split-accumulator", "wide-loads", "restrict", "read-only-alias"}},
      {"sums",
       "elements",
       "void sums(ROWS, int k, int n, int) {\n"
       "  float up = 1, down = 2.0f;\n  double fused = 3;\n"
       "  for (unsigned i = 0; i < (unsigned)n; ++i) {\n"
       "    if (a[i] > 0) up += a[i];\n    down -= b[i]; // not up;\n"
       "    fused = __builtin_fma(a[i], b[i], fused);\n  }\n"
       "  y[0] = up; y[1] = down; y[2] = (float)fused;\n}",
       {"unroll", "split-accumulator"}},
      {"scaled",
       "elements",
       "void scaled(ROWS, int k, int n, int) {\n"
       "  for (int i = 0; i < n; ++i) y[i] = a[i] * b[k] + b[k + 1];\n}",
       {"unroll", "hoist", "wide-loads", "restrict"}},
      {"scaled_ten",
       "elements",
       "void scaled_ten(ROWS, int, int n, int) {\n"
       "  if (n < 10) return;\n"
       "  for (int i = 0; i < 10; ++i) { y[i] = a[9] - b[i]; }\n}",
       {"unroll", "hoist", "wide-loads"}},
      {"rows",
       "elements",
       "void rows(ROWS, int k, int n, int) {\n"
       "  for (int row = 0; row < n / 8; ++row) {\n    float sum = 0;\n"
       "    for (int column = 0; column < 7; ++column) sum += a[row * 8 + column] * b[row];\n"
       "    y[row] = sum;\n  }\n}",
       {"split-accumulator", "hoist", "wide-loads"}},
  };
  return kCases;
}

/// Runs every case: what it returns has to be the same for the variants.
constexpr std::string_view kDriver = R"(
template <class T>
void note(std::vector<double>& out, void (*f)(ROWS, T, T, T), T first, T bound, T stride) {
  Visits v{1, 0};
  float y[128] = {};
  f(nullptr, nullptr, y, &v, first, bound, stride);
  out.push_back((double)v.hash);
  out.push_back((double)v.count);
  for (float one : y) out.push_back(one);
}
template <class T>
void around(std::vector<double>& out, void (*f)(ROWS, T, T, T), T low, T high) {
  for (int length = 0; length < 40; ++length) {
    const T bound = (T)(low + (T)length);
    if (bound > high) break;
    for (T stride : {1, 2, 5, 11, 1 << 30}) note(out, f, low, bound, stride);
    if (length < 9) note(out, f, bound, low, (T)1);  // the other way round: nothing to do
  }
}
template <class T>
std::vector<double> ranges(void (*f)(ROWS, T, T, T), T lowest, T highest, const char* range) {
  std::vector<double> out;
  const bool is_signed = (T)-1 < (T)0;
  // Steps of up to 4 stay in the type's range behind the last iteration.
  around<T>(out, f, (T)0, (T)1000);
  around<T>(out, f, (T)(lowest + 3), (T)(lowest + 40));
  around<T>(out, f, (T)(highest / 2 - 70), highest);
  if (is_signed) around<T>(out, f, (T)-20, (T)30);
  for (int k = 0; k < 40; ++k) note(out, f, (T)(highest - 4 - (T)k), (T)(highest - 4), (T)1);
  for (int k = 4; k < 20; ++k) note(out, f, (T)(highest - 23), (T)(highest - (T)k), (T)3);
  note(out, f, (T)0, (T)10007, (T)1);
  // The longest step down is 2.
  const T low = is_signed && sizeof(T) == 8 ? (T)(lowest + 2) : lowest;
  note(out, f, low, (T)(low + 3), (T)1);
  const std::string name = range;
  if (name.back() == '+') {
    note(out, f, (T)0, (T)(highest - (1 << 29)), (T)(1 << 28));
    note(out, f, lowest, (T)(highest - (1 << 29)), (T)(1 << 28));
    note(out, f, lowest, lowest, (T)(1 << 28));
  }
  return out;
}
std::vector<double> elements(void (*f)(ROWS, int, int, int)) {
  std::vector<double> out;
  for (int n : {0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 15, 16, 17, 31, 64, 100, 257}) {
    // Exactly as large as they are read: ASan sees one element more.
    std::vector<float> a(n), b(n > 0 ? n + 2 : 0), y(n + 3);
    for (int i = 0; i < n; ++i) a[i] = (float)(i % 7 - 3);
    for (int i = 0; i < (int)b.size(); ++i) b[i] = (float)(i % 5 - 2);
    Visits v{1, 0};
    f(a.data(), b.data(), y.data(), &v, n / 2, n, 1);
    out.insert(out.end(), y.begin(), y.end());
  }
  return out;
}
std::vector<double> run(void (*f)(ROWS, int, int, int), const char* range) {
  if (range[0] == 'e') return elements(f);
  if (range[0] != 'n') return ranges<int>(f, INT_MIN, INT_MAX, range);
  std::vector<double> out;
  for (int n = 0; n < 50; ++n) note(out, f, 0, n, 1);
  return out;
}
std::vector<double> run(void (*f)(ROWS, uint, uint, uint), const char* range) {
  return ranges<uint>(f, 0, UINT_MAX, range);
}
std::vector<double> run(void (*f)(ROWS, long, long, long), const char* range) {
  return ranges<long>(f, LONG_MIN, LONG_MAX, range);
}
std::vector<double> run(void (*f)(ROWS, ulong, ulong, ulong), const char* range) {
  return ranges<ulong>(f, 0, ULONG_MAX, range);
}
int wrong = 0, right = 0;
void compare(const char* name, const std::vector<double>& want, const std::vector<double>& got) {
  if (want == got && !want.empty()) { ++right; return; }
  ++wrong;
  std::printf("%s differs\n", name);
}
)";

struct Variant {
  std::string_view name, range;
  std::string id, text;
};

/// The kernel's definition after a transform: the rest of the file is as it was.
std::string definition_of(const SourceModel& model, const SourceKernel& kernel,
                          const std::string& text) {
  const std::size_t behind = model.text.size() - kernel.definition.end;
  return text.substr(kernel.definition.begin, text.size() - behind - kernel.definition.begin);
}

std::string with_rows(std::string text) {
  for (std::size_t at = 0; (at = text.find("ROWS", at)) != std::string::npos;)
    text.replace(at, 4, kRows);
  return text;
}

std::string semantic_program(const SourceModel& model, const std::vector<Variant>& variants) {
  std::string program = fmt::format("{}{}{}", kHeaders, kPrelude, with_rows(std::string(kDriver)));
  for (const SourceKernel& kernel : model.kernels)
    program += fmt::format("namespace original {{ {} }}\n", model.at(kernel.definition));
  for (std::size_t i = 0; i < variants.size(); ++i)
    program += fmt::format("namespace v{} {{ {} }}\n", i, variants[i].text);
  program += "int main() {\n  std::vector<double> want;\n";
  std::string_view last;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const Variant& one = variants[i];
    if (one.name != last)
      program += fmt::format("  want = run(original::{}, \"{}\");\n", one.name, one.range);
    last = one.name;
    program += fmt::format("  compare(\"{0} {1}\", want, run(v{2}::{0}, \"{3}\"));\n", one.name,
                           one.id, i, one.range);
  }
  return program + "  std::printf(\"%d right\\n\", right);\n  return wrong;\n}\n";
}

constexpr TransformFacts kFacts{.wave_size = 64, .workgroup_size = {}, .host = true};

/// All cases in one source.
Result<SourceModel> semantic_model() {
  std::string text(kPrelude);
  for (const SemanticCase& one : semantic_cases()) {
    text += fmt::format("__attribute__((annotate(\"rocm_perf_kernel\"))) {}\n",
                        with_rows(std::string(one.text)));
  }
  return parse_source(text, {.path = "loops.cpp", .arguments = {}, .host = true, .arch = "gfx942"});
}

TEST(TransformSemantics, EveryVariantComputesWhatTheOriginalDoes) {
  const Result<SourceModel> model = semantic_model();
  ASSERT_TRUE(model.has_value()) << describe(model.error());
  ASSERT_EQ(model->kernels.size(), semantic_cases().size());

  std::vector<Variant> variants;
  for (std::size_t i = 0; i < semantic_cases().size(); ++i) {
    const SemanticCase& one = semantic_cases()[i];
    const Transforms transforms = transforms_of(*model, i, kFacts);
    std::vector<std::string> ids, forbidden;
    for (const TransformedSource& each : transforms.offered) {
      ids.push_back(each.id);
      variants.push_back(
          {one.name, one.range, each.id, definition_of(*model, model->kernels[i], each.text)});
    }
    for (const ForbiddenTransform& each : transforms.forbidden)
      forbidden.push_back(fmt::format("{} {}: {}", each.id, each.guard, each.sentence));
    for (const std::string& family : one.families)
      EXPECT_THAT(ids, Contains(StartsWith(family)))
          << one.name << ": " << fmt::format("{}", fmt::join(forbidden, "\n"));
  }
  ASSERT_GT(variants.size(), 80U);

  const test::TempFolder folder;
  const std::string source = (folder / "loops.cpp").string();
  ASSERT_TRUE(write_file_atomically(source, semantic_program(*model, variants)).has_value());
  ProcessOptions capture;
  capture.standard_output = capture.standard_error = StreamMode::capture;
  const auto built =
      run_program({"g++", "-std=c++20", "-w", "-O1", "-fsanitize=undefined,address",
                   "-fno-sanitize-recover=all", "-o", (folder / "loops").string(), source},
                  capture);
  ASSERT_TRUE(built.has_value()) << describe(built.error());
  ASSERT_TRUE(built->succeeded()) << built->error.tail;
  const auto ran = run_program({(folder / "loops").string()}, capture);
  ASSERT_TRUE(ran.has_value()) << describe(ran.error());
  EXPECT_TRUE(ran->succeeded()) << describe_end(*ran) << "\n" << ran->error.tail;
  EXPECT_EQ(ran->output.tail, fmt::format("{} right\n", variants.size()));
}

/// What the rules propose must not be refused by the guards on the source.
TEST(TransformSemantics, TheGuardsLetVariantsPass) {
  const Result<SourceModel> model = semantic_model();
  ASSERT_TRUE(model.has_value()) << describe(model.error());
  std::set<std::string> families;
  for (std::size_t i = 0; i < model->kernels.size(); ++i) {
    for (const auto made = transforms_of(*model, i, kFacts);
         const TransformedSource& one : made.offered) {
      const std::string family = one.id.substr(0, one.id.find(':'));
      if (!families.insert(fmt::format("{}{}", family, one.id.ends_with(":8"))).second) continue;
      const Result<GuardResults> results =
          check_source(*model, one.text, {.kernel = model->kernels[i].name, .workgroup_size = {}});
      ASSERT_TRUE(results.has_value()) << describe(results.error());
      const GuardResult* const failure = first_failure(*results);
      EXPECT_EQ(failure, nullptr) << one.id << ": " << failure->name << ": " << failure->detail
                                  << "\n"
                                  << one.text;
    }
  }
  EXPECT_GE(families.size(), 8U);
}

}  // namespace
}  // namespace perflab::optimize
