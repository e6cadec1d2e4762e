// Columns of roofline.csv by version: rocprofiler-compute src/roofline/benchmark/gfx9 and gfx11
// (csv_cols_map; each name with "Low" and "High" behind it), and the spelling of older files
// ("hbmBwHigh", "MFMAFI8OpsLow" in tests/workloads/mem_levels_HBM/MI200/roofline.csv).
#include "hal/measured_roofs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/csv.h"
#include "base/files.h"
#include "base/text.h"

namespace perflab::hal {
namespace {

using LevelOf = std::optional<MeasuredRoof> MeasuredRoofs::*;

struct LevelColumn {
  std::string_view name;
  LevelOf level;
};

/// The first column that has a figure is taken: RDNA's L0 is the cache of a CU, its L1 is shared.
constexpr std::array<LevelColumn, 6> kLevels = {{
    {"HBMBw", &MeasuredRoofs::memory},
    {"MALLBw", &MeasuredRoofs::infinity_cache},
    {"L2Bw", &MeasuredRoofs::l2},
    {"L0Bw", &MeasuredRoofs::l1},
    {"L1Bw", &MeasuredRoofs::l1},
    {"LDSBw", &MeasuredRoofs::lds},
}};

struct RateColumn {
  std::string_view name;
  Pipe pipe;
  Precision precision;
};

/// I32Ops and I64Ops have no place in the roofline. F6F4 multiplies FP6 by FP4, at the rate of
/// both: it stands in where these were not measured alone.
constexpr std::array<RateColumn, 24> kRates = {{
    {"FP64Flops", Pipe::vector, Precision::fp64},
    {"FP32Flops", Pipe::vector, Precision::fp32},
    {"FP16Flops", Pipe::vector, Precision::fp16},
    {"I8Ops", Pipe::vector, Precision::int8},
    {"MFMAF64Flops", Pipe::matrix, Precision::fp64},
    {"MFMAF32Flops", Pipe::matrix, Precision::fp32},
    {"MFMAF16Flops", Pipe::matrix, Precision::fp16},
    {"MFMABF16Flops", Pipe::matrix, Precision::bf16},
    {"MFMAF8Flops", Pipe::matrix, Precision::fp8},
    {"MFMAF6Flops", Pipe::matrix, Precision::fp6},
    {"MFMAF6F4Flops", Pipe::matrix, Precision::fp6},
    {"MFMAF4Flops", Pipe::matrix, Precision::fp4},
    {"MFMAF6F4Flops", Pipe::matrix, Precision::fp4},
    {"MFMAI8Ops", Pipe::matrix, Precision::int8},
    {"WMMAF64Flops", Pipe::matrix, Precision::fp64},
    {"WMMAF32Flops", Pipe::matrix, Precision::fp32},
    {"WMMAF16Flops", Pipe::matrix, Precision::fp16},
    {"WMMABF16Flops", Pipe::matrix, Precision::bf16},
    {"WMMAF8Flops", Pipe::matrix, Precision::fp8},
    {"WMMAF6Flops", Pipe::matrix, Precision::fp6},
    {"WMMAF6F4Flops", Pipe::matrix, Precision::fp6},
    {"WMMAF4Flops", Pipe::matrix, Precision::fp4},
    {"WMMAF6F4Flops", Pipe::matrix, Precision::fp4},
    {"WMMAI8Ops", Pipe::matrix, Precision::int8},
}};

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorCode::bad_input, std::move(message),
              "give the roofline.csv that rocprof-compute profile writes");
}

bool same_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// The file as a table, with the device numbers of its rows.
struct Table {
  std::string file;
  CsvTable csv;
  std::vector<int> devices;

