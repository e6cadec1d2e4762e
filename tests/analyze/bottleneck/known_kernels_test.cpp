// Kernels with a known answer, seen from outside: files are written, analysed with less and with
// more beside them, and labels and figures compared with what known_kernels.h says of them; and
// recorded tables of a copy, with every figure worked out from their raw counters.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "analyze/bottleneck/known_kernels_checks.h"
#include "base/text/csv.h"
#include "support/test_database.h"

namespace perflab::analyze {
namespace {

namespace fs = std::filesystem;
using enum FeatureId;

/// A kernel and its label with the trace alone; with counters; with a thread trace too; and from
/// the thread trace alone.
struct KnownAnswer {
  KernelPhysics kernel;
  Bottleneck trace, counters, everything, thread_trace;
};

constexpr Bottleneck kOpen = Bottleneck::insufficient_data;

std::vector<KnownAnswer> known_answers() {
  using enum Bottleneck;
  return {
      // The trace knows that the launch is wide and long: nothing more. A wave of the chase shows
      // that it waits; that 20 of them wait on a CU could be bandwidth as well.
      {pointer_chase(), kOpen, latency, latency, kOpen},
      // One wave on a CU: too few waves as well as too long waits, until waves are looked at.
      {lonely_chase(), kOpen, under_occupied, latency, latency},
      {stream_copy(), kOpen, memory_bandwidth, memory_bandwidth, kOpen},
      {fma_loop(), kOpen, compute_throughput, compute_throughput, compute_throughput},
      {matrix_loop(), kOpen, compute_throughput, compute_throughput, compute_throughput},
      // No thread trace tells lanes: alone it sees a busy vector ALU.
      {divergent_branch(), kOpen, divergence, divergence, compute_throughput},
      {huge_workgroup(), under_occupied, under_occupied, under_occupied, kOpen},
  };
}

/// The program of all kernels, and a capture of each.
class KnownProgram : public testing::Test {
 protected:
  void write(std::uint64_t shuffle = 0) {
    answers_ = known_answers();
    std::vector<KernelPhysics> kernels;
    for (const KnownAnswer& answer : answers_) kernels.push_back(answer.kernel);
    kernels.push_back(unknown_kernel());
    folder_ = test::test_folder();
    files_ = write_program(folder_ / "runs", kernels, sets_of_mi300x(), "unknown", shuffle);
    for (const KnownAnswer& answer : answers_)
      test::write_ui_output(folder_ / "att",
                            traced(answer.kernel, files_.first_dispatch[answer.kernel.name]));
  }

