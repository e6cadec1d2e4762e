// Builder of `thread_traces`. Cycles are those of the traced waves: each stands beside its share.
#include "report/thread_trace/thread_trace_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "code/instructions/instruction_mix.h"
#include "report/kit/document.h"

namespace perflab::report {
namespace {

using analyze::CycleSums;
using analyze::InstructionCycles;
using analyze::KernelThreadTrace;

constexpr std::string_view kOnlySums = "a stats file holds the sums of each line and no waves";
constexpr std::string_view kNoWaves = "none of its waves was traced";
constexpr std::string_view kNoEventsVersion = "3.0.0";  // docs/facts/thread_trace.md "Versions"
constexpr std::string_view kNoEvents = "layout 3.0.0 and stats files record no events";
constexpr std::string_view kNoStarts = "no start of a wave was recorded (occupancy.json)";
constexpr std::string_view kNoCycles = "no traced wave ran this kernel";

/// By att::WaveState.
constexpr std::array<const char*, att::kWaveStates> kStateNames = {"empty", "idle", "exec", "wait",
                                                                   "stall"};

void put_sums(Json& out, const CycleSums& sums) {
  out["hits"] = sums.hits;
  out["latency"] = sums.latency;
  out["stall"] = sums.stall;
  out["idle"] = sums.idle;
  out["cost"] = sums.cost();
}

Json dropped_json(const att::Dropped& dropped) {
  Json out = Json::array();
  for (const auto& [reason, count] : dropped) out.push_back({{"reason", reason}, {"count", count}});
  return out;
}

/// Builds the object of one kernel, and its `missing` on the way.
class TracedKernel {
 public:
  explicit TracedKernel(const KernelThreadTrace& kernel)
      : kernel_(kernel), reasons_(kernel.missing) {}

  Json build() {
    Json out = object_with_room(24);
    put_traced_identity(kernel_, reasons_, out);
    out["version"] = reasons_.text("version", kernel_.version, "the trace does not say it");
    out["confidence"] = analyze::to_string(kernel_.confidence);
    out["confidence_reasons"] = kernel_.confidence_reasons;
    out["coverage"] = coverage();
    Json cycles = Json::object();
    put_sums(cycles, kernel_.sums);
    cycles["issue"] = kernel_.sums.issue();
    out["cycles"] = std::move(cycles);
    out["wave_cycles"] =
        kernel_.wave_cycles > 0
            ? Json(kernel_.wave_cycles)
            : reasons_.null("wave_cycles", {}, kernel_.from_stats ? kOnlySums : kNoCycles);
    out["time"] = time();
    out["states"] = states();
    out["rates"] = rates();
    out["classes"] = classes();
    out["hot"] = instructions("hot", kernel_.hot);
    out["lines"] = lines();
    out["waits"] = waits();
    out["occupancy"] = occupancy();
    out["missing"] = reasons_.json();
    return out;
  }

 private:
  /// A part of a whole, 0 to 1.
  Json share(const std::string& field, std::int64_t part, std::int64_t whole) {
    if (whole > 0) return static_cast<double>(part) / static_cast<double>(whole);
    return reasons_.null(field, {}, kNoCycles);
  }

  Json part(const std::string& field, std::int64_t cycles, std::int64_t whole) {
    return {{"cycles", cycles}, {"share", share(field + ".share", cycles, whole)}};
  }

