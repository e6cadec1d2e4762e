// rocm-perf on traces of PyTorch's profiler: what commands make of a written step of CUDA and one
// of ROCm, plain and packed, and of JSON that is no recording.
#include <gmock/gmock.h>

#include "base/gzipped.h"
#include "cli/program.h"
#include "trace/kineto_text.h"

namespace perflab::cli {
namespace {

using testing::HasSubstr;

Json kineto_document(const test::TempFolder& folder, const std::string& name,
                     std::vector<std::string> arguments) {
  arguments.emplace_back("--json");
  const Outcome outcome = rocm_perf(folder.path(), std::move(arguments));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return document(name, outcome.out);
}

TEST(KinetoFiles, AnalyzeTellsThemByTheirContent) {
  const test::TempFolder folder;
  folder.write("cuda.bin", gzipped(trace::cuda_step_file()));
  const Json cuda = kineto_document(folder, "analysis", {"analyze", "cuda.bin"});
  ASSERT_EQ(cuda.at("kernels").size(), 2U);
  EXPECT_EQ(cuda.at("kernels")[0].at("name"), "void gemm<float>(float*)");
  folder.write("rocm.json", trace::rocm_step_file());
  const Json rocm = kineto_document(folder, "analysis", {"analyze", "rocm.json"});
  ASSERT_EQ(rocm.at("kernels").size(), 2U);
  const Outcome page =
      rocm_perf(folder.path(), {"analyze", "rocm.json", "--out", "out", "--html", "page.html"});
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_THAT(page.out, HasSubstr("gfx942"));  // from the product's name
}

TEST(KinetoFiles, CriticalPathAndCompare) {
  const test::TempFolder folder;
  folder.write("a.json", trace::cuda_step_file());
  folder.write("b.json.gz", gzipped(trace::cuda_step_file() + " "));
  const Json dag = kineto_document(folder, "dag", {"critical-path", "a.json"});
  EXPECT_EQ(dag.at("document"), "dag");
  const Json comparison = kineto_document(folder, "comparison", {"compare", "a.json", "b.json.gz"});
  EXPECT_EQ(comparison.at("a").at("kind"), "kineto");
  EXPECT_EQ(comparison.at("verdict"), "undecided");
}

TEST(KinetoFiles, WhatIsNoneIsRefusedByName) {
  const test::TempFolder folder;
  folder.write("other.json", R"({"a": 1})");
  folder.write("chrome.json", R"({"traceEvents": [{"ph": "X", "cat": "x", "name": "y"}]})");
  folder.write("cut.json", trace::cuda_step_file().substr(0, 2000));
  for (const auto& [file, text] : {std::pair{"other.json", "is JSON, but no recording"},
                                   std::pair{"chrome.json", "without an event of PyTorch's"},
                                   std::pair{"cut.json", "is not JSON"}}) {
    const Outcome outcome = rocm_perf(folder.path(), {"analyze", file});
    EXPECT_EQ(outcome.exit_code, 3) << file;
    EXPECT_THAT(outcome.err, HasSubstr(std::string(file) + ": "));
    EXPECT_THAT(outcome.err, HasSubstr(text));
  }
}

}  // namespace
}  // namespace perflab::cli
