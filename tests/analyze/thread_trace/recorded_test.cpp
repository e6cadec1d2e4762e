// Figures of the recorded captures, against sums that the test takes from the raw files itself, the
// totals in their SOURCE.md, and the relations of docs/facts/thread_trace.md "Sums".
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "analyze/thread_trace/detail.h"
#include "analyze/thread_trace/fold.h"
#include "analyze/thread_trace/make_thread_traces.h"
#include "analyze/thread_trace/wait_causes.h"
#include "att/read_thread_trace.h"
#include "base/system/files.h"

namespace perflab::analyze {
namespace {

namespace fs = std::filesystem;
using Raw = nlohmann::json;

/// A line of SOURCE.md's table.
struct Capture {
  const char* name;
  std::uint64_t waves;
  std::int64_t hits, latency, stall, idle;
  bool rdna;
  std::uint64_t unattributed;
};

constexpr Capture kCaptures[] = {
    {"mi300_pc2", 248, 7651, 2158096, 2129272, 2192864, false, 22},
    {"mi300_gemmv2", 12, 37712, 375772, 228312, 49132, false, 0},
    {"mi300_shaderdata", 16, 13712, 747376, 705536, 10716, false, 0},
    {"mi350_histo0", 2, 143722, 1630764, 1116308, 919304, false, 0},
    {"navi4_barriernop", 8, 216, 16778, 15205, 5008, true, 0},
    {"navi4_sdata", 8, 62512, 672665, 339361, 297998, true, 0},
};

/// Of mi300_pc2: once on engine 0, three times on engine 1.
constexpr std::string_view kSeveralTimes = "_Z15addition_kernelIfEvPT_PKfS3_ii";

const fs::path kData = fs::path(PERFLAB_SHARED_DIR) / "data" / "att";

fs::path entry_of(const char* capture, std::string_view prefix) {
  for (const auto& entry : fs::directory_iterator(kData / capture))
    if (entry.path().filename().string().starts_with(prefix)) return entry.path();
  ADD_FAILURE() << capture << " has no " << prefix;
  return {};
}

Raw raw_of(const fs::path& file) {
  return Raw::parse(read_file(file).value_or("null"));
}

/// Sums over the raw wave files, whatever the code rows say.
struct RawSums {
  std::int64_t lifetimes = 0, category_9 = 0, stall_9 = 0, stall_other = 0, issue_other = 0;
  std::array<std::int64_t, 5> states{};
  std::uint64_t waves = 0;
};

/// The rows of `"key":[[1,2],[3,4]]` as one list of numbers; the files are compact. A JSON library
/// takes a minute for all of them in a build that looks for errors.
std::vector<std::int64_t> numbers_of(const std::string& text, std::string_view key) {
  std::vector<std::int64_t> out;
  std::size_t at = text.find(fmt::format("\"{}\":[[", key));
  EXPECT_NE(at, std::string::npos) << key;
  const char* const end = text.data() + text.find("]]", at);
  const char* next = text.data() + at + key.size() + 5;
  while (next < end) {
    std::int64_t value = 0;
    const auto [after, error] = std::from_chars(next, end, value);
    EXPECT_EQ(error, std::errc{}) << key;
    out.push_back(value);
    next = after;
    while (next < end && (*next == ',' || *next == '[' || *next == ']')) ++next;
  }
  return out;
}

std::int64_t number_of(const std::string& text, std::string_view key) {
  const std::string quoted = fmt::format("\"{}\":", key);
  const std::size_t at = text.find(quoted);
  EXPECT_NE(at, std::string::npos) << key;
  return std::strtoll(text.c_str() + at + quoted.size(), nullptr, 10);
}

RawSums raw_sums(const fs::path& folder) {
  RawSums sums;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("se") || name.find("_wv") == std::string::npos) continue;
    const std::string wave = read_file(entry.path()).value_or("");
    ++sums.waves;
    sums.lifetimes += number_of(wave, "end") - number_of(wave, "begin");
    const std::vector<std::int64_t> rows = numbers_of(wave, "instructions");
    for (std::size_t i = 0; i < rows.size(); i += 5) {
      // Category 10, a context switch, is the only one that the captures have without code.
      if (rows[i + 1] == 10) continue;
      const bool waits = rows[i + 1] == 9;
      (waits ? sums.stall_9 : sums.stall_other) += rows[i + 2];
      (waits ? sums.category_9 : sums.issue_other) += rows[i + 3] - (waits ? 0 : rows[i + 2]);
    }
    const std::vector<std::int64_t> runs = numbers_of(wave, "timeline");
    for (std::size_t i = 0; i < runs.size(); i += 2)
      sums.states.at(static_cast<std::size_t>(runs[i])) += runs[i + 1];
  }
  return sums;
}

