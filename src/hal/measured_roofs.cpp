// Columns of roofline.csv by version: rocprofiler-compute src/roofline/benchmark/gfx9 and gfx11
// (csv_cols_map; each name with "Low" and "High" behind it), and the spelling of older files
// ("hbmBwHigh", "MFMAFI8OpsLow" in tests/workloads/mem_levels_HBM/MI200/roofline.csv).
#include "hal/measured_roofs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <ranges>
#include <set>
#include <span>

#include "base/system/files.h"
#include "base/text/csv.h"
#include "base/text/numbers.h"
#include "base/text/text.h"

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

constexpr const char* kRemedy = "give the roofline.csv that rocprof-compute profile writes";

/// More devices than a node can have: damage.
constexpr std::size_t kMostDevices = 1024;

/// Figures outside of these are damage, or of another unit. The LDS of the largest GPU gives 8e4
/// GB/s, its FP4 pipes 1e7 GFLOP/s (hal/archs); a megabyte a second is less than any memory gives.
constexpr double kLeast = 1e-3;
constexpr double kMostGbPerS = 1e9;
constexpr double kMostGflopPerS = 1e12;

std::unexpected<Error> bad(std::string message) {
  return fail(ErrorCode::bad_input, std::move(message), kRemedy);
}

/// A field for a message: its beginning, in one line.
std::string shown(std::string_view field) {
  constexpr std::size_t kMostShown = 40;
  std::string text(field.substr(0, kMostShown));
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text;
}

std::string lower_case(std::string_view text) {
  std::string lowered(text);
  std::ranges::transform(lowered, lowered.begin(), lower);
  return lowered;
}

struct Row {
  std::size_t line = 0;
  int device = 0;
  std::vector<std::string> fields;
};

/// The file as a table.
class Table {
 public:
  static Result<Table> read(const std::filesystem::path& path);

  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

  /// A figure with its interval; nullopt: no such column, empty, or 0 (the test did not run).
  [[nodiscard]] Result<std::optional<MeasuredRoof>> roof(const Row& row, std::string_view name,
                                                         double most) const {
    PERFLAB_TRY(const auto value, figure(row, name, most));
    if (!value) return std::nullopt;
    MeasuredRoof roof{.value = *value, .low = {}, .high = {}, .column = std::string(name)};
    PERFLAB_TRY(roof.low, figure(row, fmt::format("{}Low", name), most));
    PERFLAB_TRY(roof.high, figure(row, fmt::format("{}High", name), most));
    if (!roof.low && name == "MFMAI8Ops") {
      PERFLAB_TRY(roof.low, figure(row, "MFMAFI8OpsLow", most));
    }
    return std::optional(std::move(roof));
  }

 private:
  explicit Table(std::string file) : file_(std::move(file)) {}

  /// Case does not count, because older files mix it.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const {
    const auto found = columns_.find(lower_case(name));
    if (found == columns_.end()) return std::nullopt;
    return found->second;
  }
  [[nodiscard]] bool has_known_columns() const {
    const auto known = [&](const auto& wanted) { return column(wanted.name).has_value(); };
    return std::ranges::any_of(kLevels, known) || std::ranges::any_of(kRates, known);
  }
  [[nodiscard]] Result<std::optional<double>> figure(const Row& row, std::string_view name,
                                                     double most) const;
  Result<void> add_header(std::span<const std::string_view> fields);
  Result<void> add_row(std::span<const std::string_view> fields, std::size_t line);

  std::string file_;
  std::map<std::string, std::size_t> columns_;  ///< by name in lower case; of several the first
  std::vector<Row> rows_;
  std::set<int> devices_;
};

Result<std::optional<double>> Table::figure(const Row& row, std::string_view name,
                                            double most) const {
  const auto at = column(name);
  const std::string_view text = at ? trimmed(row.fields[*at]) : std::string_view{};
  if (text.empty()) return std::nullopt;
  const auto refuse = [&](std::string_view what) {
    return bad(
        fmt::format("{}: line {}, column {}: \"{}\" {}", file_, row.line, name, shown(text), what));
  };
  const auto value = finite_number(text);
  if (!value) return refuse("is not a number");
  if (*value < 0) return refuse("is below 0");
  if (*value == 0) return std::nullopt;
  if (*value < kLeast) return refuse("is less than any GPU gives");
  if (*value > most) return refuse("is more than any GPU gives");
  return value;
}

Result<void> Table::add_header(std::span<const std::string_view> fields) {
  for (std::size_t i = 0; i < fields.size(); ++i)
    columns_.try_emplace(lower_case(trimmed(fields[i])), i);
  if (!column("device") || !has_known_columns())
    return bad(fmt::format("{}: is not a table of measured ceilings (device, HBMBw, FP32Flops, …)",
                           file_));
  return {};
}

Result<void> Table::add_row(std::span<const std::string_view> fields, std::size_t line) {
  const std::string_view number = trimmed(fields[*column("device")]);
  const auto device = whole_number<decltype(Row::device)>(number);
  Row row{.line = line, .device = device.value_or(-1), .fields = {fields.begin(), fields.end()}};
  if (row.device < 0)
    return bad(fmt::format("{}: line {}, column device: \"{}\" is not a device number", file_, line,
                           shown(number)));
  if (!devices_.insert(row.device).second)
    return bad(fmt::format("{}: has two rows of device {}", file_, row.device));
  if (devices_.size() > kMostDevices)
    return bad(fmt::format("{}: has rows of more than {} devices", file_, kMostDevices));
  rows_.push_back(std::move(row));
  return {};
}

Result<Table> Table::read(const std::filesystem::path& path) {
  Table table(path.string());
  PERFLAB_TRY(const std::string text, read_file(path));
  Result<void> parsed = for_each_csv_row(
      text, table.file_, [&](std::span<const std::string_view> fields, std::size_t line) {
        return table.columns_.empty() ? table.add_header(fields) : table.add_row(fields, line);
      });
  if (!parsed) return bad(std::move(parsed.error().message));
  if (table.rows_.empty()) return bad(fmt::format("{}: has a header line only", table.file_));
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
  PERFLAB_TRY(const Table table, Table::read(file));
  const auto found =
      device ? std::ranges::find(table.rows(), *device, &Row::device) : table.rows().begin();
  if (found == table.rows().end())
    return fail(ErrorCode::usage,
                fmt::format("{}: has no device {}; it has {}", table.file(), *device,
                            fmt::join(std::views::transform(table.rows(), &Row::device), ", ")));
  MeasuredRoofs roofs;
  roofs.device = found->device;
  for (const Row& row : table.rows())
    if (row.device != roofs.device) roofs.other_devices.push_back(row.device);
  for (const LevelColumn& column : kLevels) {
    std::optional<MeasuredRoof>& level = roofs.*column.level;
    PERFLAB_TRY(auto roof, table.roof(*found, column.name, kMostGbPerS));
    if (!level) level = std::move(roof);
  }
  for (const RateColumn& column : kRates) {
    PERFLAB_TRY(auto roof, table.roof(*found, column.name, kMostGflopPerS));
    if (roof && roofs.of(column.pipe, column.precision) == nullptr)
      roofs.rates.push_back(
          {.pipe = column.pipe, .precision = column.precision, .roof = std::move(*roof)});
  }
  return roofs;
}

}  // namespace perflab::hal
