// Guards on code objects as a compiler makes them with its own defaults: one source in two folders
// is the same code, whatever names the compiler derives from them; a variable that pretends to be
// such a name is not. Skipped where no clang for AMDGPU is installed.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "base/temp_folder.h"
#include "code/object/code_object.h"
#include "code/tools/compiler.h"
#include "optimize/guards/guards.h"

namespace perflab::optimize {
namespace {

using testing::HasSubstr;

/// Everything that a compiler names by the unit, and what it does not: managed, constant and static
/// variables, kernels of the unit alone, one for a lambda, strings, a table.
constexpr const char* kUnit = R"(
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
extern "C" void use(const void*...);
__device__ static int counter = 3;
__device__ int open_counter = 4;
static __constant__ float inner[4] = {1, 2, 3, 4};
__constant__ float table[4] = {1, 2, 3, 4};
static __managed__ int managed = 5;
__managed__ int open_managed = 6;
static __global__ void inside(int* p);
template <class F> __global__ void apply(F f, int* p) { p[2] = f(p[1]); }
inline void early() {
  use(&counter, &inner, &managed, (const void*)&inside);
  auto f = [] __device__(int x) { return x + 1; };
  use((const void*)&apply<decltype(f)>);
}
void host() { early(); }
__device__ const char* text(int i) { return i > 0 ? "more" : "less"; }
__attribute__((noinline)) __device__ int helper(int x) {
  static __device__ int calls = 0;
  return x + ++calls + text(x)[1];
}
static __global__ void inside(int* p) { p[1] = counter++ + managed + (int)inner[p[3]]; }
__global__ void judged(int* a) {
  a[0] = helper(a[1]) + open_counter + open_managed + (int)table[a[2]] + CHEAT;
}
)";

class BuiltObjects : public testing::Test {
 protected:
  void SetUp() override {
    auto found = code::find_compiler("gfx942");
    if (!found) GTEST_SKIP() << "skipped: " << found.error().message;
    if (!found->knows("gfx942")) GTEST_SKIP() << "skipped: gfx942 is not known";
    compiler_ = *std::move(found);
  }

  /// Compiles in a folder of its own with the compiler's defaults. Empty: it failed.
  std::string build(const std::string& where, const std::string& source,
                    const std::vector<std::string>& arguments) {
    const std::filesystem::path in = folder_ / where;
    std::filesystem::create_directories(in);
    EXPECT_TRUE(write_file_atomically(in / "unit.hip", source));
    std::vector<std::string> command{compiler_.program.string(),
                                     "-x",
                                     "hip",
                                     "-std=c++17",
                                     "--offload-arch=gfx942",
                                     "--cuda-device-only",
                                     "--no-gpu-bundle-output",
                                     "-nogpuinc",
                                     "-nogpulib",
                                     (in / "unit.hip").string(),
                                     "-o",
                                     (in / "unit.co").string()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    ProcessOptions options;
    options.working_directory = in;
    options.standard_output = options.standard_error = StreamMode::capture;
    const auto ran = run_program(command, options);
    EXPECT_TRUE(ran && ran->succeeded()) << (ran ? ran->error.tail : ran.error().message);
    const auto bytes = read_file(in / "unit.co");
    return bytes ? *bytes : std::string();
  }
  static std::string with(const std::string& cheat, const std::string& before = "") {
    std::string text = before + kUnit;
    return text.replace(text.find("CHEAT"), 5, cheat);
  }
  /// The sentence of the guard on variables; empty: it passed.
  static std::string variables(const std::string& original, const std::string& candidate) {
    const auto checked =
        check_object(original, candidate, {.kernel = "_Z6judgedPi", .workgroup_size = 64});
    EXPECT_TRUE(checked) << checked.error().message;
    if (!checked) return "not checked";
    std::string found;
    for (const GuardResult& guard : checked->results) {
      if (guard.name == "variables")
        found = guard.passed ? "" : guard.detail;
      else
        EXPECT_TRUE(guard.passed) << guard.name << ": " << guard.detail;
    }
    return found;
  }

  code::Compiler compiler_;
  test::TempFolder folder_;
};

TEST_F(BuiltObjects, OneSourceInTwoFoldersIsTheSameCode) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"-O0"},
                                             {"-O1"},
                                             {"-O2"},
                                             {"-O3"},
                                             {"-O2", "-g"},
                                             {"-O0", "-g"},
                                             {"-O2", "-fgpu-rdc"},
                                             {"-O0", "-fgpu-rdc"},
                                             {"-O2", "-fuse-cuid=random"},
                                             {"-O2", "-fgpu-rdc", "-fuse-cuid=none"}}) {
    const std::string flags = fmt::format("{}", fmt::join(arguments, " "));
    const std::string here = build("here", with("0"), arguments),
                      there = build("there", with("0"), arguments);
    ASSERT_FALSE(here.empty() || there.empty()) << flags;
    EXPECT_NE(here, there) << flags << ": the folders are to leave a trace";
    EXPECT_EQ(variables(here, there), "") << flags;
  }
}

TEST_F(BuiltObjects, AKernelOfTheUnitAloneIsFoundAgain) {
  const std::vector<std::string> arguments{"-O2", "-fgpu-rdc"};
  const std::string here = build("here", with("0"), arguments),
                    there = build("there", with("0"), arguments);
  const auto object = code::read_code_object(here, "here"),
             other = code::read_code_object(there, "there");
  ASSERT_TRUE(object && other);
  int renamed = 0;
  for (const code::KernelMetadata& kernel : object->kernels) {
    const code::KernelMetadata* const found = code::kernel_named(*other, kernel.name);
    ASSERT_NE(found, nullptr) << kernel.name;
    renamed += found->name != kernel.name;
    const auto checked = check_object(here, there, {.kernel = kernel.name, .workgroup_size = 64});
    ASSERT_TRUE(checked) << checked.error().message;
    EXPECT_EQ(first_failure(checked->results), nullptr);
  }
  EXPECT_GE(renamed, 1);
}

TEST_F(BuiltObjects, VariablesThatAreNamedLikeAUnitAreRefused) {
  const std::string original = build("here", with("0"), {"-O2"});
  const auto cheat = [&](const std::string& declaration, const std::string& name) {
    const std::string sentence =
        variables(original, build("there", with(name + "++", declaration + "\n"), {"-O2"}));
    EXPECT_THAT(sentence, HasSubstr(name)) << declaration;
    EXPECT_THAT(sentence, HasSubstr("is new")) << declaration;
  };
  const std::string device = "__attribute__((device)) ";
  cheat(device + "char __hip_cuid_0123456789abcdef;", "__hip_cuid_0123456789abcdef");
  // Reached through the GOT, as a marker would be: its relocation says so.
  cheat(device + "__attribute__((visibility(\"default\"))) char __hip_cuid_0123456789abcdef;",
        "__hip_cuid_0123456789abcdef");
  cheat(device + "int __hip_cuid_0123456789abcdef;", "__hip_cuid_0123456789abcdef");
  cheat(device + "int counter_static_0123456789abcdef;", "counter_static_0123456789abcdef");
  // One that only looks so, with no code that leads to it, holds nothing and means nothing.
  EXPECT_EQ(variables(original, build("there",
                                      with("0", device + "__attribute__((visibility(\"default\"))) "
                                                         "extern char unused;\n"),
                                      {"-O2"})),
            "");
}

}  // namespace
}  // namespace perflab::optimize
