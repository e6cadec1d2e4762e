// See rank_job_files.h.
#include "cli/recordings/rank_job_files.h"

#include <fmt/format.h>

#include "support/described_run.h"
#include "support/unpacked_page.h"
#include "trace/kineto_text.h"

namespace perflab::cli {

namespace fs = std::filesystem;

Json RankJobFiles::json(const std::string& name, const std::string& command,
                        std::vector<std::string> arguments, int exit_code) {
  arguments.insert(arguments.begin(), command);
  arguments.emplace_back("--json");
  const Outcome outcome = run(std::move(arguments));
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.err;
  return document(name, outcome.out);
}

void RankJobFiles::summarize(std::size_t many) {
  const Outcome outcome = run({"rank-summary", "traces", "-o", "sums"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(names_in(folder_ / "sums").size(), many);
}

Json RankJobFiles::pages_documents(const std::string& file) {
  return test::unpacked_page(test::text_of(folder_ / file));
}

void RankJobFiles::write_rank(const std::string& file, const test::RankRecording& rank) {
  fs::create_directories((folder_ / file).parent_path());
  const auto done = test::write_rank_recording(folder_ / file, rank);
  ASSERT_TRUE(done.has_value()) << done.error().message;
}

void RankJobFiles::write_job(test::RankRecording each) {
  for (each.rank = 0; each.rank < each.size; ++each.rank)
    write_rank(fmt::format("traces/rank_{}.db", each.rank), each);
}

void RankJobFiles::write_other_forms(const std::string& place) {
  test::DescribedRun run;
  run.threads = {run.pid};
  run.kernels = {{.mangled = "_Z4gemmv", .name = "gemm()"}};
  for (std::int64_t i = 0; i < 5; ++i)
    run.dispatches.push_back({.start = 5'000'000'000'000 + 1'000 * i,
                              .end = 5'000'000'000'700 + 1'000 * i,
                              .thread = run.pid,
                              .correlation = i + 1,
                              .workgroup = {64, 1, 1},
                              .grid = {640, 1, 1}});
  for (const char* form : {"/json", "/csv", "/pytorch"})
    fs::create_directories(folder_ / (place + form));
  (void)folder_.write(place + "/json/out.json", test::json_of(run));
  for (const auto& [table, text] : test::csv_of(run))
    (void)folder_.write(fmt::format("{}/csv/7_{}.csv", place, table), text);
  (void)folder_.write(place + "/pytorch/w0.pt.trace.json", trace::cuda_step_file());
}

}  // namespace perflab::cli