class RecordedThreadTrace : public testing::TestWithParam<Capture> {
 protected:
  void SetUp() override {
    if (!fs::exists(kData))
      GTEST_SKIP() << "skipped: " << kData << " is not there (recorded data is kept outside the "
                   << "project)";
  }
  static ThreadTraces make(const fs::path& place, unsigned threads = 0, bool keep_detail = false) {
    auto made = make_thread_traces({place}, {}, {}, threads, keep_detail);
    EXPECT_TRUE(made) << describe(made.error());
    return made ? std::move(*made) : ThreadTraces{};
  }
};

std::int64_t sum(const std::vector<KernelThreadTrace>& kernels, const auto& figure) {
  std::int64_t total = 0;
  for (const KernelThreadTrace& kernel : kernels) total += figure(kernel);
  return total;
}

TEST_P(RecordedThreadTrace, AddsUp) {
  const Capture& capture = GetParam();
  const fs::path folder = entry_of(capture.name, "ui_output");
  const ThreadTraces made = make(folder);
  const auto& kernels = made.kernels;
  using K = KernelThreadTrace;
  EXPECT_EQ(sum(kernels, [](const K& k) { return k.sums.hits; }), capture.hits);
  EXPECT_EQ(sum(kernels, [](const K& k) { return k.sums.latency; }), capture.latency);
  EXPECT_EQ(sum(kernels, [](const K& k) { return k.sums.stall; }), capture.stall);
  EXPECT_EQ(sum(kernels, [](const K& k) { return k.sums.idle; }), capture.idle);

  const RawSums raw = raw_sums(folder);
  EXPECT_EQ(raw.waves, capture.waves);
  EXPECT_EQ(sum(kernels, [](const K& k) { return static_cast<std::int64_t>(k.coverage.waves); }),
            static_cast<std::int64_t>(raw.waves));
  EXPECT_EQ(sum(kernels, [](const K& k) { return k.wave_cycles; }), raw.lifetimes);
  // Waits are the category's latency on every architecture, and the wave state `wait`. On CDNA all
  // of it is stall.
  EXPECT_EQ(sum(kernels, [](const K& k) { return k.time.wait + k.time.barrier; }), raw.category_9);
  EXPECT_EQ(raw.category_9, raw.states[3]);
  if (!capture.rdna) {
    EXPECT_EQ(raw.stall_9, raw.states[3]);
  } else {
    EXPECT_LT(raw.stall_9, raw.states[3]);
  }
  EXPECT_EQ(sum(kernels, [](const K& k) { return k.time.issue; }), raw.issue_other);
  EXPECT_EQ(sum(kernels, [](const K& k) { return k.time.issue_stall; }), raw.stall_other);
  EXPECT_EQ(sum(kernels, [](const K& k) { return k.time.idle; }), capture.idle);
  for (std::size_t i = 0; i < raw.states.size(); ++i)
    EXPECT_EQ(sum(kernels, [&](const K& k) { return k.states[i]; }), raw.states[i]) << i;
  EXPECT_EQ(
      sum(kernels, [](const K& k) { return static_cast<std::int64_t>(k.coverage.unattributed); }),
      static_cast<std::int64_t>(capture.unattributed));

  const std::int64_t total = sum(kernels, [](const K& k) { return k.time.total(); });
  EXPECT_EQ(total, capture.latency + capture.idle);
  const auto slack = static_cast<std::int64_t>(4 * raw.waves);
  if (capture.unattributed > 0) {
    EXPECT_LE(total, raw.lifetimes);  // what comes after the last known instruction is not there
  } else if (std::string_view(capture.name) == "navi4_sdata") {
    // Scalar and vector instructions overlap: 2.6 % more than the lifetimes.
    EXPECT_GT(total, raw.lifetimes);
    EXPECT_LT(static_cast<double>(total), 1.03 * static_cast<double>(raw.lifetimes));
  } else {
    EXPECT_LE(std::abs(total - raw.lifetimes), slack);
  }

  for (const KernelThreadTrace& kernel : kernels) {
    SCOPED_TRACE(kernel.kernel);
    EXPECT_EQ(kernel.coverage.rows_differing, 0U);
    EXPECT_EQ(kernel.time.total(), kernel.sums.cost());
    std::int64_t caused = 0;
    for (const auto& [instruction_class, cycles] : kernel.wait_by_class) caused += cycles;
    EXPECT_EQ(caused + kernel.wait_unattributed + kernel.wait_other, kernel.time.wait);
    EXPECT_EQ(kernel.links, capture.rdna ? WaitLinks::rule : WaitLinks::trace);
    CycleSums classes;
    std::int64_t of_classes = 0;
    for (const ClassCycles& one : kernel.classes) {
      classes.hits += one.sums.hits;
      classes.latency += one.sums.latency;
      classes.idle += one.sums.idle;
      of_classes += one.wait_caused;
    }
    EXPECT_EQ(classes.hits, kernel.sums.hits);
    EXPECT_EQ(classes.cost(), kernel.sums.cost());
    EXPECT_EQ(of_classes, caused);
    EXPECT_TRUE(std::ranges::is_sorted(kernel.hot, std::ranges::greater{},
                                       [](const auto& one) { return one.sums.cost(); }));
    if (kernel.mangled_name == kSeveralTimes) {
      EXPECT_FALSE(kernel.occupancy);
      continue;
    }
    ASSERT_TRUE(kernel.occupancy);
    EXPECT_GT(kernel.occupancy->average, 0);
    EXPECT_LE(kernel.occupancy->average, static_cast<double>(kernel.occupancy->peak));
    EXPECT_LE(kernel.occupancy->peak, 32);
  }
}

