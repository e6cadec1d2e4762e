// One traced dispatch after the other: read, fold its waves, a KernelThreadTrace per kernel that
// ran.
#include "analyze/thread_trace/make_thread_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <ranges>
#include <set>

#include "analyze/thread_trace/confidence.h"
#include "analyze/thread_trace/cycles.h"
#include "analyze/thread_trace/fold.h"
#include "analyze/thread_trace/join.h"
#include "analyze/thread_trace/make_detail.h"
#include "analyze/thread_trace/occupancy_over_time.h"
#include "att/read_thread_trace.h"

namespace perflab::analyze {
namespace {

constexpr const char* kNoName = "unknown kernel";
constexpr const char* kSeveral = "the trace holds several dispatches of this kernel";
constexpr const char* kMoreWaves =
    "more waves of this kernel started than one launch of it has: the trace holds several "
    "dispatches, or is of another run";
constexpr const char* kTraceOne = "trace one of them: rocprofv3 --att --kernel-iteration-range";

/// MHz: shader clocks between the first and last record of each engine, over the real time between
/// them (docs/facts/thread_trace.md "Other files").
std::optional<double> core_clock_mhz(const att::ThreadTrace& trace) {
  if (!trace.realtime_hz || *trace.realtime_hz <= 0) return std::nullopt;
  double cycles = 0;
  double ticks = 0;
  for (const att::ShaderEngine& engine : trace.engines) {
    if (engine.clock.size() < 2) continue;
    const att::ClockPair& first = engine.clock.front();
    const att::ClockPair& last = engine.clock.back();
    const double passed = static_cast<double>(last.cycles) - static_cast<double>(first.cycles);
    const double real = static_cast<double>(last.realtime) - static_cast<double>(first.realtime);
    if (passed <= 0 || real <= 0) continue;
    cycles += passed;
    ticks += real;
  }
  if (ticks <= 0) return std::nullopt;
  return cycles / ticks * static_cast<double>(*trace.realtime_hz) / 1e6;
}

/// Everything of one folder or stats file.
class TraceFigures {
 public:
  TraceFigures(const att::Found& found, const att::ThreadTrace& trace, std::size_t number,
               const trace::Trace& recording, const std::vector<Kernel>& kernels, bool keep_detail)
      : found_(found),
        trace_(trace),
        number_(number),
        recording_(recording),
        recorded_(kernels),
        table_(trace.code),
        kernels_(trace),
        rule_(trace.code, trace.gfxip),
        keep_detail_(keep_detail),
        fold_(table_, kernels_, rule_, keep_detail) {}

  WaveFold& fold() { return fold_; }

  /// After the waves were folded.
  std::vector<KernelThreadTrace> make() {
    find_lifetimes();
    collect_rows();
    std::vector<KernelThreadTrace> out;
    const auto many = std::ranges::count_if(std::views::iota(std::size_t{0}, kernels_.all().size()),
                                            [&](std::size_t i) { return ran(i); });
    for (std::size_t i = 0; i < kernels_.all().size(); ++i)
      if (ran(i)) out.push_back(make(i, many == 1));
    std::ranges::stable_sort(out, std::ranges::greater{},
                             [](const KernelThreadTrace& one) { return one.sums.cost(); });
    return out;
  }

 private:
  [[nodiscard]] bool ran(std::size_t kernel) const {
    return fold_.folds()[kernel].waves > 0 || !rows_[kernel].empty() ||
           (kernel != kernels_.unknown() && !lifetimes_[kernel].waves.empty());
  }

  void find_lifetimes() {
    lifetimes_ = pair_lifetimes(trace_.engines, kernels_.all().size(),
                                [&](std::int64_t id) { return kernels_.of_id(id); });
  }

  /// Executed code rows by kernel, where there are no waves to take their sums from.
  void collect_rows() {
    rows_.assign(kernels_.all().size(), {});
    const bool waves =
        std::ranges::any_of(fold_.folds(), [](const KernelFold& fold) { return fold.waves > 0; });
    if (waves) return find_unseen_rows();
    for (att::RowIndex row = 0; row < trace_.code.size(); ++row)
      if (table_.is_instruction(row) && trace_.code[row].hits > 0)
        rows_[kernels_.of_row(row)].push_back(row);
  }

  /// Rows that the code has executions of, and no wave: waves of theirs are not there.
  void find_unseen_rows() {
    std::vector<bool> executed(trace_.code.size(), false);
    for (const KernelFold& fold : fold_.folds())
      for (const auto& [row, cycles] : fold.rows) executed[row] = true;
    for (att::RowIndex row = 0; row < trace_.code.size(); ++row)
      if (table_.is_instruction(row) && trace_.code[row].hits > 0 && !executed[row])
        ++unseen_rows_[kernels_.of_row(row)];
  }

