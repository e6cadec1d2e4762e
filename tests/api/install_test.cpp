// The installed tree, as a stranger finds it: every file that belongs to it, the program with its
// tools library, and a project of its own over find_package(rocm-perf-lab).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/system/subprocess.h"
#include "base/temp_folder.h"
#include "base/text/json.h"
#include "base/version.h"
#include "report/kit/document.h"

namespace perflab {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsSupersetOf;

constexpr const char* kProject = R"(
cmake_minimum_required(VERSION 3.20)
project(stranger LANGUAGES C CXX)
find_package(rocm-perf-lab @VERSION@ REQUIRED COMPONENTS perflab occupancy)
find_package(rocm-perf-lab @VERSION@ COMPONENTS nothing)
if(rocm-perf-lab_FOUND)
  message(FATAL_ERROR "a component that is not there was found")
endif()
find_package(rocm-perf-lab @VERSION@ REQUIRED)
add_executable(documents documents.c)
target_link_libraries(documents PRIVATE rocm-perf-lab::perflab)
set_target_properties(documents PROPERTIES C_STANDARD 99 C_EXTENSIONS OFF)
add_executable(waves waves.cpp)
target_link_libraries(waves PRIVATE rocm-perf-lab::occupancy)
add_compile_options(-Wall -Wextra -Wpedantic -Werror)
)";

// Prints the version and the documents of a trace, with their lengths.
constexpr const char* kDocuments = R"(
#include <perflab/perflab.h>
#include <stdio.h>
#include <string.h>

int main(int count, char** names) {
  perflab_inputs inputs;
  perflab_documents* documents;
  size_t i;
  int status;
  memset(&inputs, 0, sizeof inputs);
  inputs.size = sizeof inputs;
  inputs.traces = (const char* const*)names + 1;
  inputs.trace_count = (size_t)(count - 1);
  documents = perflab_analyze(&inputs);
  if (!documents) return 70;
  status = perflab_status(documents);
  printf("%s %d %s\n", perflab_version(), status, perflab_message(documents));
  for (i = 0; i < perflab_document_count(documents); ++i) {
    const char* name = perflab_document_name(documents, i);
    printf("%s %s\n", name, strstr(perflab_document_text(documents, name), "\"document\"") ? "text" : "nothing");
  }
  perflab_free(documents);
  return status;
}
)";

constexpr const char* kWaves = R"(
#include <perflab/occupancy.h>
#include <iostream>

int main() {
  const auto report = perflab::occupancy::report("gfx942", {.workgroup_size = 256, .static_lds = 16384, .vgprs = 72});
  std::cout << (report ? "an answer" : "refused") << "\n";
}
)";

ProcessResult ran(const std::vector<std::string>& command) {
  ProcessOptions options;
  options.empty_input = true;
  options.standard_output = options.standard_error = StreamMode::capture;
  options.capture_limit = std::size_t{1} << 24;
  auto result = run_program(command, options);
  if (result) return *result;
  ADD_FAILURE() << command.front() << ": " << result.error().message;
  return {};
}

std::string output_of(const std::vector<std::string>& command) {
  const ProcessResult result = ran(command);
  EXPECT_TRUE(result.succeeded()) << command.front() << ": " << result.error.tail
                                  << result.output.tail;
  return result.output.tail;
}

/// Names of all files below a folder, relative to it.
std::set<std::string> files_below(const fs::path& folder, const std::string& before = {}) {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (!entry.is_directory())
      names.insert(before + entry.path().lexically_relative(folder).string());
  return names;
}

/// One installation for all tests: it copies some hundred megabytes.
class InstalledTree : public testing::Test {
 public:
  static void SetUpTestSuite() {
    folder_ = new test::TempFolder();
    prefix_ = *folder_ / "prefix";
    output_of({PERFLAB_CMAKE, "--install", PERFLAB_BINARY_DIR, "--prefix", prefix_});
  }
  static void TearDownTestSuite() { delete folder_; }

 protected:
  static inline test::TempFolder* folder_ = nullptr;
  static inline fs::path prefix_;
};

TEST_F(InstalledTree, HoldsEverything) {
  const std::set<std::string> files = files_below(prefix_);
  EXPECT_THAT(files, IsSupersetOf(
                         {"bin/rocm-perf", "bin/rocm-perf-lab", "include/perflab/occupancy.h",
                          "include/perflab/perflab.h", "lib/librocm-perf-lab.so",
                          "lib/python3/dist-packages/rocm_perf/__init__.py",
                          "lib/rocm-perf-lab/librocm_perf_isolate.so",
                          "lib/cmake/rocm-perf-lab/rocm-perf-lab-config.cmake",
                          "share/bash-completion/completions/rocm-perf",
                          "share/man/man1/rocm-perf.1", "share/rocm-perf-lab/decode_step.db",
                          "share/doc/rocm-perf-lab/README.md", "share/doc/rocm-perf-lab/LICENSE"}));
  // Whole folders of the sources, with what will be added to them; archives are unpacked.
  const fs::path source = PERFLAB_SOURCE_DIR;
  const auto expect_all = [&](const std::string& from, const std::string& to,
                              const std::string& ending) {
    for (const std::string& file : files_below(source / from, to))
      if (file.ends_with(ending) && !file.contains("__pycache__") && !file.ends_with(".tar.xz")) {
        EXPECT_TRUE(files.contains(file)) << file;
      }
  };
  expect_all("examples", "share/rocm-perf-lab/examples/", "");
  expect_all("schemas", "share/rocm-perf-lab/schemas/", ".schema.json");
  expect_all("python", "lib/python3/dist-packages/", ".py");
  expect_all("docs", "share/doc/rocm-perf-lab/docs/", ".md");
  EXPECT_TRUE(files.contains("share/rocm-perf-lab/decode_step_counters/pass_1/4243_results.db"));
  EXPECT_TRUE(files.contains("share/rocm-perf-lab/decode_step_recorded/decode_step.db"));
  // Of the tests' and the build's own programs nothing.
  for (const std::string& file : files)
    EXPECT_FALSE(file.ends_with(".a") || (file.contains("test") && !file.contains("/self_test.")) ||
                 file.contains("fuzz") || file.contains("hsa_sim"))
        << file;
}

