// What must not change a roofline: the order of rows, of files and of folders, into how many rows a
// value is split, dispatch ids, and passes with other counters. Programs are drawn with a fixed
// seed and compared as the document that they become.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/pipeline.h"
#include "analyze/roofline_checks.h"
#include "report/roofline/roofline_document.h"
#include "support/prng.h"
#include "support/test_database.h"

namespace perflab::analyze {
namespace {

using test::CountedProgram;
using test::Prng;
using test::RunOptions;
using Files = std::vector<std::filesystem::path>;

constexpr std::uint64_t kSeeds = 4;

/// Kernels with one or two launch geometries, in a random order, with random whole counts for every
/// counter that is collected.
CountedProgram random_program(Prng& prng) {
  const test::CountedGpu gpus[] = {test::mi210(), test::mi300x(), test::mi350x(),
                                   test::rx7900xtx()};
  CountedProgram program{.gpu = gpus[prng.below(4)], .dispatches = {}};
  const std::int64_t dispatches = 3 + prng.below(6);
  for (std::int64_t i = 0; i < dispatches; ++i) {
    test::CountedDispatch dispatch;
    dispatch.kernel = fmt::format("kernel_{}", prng.below(3));
    dispatch.duration = 50'000 + prng.below(200'000);
    if (prng.below(3) == 0) dispatch.grid = {.x = 512, .y = 128};
    for (const auto& set : own_sets(program.gpu.gfx))
      for (const std::string& counter : set)
        dispatch.counts.try_emplace(counter, static_cast<double>(prng.below(1'000'000)));
    dispatch.counts["GRBM_GUI_ACTIVE"] = program.gpu.cycles(dispatch.duration);
    dispatch.counts["SQ_WAVES"] = program.gpu.wave_size == 32 ? 2048 : 1024;
    program.dispatches.push_back(std::move(dispatch));
  }
  return program;
}

/// roofline.json of these files; fails the test when there is none.
std::string document_of(const Files& files) {
  const auto analyzed = analyze_files(files, {.search_code = false});
  if (!analyzed || !analyzed->analysis.roofline) {
    ADD_FAILURE() << (analyzed ? analyzed->analysis.roofline_missing.reason
                               : describe(analyzed.error()));
    return {};
  }
  return report::roofline_document(analyzed->trace, analyzed->analysis).dump(1);
}

/// Writes the runs into the folder again, with other options, and gives their document.
std::string document_of(const std::filesystem::path& folder, const CountedProgram& program,
                        const RunOptions& options) {
  const auto files = test::write_runs(folder, program, own_sets(program.gpu.gfx), options);
  if (files) return document_of(*files);
  ADD_FAILURE() << describe(files.error());
  return {};
}

template <class T>
void shuffle(std::vector<T>& items, Prng& prng) {
  for (std::size_t i = items.size(); i > 1; --i)
    std::swap(items[i - 1],
              items[static_cast<std::size_t>(prng.below(static_cast<std::int64_t>(i)))]);
}

class Property : public testing::TestWithParam<std::uint64_t> {
 protected:
  Prng prng_{GetParam()};
  CountedProgram program_ = random_program(prng_);
  std::filesystem::path folder_ = test::test_folder();
};

INSTANTIATE_TEST_SUITE_P(, Property, testing::Range(std::uint64_t{1}, kSeeds + 1));

TEST_P(Property, OrderOfRowsDoesNotMatter) {
  const std::string plain = document_of(folder_, program_, {.instances = 4});
  for (const std::uint64_t seed : {11U, 12U})
    EXPECT_EQ(document_of(folder_, program_, {.shuffle = seed, .instances = 4}), plain);
}

TEST_P(Property, OrderOfFilesDoesNotMatter) {
  Files files = test::write_runs(folder_, program_, own_sets(program_.gpu.gfx)).value();
  const std::string plain = document_of(files);
  for (int i = 0; i < 2; ++i) {
    shuffle(files, prng_);
    EXPECT_EQ(document_of(files), plain);
  }
}

TEST_P(Property, OrderOfFilesDoesNotMatterOutsidePassFolders) {
  const auto sets = own_sets(program_.gpu.gfx);
  Files files;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    RunOptions options{.counters = sets[i], .stem = std::to_string(2000 + i)};
    options.start += static_cast<std::int64_t>(i) * 1'000'000'000;
    files.push_back(test::write_run(folder_, program_, options).value());
  }
  const std::string plain = document_of(files);
  for (int i = 0; i < 2; ++i) {
    shuffle(files, prng_);
    EXPECT_EQ(document_of(files), plain);
  }
}