  KernelThreadTrace make(std::size_t kernel, bool only_one) {
    const TraceKernel& names = kernels_.all()[kernel];
    const KernelFold& fold = fold_.folds()[kernel];
    KernelThreadTrace out;
    out.trace = number_;
    out.gfxip = trace_.gfxip;
    out.version = trace_.version;
    out.from_stats = trace_.form == att::Form::stats;
    if (fold.waves > 0)
      add_fold(trace_, table_, fold, out);
    else
      add_code_rows(trace_, table_, rule_, rows_[kernel], out);
    add_names(names, only_one, out);
    add_coverage(kernel, out);
    if (const auto unseen = unseen_rows_.find(kernel); unseen != unseen_rows_.end())
      out.coverage.rows_differing += unseen->second;
    out.core_clock_mhz = core_clock_mhz(trace_);
    const KernelLifetimes& lifetimes = lifetimes_[kernel];
    const TraceDoubts doubts{.several_dispatches = why_several(lifetimes, out.coverage),
                             .unended = lifetimes.unended};
    if (!doubts.several_dispatches.empty())
      leave_out_one_dispatch(out);
    else
      out.occupancy = occupancy_over_time(lifetimes);
    add_missing(doubts, out);
    judge_confidence(out, fold.instructions, doubts);
    if (keep_detail_) out.detail = detail_of(kernel);
    return out;
  }

  [[nodiscard]] std::shared_ptr<const TraceDetail> detail_of(std::size_t kernel) const {
    const KernelFold& fold = fold_.folds()[kernel];
    TraceDetail detail =
        make_detail(trace_, table_, kernels_, kernel, fold,
                    fold.waves > 0 ? row_sums(fold) : row_sums(trace_, rows_[kernel]));
    add_source_texts(found_, trace_, detail);
    return std::make_shared<const TraceDetail>(std::move(detail));
  }

  /// Why it is taken to have run more than once; empty: it is not.
  static std::string why_several(const KernelLifetimes& lifetimes, const TraceCoverage& coverage) {
    if (several_dispatches(lifetimes)) return kSeveral;
    if (coverage.waves_of_dispatch && coverage.waves_started > *coverage.waves_of_dispatch)
      return kMoreWaves;
    return {};
  }

  /// Figures that are of one dispatch only.
  static void leave_out_one_dispatch(KernelThreadTrace& out) {
    out.simd_ipc.reset();
    out.coverage.waves_of_dispatch.reset();
    out.dispatch_id.reset();
  }

  void add_names(const TraceKernel& names, bool only_one, KernelThreadTrace& out) {
    out.mangled_name = names.mangled;
    out.kernel = names.mangled.empty() ? kNoName : names.mangled;
    if (!names.demangled.empty()) out.kernel = names.demangled;
    const TraceJoin join = join_kernel(names, trace_.dispatch_id, recording_, recorded_);
    if (only_one || join.by_dispatch) out.dispatch_id = trace_.dispatch_id;
    if (!join.kernel) return;
    out.analysis_kernel = join.kernel;
    out.kernel = recorded_[*join.kernel].name;
    out.coverage.waves_of_dispatch = join.waves_of_dispatch;
  }

  void add_coverage(std::size_t kernel, KernelThreadTrace& out) const {
    TraceCoverage& coverage = out.coverage;
    std::set<int> ran_on;
    for (const Lifetime& life : lifetimes_[kernel].waves) ran_on.insert(life.engine);
    for (const auto& [engine, cu] : fold_.folds()[kernel].cus) ran_on.insert(engine);
    for (const att::ShaderEngine& engine : trace_.engines) {
      if (!ran_on.empty() && !ran_on.contains(engine.number)) continue;
      coverage.engines.push_back(engine.number);
      coverage.packets_lost += engine.packets_lost;
      coverage.trace_stalls += engine.trace_stalls;
    }
    coverage.waves_started = lifetimes_[kernel].waves.size();
    coverage.dropped = trace_.dropped;
  }