/// Cycles of waves in a state by the step function of its wstates file.
std::int64_t area_of(const att::StateSteps& steps) {
  std::int64_t area = 0;
  for (std::size_t i = 0; i + 1 < steps.time.size(); ++i)
    area += steps.count[i] * (steps.time[i + 1] - steps.time[i]);
  return area;
}

/// Rows add up to the kernel's cycles, pairs of waits to what rows caused, bins to the states that
/// the decoder counted over all waves in files of their own.
TEST_P(RecordedThreadTrace, TheDetailAddsUp) {
  const fs::path folder = entry_of(GetParam().name, "ui_output");
  const ThreadTraces made = make(folder, 0, true);
  std::array<std::int64_t, att::kWaveStates> in_bins{};
  for (const KernelThreadTrace& kernel : made.kernels) {
    SCOPED_TRACE(kernel.kernel);
    ASSERT_NE(kernel.detail, nullptr);
    const TraceDetail& detail = *kernel.detail;
    CycleSums rows;
    std::int64_t caused = 0, pairs = 0;
    for (const DetailRow& row : detail.rows) {
      add_sums(row.sums, rows);
      caused += row.wait_caused;
    }
    for (const WaitPair& pair : detail.waits) pairs += pair.cycles;
    EXPECT_EQ(rows.hits, kernel.sums.hits);
    EXPECT_EQ(rows.latency, kernel.sums.latency);
    EXPECT_EQ(rows.stall, kernel.sums.stall);
    EXPECT_EQ(rows.idle, kernel.sums.idle);
    EXPECT_EQ(pairs, caused);
    EXPECT_TRUE(std::ranges::is_sorted(detail.rows, {}, &DetailRow::row));
    EXPECT_EQ(detail.wave_count, kernel.coverage.waves);
    std::array<std::int64_t, att::kWaveStates> of_kernel{};
    for (const auto& [engine, bins] : detail.states) {
      EXPECT_LE(bins.bins().size(), kMostStateBins);
      for (const StateBins::Bin& bin : bins.bins())
        for (std::size_t state = 0; state < bin.size(); ++state) of_kernel[state] += bin[state];
    }
    EXPECT_EQ(of_kernel, kernel.states);
    for (std::size_t state = 0; state < in_bins.size(); ++state) in_bins[state] += of_kernel[state];
    std::array<std::int64_t, att::kWaveStates> in_waves{};
    for (const WaveStates& wave : detail.waves) {
      EXPECT_LE(wave.runs.size(), kMostRuns);
      for (const att::StateRun& run : wave.runs)
        in_waves[static_cast<std::size_t>(run.state)] += run.duration;
    }
    if (detail.waves.size() == detail.wave_count) {
      EXPECT_EQ(in_waves, kernel.states);
    }
  }
  const auto found = att::find(folder);
  ASSERT_TRUE(found);
  const auto trace = att::read(found->at(0));
  ASSERT_TRUE(trace);
  for (std::size_t state = 1; state < in_bins.size(); ++state)
    EXPECT_EQ(in_bins[state], area_of(trace->states[state])) << state;
}