TEST_F(InstalledTree, MayBeReadByEverybody) {
  for (const auto& entry : fs::recursive_directory_iterator(prefix_)) {
    if (entry.is_symlink()) continue;
    const auto mode = entry.status().permissions();
    const bool runs = entry.is_directory() || entry.path().parent_path().filename() == "bin";
    EXPECT_EQ(mode & fs::perms(0444), fs::perms(0444)) << entry.path();
    EXPECT_EQ(mode & fs::perms(0022), fs::perms::none) << entry.path();
    EXPECT_TRUE(!runs || (mode & fs::perms(0111)) == fs::perms(0111)) << entry.path();
  }
}

TEST_F(InstalledTree, RunsFromWhereItIs) {
  EXPECT_EQ(output_of({prefix_ / "bin/rocm-perf-lab", "--version"}),
            "rocm-perf " + std::string(kProgramVersion) + "\n");
  EXPECT_THAT(output_of({prefix_ / "bin/rocm-perf", "analyze",
                         prefix_ / "share/rocm-perf-lab/decode_step.db"}),
              HasSubstr("SYNTHETIC"));
  // The tools library is the installed one, not that of the build.
  const auto doctor =
      parse_json(ran({prefix_ / "bin/rocm-perf", "doctor", "--json"}).output.tail, "doctor");
  ASSERT_TRUE(doctor.has_value());
  EXPECT_THAT(to_canonical_text(*doctor),
              AllOf(HasSubstr((prefix_ / "lib/rocm-perf-lab/librocm_perf_isolate.so").string()),
                    testing::Not(HasSubstr(PERFLAB_BINARY_DIR))));
}

TEST_F(InstalledTree, IsFoundByAnotherProject) {
  const fs::path project = *folder_ / "project";
  fs::create_directories(project);
  std::string lists = kProject;
  for (std::size_t at = 0; (at = lists.find("@VERSION@")) != std::string::npos;)
    lists.replace(at, 9, PERFLAB_VERSION_MINOR);
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
           {"CMakeLists.txt", lists}, {"documents.c", kDocuments}, {"waves.cpp", kWaves}})
    std::ofstream(project / name) << text;
  const std::string build = *folder_ / "build", flags = PERFLAB_CONSUMER_FLAGS;
  output_of({PERFLAB_CMAKE, "-S", project, "-B", build, "-D",
             "CMAKE_PREFIX_PATH=" + prefix_.string(), "-D", "CMAKE_C_FLAGS=" + flags, "-D",
             "CMAKE_CXX_FLAGS=" + flags, "-D", "CMAKE_C_COMPILER=" PERFLAB_C_COMPILER, "-D",
             "CMAKE_CXX_COMPILER=" PERFLAB_CXX_COMPILER});
  output_of({PERFLAB_CMAKE, "--build", build});
  const std::string version(kProgramVersion);
  EXPECT_THAT(output_of({build + "/documents", PERFLAB_SAMPLE}),
              testing::StartsWith(version + " 0 \nanalysis text\nprofile text\n"));
  const ProcessResult refused = ran({build + "/documents", "no.db"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.output.tail, AllOf(testing::StartsWith(version + " 3 "), HasSubstr("no.db")));
  EXPECT_EQ(output_of({build + "/waves"}), "an answer\n");
}

// Nothing but the interface is visible: another library of the same names in a program cannot get
// in the way.
TEST_F(InstalledTree, ExportsTheInterfaceAlone) {
  const std::string symbols = output_of(
      {"nm", "-D", "--defined-only", "--format=posix", prefix_ / "lib/librocm-perf-lab.so"});
  std::set<std::string> exported;
  std::istringstream lines(symbols);
  // "perflab_open@@PERFLAB_0.2 T ...": every one has a version; the versions are symbols as well.
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("PERFLAB_")) continue;
    const std::string symbol = line.substr(0, line.find(' '));
    EXPECT_THAT(symbol, HasSubstr("@@PERFLAB_"));
    exported.insert(symbol.substr(0, symbol.find('@')));
  }
  std::set<std::string> declared;
  std::istringstream header(test::text_of(prefix_ / "include/perflab/perflab.h"));
  for (std::string line; std::getline(header, line);) {
    const std::size_t end = line.find('(');
    if (!line.starts_with("PERFLAB_API ") || end == std::string::npos) continue;
    const std::size_t begin = line.find_last_of(" *", end) + 1;
    declared.insert(line.substr(begin, end - begin));
  }
  EXPECT_GE(declared.size(), 17U);
  EXPECT_EQ(exported, declared);
}

// A package that was built in one place is used in another.
TEST_F(InstalledTree, NamesNoPlaceOfTheBuild) {
  for (const std::string& file : files_below(prefix_)) {
    if (!file.ends_with(".cmake") && !file.ends_with(".h") && !file.starts_with("share/man") &&
        !file.starts_with("share/bash-completion"))
      continue;
    const std::string text = test::text_of(prefix_ / file);
    EXPECT_FALSE(text.contains(PERFLAB_SOURCE_DIR)) << file;
    EXPECT_FALSE(text.contains(prefix_.string())) << file;
  }
}

}  // namespace
}  // namespace perflab