  void add_missing(const TraceDoubts& doubts, KernelThreadTrace& out) const {
    const auto missing = [&](std::string field, std::string reason, std::string remedy = {}) {
      out.missing.push_back(
          {.field = std::move(field), .reason = std::move(reason), .remedy = std::move(remedy)});
    };
    if (!out.analysis_kernel)
      missing("analysis_kernel",
              recorded_.empty() ? "no database of a run was given"
                                : "no kernel of the run has this name",
              "give the database of the same program with the thread trace");
    if (!out.core_clock_mhz)
      missing("core_clock_mhz", "the trace has no two records of real time (realtime.json)");
    const std::string& why = doubts.several_dispatches;
    const bool several = !why.empty();
    if (several)
      for (const char* const field : {"dispatch_id", "waves_of_dispatch", "occupancy"})
        missing(field, why, kTraceOne);
    if (!out.coverage.waves_of_dispatch && !several)
      missing("waves_of_dispatch", out.analysis_kernel
                                       ? "the recordings do not tell the launch of this dispatch"
                                       : "the kernel is in none of the recordings");
    if (!out.instructions_per_wave) {
      const bool sums = out.from_stats || out.sums.hits > 0;
      const char* const reason =
          sums ? "there are only sums by instruction, no waves" : "none of its waves was traced";
      const char* const remedy = sums ? "give the ui_output folder of the dispatch"
                                      : "trace it on another CU: rocprofv3 --att --att-target-cu N";
      for (const char* const field : {"instructions_per_wave", "wave_ipc", "simd_ipc"})
        missing(field, reason, remedy);
    } else if (several) {
      missing("simd_ipc", why, kTraceOne);
    }
    if (out.occupancy || several) return;
    const std::uint64_t started = out.coverage.waves_started;
    if (doubts.unended < started && too_many_unended(doubts.unended, started))
      missing("occupancy",
              fmt::format("the end of {} of {} waves was not recorded", doubts.unended, started),
              "trace with a larger --att-buffer-size, or fewer shader engines");
    else
      missing("occupancy", "the trace has no wave with its start and its end (occupancy.json)");
  }

  const att::Found& found_;
  const att::ThreadTrace& trace_;
  std::size_t number_;
  const trace::Trace& recording_;
  const std::vector<Kernel>& recorded_;
  RowTable table_;
  TraceKernels kernels_;
  WaitRule rule_;
  bool keep_detail_;
  WaveFold fold_;
  std::vector<KernelLifetimes> lifetimes_;            ///< by kernel
  std::vector<std::vector<att::RowIndex>> rows_;      ///< by kernel
  std::map<std::size_t, std::uint64_t> unseen_rows_;  ///< by kernel
};

void add_warnings(const att::ThreadTrace& trace, const std::vector<KernelThreadTrace>& kernels,
                  std::vector<std::string>& warnings) {
  const auto warn = [&](std::string text) {
    warnings.push_back(fmt::format("thread trace {}: {}", trace.name, text));
  };
  for (const auto& [reason, many] : trace.dropped) warn(fmt::format("{} ({})", reason, many));
  std::uint64_t lost = 0;
  for (const att::ShaderEngine& engine : trace.engines) lost += engine.packets_lost;
  if (lost > 0)
    warn(
        fmt::format("data was lost {} time(s), counts are partial: trace with a larger "
                    "--att-buffer-size, or fewer shader engines",
                    lost));
  const bool cycles = std::ranges::any_of(
      kernels, [](const KernelThreadTrace& kernel) { return kernel.sums.hits > 0; });
  const bool waves = std::ranges::any_of(
      kernels, [](const KernelThreadTrace& kernel) { return kernel.coverage.waves > 0; });
  if (!cycles && waves)
    warn(
        "the code of what its waves executed is not known: code.json is missing or holds none of "
        "it");
  else if (!cycles)
    warn("no wave ran on the traced CU: trace another one, rocprofv3 --att --att-target-cu N");
}

}  // namespace

Result<ThreadTraces> make_thread_traces(const std::vector<std::filesystem::path>& places,
                                        const trace::Trace& trace,
                                        const std::vector<Kernel>& kernels, unsigned threads,
                                        bool keep_detail, const TellProgress& progress) {
  ThreadTraces out;
  PERFLAB_TRY(const std::vector<att::Found> all, att::find_all(places));
  for (const att::Found& found : all) {
    PERFLAB_TRY(att::ThreadTrace read, att::read(found));
    TraceFigures figures(found, read, out.traces.size(), trace, kernels, keep_detail);
    std::mutex in_order;  // told by several threads, the share that is done never falls
    std::size_t waves = 0;
    const auto take = [&](std::size_t, const att::Wave& wave) {
      figures.fold().add(wave);
      if (!progress) return;
      const std::lock_guard lock(in_order);
      const double part = static_cast<double>(++waves) / static_cast<double>(read.waves.size());
      progress("reading thread traces",
               (static_cast<double>(out.traces.size()) + part) / static_cast<double>(all.size()));
    };
    PERFLAB_TRY_VOID(att::read_waves(found, read, take, threads));
    std::vector<KernelThreadTrace> traced = figures.make();
    add_warnings(read, traced, out.warnings);
    for (const KernelThreadTrace& kernel : traced)
      if (!trace.sources.empty() && !kernel.analysis_kernel && kernel.sums.hits > 0)
        out.warnings.push_back(fmt::format(
            "thread trace {}: {} was traced, but is not a kernel of the recordings: it may be of "
            "another program",
            read.name, kernel.kernel));
    out.traces.push_back(read.name);
    std::ranges::move(traced, std::back_inserter(out.kernels));
  }
  return out;
}

}  // namespace perflab::analyze