/// The stats file has the same sums by line and no more.
TEST_P(RecordedThreadTrace, TheStatsFileSaysTheSameOfLines) {
  const ThreadTraces whole = make(entry_of(GetParam().name, "ui_output"));
  const ThreadTraces stats = make(entry_of(GetParam().name, "stats_"));
  ASSERT_EQ(stats.kernels.size(), whole.kernels.size());
  for (std::size_t i = 0; i < whole.kernels.size(); ++i) {
    const KernelThreadTrace& a = whole.kernels[i];
    const KernelThreadTrace& b = stats.kernels[i];
    SCOPED_TRACE(a.kernel);
    EXPECT_TRUE(b.from_stats);
    EXPECT_EQ(b.kernel, a.kernel);
    EXPECT_EQ(b.sums.hits, a.sums.hits);
    EXPECT_EQ(b.sums.cost(), a.sums.cost());
    EXPECT_EQ(b.time.total(), a.time.total());
    EXPECT_EQ(b.confidence, Confidence::low);
    ASSERT_EQ(b.classes.size(), a.classes.size());
    for (std::size_t k = 0; k < a.classes.size(); ++k) {
      EXPECT_EQ(b.classes[k].instruction_class, a.classes[k].instruction_class);
      EXPECT_EQ(b.classes[k].sums.cost(), a.classes[k].sums.cost());
      EXPECT_EQ(b.classes[k].sums.stall, a.classes[k].sums.stall);
    }
    ASSERT_EQ(b.hot.size(), a.hot.size());
    for (std::size_t k = 0; k < a.hot.size(); ++k)
      EXPECT_EQ(b.hot[k].sums.cost(), a.hot[k].sums.cost());
  }
}