TEST_P(Property, SplittingAValueOverRowsChangesNoTotal) {
  const auto analyze = [&](std::int64_t instances, std::uint64_t split) {
    return analyze_paths(test::write_runs(folder_, program_, own_sets(program_.gpu.gfx),
                                          {.instances = instances, .split = split})
                             .value());
  };
  const Analysis one = analyze(1, 1);
  for (const auto& [instances, split] : {std::pair{8, 3U}, {32, 4U}}) {
    const Analysis many = analyze(instances, split);
    ASSERT_TRUE(one.roofline && many.roofline);
    ASSERT_EQ(one.roofline->kernels.size(), many.roofline->kernels.size());
    for (std::size_t k = 0; k < one.roofline->kernels.size(); ++k) {
      const KernelRoofline& a = one.roofline->kernels[k];
      const KernelRoofline& b = many.roofline->kernels[k];
      EXPECT_EQ(a.flops_raw, b.flops_raw);
      EXPECT_EQ(a.flops_lane_corrected, b.flops_lane_corrected);
      EXPECT_EQ(a.compute_share, b.compute_share);
      for (std::size_t i = 0; i < a.levels.size(); ++i)
        EXPECT_EQ(a.levels[i].bytes, b.levels[i].bytes) << a.levels[i].name;
      for (std::size_t i = 0; i < a.features.size(); ++i)
        EXPECT_EQ(a.features[i].value, b.features[i].value) << a.features[i].name;
      ASSERT_EQ(a.counters.size(), b.counters.size());
      for (std::size_t i = 0; i < a.counters.size(); ++i) {
        EXPECT_EQ(a.counters[i].mean, b.counters[i].mean) << a.counters[i].name;
        EXPECT_EQ(a.counters[i].min, b.counters[i].min) << a.counters[i].name;
        EXPECT_EQ(a.counters[i].state, b.counters[i].state) << a.counters[i].name;
      }
    }
  }
}

TEST_P(Property, DispatchIdsDoNotMatter) {
  const Files files = test::write_runs(folder_, program_, own_sets(program_.gpu.gfx)).value();
  const std::string plain = document_of(files);
  RunOptions renumbered{.pass = 2,
                        .counters = own_sets(program_.gpu.gfx)[1],
                        .stem = "1002",
                        .first_dispatch_id = 900,
                        .dispatch_id_step = -7};
  renumbered.start += 2'000'000'000;
  EXPECT_EQ(test::write_run(folder_, program_, renumbered).value(), files[2]);
  EXPECT_EQ(document_of(files), plain);
}

TEST_P(Property, TimesOfPassesDoNotMatter) {
  // A pass whose dispatches took longer, with the clock that goes with it, changes no count.
  const auto sets = own_sets(program_.gpu.gfx);
  const Files files = test::write_runs(folder_, program_, sets).value();
  const Analysis before = analyze_paths(files);
  CountedProgram slow = program_;
  for (test::CountedDispatch& dispatch : slow.dispatches) {
    dispatch.duration *= 3;
    dispatch.counts["GRBM_GUI_ACTIVE"] *= 3;
  }
  RunOptions options{.pass = 1, .counters = sets[0], .stem = "1001"};
  options.start += 1'000'000'000;
  ASSERT_TRUE(test::write_run(folder_, slow, options));
  const Analysis after = analyze_paths(files);
  ASSERT_TRUE(before.roofline && after.roofline);
  for (std::size_t k = 0; k < before.roofline->kernels.size(); ++k) {
    const KernelRoofline& a = before.roofline->kernels[k];
    const KernelRoofline& b = after.roofline->kernels[k];
    EXPECT_EQ(a.time_ns, b.time_ns);
    EXPECT_EQ(a.gflops, b.gflops);
    for (std::size_t i = 0; i < a.levels.size(); ++i)
      EXPECT_EQ(a.levels[i].share, b.levels[i].share) << a.levels[i].name;
  }
}

TEST_P(Property, APassWithOtherCountersChangesNoFigure) {
  Files files = test::write_runs(folder_, program_, own_sets(program_.gpu.gfx)).value();
  const Analysis before = analyze_paths(files);
  for (test::CountedDispatch& dispatch : program_.dispatches) dispatch.counts["SQ_ITEMS"] = 5;
  RunOptions options{.pass = 99, .counters = {"GRBM_GUI_ACTIVE", "SQ_ITEMS"}, .stem = "1099"};
  options.start += 99'000'000'000;
  files.push_back(test::write_run(folder_, program_, options).value());
  const Analysis after = analyze_paths(files);
  ASSERT_TRUE(before.roofline && after.roofline);
  for (std::size_t k = 0; k < before.roofline->kernels.size(); ++k) {
    const KernelRoofline& a = before.roofline->kernels[k];
    const KernelRoofline& b = after.roofline->kernels[k];
    EXPECT_EQ(a.kernel, b.kernel);
    EXPECT_EQ(a.flops_raw, b.flops_raw);
    EXPECT_EQ(a.binding.has_value(), b.binding.has_value());
    for (std::size_t i = 0; i < a.levels.size(); ++i)
      EXPECT_EQ(a.levels[i].bytes, b.levels[i].bytes) << a.levels[i].name;
    for (std::size_t i = 0; i < a.features.size(); ++i) {
      EXPECT_EQ(a.features[i].value, b.features[i].value) << a.features[i].name;
      EXPECT_EQ(a.features[i].passes, b.features[i].passes) << a.features[i].name;
    }
    EXPECT_EQ(a.explanations, b.explanations);
  }
}

TEST_P(Property, PromisesHoldForRandomCounts) {
  check_promises(
      analyze_paths(test::write_runs(folder_, program_, own_sets(program_.gpu.gfx)).value()));
}

TEST_P(Property, PromisesHoldWhenCountersTakeTurns) {
  // Every counter is on every second dispatch at most, chosen by its name.
  auto sets = own_sets(program_.gpu.gfx);
  std::vector<std::string> all;
  for (const auto& set : sets)
    for (const std::string& counter : set)
      if (std::ranges::find(all, counter) == all.end()) all.push_back(counter);
  const Analysis analysis =
      analyze_program(program_, {all}, {.has = [&](std::size_t dispatch, std::string_view counter) {
                        return (dispatch + counter.size()) % 2 == 0;
                      }});
  check_promises(analysis);
}

}  // namespace
}  // namespace perflab::analyze
