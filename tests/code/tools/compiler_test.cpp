// code/tools/compiler.h: the search for a compiler (with shell scripts in its place), what a
// compilation that fails is called, the remarks' text, and real compilations where clang-19 is
// installed.
#include "code/tools/compiler.h"
#include "base/system/find_sandbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/system/files.h"
#include "base/temp_folder.h"
#include "code/tools/device_libraries.h"

namespace perflab::code {
namespace {

namespace fs = std::filesystem;
using test::ScopedVariable;
using test::TempFolder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// A script that answers like a clang: version, processors, and whether it finds device libraries.
std::string answers(std::string_view version, std::string_view processors,
                    std::string_view otherwise = "exit 1") {
  std::string listing;
  std::string_view rest = processors;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    listing += "\\n\\t" + std::string(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return "case \"$*\" in\n"
         "  --version) echo 'clang version " +
         std::string(version) +
         "'; echo 'Target: x' ;;\n"
         "  *--print-supported-cpus*) printf 'Available CPUs for this target:\\n" +
         listing +
         "\\n\\nUse -mcpu\\n' ;;\n"
         "  *) " +
         std::string(otherwise) +
         " ;;\n"
         "esac";
}

/// A machine without any compiler but those that a test puts there.
class SearchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(bin());
    fs::create_directories(folder_ / "rocm/llvm/bin");
  }

  [[nodiscard]] fs::path bin() const { return folder_ / "bin"; }
  void program(std::string_view name, std::string_view body) const {
    static_cast<void>(folder_.script("bin/" + std::string(name), body));
  }

