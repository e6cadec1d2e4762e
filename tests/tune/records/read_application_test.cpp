// tune/records/read_application.h: every member, and one sentence for every fault.
#include "tune/records/read_application.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace perflab::tune {
namespace {

using testing::HasSubstr;

std::string refusal(std::string_view text) {
  const auto read = parse_application(text, "app.json");
  if (read) return "accepted";
  EXPECT_EQ(read.error().code, ErrorCode::bad_input);
  return read.error().message;
}

/// The refusal of one kernel, without "app.json: kernels[0]: ".
std::string of_kernel(std::string_view members) {
  const std::string said = refusal(fmt::format(R"({{"kernels": [{{{}}}]}})", members));
  const std::string place = "app.json: kernels[0]: ";
  return said.starts_with(place) ? said.substr(place.size()) : said;
}

TEST(ReadApplication, EveryMember) {
  const auto read = parse_application(R"json({"kernels": [
    {"name": "gemm", "kernel": "^gemm<", "space": {"tune_params": {"BM": [16, 32]}},
     "default": {"BM": 32}, "command": "./gemm {BM}", "build": "make {BM}", "check": "./check",
     "code_object": "{build_dir}/k", "objective": "metric", "metric_regex": "t=([0-9.]+)",
     "metric_unit": "ms", "maximize": true},
    {"name": "soft.max-2", "simulate": "soft.json.gz", "maximize": false},
    {"name": "scan", "space": "scan.json", "capture": "scan.capture", "build": "hipcc {code_object}",
     "workgroup": "TX", "blocks": "N // TX", "dynamic_lds": "4 * TX", "type": "f32", "max_ulp": 4,
     "rtol": 1e-5, "atol": 1e-8}],
    "command": "./app --config {config}", "metric_regex": "total=(.*)", "metric_unit": "s",
    "maximize": true})json",
                                      "app.json");
  ASSERT_TRUE(read) << describe(read.error());
  ASSERT_EQ(read->kernels.size(), 3U);
  const ApplicationKernel& gemm = read->kernels[0];
  EXPECT_EQ(gemm.pattern, "^gemm<");
  EXPECT_EQ(gemm.source, KernelSource::command);
  ASSERT_TRUE(gemm.described);
  EXPECT_EQ(gemm.described->parameters.front().values.size(), 2U);
  EXPECT_EQ(gemm.default_values, (std::vector<Binding>{{"BM", std::int64_t{32}}}));
  EXPECT_EQ(gemm.command, "./gemm {BM}");
  EXPECT_EQ(gemm.build, "make {BM}");
  EXPECT_EQ(gemm.check, "./check");
  EXPECT_EQ(gemm.code_object, "{build_dir}/k");
  EXPECT_EQ(gemm.objective, "metric");
  EXPECT_EQ(gemm.metric_pattern, "t=([0-9.]+)");
  EXPECT_EQ(gemm.metric_unit, "ms");
  EXPECT_TRUE(gemm.maximize);
  EXPECT_EQ(read->kernels[1].pattern, "soft.max-2");
  EXPECT_EQ(read->kernels[1].source, KernelSource::simulate);
  EXPECT_EQ(read->kernels[1].recording, "soft.json.gz");
  const ApplicationKernel& scan = read->kernels[2];
  EXPECT_EQ(scan.source, KernelSource::capture);
  EXPECT_EQ(scan.capture, "scan.capture");
  EXPECT_EQ(scan.space, "scan.json");
  EXPECT_EQ(scan.launch.workgroup, "TX");
  EXPECT_EQ(scan.launch.blocks, "N // TX");
  EXPECT_EQ(scan.launch.dynamic_lds, "4 * TX");
  EXPECT_EQ(scan.tolerance.type, "f32");
  EXPECT_EQ(scan.tolerance.max_ulp, 4U);
  EXPECT_EQ(scan.tolerance.relative, 1e-5);
  EXPECT_EQ(scan.tolerance.absolute, 1e-8);
  EXPECT_EQ(read->command, "./app --config {config}");
  EXPECT_EQ(read->metric_pattern, "total=(.*)");
  EXPECT_EQ(read->metric_unit, "s");
  EXPECT_TRUE(read->maximize);
}