/// The rule alone finds what the decoder's links say: every link has its execution, with the same
/// instructions, and where the decoder has none the rule has nothing outstanding.
TEST_P(RecordedThreadTrace, TheCounterRuleAgreesWithTheLinks) {
  const auto found = att::find(entry_of(GetParam().name, "ui_output"));
  ASSERT_TRUE(found);
  auto trace = att::read(found->at(0));
  ASSERT_TRUE(trace);
  const WaitRule rule(trace->code, trace->gfxip);
  std::mutex mutex;
  std::uint64_t waits = 0, same = 0, links = 0, unused = 0, from_trace = 0;
  ASSERT_TRUE(att::read_waves(found->at(0), *trace, [&](std::size_t, const att::Wave& wave) {
    WaitCauses causes;
    find_wait_causes(wave, rule, causes);
    const std::lock_guard lock(mutex);
    links += wave.links.size();
    unused += causes.links_unused;
    for (std::size_t i = 0; i < causes.waits.size(); ++i) {
      const CausedWait& wait = causes.waits[i];
      const ExecutedWait& by_rule = causes.by_rule.waits[i];
      std::vector<att::RowIndex> a(causes.rows.begin() + wait.first,
                                   causes.rows.begin() + wait.first + wait.count);
      std::vector<att::RowIndex> b;
      for (std::uint32_t k = 0; k < by_rule.count; ++k)
        b.push_back(wave.instructions[causes.by_rule.causes[by_rule.first + k]].row);
      std::ranges::sort(a);
      std::ranges::sort(b);
      ++waits;
      if (a == b) ++same;
      if (wait.from_trace || by_rule.count == 0) ++from_trace;
    }
  }));
  EXPECT_GT(waits, 0U);
  EXPECT_EQ(same, waits);
  EXPECT_EQ(unused, 0U);
  if (GetParam().rdna) {
    EXPECT_EQ(links, 0U);  // there the rule stands alone
  } else {
    EXPECT_GT(links, 0U);
    EXPECT_EQ(from_trace, waits);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RecordedThreadTrace, testing::ValuesIn(kCaptures),
                         [](const auto& capture) { return std::string(capture.param.name); });

/// Where each executed wait has one link, the attribution can be taken from the raw files.
TEST_F(RecordedThreadTrace, WaitsByCauseFromTheRawLinks) {
  for (const char* const name : {"mi300_pc2", "mi300_shaderdata"}) {
    const fs::path folder = entry_of(name, "ui_output");
    const Raw code = raw_of(folder / "code.json").at("code");
    std::map<std::int64_t, std::int64_t> expected;  // by line of the cause
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string file = entry.path().filename().string();
      if (!file.starts_with("se") || file.find("_wv") == std::string::npos) continue;
      const Raw wave = raw_of(entry.path()).at("wave");
      std::size_t next = 0;
      for (const Raw& row : wave.at("instructions")) {
        const std::size_t line = row[4];
        if (!code[line][0].get<std::string>().starts_with("s_waitcnt")) continue;
        const Raw& link = wave.at("waitcnt").at(next++);
        ASSERT_EQ(link[0], row[4]);
        const auto many = static_cast<std::int64_t>(link[1].size());
        for (std::int64_t i = 0; i < many; ++i) {
          const std::int64_t cycles = row[3];
          expected[link[1][static_cast<std::size_t>(i)][0]] +=
              cycles / many + (i < cycles % many ? 1 : 0);
        }
      }
    }
    std::map<std::int64_t, std::int64_t> found;
    for (const auto made = make(folder); const KernelThreadTrace& kernel : made.kernels) {
      EXPECT_EQ(kernel.wait_unattributed, 0);
      for (const InstructionCycles& cause : kernel.causes)
        found[cause.row] += cause.wait_caused;  // rows are lines here
    }
    EXPECT_EQ(found, expected) << name;
  }
}