  Json coverage() {
    const analyze::TraceCoverage& seen = kernel_.coverage;
    Json cus = Json::array();
    for (const auto& [engine, cu] : seen.cus) cus.push_back({{"engine", engine}, {"cu", cu}});
    // `unknown`: why there is no count; empty: there is one.
    const auto count = [&](const char* name, std::uint64_t value, std::string_view unknown) {
      return unknown.empty() ? Json(value)
                             : reasons_.null(fmt::format("coverage.{}", name), {}, unknown);
    };
    const std::string_view no_waves = kernel_.from_stats ? kOnlySums : std::string_view();
    // Without waves nothing says which waits were executed.
    const std::string_view no_waits = kernel_.from_stats ? kOnlySums
                                      : seen.waves == 0  ? kNoWaves
                                                         : std::string_view();
    // Whoever has instructions was started: none seen starting means that nobody looked.
    const std::string_view no_starts =
        seen.waves_started == 0 && seen.waves > 0 ? kNoStarts : no_waves;
    const std::string_view no_events =
        kernel_.from_stats || kernel_.version == kNoEventsVersion ? kNoEvents : std::string_view();
    return {{"engines", seen.engines},
            {"cus", std::move(cus)},
            {"waves", count("waves", seen.waves, no_waves)},
            {"waves_started", count("waves_started", seen.waves_started, no_starts)},
            {"waves_of_dispatch",
             reasons_.value("coverage.waves_of_dispatch", seen.waves_of_dispatch,
                            {"waves_of_dispatch"}, "the dispatch is in none of the recordings")},
            {"packets_lost", count("packets_lost", seen.packets_lost, no_events)},
            {"trace_stalls", count("trace_stalls", seen.trace_stalls, no_events)},
            {"unattributed", seen.unattributed},
            {"rows_differing", seen.rows_differing},
            {"waits", count("waits", seen.waits, no_waits)},
            {"waits_by_rule", count("waits_by_rule", seen.waits_by_rule, no_waits)},
            {"dropped", dropped_json(seen.dropped)}};
  }

  Json time() {
    const analyze::WaveTime& time = kernel_.time;
    const std::int64_t whole = time.total();
    return {{"cycles", whole},
            {"issue", part("time.issue", time.issue, whole)},
            {"wait", part("time.wait", time.wait, whole)},
            {"barrier", part("time.barrier", time.barrier, whole)},
            {"issue_stall", part("time.issue_stall", time.issue_stall, whole)},
            {"idle", part("time.idle", time.idle, whole)}};
  }

  Json states() {
    const std::int64_t whole =
        std::accumulate(kernel_.states.begin(), kernel_.states.end(), std::int64_t{0});
    if (whole <= 0)
      return reasons_.null("states", {},
                           kernel_.from_stats ? kOnlySums : "the waves have no timelines");
    Json out = Json::object();
    for (std::size_t i = 0; i < kStateNames.size(); ++i)
      out[kStateNames[i]] =
          part(fmt::format("states.{}", kStateNames[i]), kernel_.states[i], whole);
    return out;
  }

  Json rates() {
    const std::string_view otherwise = kernel_.from_stats ? kOnlySums : kNoCycles;
    return {
        {"instructions_per_wave",
         reasons_.value("rates.instructions_per_wave", kernel_.instructions_per_wave,
                        {"instructions_per_wave"}, otherwise)},
        {"wave_ipc", reasons_.value("rates.wave_ipc", kernel_.wave_ipc, {"wave_ipc"}, otherwise)},
        {"simd_ipc", reasons_.value("rates.simd_ipc", kernel_.simd_ipc, {"simd_ipc"}, otherwise)},
        {"core_clock_mhz",
         reasons_.value("rates.core_clock_mhz", kernel_.core_clock_mhz, {"core_clock_mhz"},
                        "the trace has no two records of the real time")}};
  }

  Json classes() {
    Json out = Json::array();
    for (const analyze::ClassCycles& one : kernel_.classes) {
      Json row = object_with_room(8);
      row["class"] = code::to_string(one.instruction_class);
      put_sums(row, one.sums);
      row["cost_share"] = share(fmt::format("classes[{}].cost_share", out.size()), one.sums.cost(),
                                kernel_.sums.cost());
      row["wait_caused"] = one.wait_caused;
      out.push_back(std::move(row));
    }
    return out;
  }

  Json instructions(const std::string& list, const std::vector<InstructionCycles>& instructions) {
    Json out = Json::array();
    for (const InstructionCycles& one : instructions) {
      Json row = object_with_room(13);
      row["row"] = one.row;
      row["text"] = one.text;
      row["class"] = code::to_string(one.instruction_class);
      row["code_object"] = one.code_object;
      row["vaddr"] = one.vaddr;
      row["chain"] = one.chain;
      put_sums(row, one.sums);
      row["cost_share"] = share(fmt::format("{}[{}].cost_share", list, out.size()), one.sums.cost(),
                                kernel_.sums.cost());
      row["wait_caused"] = one.wait_caused;
      out.push_back(std::move(row));
    }
    return out;
  }

