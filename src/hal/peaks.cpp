// Products of table figures, with the reasons and the sources of every factor.
#include "hal/peaks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "base/error.h"

namespace perflab::hal {
namespace {

/// A field of a table as an input.
PeakInput from_table(const std::string& owner, const Provenance& provenance, std::string field,
                     std::optional<double> value) {
  const auto keys = provenance.sources_of(field);
  PeakInput input{.value = value,
                  .origin = fmt::format("{} {}", owner, field),
                  .confirmed = !provenance.is_unconfirmed(field),
                  .sources = {keys.begin(), keys.end()},
                  .missing = {}};
  if (!value) input.missing = fmt::format("the tables have no source for {}", input.origin);
  return input;
}

PeakInput unknown(std::string what, const Arch& arch) {
  return {.value = {},
          .origin = {},
          .confirmed = false,
          .sources = {},
          .missing = fmt::format("the {} of this {} are not known: no product of the tables and no "
                                 "agent record names them",
                                 what, arch.gfx)};
}

bool given(const std::optional<std::int64_t>& figure) {
  return figure && *figure >= 1;
}

void prefer_recorded(PeakInput& input, const std::optional<std::int64_t>& recorded) {
  if (given(recorded))
    input = {.value = static_cast<double>(*recorded),
             .origin = "recording",
             .confirmed = true,
             .sources = {},
             .missing = {}};
}

/// L2 stands on the dies: a partition has the channels of its own.
void keep_channels_of(std::int64_t xcds, const Product& product, PeakInput& channels) {
  if (!channels.value || xcds == product.xcds) return;
  if (xcds > product.xcds) {
    channels.value.reset();
    channels.missing =
        fmt::format("the recording has {} XCDs where {} has {}", xcds, product.name, product.xcds);
    return;
  }
  channels.value = *channels.value * static_cast<double>(xcds) / product.xcds;
  channels.origin += fmt::format(" ({} of {} XCDs)", xcds, product.xcds);
}

/// One factor of a peak, and how the formula writes it: "{} CUs".
struct Factor {
  const PeakInput& input;
  std::string text;
};

/// The product of the factors times `scale`.
Peak multiplied(std::string unit, std::span<const Factor> factors, double scale) {
  Peak peak;
  peak.unit = std::move(unit);
  double value = scale;
  std::vector<std::string> terms;
  for (const auto& [input, text] : factors) {
    if (!input.value) {
      peak.missing = input.missing;
      return peak;
    }
    value *= *input.value;
    terms.push_back(fmt::format("{} {}", *input.value, text));
    peak.origins.push_back(input.origin);
    if (!input.confirmed) peak.unconfirmed.push_back(input.origin);
    for (const std::string& key : input.sources)
      if (std::ranges::find(peak.sources, key) == peak.sources.end()) peak.sources.push_back(key);
  }
  peak.value = value;
  peak.formula = fmt::format("{}", fmt::join(terms, " x "));
  return peak;
}

bool is_integer(Precision precision) {
  return precision == Precision::int8 || precision == Precision::int4;
}

/// Operations or bytes, CUs and MHz make 1e6 per second; peaks are in 1e9.
constexpr double kGigaPerMega = 1e-3;

const Terms& terms_of(const PeakInputs& inputs) {
  return terms(inputs.arch->platform);
}

Peak per_cu(const PeakInputs& inputs, const char* field, std::optional<int> bytes) {
  const PeakInput width = from_table(inputs.arch->gfx, inputs.arch->provenance, field, bytes);
  const Terms& t = terms_of(inputs);
  const Factor factors[] = {{width, fmt::format("B/clk/{}", t.cu)},
                            {inputs.cus, std::string(t.cus)},
                            {inputs.clock_mhz, "MHz"}};
  return multiplied("GB/s", factors, kGigaPerMega);
}

Peak l2_peak(const PeakInputs& inputs) {
  const PeakInput width =
      from_table(inputs.arch->gfx, inputs.arch->provenance, "bytes_per_clk.l2_per_channel",
                 inputs.arch->l2_bytes_per_clk_per_channel);
  const Factor factors[] = {
      {width, "B/clk/channel"}, {inputs.l2_channels, "channels"}, {inputs.clock_mhz, "MHz"}};
  return multiplied("GB/s", factors, kGigaPerMega);
}

Peak tabulated(const PeakInput& gbps) {
  const Factor factors[] = {{gbps, "GB/s"}};
  return multiplied("GB/s", factors, 1);
}

Peak compute_peak(const PeakInputs& inputs, const Rate& rate) {
  const char* const unit = is_integer(rate.precision) ? "OP" : "FLOP";
  const std::string field =
      fmt::format("ops_per_clk_per_cu.{}.{}", to_string(rate.pipe), to_string(rate.precision));
  PeakInput ops = from_table(inputs.arch->gfx, inputs.arch->provenance, field,
                             rate.ops_per_clk_per_cu);
  if (inputs.product != nullptr)
    for (const Rate& own : inputs.product->rates)
      if (own.pipe == rate.pipe && own.precision == rate.precision)
        ops = from_table(inputs.product->name, inputs.product->provenance, field,
                         own.ops_per_clk_per_cu);
  const Terms& t = terms_of(inputs);
  const PeakInput& clock =
      rate.pipe == Pipe::matrix && rate.precision != Precision::fp64 ? inputs.matrix_clock_mhz
                                                                     : inputs.clock_mhz;
  const Factor factors[] = {{ops, fmt::format("{}/clk/{}", unit, t.cu)},
                            {inputs.cus, std::string(t.cus)},
                            {clock, "MHz"}};
  return multiplied(fmt::format("G{}/s", unit), factors, kGigaPerMega);
}

}  // namespace

PeakInputs peak_inputs(const Product& product, const AgentFigures& agent) {
  PeakInputs inputs;
  inputs.arch = find_arch(product.gfx);
  PERFLAB_CHECK(inputs.arch != nullptr);
  const auto field = [&](const char* name, std::optional<double> value) {
    return from_table(product.name, product.provenance, name, value);
  };
  inputs.cus = field("cus", product.cus);
  inputs.product = &product;
  inputs.clock_mhz = field("max_clock_mhz", product.max_clock_mhz);
  inputs.memory_gbps = field("memory.gbps", product.memory_gbps);
  inputs.l2_channels = field("l2.channels", product.l2_channels);
  inputs.mall_gbps = field("mall.gbps", product.mall_gbps);
  if (product.mall_mib == 0)
    inputs.mall_gbps.missing = fmt::format("{} has no Infinity Cache", product.name);
  prefer_recorded(inputs.cus, agent.cus);
  prefer_recorded(inputs.clock_mhz, agent.clock_mhz);
  inputs.matrix_clock_mhz = inputs.clock_mhz;
  // The vendor's figure stays a ceiling when the recorded clock is the one for everything else.
  if (product.matrix_clock_mhz &&
      *product.matrix_clock_mhz < inputs.clock_mhz.value.value_or(product.max_clock_mhz))
    inputs.matrix_clock_mhz = field("matrix_clock_mhz", product.matrix_clock_mhz);
  if (given(agent.xcds)) keep_channels_of(*agent.xcds, product, inputs.l2_channels);
  return inputs;
}

PeakInputs peak_inputs(const Arch& arch, const AgentFigures& agent) {
  PeakInputs inputs{.arch = &arch,
                    .product = nullptr,
                    .cus = unknown("compute units", arch),
                    .clock_mhz = unknown("clocks", arch),
                    .matrix_clock_mhz = {},
                    .memory_gbps = unknown("memory figures", arch),
                    .l2_channels = unknown("L2 channels", arch),
                    .mall_gbps = unknown("Infinity Cache figures", arch)};
  prefer_recorded(inputs.cus, agent.cus);
  prefer_recorded(inputs.clock_mhz, agent.clock_mhz);
  if (agent.memory_gbps)
    inputs.memory_gbps = {
        .value = agent.memory_gbps, .origin = "recording", .sources = {}, .missing = {}};
  inputs.matrix_clock_mhz = inputs.clock_mhz;
  return inputs;
}

Peaks compute_peaks(const PeakInputs& inputs) {
  PERFLAB_CHECK(inputs.arch != nullptr);
  const Arch& arch = *inputs.arch;
  Peaks peaks;
  peaks.gfx = arch.gfx;
  for (const Rate& rate : arch.rates)
    peaks.compute.push_back(
        {.pipe = rate.pipe, .precision = rate.precision, .peak = compute_peak(inputs, rate)});
  peaks.memory = tabulated(inputs.memory_gbps);
  peaks.l2 = l2_peak(inputs);
  peaks.infinity_cache = tabulated(inputs.mall_gbps);
  peaks.lds = per_cu(inputs, "bytes_per_clk.lds_per_cu", arch.lds_bytes_per_clk_per_cu);
  peaks.l1 = per_cu(inputs, "bytes_per_clk.l1_per_cu", arch.l1_bytes_per_clk_per_cu);
  return peaks;
}

Peak Peaks::of(Pipe pipe, Precision precision) const {
  for (const ComputePeak& entry : compute)
    if (entry.pipe == pipe && entry.precision == precision) return entry.peak;
  Peak none;
  none.unit = is_integer(precision) ? "GOP/s" : "GFLOP/s";
  none.missing = fmt::format("the tables have no {} {} instructions for {}", to_string(pipe),
                             to_string(precision), gfx);
  return none;
}

std::string unconfirmed_text(const Peak& peak) {
  if (peak.unconfirmed.empty()) return {};
  return fmt::format("no source for: {}", fmt::join(peak.unconfirmed, ", "));
}

}  // namespace perflab::hal
