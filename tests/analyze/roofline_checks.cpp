// Kernels and short ways of the roofline's tests.
#include "analyze/roofline_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/pipeline.h"
#include "hal/counter_catalogue.h"
#include "support/test_database.h"

namespace perflab::analyze {
namespace {

constexpr double kRounding = 1e-12;

template <class T>
const T& empty_one() {
  static const T nothing{};
  return nothing;
}

/// Reads beyond L2: 100,000 requests, 20,000 of them of 32 bytes, 30,000 of 128 where there are
/// such; writes: 50,000 requests, 40,000 of them of 64 bytes, the others of 32.
void add_fabric(std::string_view gfx, std::map<std::string, double>& counts) {
  const bool rdna = gfx.starts_with("gfx1");
  if (gfx == "gfx90a") {
    counts.merge(std::map<std::string, double>{{"TCC_EA_RDREQ_sum", 100'000},
                                               {"TCC_EA_RDREQ_32B_sum", 20'000},
                                               {"TCC_EA_WRREQ_sum", 50'000},
                                               {"TCC_EA_WRREQ_64B_sum", 40'000}});
  } else if (!rdna) {
    counts.merge(std::map<std::string, double>{{"TCC_EA0_RDREQ_sum", 100'000},
                                               {"TCC_EA0_RDREQ_32B_sum", 20'000},
                                               {"TCC_EA0_WRREQ_sum", 50'000},
                                               {"TCC_EA0_WRREQ_64B_sum", 40'000}});
    if (gfx == "gfx942") counts["TCC_BUBBLE_sum"] = 30'000;
    if (gfx == "gfx950") {  // where TCC_BUBBLE is there and always 0
      counts["TCC_EA0_RDREQ_64B_sum"] = 50'000;
      counts["TCC_EA0_RDREQ_128B_sum"] = 30'000;
    }
  } else {
    counts.merge(std::map<std::string, double>{{"GL2C_EA_RDREQ_32B_sum", 1'000},
                                               {"GL2C_EA_RDREQ_64B_sum", 2'000},
                                               {"GL2C_EA_RDREQ_96B_sum", 3'000},
                                               {"GL2C_EA_RDREQ_128B_sum", 4'000},
                                               {"GL2C_EA_RDREQ_256B_sum", 5'000},
                                               {"GL2C_MC_WRREQ_sum", 9'000},
                                               {"GL2C_EA_WRREQ_sum", 7'000},
                                               {"GL2C_EA_WRREQ_64B_sum", 6'000}});
  }
}

}  // namespace

testing::AssertionResult near(const std::optional<double>& value, double expected) {
  if (!value) return testing::AssertionFailure() << "no value, expected " << expected;
  if (std::abs(*value - expected) <= kRounding * std::abs(expected))
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << fmt::format("{:.17g}, expected {:.17g}", *value, expected);
}

std::vector<std::vector<std::string>> own_sets(std::string_view gfx) {
  const hal::CounterTable* const table = hal::find_counter_table(gfx);
  if (table == nullptr) {
    ADD_FAILURE() << "no counters of " << gfx;
    return {};
  }
  auto sets = table->sets;
  for (auto& set : sets)
    if (std::ranges::find(set, table->in_every_pass) == set.end())
      set.push_back(table->in_every_pass);
  return sets;
}

test::CountedDispatch counted(const test::CountedGpu& gpu,
                              const std::map<std::string, double>& counts) {
  test::CountedDispatch dispatch;
  const double cycles = gpu.cycles(dispatch.duration) / static_cast<double>(gpu.xccs);
  const double waves_in_flight = 8 * static_cast<double>(gpu.cus);
  const bool rdna = gpu.wave_size == 32;
  dispatch.counts = {
      {"GRBM_GUI_ACTIVE", gpu.cycles(dispatch.duration)},
      {"SQ_WAVES", rdna ? 2048 : 1024},
      {"SQ_WAVE_CYCLES", waves_in_flight * cycles / (rdna ? 1 : 4)},  // CDNA: quad-cycles
      {"SQ_INSTS", 4'096'000},
      {"SQ_INSTS_VALU", 2'048'000},
      {"SQ_INSTS_SALU", 100'000},
      {"SQ_ACTIVE_INST_VALU", 2'048'000},
      {"SQ_THREAD_CYCLES_VALU", 64 * 2'048'000.0},
      {"TCC_HIT_sum", 30'000},
      {"TCC_MISS_sum", 70'000},
      {"TCP_TCC_READ_REQ_sum", 40'000},
      {"TCP_TCC_WRITE_REQ_sum", 20'000},
      {"TCP_TOTAL_CACHE_ACCESSES_sum", 120'600},
      {"TCP_TCC_ATOMIC_WITH_RET_REQ_sum", 100},
      {"TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum", 200},
      {"SQ_LDS_IDX_ACTIVE", 60'000},
      {"SQ_LDS_BANK_CONFLICT", 10'000},
      {"SQC_LDS_IDX_ACTIVE", 60'000},
      {"SQC_LDS_BANK_CONFLICT", 10'000},
  };
  add_fabric(gpu.gfx, dispatch.counts);
  for (const auto& [name, count] : counts) dispatch.counts[name] = count;
  return dispatch;
}

Analysis analyze_paths(const std::vector<std::filesystem::path>& files) {
  auto analyzed = analyze_files(files, {.search_code = false});
  if (analyzed) return std::move(analyzed->analysis);
  ADD_FAILURE() << describe(analyzed.error());
  return {};
}

Analysis analyze_program(const test::CountedProgram& program,
                         const std::vector<std::vector<std::string>>& sets,
                         const test::RunOptions& options) {
  const auto files = test::write_runs(test::test_folder(), program, sets, options);
  if (!files) {
    ADD_FAILURE() << describe(files.error());
    return {};
  }
  return analyze_paths(*files);
}

Analysis analyze_program(const test::CountedProgram& program) {
  return analyze_program(program, own_sets(program.gpu.gfx));
}

const KernelRoofline& kernel_of(const Analysis& analysis, std::string_view name) {
  if (!analysis.roofline) {
    ADD_FAILURE() << "no roofline: " << analysis.roofline_missing.reason;
    return empty_one<KernelRoofline>();
  }
  for (const KernelRoofline& kernel : analysis.roofline->kernels)
    if (name.empty() || kernel.kernel == name) return kernel;
  ADD_FAILURE() << "no kernel " << name;
  return empty_one<KernelRoofline>();
}

const LevelTraffic& level_of(const KernelRoofline& kernel, std::string_view name) {
  for (const LevelTraffic& level : kernel.levels)
    if (level.name == name) return level;
  ADD_FAILURE() << "no level " << name;
  return empty_one<LevelTraffic>();
}

const Work& work_of(const KernelRoofline& kernel, hal::Pipe pipe, hal::Precision precision) {
  for (const Work& work : kernel.work)
    if (work.pipe == pipe && work.precision == precision) return work;
  ADD_FAILURE() << "no work " << hal::to_string(pipe) << " " << hal::to_string(precision);
  return empty_one<Work>();
}

const Figure& feature_of(const KernelRoofline& kernel, std::string_view name) {
  for (const Figure& figure : kernel.features)
    if (figure.name == name) return figure;
  ADD_FAILURE() << "no feature " << name;
  return empty_one<Figure>();
}

const Missing* missing_of(const KernelRoofline& kernel, std::string_view field) {
  const auto found = std::ranges::find(kernel.missing, field, &Missing::field);
  return found == kernel.missing.end() ? nullptr : &*found;
}

const CounterValue* counter_of(const KernelRoofline& kernel, std::string_view name, int pass) {
  for (const CounterValue& counter : kernel.counters)
    if (counter.name == name && counter.pass == pass) return &counter;
  return nullptr;
}

bool some_say(const std::vector<std::string>& texts, std::string_view words) {
  return std::ranges::any_of(
      texts, [&](const std::string& text) { return text.find(words) != std::string::npos; });
}

namespace {

void check_figure(const Figure& figure) {
  const bool has_value =
      figure.state == CounterState::measured || figure.state == CounterState::zero;
  EXPECT_EQ(figure.value.has_value(), has_value) << figure.name;
  EXPECT_EQ(figure.reason.empty(), has_value) << figure.name << ": " << figure.reason;
  if (!figure.value) return;
  EXPECT_TRUE(std::isfinite(*figure.value)) << figure.name;
  EXPECT_GE(*figure.value, 0) << figure.name;
  EXPECT_EQ(*figure.value == 0, figure.state == CounterState::zero) << figure.name;
  EXPECT_FALSE(figure.passes.empty()) << figure.name;
  EXPECT_TRUE(std::ranges::is_sorted(figure.passes)) << figure.name;
  EXPECT_GT(figure.dispatches, 0U) << figure.name;
  EXPECT_FALSE(figure.across_passes) << figure.name;
}

/// A null has an entry in `missing`, a value has none.
void check_missing(const KernelRoofline& kernel) {
  const auto check = [&](const std::string& field, bool there) {
    EXPECT_EQ(missing_of(kernel, field) == nullptr, there) << kernel.kernel << " " << field;
  };
  check("time_ns", kernel.time_ns.has_value());
  check("flops.raw", kernel.flops_raw.has_value());
  check("flops.lane_corrected", kernel.flops_lane_corrected.has_value());
  check("gflops", kernel.gflops.has_value());
  check("gflops_raw", kernel.gflops_raw.has_value());
  check("compute.roof", kernel.compute_roof.value.has_value());
  check("compute.overlapped_roof", kernel.overlapped_roof.has_value());
  check("compute.share", kernel.compute_share.has_value());
  check("binding", kernel.binding.has_value());
  for (const LevelTraffic& level : kernel.levels) {
    const std::string field = "levels." + level.name + ".";
    check(field + "bytes", level.bytes.has_value());
    check(field + "intensity", level.intensity.has_value());
    check(field + "gb_per_s", level.gb_per_s.has_value());
    check(field + "share", level.share.has_value());
    check(field + "ridge", level.ridge.has_value());
    check(field + "ridge_ratio", level.ridge_ratio.has_value());
  }
  for (const Missing& missing : kernel.missing)
    EXPECT_FALSE(missing.reason.empty()) << missing.field;
}

void check_shares(const KernelRoofline& kernel) {
  const auto expect_explained = [&](std::optional<double> share, double most,
                                    const std::string& words) {
    EXPECT_TRUE(!share || *share <= most || some_say(kernel.explanations, words))
        << kernel.kernel << ": " << words << ", " << *share;
  };
  for (const LevelTraffic& level : kernel.levels)
    expect_explained(level.share, 1, "% of the " + level.name);
  expect_explained(kernel.compute_share, 1, "% of the compute roof");
  if (kernel.binding && kernel.binding->share && *kernel.binding->share > 1) {
    EXPECT_FALSE(kernel.explanations.empty()) << *kernel.binding->share;
  }
  for (const Figure& feature : kernel.features)
    if (feature.unit == "%") expect_explained(feature.value, 100, feature.label);
}

}  // namespace

void check_promises(const Analysis& analysis) {
  EXPECT_EQ(analysis.roofline.has_value(), analysis.roofline_missing.reason.empty());
  if (!analysis.roofline) return;
  for (const KernelRoofline& kernel : analysis.roofline->kernels) {
    SCOPED_TRACE(kernel.kernel);
    for (const Work& work : kernel.work) check_figure(work.flops);
    for (const Figure& feature : kernel.features) check_figure(feature);
    for (const LevelTraffic& level : kernel.levels) {
      check_figure(level.read_bytes);
      if (level.split) check_figure(level.write_bytes);
    }
    for (const CounterValue& counter : kernel.counters)
      EXPECT_EQ(counter.reason.empty(),
                counter.state == CounterState::measured || counter.state == CounterState::zero)
          << counter.name;
    EXPECT_LE(kernel.per_dispatch.size(), kMostDispatchFigures);
    check_missing(kernel);
    check_shares(kernel);
  }
}

}  // namespace perflab::analyze
