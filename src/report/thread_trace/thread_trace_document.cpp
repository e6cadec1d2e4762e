// Builder of thread_trace.json. What stands in analysis.json too is made from the same figures.
#include "report/thread_trace/thread_trace_document.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "analyze/thread_trace/detail.h"
#include "analyze/thread_trace/fold.h"
#include "analyze/thread_trace/row_table.h"
#include "code/instructions/instruction_mix.h"
#include "report/kit/document.h"
#include "report/kit/trace_sources.h"
#include "report/thread_trace/thread_trace_json.h"

namespace perflab::report {
namespace {

using analyze::CycleSums;
using analyze::DetailRow;
using analyze::KernelThreadTrace;
using analyze::TraceDetail;

/// Room of one kernel, and its rows that have some, ascending.
struct KernelShare {
  std::vector<std::size_t> rows;  ///< indices into TraceDetail::rows
  std::size_t pairs = 0, source_lines = 0, waves = 0;
};

/// The rows that are shown: executed ones before others, then by what they cost.
std::vector<std::size_t> chosen_rows(const TraceDetail& detail, std::size_t room) {
  std::vector<std::size_t> rows(detail.rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  if (rows.size() <= room) return rows;
  const auto order = [&](std::size_t index) {
    const DetailRow& row = detail.rows[index];
    return std::tuple(row.sums.hits == 0 && row.wait_caused == 0,
                      -(row.sums.cost() + row.wait_caused), index);
  };
  std::ranges::nth_element(rows, rows.begin() + static_cast<std::ptrdiff_t>(room), {}, order);
  rows.resize(room);
  std::ranges::sort(rows);
  return rows;
}

Json cycles_json(const CycleSums& sums) {
  return {{"hits", sums.hits},
          {"latency", sums.latency},
          {"stall", sums.stall},
          {"idle", sums.idle},
          {"cost", sums.cost()}};
}

/// Builds the object of one kernel, and its `missing` on the way.
class KernelDetail {
 public:
  KernelDetail(const KernelThreadTrace& kernel, const KernelShare& share)
      : kernel_(kernel),
        detail_(*kernel.detail),
        share_(share),
        sources_(detail_, share.rows),
        reasons_(kernel.missing) {}

  Json build() {
    Json out = object_with_room(22);
    put_traced_identity(kernel_, reasons_, out);
    out["confidence"] = analyze::to_string(kernel_.confidence);
    out["confidence_reasons"] = kernel_.confidence_reasons;
    out["cycles"] = cycles_json(kernel_.sums);
    out["rows"] = rows();
    out["rows_left_out"] = rows_left_out();
    out["labels"] = labels();
    out["chains"] = sources_.chains_json();
    out["lines"] = sources_.lines_json();
    out["sources"] = sources_.files_json(share_.source_lines, reasons_);
    out["waits"] = waits();
    out["states"] = states();
    put_waves(out);
    out["occupancy"] = occupancy();
    out["missing"] = reasons_.json();
    return out;
  }

 private:
  /// A list over the rows that are shown.
  template <class Value>
  Json column(const Value& value) const {
    Json out = Json::array();
    out.get_ref<Json::array_t&>().reserve(share_.rows.size());
    for (const std::size_t index : share_.rows) out.push_back(value(detail_.rows[index]));
    return out;
  }

  Json rows() {
    Json out = object_with_room(12);
    out["row"] = column([](const DetailRow& row) { return row.row; });
    out["text"] = column([](const DetailRow& row) { return row.text; });
    out["class"] =
        column([](const DetailRow& row) { return code::to_string(row.instruction_class); });
    out["code_object"] = column([](const DetailRow& row) { return row.code_object; });
    out["vaddr"] = column([](const DetailRow& row) { return row.vaddr; });
    out["chain"] = column([&](const DetailRow& row) { return or_null(sources_.chain(row)); });
    out["hits"] = column([](const DetailRow& row) { return row.sums.hits; });
    out["latency"] = column([](const DetailRow& row) { return row.sums.latency; });
    out["stall"] = column([](const DetailRow& row) { return row.sums.stall; });
    out["idle"] = column([](const DetailRow& row) { return row.sums.idle; });
    out["cost"] = column([](const DetailRow& row) { return row.sums.cost(); });
    out["wait_caused"] = column([](const DetailRow& row) { return row.wait_caused; });
    return out;
  }

  [[nodiscard]] Json rows_left_out() const {
    CycleSums sums;
    std::int64_t wait_caused = 0;
    auto shown = share_.rows.begin();
    for (std::size_t i = 0; i < detail_.rows.size(); ++i) {
      if (shown != share_.rows.end() && *shown == i) {
        ++shown;
        continue;
      }
      analyze::add_sums(detail_.rows[i].sums, sums);
      analyze::add_cycles(wait_caused, detail_.rows[i].wait_caused);
    }
    return {{"rows", detail_.rows.size() - share_.rows.size()},
            {"cycles", cycles_json(sums)},
            {"wait_caused", wait_caused}};
  }

  /// Those with a row that is shown before the next label.
  [[nodiscard]] Json labels() const {
    Json out = Json::array();
    auto row = share_.rows.begin();
    for (std::size_t i = 0; i < detail_.labels.size(); ++i) {
      while (row != share_.rows.end() && detail_.rows[*row].row < detail_.labels[i].row) ++row;
      const bool used =
          row != share_.rows.end() &&
          (i + 1 == detail_.labels.size() || detail_.rows[*row].row < detail_.labels[i + 1].row);
      if (used) out.push_back({{"row", detail_.labels[i].row}, {"name", detail_.labels[i].name}});
    }
    return out;
  }

  [[nodiscard]] Json waits() const {
    Json pairs = Json::array();
    std::int64_t cycles_left_out = 0;
    for (const analyze::WaitPair& pair : detail_.waits) {
      if (pairs.size() < share_.pairs)
        pairs.push_back({pair.wait, pair.cause, pair.cycles, pair.times});
      else
        analyze::add_cycles(cycles_left_out, pair.cycles);
    }
    const std::size_t left_out = detail_.waits.size() - pairs.size();
    return {{"links", analyze::to_string(kernel_.links)},
            {"pairs", std::move(pairs)},
            {"left_out", {{"pairs", left_out}, {"cycles", cycles_left_out}}}};
  }

  /// Why there is nothing of single waves.
  [[nodiscard]] const char* why_no_waves() const {
    return kernel_.from_stats        ? "a stats file holds the sums of each line and no waves"
           : detail_.wave_count == 0 ? "none of its waves was traced"
                                     : "the waves have no timelines";
  }

  Json states() {
    if (detail_.states.empty()) return reasons_.null("states", {}, why_no_waves());
    constexpr std::array<const char*, att::kWaveStates> kNames = {"empty", "idle", "exec", "wait",
                                                                  "stall"};
    Json out = Json::array();
    for (const auto& [engine, bins] : detail_.states) {
      Json one = {{"engine", engine}, {"begin", bins.begin()}, {"bin_cycles", bins.bin_cycles()}};
      for (std::size_t state = 0; state < kNames.size(); ++state) {
        Json cycles = Json::array();
        for (const analyze::StateBins::Bin& bin : bins.bins()) cycles.push_back(bin[state]);
        one[kNames[state]] = std::move(cycles);
      }
      out.push_back(std::move(one));
    }
    return out;
  }

  void put_waves(Json& out) {
    std::vector<const analyze::WaveStates*> shown;
    for (const analyze::WaveStates& wave : detail_.waves)
      if (shown.size() < share_.waves) shown.push_back(&wave);
    out["waves_left_out"] = detail_.wave_count - shown.size();
    if (detail_.wave_count == 0) {
      out["waves"] = reasons_.null("waves", {}, why_no_waves());
      return;
    }
    std::ranges::sort(shown, {}, [](const analyze::WaveStates* wave) {
      return std::tuple(wave->place, wave->begin);
    });
    Json waves = Json::array();
    for (const analyze::WaveStates* wave : shown) waves.push_back(wave_json(*wave));
    out["waves"] = std::move(waves);
  }

  static Json wave_json(const analyze::WaveStates& wave) {
    Json runs = Json::array();
    for (const att::StateRun& run : wave.runs) {
      runs.push_back(static_cast<int>(run.state));
      runs.push_back(run.duration);
    }
    return {{"engine", wave.place.shader_engine},
            {"cu", wave.place.cu < 0 ? Json(nullptr) : Json(wave.place.cu)},
            {"simd", wave.place.simd},
            {"slot", wave.place.slot},
            {"id", wave.place.id},
            {"begin", wave.begin},
            {"end", wave.end},
            {"instructions", wave.instructions},
            {"exact", wave.exact},
            {"runs", std::move(runs)}};
  }

  Json occupancy() {
    if (!kernel_.occupancy)
      return reasons_.null(
          "occupancy", {},
          kernel_.from_stats ? why_no_waves() : "no start and end of a wave was seen");
    const analyze::OccupancyOverTime& seen = *kernel_.occupancy;
    return {
        {"span_cycles", seen.span}, {"peak", seen.peak}, {"cus", seen.cus}, {"bins", seen.bins}};
  }

  const KernelThreadTrace& kernel_;
  const TraceDetail& detail_;
  const KernelShare& share_;
  TraceSources sources_;
  NullReasons reasons_;
};

/// The room of each kernel.
std::vector<KernelShare> shares_of(const std::vector<KernelThreadTrace>& kernels,
                                   const ThreadTraceLimits& limits) {
  std::vector<KernelShare> shares(kernels.size());
  const auto share = [&](std::size_t room, const auto& need, const auto& take) {
    std::vector<std::size_t> needs;
    for (std::size_t i = 0; i < kernels.size(); ++i) needs.push_back(need(i));
    const std::vector<std::size_t> given = fair_shares(needs, room);
    for (std::size_t i = 0; i < kernels.size(); ++i) take(i, given[i]);
  };
  share(
      limits.rows, [&](std::size_t i) { return kernels[i].detail->rows.size(); },
      [&](std::size_t i, std::size_t n) { shares[i].rows = chosen_rows(*kernels[i].detail, n); });
  share(
      limits.pairs, [&](std::size_t i) { return kernels[i].detail->waits.size(); },
      [&](std::size_t i, std::size_t n) { shares[i].pairs = n; });
  share(
      limits.waves, [&](std::size_t i) { return kernels[i].detail->waves.size(); },
      [&](std::size_t i, std::size_t n) { shares[i].waves = n; });
  share(
      limits.source_lines,
      [&](std::size_t i) { return TraceSources(*kernels[i].detail, shares[i].rows).lines(); },
      [&](std::size_t i, std::size_t n) { shares[i].source_lines = n; });
  return shares;
}

}  // namespace

std::vector<std::size_t> fair_shares(const std::vector<std::size_t>& needs, std::size_t room) {
  std::vector<std::size_t> order(needs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return needs[i]; });
  std::vector<std::size_t> shares(needs.size());
  for (std::size_t done = 0; done < order.size(); ++done) {
    const std::size_t share = std::min(needs[order[done]], room / (order.size() - done));
    shares[order[done]] = share;
    room -= share;
  }
  return shares;
}

bool has_thread_trace_detail(const analyze::Analysis& analysis) {
  return analysis.thread_traces &&
         std::ranges::all_of(analysis.thread_traces->kernels, [](const KernelThreadTrace& kernel) {
           return kernel.detail != nullptr;
         });
}

Json thread_trace_document(const analyze::Analysis& analysis, const ThreadTraceLimits& limits) {
  PERFLAB_CHECK(has_thread_trace_detail(analysis));
  const analyze::ThreadTraces& traces = *analysis.thread_traces;
  const std::vector<KernelShare> shares = shares_of(traces.kernels, limits);
  Json kernels = Json::array();
  for (std::size_t i = 0; i < traces.kernels.size(); ++i)
    kernels.push_back(KernelDetail(traces.kernels[i], shares[i]).build());
  return {{"schema_version", "1.0.0"},
          {"document", "thread_trace"},
          {"generator", generator_json()},
          {"traces", traces.traces},
          {"kernels", std::move(kernels)}};
}

}  // namespace perflab::report
