// What the tests of the roofline share: kernels whose counts are chosen so that every figure can be
// worked out on paper, and short ways to the figures of an Analysis.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/analysis.h"
#include "support/counter_samples.h"

namespace perflab::analyze {

/// Equal but for rounding.
testing::AssertionResult near(const std::optional<double>& value, double expected);
#define EXPECT_FIGURE(value, expected) EXPECT_TRUE(near((value), (expected)))

/// The sets of counters that rocm-perf collects on an architecture.
std::vector<std::vector<std::string>> own_sets(std::string_view gfx);

/// A kernel of 1024 waves of 64 (2048 of 32) that runs for 100 us at the highest clock with 8 waves
/// per CU and moves a little data; `counts` are added to its own or take their place.
test::CountedDispatch counted(const test::CountedGpu& gpu,
                              const std::map<std::string, double>& counts = {});

/// Writes the runs of a program into the running test's folder and analyses them together.
Analysis analyze_program(const test::CountedProgram& program,
                         const std::vector<std::vector<std::string>>& sets,
                         const test::RunOptions& options = {});
/// The same with the sets that rocm-perf collects.
Analysis analyze_program(const test::CountedProgram& program);
Analysis analyze_paths(const std::vector<std::filesystem::path>& files);

/// The only kernel's, or the named one's; an empty one and a failure when there is none.
const KernelRoofline& kernel_of(const Analysis& analysis, std::string_view name = {});
const LevelTraffic& level_of(const KernelRoofline& kernel, std::string_view name);
const Work& work_of(const KernelRoofline& kernel, hal::Pipe pipe, hal::Precision precision);
const Figure& feature_of(const KernelRoofline& kernel, std::string_view name);
/// nullptr: the kernel has no such entry.
const Missing* missing_of(const KernelRoofline& kernel, std::string_view field);
const CounterValue* counter_of(const KernelRoofline& kernel, std::string_view name, int pass);
/// Whether some text holds these words.
bool some_say(const std::vector<std::string>& texts, std::string_view words);

/// Checks what must be true of every roofline: shares above 1 are explained, a figure without a
/// value has a reason, one with a value has passes, what is null stands in `missing`.
void check_promises(const Analysis& analysis);

}  // namespace perflab::analyze