TEST(ReadApplication, SaysWhatIsWrongWithAKernel) {
  EXPECT_EQ(of_kernel(R"("name": "a b", "simulate": "r")"),
            R"("name" is not of letters, digits, '_', '-' and '.', 64 at most)");
  EXPECT_EQ(of_kernel(R"("name": ".hidden", "simulate": "r")"),
            R"("name" is not of letters, digits, '_', '-' and '.', 64 at most)");
  EXPECT_EQ(of_kernel(R"("name": "a")"), R"(it has neither "space" nor "simulate")");
  EXPECT_EQ(of_kernel(R"("name": "a", "simulate": "")"), R"("simulate" is empty)");
  EXPECT_THAT(of_kernel(R"("name": "a", "kernel": "(", "simulate": "r")"),
              HasSubstr(R"("kernel" is no pattern: )"));
  EXPECT_EQ(of_kernel(R"("name": "a", "simulate": "r", "command": "./k")"),
            R"("command" says nothing beside "simulate")");
  EXPECT_EQ(of_kernel(R"("name": "a", "space": "s", "capture": "c", "check": "./k")"),
            R"("check" says nothing beside "capture")");
  EXPECT_EQ(of_kernel(R"("name": "a", "space": "s", "command": "./k", "grid": "1")"),
            R"("grid" says nothing beside "command")");
  EXPECT_EQ(of_kernel(R"("name": "a", "space": "s", "command": "./k", "rtol": 1e-5)"),
            R"("rtol" says nothing beside "command")");
  EXPECT_EQ(of_kernel(R"("name": "a", "space": "s", "capture": "c", "rtol": -1)"),
            R"("rtol" is not a number of at least 0)");
  EXPECT_EQ(of_kernel(R"("name": "a", "space": "s", "command": "k", "objective": "time")"),
            R"("objective" is none of gpu, metric and wall)");
  EXPECT_EQ(of_kernel(R"("name": "a", "space": "s", "command": "k", "metric_regex": "t=.*")"),
            R"("metric_regex" has no group around the number)");
  EXPECT_EQ(of_kernel(R"("name": "a", "simulate": "r", "default": {})"),
            R"("default" names no parameter)");
  EXPECT_THAT(of_kernel(R"("name": "a", "simulate": "r", "default": {"BM": [1]})"),
              HasSubstr(R"("BM" is no value of a parameter)"));
  EXPECT_THAT(of_kernel(R"("name": "a", "command": "k", "space": {"tune_params": 3})"),
              HasSubstr(R"("space" is no search space: )"));
  EXPECT_THAT(of_kernel(R"("name": "a", "simulate": "r", "sise": 1)"), HasSubstr("sise"));
}

TEST(ReadApplication, SaysWhatIsWrongWithTheApplication) {
  constexpr const char* kKernels = R"("kernels": [{"name": "a", "simulate": "r"}])";
  const auto with = [&](std::string_view more) {
    return refusal(fmt::format("{{{}, {}}}", kKernels, more));
  };
  EXPECT_EQ(refusal(R"({"kernels": []})"),
            R"(app.json: "kernels" has 0 kernels: 1 to 64 are tuned together)");
  EXPECT_EQ(
      refusal(R"({"kernels": [{"name": "a", "simulate": "r"}, {"name": "a", "simulate": "s"}]})"),
      R"(app.json: kernels[1]: "name" is that of an earlier kernel)");
  EXPECT_EQ(with(R"("command": "./app")"),
            R"(app.json: "command" does not say with {config} where the configuration file goes)");
  EXPECT_THAT(with(R"("command": "./app {BM}")"), HasSubstr(R"("command" cannot be used: )"));
  EXPECT_EQ(with(R"("metric_unit": "ms")"),
            R"(app.json: "metric_unit" says nothing without "command")");
  EXPECT_EQ(
      with(R"("command": "./app {config}", "maximize": true)"),
      R"(app.json: "maximize" says nothing of a time: "metric_regex" names what is maximised)");
  EXPECT_EQ(with(R"("command": "./app {config}", "metric_regex": "a")"),
            R"(app.json: "metric_regex" has no group around the number)");
  EXPECT_THAT(refusal("[]"), HasSubstr("app.json"));
  EXPECT_THAT(refusal("{"), HasSubstr("app.json"));
}

}  // namespace
}  // namespace perflab::tune