  /// Case does not count, because older files mix it.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const {
    for (std::size_t i = 0; i < csv.header.size(); ++i)
      if (same_ignoring_case(trimmed(csv.header[i]), name)) return i;
    return std::nullopt;
  }

  /// A figure of a row; nullopt: no such column, empty, or 0 (the test did not run).
  [[nodiscard]] Result<std::optional<double>> figure(std::size_t row, std::string_view name) const {
    const auto at = column(name);
    const std::string_view text = at ? trimmed(csv.rows[row][*at]) : std::string_view{};
    if (text.empty()) return std::nullopt;
    double value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size() ||
        !std::isfinite(value))
      return bad(fmt::format("{}: device {}, column {}: \"{}\" is no number", file, devices[row],
                             name, text.substr(0, 40)));
    if (value < 0)
      return bad(
          fmt::format("{}: device {}, column {}: {} is below 0", file, devices[row], name, text));
    return value > 0 ? std::optional(value) : std::nullopt;
  }

  /// A figure with its interval.
  [[nodiscard]] Result<std::optional<MeasuredRoof>> roof(std::size_t row,
                                                         std::string_view name) const {
    PERFLAB_TRY(const auto value, figure(row, name));
    if (!value) return std::nullopt;
    MeasuredRoof roof{.value = *value, .low = {}, .high = {}, .column = std::string(name)};
    PERFLAB_TRY(roof.low, figure(row, fmt::format("{}Low", name)));
    PERFLAB_TRY(roof.high, figure(row, fmt::format("{}High", name)));
    if (!roof.low && name == "MFMAI8Ops") {
      PERFLAB_TRY(roof.low, figure(row, "MFMAFI8OpsLow"));
    }
    return std::optional(std::move(roof));
  }

  [[nodiscard]] bool has_known_columns() const {
    const auto known = [&](const auto& wanted) { return column(wanted.name).has_value(); };
    return std::ranges::any_of(kLevels, known) || std::ranges::any_of(kRates, known);
  }
};

Result<Table> read_table(const std::filesystem::path& path) {
  Table table{.file = path.string(), .csv = {}, .devices = {}};
  PERFLAB_TRY(const std::string text, read_file(path));
  PERFLAB_TRY(table.csv, parse_csv(text, table.file));
  const auto device = table.column("device");
  if (!device || !table.has_known_columns())
    return bad(fmt::format("{}: is no table of measured ceilings (device, HBMBw, FP32Flops, …)",
                           table.file));
  if (table.csv.rows.empty()) return bad(fmt::format("{}: has a header line only", table.file));
  for (const std::vector<std::string>& row : table.csv.rows) {
    const std::string_view number = trimmed(row[*device]);
    int parsed_number = 0;
    const auto parsed =
        std::from_chars(number.data(), number.data() + number.size(), parsed_number);
    if (parsed.ec != std::errc{} || parsed.ptr != number.data() + number.size() ||
        parsed_number < 0)
      return bad(fmt::format("{}: \"{}\" is no device number", table.file, number.substr(0, 40)));
    if (std::ranges::find(table.devices, parsed_number) != table.devices.end())
      return bad(fmt::format("{}: has two rows of device {}", table.file, parsed_number));
    table.devices.push_back(parsed_number);
  }
  return table;
}

}  // namespace

const MeasuredRoof* MeasuredRoofs::of(Pipe pipe, Precision precision) const {
  for (const MeasuredRate& rate : rates)
    if (rate.pipe == pipe && rate.precision == precision) return &rate.roof;
  return nullptr;
}

Result<MeasuredRoofs> read_measured_roofs(const std::filesystem::path& file,
                                          std::optional<int> device) {
  PERFLAB_TRY(const Table table, read_table(file));
  const auto found = device ? std::ranges::find(table.devices, *device) : table.devices.begin();
  if (found == table.devices.end())
    return fail(ErrorCode::usage, fmt::format("{}: has no device {}; it has {}", table.file,
                                              *device, fmt::join(table.devices, ", ")));
  const auto row = static_cast<std::size_t>(found - table.devices.begin());
  MeasuredRoofs roofs;
  roofs.device = *found;
  for (const LevelColumn& column : kLevels) {
    std::optional<MeasuredRoof>& level = roofs.*column.level;
    PERFLAB_TRY(auto roof, table.roof(row, column.name));
    if (!level) level = std::move(roof);
  }
  for (const RateColumn& column : kRates) {
    PERFLAB_TRY(auto roof, table.roof(row, column.name));
    if (roof && roofs.of(column.pipe, column.precision) == nullptr)
      roofs.rates.push_back(
          {.pipe = column.pipe, .precision = column.precision, .roof = std::move(*roof)});
  }
  return roofs;
}

}  // namespace perflab::hal
