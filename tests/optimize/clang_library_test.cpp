// Which libclang reads sources: trees as ROCm's and as distributions', made of links to the one
// that is installed here.
#include "optimize/ast/clang_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder.h"
#include "code/tools/compiler.h"
#include "optimize/model/source_model.h"

namespace perflab::optimize {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Result<SourceModel> read_here(std::string_view source) {
  ParseOptions options;
  options.path = "/nowhere/read_here.cpp";
  options.host = true;
  return parse_source(
      "#define __global__ __attribute__((annotate(\"rocm_perf_kernel\")))\n" + std::string(source),
      options);
}

/// A tree as ROCm's, with links to the libclang that is installed here.
class LibclangSearch : public ::testing::Test {
 protected:
  void SetUp() override {
    const test::ScopedVariable none("ROCM_PATH", "");
    const auto installed = clang_api();
    if (!installed) GTEST_SKIP() << describe(installed.error());
    installed_ = std::filesystem::canonical((*installed)->path);
    major_ = std::to_string(code::clang_major((*installed)->version));
  }
  /// A link to it at this place in the folder; its path.
  std::string link(const std::string& place) {
    std::filesystem::create_directories((folder_ / place).parent_path());
    std::filesystem::create_symlink(installed_, folder_ / place);
    return (folder_ / place).string();
  }
  std::filesystem::path put(const std::string& place, const std::string& text) {
    std::filesystem::create_directories((folder_ / place).parent_path());
    std::filesystem::path file = folder_.write(place, text);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }
  std::filesystem::path program(const std::string& place) { return put(place, "#!/bin/sh\n"); }
  static std::string path_of(const std::vector<std::filesystem::path>& compilers = {}) {
    const auto api = clang_api(compilers);
    EXPECT_TRUE(api) << describe(api.error());
    return api ? (*api)->path : "";
  }

  test::TempFolder folder_;
  std::filesystem::path installed_;
  std::string major_;
};

TEST_F(LibclangSearch, TakesThatOfTheCompilerThatBuilds) {
  const std::string of_rocm = link("rocm/llvm/lib/libclang.so");
  link("rocm/llvm/lib/libclang-cpp.so");
  const std::string beside = link("clang/lib/libclang.so." + major_ + ".0git");
  const std::string below = link("other/lib/llvm/lib/libclang-" + major_ + ".so.1");
  program("clang/bin/clang-" + major_);
  std::filesystem::create_directory(folder_ / "bin");
  std::filesystem::create_symlink(folder_ / "clang/bin" / ("clang-" + major_),
                                  folder_ / "bin/amdclang++");
  const std::filesystem::path linked = folder_ / "bin/amdclang++";
  const std::filesystem::path other = program("other/bin/hipcc");
  {
    const test::ScopedVariable rocm("ROCM_PATH", (folder_ / "rocm").string());
    EXPECT_EQ(path_of({linked, other}), of_rocm);
    EXPECT_EQ((*clang_api())->why, "it is that of ROCM_PATH");
    const test::ScopedVariable named("ROCM_PERF_LIBCLANG", below);
    EXPECT_EQ(path_of({linked}), below);
  }
  const test::ScopedVariable none("ROCM_PATH", (folder_ / "nowhere").string());
  EXPECT_EQ(path_of({linked, other}), beside);
  EXPECT_THAT((*clang_api({linked, other}))->why, HasSubstr("beside " + linked.string()));
  EXPECT_EQ(path_of({other, linked}), below);
  EXPECT_EQ(path_of({"/nowhere/clang++", other}), below);
  {
    const test::ScopedVariable path("PATH", (folder_ / "other/bin").string());
    EXPECT_EQ(path_of(), below);  // hipcc
  }
  const test::ScopedVariable path("PATH", folder_.path().string());
  if (!std::filesystem::exists("/opt/rocm")) {
    EXPECT_EQ((*clang_api())->why, "it is the newest that is installed");
  }
}

TEST_F(LibclangSearch, PassesOverOnesThatCannotBeUsed) {
  put("rocm/llvm/lib/libclang.so", "no library");
  const std::string usable = link("rocm/llvm/lib/libclang.so." + major_);
  const test::ScopedVariable rocm("ROCM_PATH", (folder_ / "rocm").string());
  EXPECT_EQ(path_of(), usable);
}

/// Headers of clang's own are those of the libclang that reads, which knows their builtins.
TEST_F(LibclangSearch, BringsItsOwnHeaders) {
  link("rocm/llvm/lib/libclang.so");
  const std::string resources = "rocm/llvm/lib/clang/" + major_;
  put(resources + "/include/stddef.h", "");
  put(resources + "/include/perflab_marker.h", "#define MARKED 1\n");
  constexpr std::string_view kMarked =
      "#include <perflab_marker.h>\n__global__ void k(int* p) { p[0] = MARKED; }";
  {
    const test::ScopedVariable rocm("ROCM_PATH", (folder_ / "rocm").string());
    EXPECT_EQ((*clang_api())->resource_folder, (folder_ / resources).string());
    const auto model = read_here(kMarked);
    ASSERT_TRUE(model) << describe(model.error());
    EXPECT_EQ(model->library_path, (folder_ / "rocm/llvm/lib/libclang.so").string());
  }
  const auto other = read_here(kMarked);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().notes.back(), HasSubstr("read by /"));
  // Where it brings none, those of its version that the system has.
  std::filesystem::remove_all(folder_ / resources);
  const test::ScopedVariable rocm("ROCM_PATH", (folder_ / "rocm/").string());
  EXPECT_THAT((*clang_api())->resource_folder, Not(HasSubstr(folder_.path().string())));
}

TEST(ClangOfCommand, IsTheFirstCompilerOfABuild) {
  const test::TempFolder folder;
  const std::string hipcc = folder.write("hipcc", "#!/bin/sh\n").string();
  std::filesystem::permissions(hipcc, std::filesystem::perms::owner_all);
  EXPECT_EQ(compiler_of_command("env A=1 " + hipcc + " -O3 {source} -o {build_dir}/app"), hipcc);
  EXPECT_EQ(compiler_of_command("/nowhere/hipcc {source}"), "");
  EXPECT_EQ(compiler_of_command("make clangs"), "");
  EXPECT_EQ(compiler_of_command("'"), "");
}

TEST(LibclangNamed, SaysWhatIsMissing) {
  for (const char* name : {"/nowhere/libclang.so", "libz.so.1"}) {
    const test::ScopedVariable variable("ROCM_PERF_LIBCLANG", name);
    const auto model = read_here("");
    ASSERT_FALSE(model);
    EXPECT_EQ(model.error().code, ErrorCode::missing_tool);
    EXPECT_THAT(model.error().message, HasSubstr(name));
    EXPECT_THAT(model.error().remedy, HasSubstr("libclang1-19"));
  }
}

}  // namespace
}  // namespace perflab::optimize