  TempFolder folder_;
  ScopedVariable path_{"PATH", (folder_ / "bin").string()};
  ScopedVariable clang_{"ROCM_PERF_CLANG", std::nullopt};
  ScopedVariable hip_clang_{"HIP_CLANG_PATH", std::nullopt};
  ScopedVariable rocm_{"ROCM_PATH", std::nullopt};
};

TEST_F(SearchTest, TakesTheNewestVersionOnPath) {
  program("clang++-9", answers("9.0.1", "gfx900"));
  program("clang++-19", answers("19.1.7", "gfx900 gfx942"));
  program("clang++-tidy", answers("99.0", "gfx900"));
  program("clang++", answers("14.0.6", "gfx900"));
  const auto found = find_compiler();
  ASSERT_TRUE(found.has_value()) << describe(found.error());
  EXPECT_EQ(found->program, bin() / "clang++-19");
  EXPECT_EQ(found->version, "clang version 19.1.7");
  EXPECT_EQ(found->major, 19);
  EXPECT_THAT(found->processors, ElementsAre("gfx900", "gfx942"));
  EXPECT_TRUE(found->knows("gfx942"));
  EXPECT_FALSE(found->knows("gfx94"));
}

TEST_F(SearchTest, GoesThroughItsPlacesInOrder) {
  program("clang++-19", answers("19.1.7", "gfx900"));
  program("amdclang++", answers("18.0.0", "gfx900"));
  EXPECT_EQ(find_compiler().value().program, bin() / "amdclang++");
  static_cast<void>(folder_.script("rocm/llvm/bin/clang++", answers("20.0.0", "gfx900")));
  const ScopedVariable rocm("ROCM_PATH", (folder_ / "rocm").string());
  EXPECT_EQ(find_compiler().value().program, folder_ / "rocm/llvm/bin/clang++");
  fs::create_directories(folder_ / "hip");
  static_cast<void>(folder_.script("hip/clang++", answers("21.0.0", "gfx900")));
  const ScopedVariable hip("HIP_CLANG_PATH", (folder_ / "hip").string());
  EXPECT_EQ(find_compiler().value().program, folder_ / "hip/clang++");
  const ScopedVariable named("ROCM_PERF_CLANG", (bin() / "clang++-19").string());
  EXPECT_EQ(find_compiler().value().program, bin() / "clang++-19");
}

TEST_F(SearchTest, PrefersTheOneThatKnowsTheProcessor) {
  program("clang++-22", answers("22.1.8", "gfx900 gfx950"));
  program("amdclang++", answers("19.0.0", "gfx900"));
  EXPECT_EQ(find_compiler("gfx950").value().program, bin() / "clang++-22");
  EXPECT_EQ(find_compiler("gfx900").value().program, bin() / "amdclang++");
  // Nobody knows it: the caller says so, with the list of one that was found.
  EXPECT_EQ(find_compiler("gfx1310").value().program, bin() / "amdclang++");
}

TEST_F(SearchTest, PassesOverBrokenOnesAndThoseWithoutAmdgpu) {
  program("clang++-21", "exit 127");
  program("clang++-20", answers("20.1.0", "cortex-a35"));
  program("clang++-19", answers("19.1.7", "gfx900"));
  EXPECT_EQ(find_compiler().value().major, 19);
}

TEST_F(SearchTest, SaysWhatWasTriedAndWhatToInstall) {
  const auto none = find_compiler();
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(none.error().remedy, HasSubstr("clang-19"));
  program("clang++-20", answers("20.1.0", "cortex-a35"));
  program("clang++-19", "exit 3");
  const auto useless = find_compiler();
  ASSERT_FALSE(useless.has_value());
  EXPECT_THAT(useless.error().notes,
              ElementsAre(HasSubstr("clang++-20: does not know AMDGPU"),
                          HasSubstr("clang++-19: --version exited with code 3")));
}

TEST_F(SearchTest, ANamedCompilerIsTakenOrRefusedNeverReplaced) {
  program("clang++-19", answers("19.1.7", "gfx900"));
  {
    const ScopedVariable named("ROCM_PERF_CLANG", (folder_ / "nowhere").string());
    const auto found = find_compiler();
    ASSERT_FALSE(found.has_value());
    EXPECT_THAT(found.error().message, HasSubstr("$ROCM_PERF_CLANG"));
  }
  const fs::path other = folder_.script("gcc", answers("12", "cortex-a35"));
  const ScopedVariable named("ROCM_PERF_CLANG", other.string());
  const auto found = find_compiler();
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(found.error().message, HasSubstr("does not know AMDGPU"));
}

TEST_F(SearchTest, HeadersAboveTheCompilerAreItsOwn) {
  fs::create_directories(folder_ / "rocm/include/hip");
  static_cast<void>(folder_.write("rocm/include/hip/hip_runtime.h", ""));
  const fs::path clang =
      folder_.script("rocm/llvm/bin/clang++", answers("20.0.0", "gfx90a", "exit 0"));
  const ScopedVariable named("ROCM_PERF_CLANG", clang.string());
  const auto found = find_compiler();
  ASSERT_TRUE(found.has_value()) << describe(found.error());
  EXPECT_EQ(found->rocm_path, fs::canonical(folder_ / "rocm"));
  // It plans a compilation without complaint: nothing to complete.
  EXPECT_FALSE(found->stock_device_libraries.has_value());
}

TEST_F(SearchTest, StockLibrariesAreFoundWhenTheCompilerHasNone) {
  fs::create_directories(folder_ / "rocm/include/hip");
  fs::create_directories(folder_ / "rocm/lib/amdgcn/bitcode");
  static_cast<void>(folder_.write("rocm/include/hip/hip_runtime.h", ""));
  static_cast<void>(folder_.write("rocm/lib/amdgcn/bitcode/ockl.bc", ""));
  const fs::path clang = folder_.script("rocm/llvm/bin/clang++", answers("20.0.0", "gfx90a"));
  const ScopedVariable named("ROCM_PERF_CLANG", clang.string());
  const auto found = find_compiler();
  ASSERT_TRUE(found.has_value()) << describe(found.error());
  EXPECT_EQ(found->stock_device_libraries, fs::canonical(folder_ / "rocm") / "lib/amdgcn/bitcode");
}

/// A compiler that is a script, for what a compilation does with its answers.
class FakeCompileTest : public SearchTest {
 protected:
  [[nodiscard]] Result<Compiled> run(std::string_view body, CompileRequest request = {}) const {
    Compiler compiler;
    compiler.program = folder_.script("clang", body);
    compiler.version = "fake 1.0";
    compiler.processors = {"gfx900", "gfx906",  "gfx908",  "gfx90a",
                           "gfx942", "gfx1030", "gfx1100", "gfx1201"};
    if (request.arch.empty()) request.arch = "gfx942:xnack-";
    if (request.source.empty()) request.source = folder_.write("k.hip", "");
    return compile(compiler, request);
  }

