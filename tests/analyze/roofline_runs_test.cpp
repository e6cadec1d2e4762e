// The runs that a roofline is joined from: on other GPUs each time, on two at once, recorded as
// database and table both, and runs that did not dispatch every kernel.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "analyze/pipeline.h"
#include "analyze/roofline/make_roofline.h"
#include "analyze/roofline_checks.h"
#include "analyze/trace_builder.h"
#include "report/roofline/roofline_document.h"
#include "support/test_database.h"

namespace perflab::analyze {
namespace {

using test::CountedDispatch;
using test::CountedGpu;
using test::CountedProgram;
using test::RunOptions;
using Files = std::vector<std::filesystem::path>;
using Sets = std::vector<std::vector<std::string>>;

constexpr std::int64_t kSecond = 1'000'000'000;

/// The run of pass N as test::write_runs writes it; 0: the one without counters.
RunOptions options_of(int pass, const Sets& sets, int stem = 1000) {
  RunOptions options{.stem = std::to_string(stem + pass)};
  options.start += kSecond * pass;
  if (pass > 0) {
    options.pass = pass;
    options.counters = sets[static_cast<std::size_t>(pass) - 1];
  }
  return options;
}

std::filesystem::path write(const std::filesystem::path& folder, const CountedProgram& program,
                            const RunOptions& options) {
  const auto written = test::write_run(folder, program, options);
  EXPECT_TRUE(written) << describe(written.error());
  return written.value_or(std::filesystem::path());
}

// -- Which GPU --

TEST(Gpus, ArePerhapsOthersInEachRun) {
  CountedProgram program{.gpu = test::mi300x(), .dispatches = {counted(test::mi300x())}};
  const Sets sets = own_sets("gfx942");
  const std::filesystem::path folder = test::test_folder();
  Files files;
  for (int pass = 0; pass <= static_cast<int>(sets.size()); ++pass) {
    program.gpu.number = pass == 0 ? 1 : 2 + pass % 3;
    files.push_back(write(folder, program, options_of(pass, sets)));
  }
  const Analysis analysis = analyze_paths(files);
  check_promises(analysis);
  const KernelRoofline& kernel = kernel_of(analysis);
  EXPECT_EQ(analysis.roofline->kernels.size(), 1U);
  EXPECT_EQ(kernel.dispatches, 1U);
  EXPECT_EQ(kernel.time_from, "trace");
  EXPECT_FIGURE(level_of(kernel, "hbm").bytes, 10'560'000);
  EXPECT_TRUE(kernel.flops_raw);
  EXPECT_TRUE(kernel.binding);
  ASSERT_EQ(kernel.per_dispatch.size(), 1U);
  EXPECT_EQ(kernel.per_dispatch[0].gpu, 0U);
  EXPECT_FIGURE(kernel.per_dispatch[0].hbm_read_bytes, 7'680'000);
  EXPECT_FIGURE(kernel.per_dispatch[0].duration_ns, 100'000);
}

/// A Trace by hand with runs that give the kernel's dispatches on two GPUs; reads beyond L2: the
/// second GPU's dispatches three times as many as the first's.
class TwoGpus : public testing::Test {
 protected:
  void run(std::optional<int> pass, std::int64_t first_gpu, std::int64_t second_gpu) {
    b_.source(pass);
    const trace::Index kernel = b_.kernel("k");
    for (const std::int64_t number : {first_gpu, second_gpu}) {
      b_.agent("gfx942", "AMD Instinct MI300X");
      b_.trace.agents.back().absolute_index = number;
      const double requests = number == std::min(first_gpu, second_gpu) ? 1000 : 3000;
      clock_ += 100'000;
      const trace::Index at = b_.dispatch(kernel, {.start = clock_, .duration = 10'000 + number});
      if (!pass) continue;
      for (trace::Index i = 0; i < kCounters.size(); ++i) {
        if (b_.trace.counter_infos.size() <= i) b_.counter(kCounters[i]);
        b_.value(at, i, i == 0 ? requests : 0);
      }
    }
  }
  static constexpr std::array<const char*, 3> kCounters = {
      "TCC_EA0_RDREQ_sum", "TCC_EA0_RDREQ_32B_sum", "TCC_BUBBLE_sum"};

  TraceBuilder b_;
  std::int64_t clock_ = 1'000'000;
};

TEST_F(TwoGpus, AreToldApartInTheSingleDispatches) {
  run(std::nullopt, 4, 3);
  run(1, 1, 2);  // in the other order of time
  const Passes passes = find_passes(b_.trace);
  Analysis analysis;
  analysis.roofline =
      make_roofline(b_.trace, passes, find_timing_scope(b_.trace, passes), {}, {}).roofline;
  const KernelRoofline& kernel = kernel_of(analysis);
  EXPECT_EQ(kernel.dispatches, 2U);
  EXPECT_FIGURE(level_of(kernel, "hbm").read_bytes.value, 64 * 4000);
  ASSERT_EQ(kernel.per_dispatch.size(), 2U);
  EXPECT_EQ(kernel.dispatches_left_out, 0U);
  for (const std::size_t gpu : {0U, 1U}) {
    const DispatchFigures& row = kernel.per_dispatch[gpu];
    EXPECT_EQ(row.gpu, gpu);
    EXPECT_EQ(row.ordinal, 1U);
    EXPECT_FIGURE(row.hbm_read_bytes, gpu == 0 ? 64 * 1000 : 64 * 3000);
    EXPECT_FIGURE(row.duration_ns, 10'000 + 3 + static_cast<double>(gpu));
  }
}

// -- Processes of a run --

TEST(Processes, ThatCountedNoWavesDoNotMakeThemWider) {
  // Two processes of 2048 waves of 32 each; one counted nothing in the pass of the waves. The 2048
  // that are left are not 2048 of 64.
  const CountedGpu gpu = test::rx7900xtx();
  const CountedProgram program{.gpu = gpu, .dispatches = {counted(gpu)}};
  CountedProgram dead = program;
  dead.dispatches[0].counts.clear();
  const Sets sets = {{"SQ_WAVES"}, {"SQ_INSTS_VALU"}};
  const std::filesystem::path folder = test::test_folder();
  Files files;
  for (int pass = 0; pass <= 2; ++pass) {
    files.push_back(write(folder, program, options_of(pass, sets)));
    RunOptions second = options_of(pass, sets, 2000);
    second.start += 1000;
    files.push_back(write(folder, pass == 1 ? dead : program, second));
  }
  const Analysis analysis = analyze_paths(files);
  check_promises(analysis);
  const KernelRoofline& kernel = kernel_of(analysis);
  EXPECT_EQ(kernel.dispatches, 2U);
  EXPECT_EQ(counter_of(kernel, "SQ_WAVES", 1)->state, CounterState::suspicious);
  EXPECT_TRUE(!kernel.estimate || kernel.estimate->flops == 2 * 2'048'000.0 * 32)
      << kernel.estimate->flops;
}

// -- Databases and tables of the same runs --

std::int64_t product(const test::Extent& size) {
  return size.x * size.y * size.z;
}

/// The table that `rocprofv3 -f rocpd csv` leaves beside the database of the same run.
std::filesystem::path write_table(const std::filesystem::path& folder,
                                  const CountedProgram& program, const RunOptions& options,
                                  std::string_view name_suffix = {}) {
  const std::filesystem::path path = folder / fmt::format("pass_{}", *options.pass) /
                                     fmt::format("{}_counter_collection.csv", options.stem);
  std::ofstream out(path);
  out << "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_"
         "Id\",\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\","
         "\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\"Counter_Name\","
         "\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n";
  std::int64_t start = options.start;
  for (std::size_t i = 0; i < program.dispatches.size(); ++i) {
    const CountedDispatch& dispatch = program.dispatches[i];
    for (const std::string& counter : options.counters) {
      const auto found = dispatch.counts.find(counter);
      out << fmt::format(
          "{0},{0},\"Agent 1\",0,{1},{1},{2},1,\"{3}{4}\",{5},0,0,32,0,32,\"{6}\",{7},{8},{9}\n",
          i + 1, options.stem, product(dispatch.grid), dispatch.kernel, name_suffix,
          product(dispatch.workgroup), counter, found == dispatch.counts.end() ? 0 : found->second,
          start, start + dispatch.duration);
    }
    start += dispatch.duration + options.gap;
  }
  return path;
}

/// roofline.json of these files.
Json roofline_json_of(const Files& files) {
  const auto analyzed = analyze_files(files, {.search_code = false});
  if (!analyzed || !analyzed->analysis.roofline) {
    ADD_FAILURE() << (analyzed ? analyzed->analysis.roofline_missing.reason
                               : describe(analyzed.error()));
    return {};
  }
  check_promises(analyzed->analysis);
  return report::roofline_document(analyzed->trace, analyzed->analysis);
}

/// Databases of every pass, with or without that of the run that gives the times, and tables.
struct BothForms {
  Files databases, tables;
};

BothForms write_both(const CountedProgram& program, bool timing_run,
                     std::string_view name_suffix = {}) {
  const Sets sets = own_sets(program.gpu.gfx);
  const std::filesystem::path folder = test::test_folder();
  BothForms both;
  if (timing_run) both.databases.push_back(write(folder, program, options_of(0, sets)));
  for (int pass = 1; pass <= static_cast<int>(sets.size()); ++pass) {
    both.databases.push_back(write(folder, program, options_of(pass, sets)));
    both.tables.push_back(write_table(folder, program, options_of(pass, sets), name_suffix));
  }
  return both;
}

/// Two dispatches of one kernel, in grids of the same number of work-items.
CountedProgram two_grids() {
  const CountedGpu gpu = test::mi300x();
  CountedProgram program{.gpu = gpu,
                         .dispatches = {counted(gpu, {{"SQ_INSTS_VALU_FMA_F32", 1'024'000}}),
                                        counted(gpu, {{"SQ_INSTS_VALU_FMA_F32", 4'096'000}})}};
  program.dispatches[1].grid = {.x = 512, .y = 128};
  program.dispatches[1].workgroup = {.x = 16, .y = 16};
  return program;
}

/// The parts of the document that are figures.
void expect_same_figures(const Json& with, const Json& without) {
  EXPECT_EQ(with["passes"], without["passes"]);
  ASSERT_EQ(with["kernels"].size(), without["kernels"].size());
  for (std::size_t i = 0; i < with["kernels"].size(); ++i)
    for (const auto& [field, value] : without["kernels"][i].items())
      EXPECT_EQ(with["kernels"][i][field], value) << field;
}

TEST(BothFormsOfARun, GiveTheFiguresOfTheDatabases) {
  for (const bool timing_run : {true, false}) {
    SCOPED_TRACE(timing_run);
    const BothForms both = write_both(two_grids(), timing_run);
    Files files = both.databases;
    files.insert(files.end(), both.tables.begin(), both.tables.end());
    const Json with = roofline_json_of(files);
    const Json without = roofline_json_of(both.databases);
    EXPECT_EQ(with["kernels"][0]["dispatches"], 2);
    EXPECT_EQ(with["kernels"][0]["flops"]["raw"], 128 * 5'120'000.0);
    expect_same_figures(with, without);
    EXPECT_EQ(without["warnings"].size(), 0U);
    EXPECT_NE(with["warnings"].dump().find("8 tables of counters hold what databases hold as well"),
              std::string::npos)
        << with["warnings"];
  }
}

TEST(BothFormsOfARun, ThatSpellTheKernelOtherwiseAreStillOneRun) {
  // rocprofv3 can shorten the names in its tables, and spells arguments in its own way.
  const BothForms both = write_both(two_grids(), true, "(float*)");
  Files files = both.databases;
  files.insert(files.end(), both.tables.begin(), both.tables.end());
  expect_same_figures(roofline_json_of(files), roofline_json_of(both.databases));
}

TEST(BothFormsOfARun, OnTwoArchitecturesAreStillOneRun) {
  // Two processes; a table does not say on which of the two GPUs its kernels ran.
  const std::filesystem::path folder = test::test_folder();
  Files databases, files;
  for (const auto& [stem, gpu] : {std::pair{1000, test::mi210()}, {2000, test::mi300x()}}) {
    const CountedProgram program{.gpu = gpu, .dispatches = {counted(gpu)}};
    const Sets sets = own_sets(gpu.gfx);
    for (int pass = 0; pass <= static_cast<int>(sets.size()); ++pass) {
      RunOptions options = options_of(pass, sets, stem);
      options.start += stem;
      databases.push_back(write(folder, program, options));
      if (pass > 0) files.push_back(write_table(folder, program, options));
    }
  }
  files.insert(files.end(), databases.begin(), databases.end());
  expect_same_figures(roofline_json_of(files), roofline_json_of(databases));
}

// -- Passes that did not run the kernel --

/// `always` in every run and `sometimes` in all but one.
class SometimesRun : public testing::Test {
 protected:
  const KernelRoofline& without_in(int left_out) {
    const CountedGpu gpu = test::mi300x();
    CountedProgram program{.gpu = gpu, .dispatches = {counted(gpu), counted(gpu)}};
    program.dispatches[0].kernel = "always";
    program.dispatches[1].kernel = "sometimes";
    CountedProgram one = program;
    one.dispatches.pop_back();
    const Sets sets = own_sets(gpu.gfx);
    const std::filesystem::path folder = test::test_folder();
    Files files;
    for (int pass = 0; pass <= static_cast<int>(sets.size()); ++pass)
      files.push_back(write(folder, pass == left_out ? one : program, options_of(pass, sets)));
    analysis_ = analyze_paths(files);
    check_promises(analysis_);
    EXPECT_FIGURE(level_of(kernel_of(analysis_, "always"), "hbm").bytes, 10'560'000);
    return kernel_of(analysis_, "sometimes");
  }
  Analysis analysis_;
};

TEST_F(SometimesRun, TheReasonNamesThePassThatHasTheCounter) {
  const KernelRoofline& kernel = without_in(2);
  const Figure& read = level_of(kernel, "hbm").read_bytes;
  EXPECT_EQ(read.value, std::nullopt);
  EXPECT_EQ(read.state, CounterState::missing);
  EXPECT_EQ(read.reason,
            "pass 2 has TCC_BUBBLE_sum, but not for this kernel: none of its dispatches is in that "
            "pass");
  EXPECT_EQ(read.remedy, "");  // collecting them again does not help
  ASSERT_NE(missing_of(kernel, "levels.hbm.bytes"), nullptr);
  EXPECT_EQ(missing_of(kernel, "levels.hbm.bytes")->reason, read.reason);
  EXPECT_FIGURE(level_of(kernel, "hbm").write_bytes.value, 2'880'000);
}

TEST_F(SometimesRun, WhatNoPassHasIsNotRecorded) {
  const CountedGpu gpu = test::mi300x();
  const Analysis analysis =
      analyze_program({.gpu = gpu, .dispatches = {counted(gpu)}}, {{"SQ_WAVES"}});
  EXPECT_EQ(level_of(kernel_of(analysis), "hbm").read_bytes.reason,
            "not recorded: TCC_BUBBLE_sum, TCC_EA0_RDREQ_32B_sum, TCC_EA0_RDREQ_sum");
}

TEST_F(SometimesRun, CountersThatTookTurnsMayMissAKernelThatRanInTheirPass) {
  // Pass 1 counts waves on the first kernel and instructions on the second.
  const CountedGpu gpu = test::mi300x();
  CountedProgram program{.gpu = gpu, .dispatches = {counted(gpu), counted(gpu)}};
  program.dispatches[0].kernel = "first";
  program.dispatches[1].kernel = "second";
  RunOptions options;
  options.has = [](std::size_t dispatch, std::string_view counter) {
    return (counter == "SQ_WAVES") == (dispatch == 0);
  };
  const Analysis analysis = analyze_program(program, {{"SQ_WAVES", "SQ_INSTS"}}, options);
  check_promises(analysis);
  for (const char* name : {"first", "second"}) {
    const Figure& figure = feature_of(kernel_of(analysis, name), "instructions_per_wave");
    EXPECT_EQ(figure.value, std::nullopt);
    EXPECT_EQ(figure.reason.find("none of its dispatches is in that pass"), std::string::npos)
        << figure.reason;
  }
}

}  // namespace
}  // namespace perflab::analyze
