// What the tests of PC samples share: reading texts, with the error checked.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "pc_sampling/json_window.h"
#include "pc_sampling/read_csv.h"
#include "pc_sampling/read_json.h"
#include "support/pc_samples_writer.h"

namespace perflab::pc_sampling {

inline Result<PcSamples> try_json(std::string_view text, std::size_t room = std::size_t{1} << 20) {
  PcSamples samples;
  JsonWindow window(bytes_of_text(text), "a.json", room);
  if (auto done = read_json(window, text.size(), samples); !done)
    return std::unexpected(done.error());
  return samples;
}

inline Result<PcSamples> try_csv(std::string_view text, const TablesBeside& beside = {}) {
  PcSamples samples;
  Lines lines(bytes_of_text(text), "a.csv");
  if (auto done = read_csv(lines, text.size(), beside, samples); !done)
    return std::unexpected(done.error());
  return samples;
}

inline PcSamples good(Result<PcSamples> samples) {
  EXPECT_TRUE(samples) << (samples ? "" : describe(samples.error()));
  return samples ? std::move(*samples) : PcSamples{};
}

/// The message of an error that is one sentence about input; reports a failure of anything else.
inline std::string message_of(const Result<PcSamples>& samples) {
  if (samples) {
    ADD_FAILURE() << "was read: " << samples->size() << " samples";
    return "";
  }
  EXPECT_EQ(samples.error().code, ErrorCode::bad_input);
  EXPECT_EQ(samples.error().message.find('\n'), std::string::npos);
  return samples.error().message;
}

inline std::string json_of(const std::vector<test::PcRun>& runs) {
  std::ostringstream out;
  test::write_pc_json(out, runs);
  return out.str();
}

inline std::string csv_of(const test::PcRun& run) {
  std::ostringstream out;
  test::write_pc_csv(out, run);
  return out.str();
}

inline TablesBeside tables_of(const test::PcRun& run) {
  std::ostringstream trace, agents;
  test::write_pc_kernel_trace(trace, run);
  test::write_pc_agent_info(agents, run);
  TablesBeside tables;
  if (run.kernel_trace) tables.kernel_trace = trace.str();
  tables.agent_info = agents.str();
  return tables;
}

/// Two kernels whose dispatches take turns, with every fault that samples can have.
inline test::PcRun faulty_run(std::uint64_t seed) {
  test::PcRun run;
  run.kernels = {test::pc_copy_kernel(), test::pc_matrix_kernel()};
  for (test::PcKernel& kernel : run.kernels) kernel.dispatches = 2;
  run.seed = seed;
  run.ticks = 2;
  run.agents[0].xccs = 4;
  run.agents[0].engines = 2;
  run.undecoded = run.out_of_range = run.no_code_object = run.dispatch_unknown = 50;
  return run;
}

}  // namespace perflab::pc_sampling