  Json lines() {
    if (kernel_.lines.empty())
      return reasons_.null("lines", {}, "the code has no source lines (compile with -g)");
    Json out = Json::array();
    for (const analyze::SourceCycles& one : kernel_.lines) {
      const std::string path = fmt::format("lines[{}]", out.size());
      Json row = object_with_room(9);
      row["line"] = reasons_.text(path + ".line", one.line, "these instructions have none");
      row["chain"] = one.chain;
      put_sums(row, one.sums);
      row["cost_share"] = share(path + ".cost_share", one.sums.cost(), kernel_.sums.cost());
      row["wait_caused"] = one.wait_caused;
      out.push_back(std::move(row));
    }
    return out;
  }

  Json waits() {
    const std::int64_t whole = kernel_.sums.cost();
    Json by_class = Json::array();
    for (const auto& [instruction_class, cycles] : kernel_.wait_by_class) {
      Json row = part(fmt::format("waits.by_class[{}]", by_class.size()), cycles, whole);
      row["class"] = code::to_string(instruction_class);
      by_class.push_back(std::move(row));
    }
    Json pairs = Json::array();
    for (const analyze::WaitPair& pair : kernel_.waits)
      pairs.push_back({{"wait", end_json(pair.wait, pair.wait_text)},
                       {"cause", end_json(pair.cause, pair.cause_text)},
                       {"cycles", pair.cycles},
                       {"times", pair.times}});
    return {{"links", analyze::to_string(kernel_.links)},
            {"by_class", std::move(by_class)},
            {"unattributed", part("waits.unattributed", kernel_.wait_unattributed, whole)},
            {"other", part("waits.other", kernel_.wait_other, whole)},
            {"causes", instructions("waits.causes", kernel_.causes)},
            {"pairs", std::move(pairs)}};
  }

  /// One end of a wait.
  static Json end_json(att::RowIndex row, const std::string& text) {
    return {{"row", row == att::kNoRow ? Json(nullptr) : Json(row)}, {"text", or_null(text)}};
  }

  Json occupancy() {
    if (!kernel_.occupancy)
      return reasons_.null("occupancy", {},
                           kernel_.from_stats ? kOnlySums : "no start and end of a wave was seen");
    const analyze::OccupancyOverTime& seen = *kernel_.occupancy;
    return {{"span_cycles", seen.span},
            {"average", seen.average},
            {"peak", seen.peak},
            {"cus", seen.cus},
            {"bins", seen.bins},
            {"ramp_share", seen.ramp_share},
            {"tail_share", seen.tail_share},
            {"mean_lifetime", seen.mean_lifetime},
            {"longest_lifetime", seen.longest_lifetime}};
  }

  const KernelThreadTrace& kernel_;
  NullReasons reasons_;
};

}  // namespace

void put_traced_identity(const KernelThreadTrace& kernel, NullReasons& reasons, Json& out) {
  out["trace"] = kernel.trace;
  out["name"] = kernel.kernel;
  out["mangled_name"] =
      reasons.text("mangled_name", kernel.mangled_name, "the trace has only an address of it");
  out["kernel"] = reasons.value("kernel", kernel.analysis_kernel, {"analysis_kernel"},
                                "it is not a kernel of the recordings, or none were given");
  out["dispatch_id"] = reasons.value(
      "dispatch_id", kernel.dispatch_id, {"dispatch_id"},
      "the name of the trace does not say it, or several kernels ran in it and the name does not "
      "say whose it is");
  out["gfxip"] = reasons.value("gfxip", kernel.gfxip, {}, "the trace does not say it");
  out["form"] = kernel.from_stats ? "stats" : "ui_output";
}

Json thread_traces_json(const analyze::ThreadTraces& traces) {
  Json kernels = Json::array();
  for (const KernelThreadTrace& kernel : traces.kernels)
    kernels.push_back(TracedKernel(kernel).build());
  return {{"traces", traces.traces}, {"kernels", std::move(kernels)}};
}

}  // namespace perflab::report