  std::vector<KnownAnswer> answers_;
  ProgramFiles files_;
  fs::path folder_;
};

TEST_F(KnownProgram, GetsItsLabelsFromLessAndFromMore) {
  write();
  const Analysis trace = analysis_of(files_.timing);
  const Analysis counters = analysis_of(joined(files_.timing, files_.passes));
  const Analysis everything = analysis_of(joined(files_.timing, files_.passes), {folder_ / "att"});
  const Analysis alone = analysis_of({}, {folder_ / "att"});
  EXPECT_EQ(trace.bottlenecks.kernels.size(), answers_.size() + 1);  // the helper is left out
  EXPECT_EQ(everything.bottlenecks.kernels.size(), answers_.size() + 1);
  EXPECT_EQ(alone.bottlenecks.kernels.size(), answers_.size());
  for (const KnownAnswer& answer : answers_) {
    const std::string& name = answer.kernel.name;
    SCOPED_TRACE(name);
    const Figures figures = all_figures(answer.kernel);
    const auto expect = [&](const Analysis& analysis, Bottleneck verdict) {
      const KernelBottleneck& kernel = verdict_of(analysis, name);
      EXPECT_EQ(to_string(kernel.verdict), to_string(verdict)) << dump(analysis);
      expect_sound(kernel);
      expect_evidence(kernel, figures);
    };
    expect(trace, answer.trace);
    expect_figures(verdict_of(trace, name), dispatch_figures(answer.kernel));
    expect_missing(verdict_of(trace, name), FeatureSource::counters);
    expect_missing(verdict_of(trace, name), FeatureSource::thread_trace);
    expect(counters, answer.counters);
    expect_figures(verdict_of(counters, name), counter_figures(answer.kernel));
    expect_missing(verdict_of(counters, name), FeatureSource::thread_trace);
    expect(everything, answer.everything);
    expect_figures(verdict_of(everything, name), figures);
    expect(alone, answer.thread_trace);
    expect_figures(verdict_of(alone, name), thread_trace_figures(answer.kernel));
    expect_missing(verdict_of(alone, name), FeatureSource::counters);
    // The history with everything tells what less would have given.
    EXPECT_EQ(verdict_at(verdict_of(everything, name), FeatureSource::critical_path), answer.trace);
    EXPECT_EQ(verdict_at(verdict_of(everything, name), FeatureSource::counters), answer.counters);
  }
}

TEST_F(KnownProgram, SaysWhatWouldSettleIt) {
  write();
  const Analysis trace = analysis_of(files_.timing);
  const Analysis all = analysis_of(joined(files_.timing, files_.passes), {folder_ / "att"});
  // Nothing is known of it but its time, even where others were counted.
  for (const Analysis* const analysis : {&trace, &all}) {
    const KernelBottleneck& unknown = verdict_of(*analysis, "unknown");
    EXPECT_EQ(unknown.verdict, Bottleneck::insufficient_data);
    expect_sound(unknown);
    expect_missing(unknown, FeatureSource::counters);
    ASSERT_TRUE(unknown.next);
    EXPECT_EQ(unknown.next->source, FeatureSource::counters);
    EXPECT_NE(unknown.next->command.find("--roofline"), std::string::npos);
    EXPECT_FALSE(unknown.next->features.empty());
    EXPECT_FALSE(unknown.bound.kernel_factor);
    EXPECT_EQ(unknown.features[work_fill].value, 4.0);
  }
  // What a kernel waits for is on a line, and the advice names it.
  const auto names = [&](std::string_view kernel, const std::string& line) {
    const KernelBottleneck& found = verdict_of(all, kernel);
    return std::ranges::any_of(found.advice, [&](const Advice& advice) {
      return !advice.lines.empty() && advice.lines.front() == line;
    });
  };
  EXPECT_TRUE(names("chase", "chase.hip:1"));
  EXPECT_TRUE(names("copy", "copy.hip:1"));
  EXPECT_TRUE(names("fma", "fma.hip:1"));
  // Bounds by hand: 1 / the share of the nearest roof; Little's law over all slots.
  const auto bound = [&](std::string_view kernel, std::string_view from) {
    const auto& parts = verdict_of(all, kernel).bound.parts;
    const auto found = std::ranges::find(parts, from, &GainBound::from);
    return found == parts.end() ? 0 : found->factor.value_or(0);
  };
  EXPECT_TRUE(equal(bound("copy", "roofline"), 5300e6 / (38'912.0 * 56 * 64 * 16 * 2)));
  EXPECT_TRUE(equal(bound("fma", "roofline"), 1 / 0.85));
  EXPECT_TRUE(equal(bound("lonely_chase", "roofline"), 2e6 * kHbm / (304.0 * 7000 * 64)));
  EXPECT_TRUE(equal(bound("huge_group", "occupancy"), kWaveSlots / 16));
  EXPECT_TRUE(equal(bound("divergent", "lanes"), 4));
}

// A pass that was forgotten takes a label away or leaves it. Only lanes that nobody counted turn
// divergence into a busy vector ALU, and then the counters that are missing are asked for.
TEST_F(KnownProgram, WithoutOnePassItIsTheSameOrNone) {
  write();
  for (std::size_t left = 0; left < files_.passes.size(); ++left) {
    std::vector<fs::path> files = joined(files_.timing, files_.passes);
    files.erase(files.begin() + 1 + static_cast<std::ptrdiff_t>(left));
    const Analysis analysis = analysis_of(files);
    for (const KnownAnswer& answer : answers_) {
      const KernelBottleneck& kernel = verdict_of(analysis, answer.kernel.name);
      expect_sound(kernel);
      if (kernel.verdict == answer.counters) continue;
      ASSERT_TRUE(kernel.next) << kernel.kernel;
      EXPECT_EQ(kernel.next->source, FeatureSource::counters) << kernel.kernel;
      if (kernel.verdict == kOpen) continue;
      EXPECT_EQ(kernel.kernel, "divergent") << kernel.summary;
      EXPECT_EQ(kernel.verdict, Bottleneck::compute_throughput);
      EXPECT_FALSE(kernel.features[lanes_active].value);
      EXPECT_TRUE(std::ranges::count(kernel.next->features, lanes_active)) << kernel.next->why;
      EXPECT_LT(kernel.confidence, Confidence::high);
    }
  }
}

TEST_F(KnownProgram, DoesNotDependOnOrderNorThreads) {
  write();
  std::vector<fs::path> files = joined(files_.timing, files_.passes);
  std::vector<fs::path> traces;
  for (const auto& entry : fs::directory_iterator(folder_ / "att"))
    if (entry.is_directory()) traces.push_back(entry.path());
  std::ranges::sort(traces);
  const std::string first = dump(analysis_of(files, traces, 1));
  std::ranges::reverse(files);
  EXPECT_EQ(dump(analysis_of(files, traces, 4)), first);
  std::ranges::rotate(files, files.begin() + 3);
  EXPECT_EQ(dump(analysis_of(files, traces, 3)), first);
  EXPECT_EQ(dump(analysis_of(files, {folder_ / "att"}, 2)), first);
  std::ranges::reverse(traces);
  EXPECT_EQ(dump(analysis_of(files, traces, 2)), first);
  write(99);  // rows of every table in another order
  EXPECT_EQ(dump(analysis_of(joined(files_.timing, files_.passes), {folder_ / "att"})), first);
}

/// Counters of a recorded table by hand: everything of a name added up, over channels ("NAME[7]",
/// else "NAME_sum") and dispatches; and the times of the dispatches of the first recording.
class RecordedTable {
 public:
  explicit RecordedTable(const fs::path& path) {
    const auto table = parse_csv(test::file_bytes(path), path.string());
    EXPECT_TRUE(table) << describe(table.error());
    if (!table) return;
    const auto name = table->column("Counter_Name"), value = table->column("Counter_Value");
    for (const auto& row : table->rows) {
      if (name && value) {
        add(row[*name], row[*value]);
        add_time(*table, row);
      } else {
        std::set<std::string> seen;  // a column can come twice, of two passes
        for (std::size_t i = 0; i < row.size(); ++i)
          if (seen.insert(table->header[i]).second) add(table->header[i], row[i]);
      }
    }
  }

  [[nodiscard]] double sum(const std::string& name) const {
    for (const std::string& form : {name + "[]", name + "_sum", name})
      if (const auto found = sums_.find(form); found != sums_.end()) return found->second;
    ADD_FAILURE() << "no " << name;
    return 0;
  }
  /// Every counter whose name begins so.
  [[nodiscard]] double sum_of_all(std::string_view prefix) const {
    double sum = 0;
    for (const auto& [name, value] : sums_)
      if (name.starts_with(prefix)) sum += value;
    return sum;
  }
  /// ns of all dispatches of the recording that began first, and how many there are.
  [[nodiscard]] double time() const {
    double sum = 0;
    for (const auto& [start, end] : times_.begin()->second) sum += end - start;
    return sum;
  }
  [[nodiscard]] double dispatches() const {
    return static_cast<double>(times_.begin()->second.size());
  }

 private:
  void add(const std::string& name, const std::string& value) {
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (end == value.c_str()) return;
    const std::size_t channel = name.find('[');
    sums_[channel == std::string::npos ? name : name.substr(0, channel) + "[]"] += number;
  }
  void add_time(const CsvTable& table, const std::vector<std::string>& row) {
    const auto guid = table.column("GUID");
    const auto at = [&](std::string_view name) { return std::stod(row[*table.column(name)]); };
    times_[guid ? row[*guid] : ""][at("Start_Timestamp")] = at("End_Timestamp");
  }

  std::map<std::string, double> sums_;
  std::map<std::string, std::map<double, double>> times_;  ///< GUIDs rise with time
};

/// vecCopy of 1,048,576 doubles (the SOURCE.md beside the data), from tables of counters alone.
class RecordedCopies : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(data_))
      GTEST_SKIP() << "skipped: " << data_ << " is not there (recorded data is kept outside the "
                   << "project)";
  }
  /// Every figure that the verdict quotes is the one worked out here.
  void check(const fs::path& path, const Figures& expected, std::string_view strongest) {
    const Analysis analysis = analysis_of({path});
    ASSERT_EQ(analysis.bottlenecks.kernels.size(), 1U);
    const KernelBottleneck& kernel = analysis.bottlenecks.kernels[0];
    EXPECT_EQ(kernel.verdict, Bottleneck::memory_bandwidth) << dump(analysis);
    EXPECT_NE(held(kernel, strongest), nullptr) << dump(analysis);
    expect_sound(kernel);
    expect_figures(kernel, expected);
    expect_evidence(kernel, expected);
  }
  fs::path data_ = fs::path(PERFLAB_SHARED_DIR) / "data/pmc";
};

TEST_F(RecordedCopies, OfMi210) {
  const fs::path path = data_ / "vcopy/MI200/pmc_perf.csv";
  const RecordedTable raw(path);
  const double r = raw.sum("TCC_EA_RDREQ"), r32 = raw.sum("TCC_EA_RDREQ_32B");
  const double w = raw.sum("TCC_EA_WRREQ"), w64 = raw.sum("TCC_EA_WRREQ_64B");
  const double bytes = 32 * r32 + 64 * (r - r32) + 64 * w64 + 32 * (w - w64);
  EXPECT_EQ(raw.sum("SQ_INSTS_VALU_FMA_F64") + raw.sum("SQ_INSTS_VALU_ADD_F64"), 0);
  check(path,
        {{hbm_share, bytes / raw.time() / 1638.4},  // HBM2e of 1638.4 GB/s
         {nearest_roof, bytes / raw.time() / 1638.4},
         {memory_side, 1},  // no arithmetic
         {lanes_active, raw.sum("SQ_THREAD_CYCLES_VALU") / raw.sum("SQ_ACTIVE_INST_VALU") / 64},
         {branch_share, raw.sum("SQ_INSTS_BRANCH") / raw.sum("SQ_INSTS")},
         {work_fill, 1'048'576.0 / 64 / (104 * 32)}},
        "bandwidth.memory_first");
}

TEST_F(RecordedCopies, OfMi300x) {
  const fs::path path = data_ / "vcopy/MI300X_A1/pmc_perf.csv";
  const RecordedTable raw(path);
  EXPECT_EQ(raw.sum_of_all("SQ_INSTS_VALU_FMA") + raw.sum_of_all("SQ_INSTS_VALU_ADD") +
                raw.sum_of_all("SQ_INSTS_VALU_MUL") + raw.sum_of_all("SQ_INSTS_VALU_MFMA"),
            0);
  const double quads = raw.sum("SQ_WAVE_CYCLES"), busy = raw.sum("SQ_BUSY_CU_CYCLES");
  check(path,
        {{memory_side, 1},
         {busy_cu_occupancy, 4 * quads / busy / 32},
         {achieved_occupancy, 4 * quads / (raw.sum("GRBM_GUI_ACTIVE") / 8) / (304 * 32)},
         {cu_busy, busy / (raw.sum("GRBM_GUI_ACTIVE") / 8) / 304},
         {l2_hit, raw.sum("TCC_HIT_sum") / (raw.sum("TCC_HIT_sum") + raw.sum("TCC_MISS_sum"))},
         {work_fill, 1'048'576.0 / 64 / (304 * 32)}},
        "bandwidth.full_on_memory_side");
}

TEST_F(RecordedCopies, OfMi350WithRotatedCounters) {
  const fs::path path = data_ / "vcopy_iteration_multiplexing/MI350/pmc_perf.csv";
  const RecordedTable raw(path);
  const double r128 = raw.sum("TCC_EA0_RDREQ_128B"), r64 = raw.sum("TCC_EA0_RDREQ_64B");
  const double w = raw.sum("TCC_EA0_WRREQ"), w64 = raw.sum("TCC_EA0_WRREQ_64B");
  // Each was counted on one of the twenty dispatches, which do the same.
  const double bytes =
      (128 * r128 + 64 * r64 + 32 * raw.sum("TCC_EA0_RDREQ_32B") + 64 * w64 + 32 * (w - w64)) *
      raw.dispatches();
  EXPECT_EQ(raw.dispatches(), 20);
  check(path,
        {{hbm_share, bytes / raw.time() / 8000},  // HBM3E of 8 TB/s
         {memory_side, 1},
         {work_fill, 1'048'576.0 / 64 / (256 * 32)}},
        "bandwidth.memory_first");
}

}  // namespace
}  // namespace perflab::analyze