  // Writes a file that begins like ELF to the argument after -o, with what stands in $line.
  static constexpr std::string_view kWrite =
      "PATH=/usr/bin:/bin\n"
      "while [ \"$1\" != -o ]; do line=\"$line $1\"; shift; done\n"
      "printf '\\177ELF%s' \"$line\" > \"$2\"\n";
};

TEST_F(FakeCompileTest, TheCommandIsRecordedAsItWasRun) {
  CompileRequest request;
  request.arguments = {"-O2", "-DA=b c"};
  const auto compiled = run(kWrite, request);
  ASSERT_TRUE(compiled.has_value()) << describe(compiled.error());
  const std::string source = (folder_ / "k.hip").string();
  EXPECT_THAT(compiled->command,
              ElementsAre((folder_ / "clang").string(), "-x", "hip", "--offload-arch=gfx942:xnack-",
                          "--cuda-device-only", "--no-gpu-bundle-output", "-fuse-cuid=none", "-O3",
                          "-O2", "-DA=b c", "-Rpass-analysis=kernel-resource-usage",
                          "-fno-color-diagnostics", source, "-o", "OUT.co"));
  EXPECT_EQ(compiled->code_object,
            "\x7f"
            "ELF -x hip --offload-arch=gfx942:xnack- --cuda-device-only --no-gpu-bundle-output "
            "-fuse-cuid=none -O3 -O2 -DA=b c -Rpass-analysis=kernel-resource-usage "
            "-fno-color-diagnostics " +
                source);
}

TEST_F(FakeCompileTest, AnUnknownProcessorNamesTheCompilerAndWhatItKnows) {
  CompileRequest request;
  request.arch = "gfx950:xnack-";
  const auto compiled = run("exit 0", request);
  ASSERT_FALSE(compiled.has_value());
  EXPECT_EQ(compiled.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(compiled.error().message, HasSubstr("fake 1.0"));
  EXPECT_THAT(compiled.error().message,
              HasSubstr("does not know gfx950; it knows gfx900, gfx906, gfx908, ..., gfx1030, "
                        "gfx1100, gfx1201 (8 in all)"));
}

TEST_F(FakeCompileTest, AnErrorOfTheSourceIsBadInputWithTheMessages) {
  const auto compiled =
      run("echo 'k.hip:3:1: error: unknown type name' >&2; echo '  3 | x' >&2; "
          "exit 1");
  ASSERT_FALSE(compiled.has_value());
  EXPECT_EQ(compiled.error().code, ErrorCode::bad_input);
  EXPECT_THAT(compiled.error().message, HasSubstr("k.hip: does not compile for gfx942:xnack-"));
  EXPECT_THAT(compiled.error().notes,
              ElementsAre("k.hip:3:1: error: unknown type name", "  3 | x"));
}

TEST_F(FakeCompileTest, AMissingPieceIsNotTheSourcesFault) {
  const auto headers =
      run("echo \"k.hip:1:10: fatal error: 'hip/hip_runtime.h' file not found\" "
          ">&2; exit 1");
  ASSERT_FALSE(headers.has_value());
  EXPECT_EQ(headers.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(headers.error().remedy, HasSubstr("libamdhip64-dev"));
  const auto libraries =
      run("echo 'clang: error: cannot find ROCm device library for gfx942' >&2; exit 1");
  ASSERT_FALSE(libraries.has_value());
  EXPECT_EQ(libraries.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(libraries.error().remedy, HasSubstr("rocm-device-libs"));
  const auto linker =
      run("echo 'clang: error: unable to execute command: Executable \"lld\" doesn'\"'\"'t exist!' "
          ">&2; "
          "exit 1");
  ASSERT_FALSE(linker.has_value());
  EXPECT_EQ(linker.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(linker.error().remedy, HasSubstr("lld"));
}

TEST_F(FakeCompileTest, ACompilerThatHangsIsStopped) {
  CompileRequest request;
  request.timeout = std::chrono::milliseconds{200};
  const auto compiled = run("exec /bin/sleep 60", request);
  ASSERT_FALSE(compiled.has_value());
  EXPECT_THAT(compiled.error().message,
              HasSubstr("did not compile it for gfx942:xnack- within 0.2 s"));
}

TEST_F(FakeCompileTest, WithoutACodeObjectThereIsNoResult) {
  const auto nothing = run("exit 0");
  ASSERT_FALSE(nothing.has_value());
  EXPECT_THAT(nothing.error().message, HasSubstr("wrote no code object"));
  const auto text =
      run("PATH=/usr/bin:/bin\nwhile [ \"$1\" != -o ]; do shift; done\n"
          "echo '.text' > \"$2\"");
  ASSERT_FALSE(text.has_value());
  EXPECT_THAT(text.error().remedy, HasSubstr("-S"));
}

TEST_F(FakeCompileTest, ASourceThatIsNotThereIsNamed) {
  CompileRequest request;
  request.source = folder_ / "no.hip";
  const auto compiled = run("exit 0", request);
  ASSERT_FALSE(compiled.has_value());
  EXPECT_EQ(compiled.error().code, ErrorCode::bad_input);
  EXPECT_THAT(compiled.error().message, HasSubstr("no.hip: there is no such file"));
}

TEST(CompilerOutput, RemarksAreTakenOutOfTheMessages) {
  const CompilerOutput out = read_compiler_output(
      "k.hip:5:50: warning: unused variable 'unused' [-Wunused-variable]\n"
      "    5 | __global__ void k3(int*p){ int unused; }\n"
      "      |                                ^~~~~~\n"
      "In file included from k.hip:1:\n"
      "k.hip:3:1: remark: Function Name: k1 [-Rpass-analysis=kernel-resource-usage]\n"
      "    3 | __global__ void k1() {}\n"
      "      | ^\n"
      "k.hip:3:1: remark:     SGPRs: 8 [-Rpass-analysis=kernel-resource-usage]\n"
      "k.hip:3:1: remark:     VGPRs: 3 [-Rpass-analysis=kernel-resource-usage]\n"
      "k.hip:3:1: remark:     AGPRs: 1 [-Rpass-analysis=kernel-resource-usage]\n"
      "k.hip:3:1: remark:     ScratchSize [bytes/lane]: 16 "
      "[-Rpass-analysis=kernel-resource-usage]\n"
      "k.hip:3:1: remark:     Dynamic Stack: True [-Rpass-analysis=kernel-resource-usage]\n"
      "k.hip:3:1: remark:     Occupancy [waves/SIMD]: 7 [-Rpass-analysis=kernel-resource-usage]\n"
      "k.hip:3:1: remark:     SGPRs Spill: 5 [-Rpass-analysis=kernel-resource-usage]\n"
      "k.hip:3:1: remark:     VGPRs Spill: 6 [-Rpass-analysis=kernel-resource-usage]\n"
      "k.hip:3:1: remark:     LDS Size [bytes/block]: 1024 "
      "[-Rpass-analysis=kernel-resource-usage]\n"
      "In file included from k.hip:2:\n"
      "x.h:1:1: warning: another one\n"
      "1 warning generated when compiling for gfx942.\n");
  EXPECT_EQ(out.messages,
            "k.hip:5:50: warning: unused variable 'unused' [-Wunused-variable]\n"
            "    5 | __global__ void k3(int*p){ int unused; }\n"
            "      |                                ^~~~~~\n"
            "In file included from k.hip:2:\n"
            "x.h:1:1: warning: another one\n"
            "1 warning generated when compiling for gfx942.\n");
  ASSERT_EQ(out.remarks.size(), 1U);
  const ResourceRemark& r = out.remarks[0];
  EXPECT_EQ(r.kernel, "k1");
  EXPECT_EQ(r.sgprs, 8);
  EXPECT_EQ(r.vgprs, 3);
  EXPECT_EQ(r.agprs, 1);
  EXPECT_EQ(r.scratch_bytes, 16);
  EXPECT_EQ(r.dynamic_stack, true);
  EXPECT_EQ(r.occupancy, 7);
  EXPECT_EQ(r.sgpr_spills, 5);
  EXPECT_EQ(r.vgpr_spills, 6);
  EXPECT_EQ(r.lds_bytes, 1024);
}

TEST(CompilerOutput, NewerSpellingsAndMissingLines) {
  const CompilerOutput out = read_compiler_output(
      "<unknown>:0:0: remark: Function Name: a [-Rpass-analysis=kernel-resource-usage]\n"
      "<unknown>:0:0: remark:     TotalSGPRs: 12 [-Rpass-analysis=kernel-resource-usage]\n"
      "<unknown>:0:0: remark:     Something New: 1 [-Rpass-analysis=kernel-resource-usage]\n"
      "<unknown>:0:0: remark:     VGPRs: many [-Rpass-analysis=kernel-resource-usage]\n"
      "<unknown>:0:0: remark: Function Name: b [-Rpass-analysis=kernel-resource-usage]\n"
      "<unknown>:0:0: remark:     Dynamic Stack: False [-Rpass-analysis=kernel-resource-usage]");
  EXPECT_THAT(out.messages, IsEmpty());
  ASSERT_EQ(out.remarks.size(), 2U);
  EXPECT_EQ(out.remarks[0].sgprs, 12);
  EXPECT_EQ(out.remarks[0].vgprs, std::nullopt);
  EXPECT_EQ(out.remarks[0].agprs, std::nullopt);
  EXPECT_EQ(out.remarks[0].dynamic_stack, std::nullopt);
  EXPECT_EQ(out.remarks[1].kernel, "b");
  EXPECT_EQ(out.remarks[1].dynamic_stack, false);
  EXPECT_EQ(out.remarks[1].sgprs, std::nullopt);
}

TEST(DeviceLibraries, IsaVersionsAreThoseOfTheStockFiles) {
  EXPECT_EQ(isa_version("gfx90a"), 9010);
  EXPECT_EQ(isa_version("gfx90c"), 9012);
  EXPECT_EQ(isa_version("gfx940"), 9400);
  EXPECT_EQ(isa_version("gfx942"), 9402);
  EXPECT_EQ(isa_version("gfx1030"), 10300);
  EXPECT_EQ(isa_version("gfx1100"), 11000);
  EXPECT_EQ(isa_version("gfx1151"), 11501);
  EXPECT_EQ(isa_version("gfx1201"), 12001);
  for (const char* name : {"gfx11-generic", "gfx", "gfx9", "gfx9x0", "90a", "gfx90z", "gfx12345"})
    EXPECT_EQ(isa_version(name), std::nullopt) << name;
}

// --- the installed compiler -----------------------------------------------------------------

/// Compiles with clang-19 of this machine, with an empty cache.
class RealCompilerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto found = find_compiler("gfx942");
    if (!found || !found->knows("gfx942"))
      GTEST_SKIP() << "skipped: no compiler that knows gfx942 is installed";
    if (!found->rocm_path) GTEST_SKIP() << "skipped: HIP headers are not installed";
    compiler_ = *std::move(found);
  }

  [[nodiscard]] Result<Compiled> compiled(std::string_view source, std::string_view arch,
                                          std::vector<std::string> arguments = {}) const {
    CompileRequest request;
    request.source = folder_.write("kernel.hip", source);
    request.arch = arch;
    request.arguments = std::move(arguments);
    return compile(compiler_, request);
  }

  static constexpr std::string_view kKernel =
      "#include <hip/hip_runtime.h>\n"
      "__global__ void k(float* p) { int unused; p[threadIdx.x] = sinf(p[blockIdx.x]); }\n";

  TempFolder folder_;
  ScopedVariable cache_{"XDG_CACHE_HOME", (folder_ / "cache").string()};
  Compiler compiler_;
};

TEST_F(RealCompilerTest, CompilesForAProcessorThatTheStockLibrariesLack) {
  const auto k = compiled(kKernel, "gfx942:xnack-", {"-Wall"});
  ASSERT_TRUE(k.has_value()) << describe(k.error());
  ASSERT_EQ(k->remarks.size(), 1U);
  EXPECT_EQ(k->remarks[0].kernel, "_Z1kPf");
  EXPECT_GT(k->remarks[0].vgprs.value_or(0), 1);
  EXPECT_EQ(k->remarks[0].scratch_bytes.has_value(), true);
  EXPECT_THAT(k->messages, HasSubstr("unused variable"));
  EXPECT_THAT(k->messages, Not(HasSubstr("remark:")));
  if (!compiler_.stock_device_libraries) return;
  // The completed folder is in the cache, with links to the rest, and is used again.
  const fs::path root = folder_ / "cache/rocm-perf/device-libraries";
  const fs::path libraries = fs::directory_iterator(root)->path();
  EXPECT_TRUE(fs::is_symlink(libraries / "ockl.bc"));
  const fs::path isa = libraries / "oclc_isa_version_942.bc";
  ASSERT_TRUE(fs::is_regular_file(isa));
  const auto before = fs::last_write_time(isa);
  EXPECT_TRUE(compiled(kKernel, "gfx942").has_value());
  EXPECT_EQ(fs::last_write_time(isa), before);
  EXPECT_THAT(k->command, Contains("--rocm-device-lib-path=" + libraries.string()));
}

TEST_F(RealCompilerTest, ACacheThatCannotBeWrittenIsReplacedByATemporaryFolder) {
  const ScopedVariable cache("XDG_CACHE_HOME", "/dev/null");
  const auto k = compiled(kKernel, "gfx1201");
  ASSERT_TRUE(k.has_value()) << describe(k.error());
}

TEST_F(RealCompilerTest, InASandboxTheCachesLibrariesAreShown) {
  auto sandbox = find_sandbox();
  if (!sandbox) GTEST_SKIP() << sandbox.error().message;
  CompileRequest request;
  fs::create_directories(folder_ / "source");
  request.source = folder_.write("source/kernel.hip", kKernel);
  request.arch = "gfx942";
  sandbox->shown = {request.source.parent_path()};  // the cache lies below /tmp, which is hidden
  request.sandbox = std::make_shared<const Sandbox>(*sandbox);
  const auto k = compile(compiler_, request);
  EXPECT_TRUE(k.has_value()) << describe(k.error());
}

TEST_F(RealCompilerTest, ADamagedEntryOfTheCacheIsMadeAgain) {
  if (!compiler_.stock_device_libraries)
    GTEST_SKIP() << "skipped: the compiler has device libraries of its own";
  const fs::path folder = device_library_folder(compiler_, "gfx1100", folder_ / "x").value();
  const fs::path isa = folder / "oclc_isa_version_1100.bc";
  const std::string whole = test::text_of(isa);
  std::ofstream(isa) << "";
  EXPECT_EQ(device_library_folder(compiler_, "gfx1100", folder_ / "x").value(), folder);
  EXPECT_TRUE(test::text_of(isa) == whole);
}

TEST_F(RealCompilerTest, SeveralAtOnceShareTheCache) {
  if (!compiler_.stock_device_libraries)
    GTEST_SKIP() << "skipped: the compiler has device libraries of its own";
  std::vector<std::thread> threads;
  std::vector<Result<fs::path>> folders(4, fs::path{});
  for (Result<fs::path>& folder : folders)
    threads.emplace_back(
        [&] { folder = device_library_folder(compiler_, "gfx1151", folder_ / "x"); });
  for (std::thread& thread : threads) thread.join();
  for (const Result<fs::path>& folder : folders) {
    ASSERT_TRUE(folder.has_value()) << describe(folder.error());
    EXPECT_EQ(*folder, *folders[0]);
  }
  for (const auto& entry : fs::directory_iterator(*folders[0]))
    EXPECT_EQ(entry.path().extension(), ".bc") << entry.path();
}

TEST_F(RealCompilerTest, ErrorsOfTheSourceComeWithTheCompilersWords) {
  const auto k = compiled("__global__ void k( {}\n", "gfx942");
  ASSERT_FALSE(k.has_value());
  EXPECT_EQ(k.error().code, ErrorCode::bad_input);
  EXPECT_THAT(k.error().notes, Contains(HasSubstr("error: expected ')'")));
  const auto header = compiled("#include <hip/no_such_header.h>\n", "gfx942");
  ASSERT_FALSE(header.has_value());
  EXPECT_EQ(header.error().code, ErrorCode::bad_input);
}

TEST_F(RealCompilerTest, UserOptionsReachTheCompiler) {
  const std::string_view source =
      "#include <hip/hip_runtime.h>\n"
      "__global__ __launch_bounds__(BLOCK) void k(float* p) { __shared__ float s[BLOCK];\n"
      "  s[threadIdx.x] = p[threadIdx.x]; __syncthreads(); p[threadIdx.x] = s[BLOCK - 1 - "
      "threadIdx.x]; }\n";
  const auto k = compiled(source, "gfx942", {"-DBLOCK=128", "-g"});
  ASSERT_TRUE(k.has_value()) << describe(k.error());
  ASSERT_EQ(k->remarks.size(), 1U);
  EXPECT_EQ(k->remarks[0].lds_bytes, 512);
  EXPECT_NE(k->code_object.find(".debug_info"), std::string::npos);
}

TEST_F(RealCompilerTest, TheSameBytesFromAnotherFolder) {
  const auto first = compiled(kKernel, "gfx90a");
  const TempFolder elsewhere;
  CompileRequest request;
  request.source = elsewhere.write("kernel.hip", kKernel);
  request.arch = "gfx90a";
  const auto second = compile(compiler_, request);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->code_object == second->code_object);
}

}  // namespace
}  // namespace perflab::code