TEST_F(RecordedThreadTrace, ThreeDispatchesOfTwoKernels) {
  const ThreadTraces made = make(entry_of("mi300_pc2", "ui_output"));
  ASSERT_EQ(made.kernels.size(), 2U);
  const KernelThreadTrace& add = made.kernels[0];
  const KernelThreadTrace& subtract = made.kernels[1];
  EXPECT_EQ(add.mangled_name, "_Z15addition_kernelIfEvPT_PKfS3_ii");
  EXPECT_EQ(add.kernel,
            "void addition_kernel<float>(float*, float const*, float const*, int, int)");
  EXPECT_EQ(subtract.mangled_name, "_Z15subtract_kernelPfPKfS1_ii");
  EXPECT_EQ(subtract.coverage.engines, (std::vector<int>{2}));
  EXPECT_EQ(add.coverage.engines, (std::vector<int>{0, 1}));
  EXPECT_EQ(subtract.coverage.waves, 54U);
  EXPECT_EQ(subtract.coverage.waves_started, 486U);  // SOURCE: 486 starts on engine 2
  EXPECT_EQ(add.coverage.waves_started, 485U + 1455U);
  // A vector addition waits for its loads: the scalar ones of its arguments, and its data.
  EXPECT_EQ(subtract.hot[0].text, "s_waitcnt vmcnt(0)");
  EXPECT_EQ(subtract.causes[0].text.substr(0, 17), "global_load_dword");
  EXPECT_TRUE(subtract.lines[0].line.ends_with("vector-ops.cpp:99"));
  EXPECT_EQ(add.hot[0].chain.size(), 3U);
  // One kernel in several dispatches has nothing that is of one; 1426 ends of 1455 on engine 1.
  EXPECT_FALSE(add.occupancy);
  EXPECT_FALSE(add.simd_ipc);
  EXPECT_TRUE(add.wave_ipc);
  for (const char* const field : {"dispatch_id", "waves_of_dispatch", "occupancy", "simd_ipc"}) {
    const auto found = std::ranges::find(add.missing, field, &Missing::field);
    ASSERT_NE(found, add.missing.end()) << field;
    EXPECT_EQ(found->reason, "the trace holds several dispatches of this kernel");
    EXPECT_NE(found->remedy.find("--kernel-iteration-range"), std::string::npos);
    EXPECT_EQ(std::ranges::count(add.missing, field, &Missing::field), 1) << field;
  }
  EXPECT_EQ(add.confidence, Confidence::medium);
  EXPECT_EQ(add.confidence_reasons,
            (std::vector<std::string>{"the trace holds several dispatches of this kernel",
                                      "the end of 29 of 1940 waves was not recorded"}));
  EXPECT_TRUE(subtract.occupancy);
  EXPECT_TRUE(subtract.simd_ipc);
  EXPECT_EQ(subtract.confidence_reasons,  // on its engine
            (std::vector<std::string>{"recording held the waves up 1 time(s)"}));
}

TEST_F(RecordedThreadTrace, ClocksFromRealTime) {
  // From the first and last pairs of realtime.json, at 100 MHz.
  const auto clock = [](const char* capture) {
    return make(entry_of(capture, "ui_output")).kernels.at(0).core_clock_mhz;
  };
  EXPECT_NEAR(clock("mi300_shaderdata").value_or(0), (99936 - 7972) / 43.68, 1e-9);
  EXPECT_NEAR(clock("navi4_barriernop").value_or(0), (20412 - 17582) / 1.88, 1e-9);
  EXPECT_FALSE(clock("mi300_gemmv2"));
}

TEST_F(RecordedThreadTrace, ThreadsChangeNothing) {
  const fs::path folder = entry_of("mi300_pc2", "ui_output");
  const ThreadTraces one = make(folder, 1);
  const ThreadTraces four = make(folder, 4);
  ASSERT_EQ(one.kernels.size(), four.kernels.size());
  for (std::size_t i = 0; i < one.kernels.size(); ++i) {
    const KernelThreadTrace& a = one.kernels[i];
    const KernelThreadTrace& b = four.kernels[i];
    EXPECT_EQ(a.simd_ipc, b.simd_ipc);
    EXPECT_EQ(a.wait_by_class, b.wait_by_class);
    ASSERT_EQ(a.waits.size(), b.waits.size());
    for (std::size_t k = 0; k < a.waits.size(); ++k) {
      EXPECT_EQ(a.waits[k].wait, b.waits[k].wait);
      EXPECT_EQ(a.waits[k].cause, b.waits[k].cause);
      EXPECT_EQ(a.waits[k].cycles, b.waits[k].cycles);
    }
    ASSERT_EQ(a.lines.size(), b.lines.size());
    for (std::size_t k = 0; k < a.lines.size(); ++k) EXPECT_EQ(a.lines[k].line, b.lines[k].line);
  }
}

}  // namespace
}  // namespace perflab::analyze
