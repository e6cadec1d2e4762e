// Columns by name (docs/facts/pc_sampling.md "CSV"). Kernels and GPUs come from the tables of the
// same run: the samples' own names neither.
#include "pc_sampling/read_csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text/numbers.h"
#include "pc_sampling/builder.h"
#include "pc_sampling/csv_row.h"

namespace perflab::pc_sampling {
namespace {

enum Column : std::uint8_t {
  kTimestampColumn,
  kExecMaskColumn,
  kDispatchColumn,
  kInstructionColumn,
  kCommentColumn,
  kOfEveryMethod,
  kIssuedColumn = kOfEveryMethod,
  kTypeColumn,
  kReasonColumn,
  kWaveCountColumn,
  kCsvColumns,
};

constexpr std::array<std::string_view, kCsvColumns> kColumnNames = {
    "Sample_Timestamp", "Exec_Mask",           "Dispatch_Id",
    "Instruction",      "Instruction_Comment", "Wave_Issued_Instruction",
    "Instruction_Type", "Stall_Reason",        "Wave_Count"};

/// What the comment of a PC in no code object says, before its address.
constexpr std::string_view kNoCodeObject =
    "Unrecognized code object id, physical virtual address of PC:";

constexpr std::uint64_t kBytesPerRow = 60;  ///< at least

/// Rows of a small table by the names of its columns.
class TableRows {
 public:
  static Result<TableRows> parse(std::string_view text, const std::string& file) {
    TableRows table;
    Lines lines(bytes_of_text(text), file);
    std::string_view line;
    PERFLAB_TRY(const bool has_header, lines.next(line));
    if (has_header) table.header_ = csv_header(line);
    if (table.header_.empty())
      return fail(ErrorCode::bad_input, fmt::format("{}: has no header line", file));
    CsvRow row(table.header_.size(), CsvRow::npos);
    while (true) {
      PERFLAB_TRY(const bool more, lines.next(line));
      if (!more) return table;
      if (line.empty()) continue;
      if (!row.split(line)) {
        ++table.malformed_;
        continue;
      }
      auto& fields = table.rows_.emplace_back();
      for (std::size_t i = 0; i < table.header_.size(); ++i) fields.emplace_back(row[i]);
    }
  }

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] std::uint64_t malformed() const { return malformed_; }
  [[nodiscard]] std::string_view text(std::size_t row, std::string_view column) const {
    const auto found = std::ranges::find(header_, column);
    return found == header_.end() ? std::string_view{}
                                  : rows_[row][static_cast<std::size_t>(found - header_.begin())];
  }
  [[nodiscard]] std::optional<std::uint64_t> number(std::size_t row,
                                                    std::string_view column) const {
    return whole_number(text(row, column));
  }
  [[nodiscard]] std::uint32_t small(std::size_t row, std::string_view column) const {
    return whole_number<std::uint32_t>(text(row, column)).value_or(0);
  }

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
  std::uint64_t malformed_ = 0;
};

class TableReader {
 public:
  TableReader(Lines& lines, std::uint64_t bytes, PcSamples& samples, const TellProgress& progress)
      : lines_(lines),
        bytes_(bytes),
        progress_(progress),
        builder_(samples, {.file = lines.name()}) {}

  Result<void> read(const TablesBeside& beside) {
    std::string_view line;
    PERFLAB_TRY(const bool has_header, lines_.next(line));
    if (!has_header) return fail(ErrorCode::bad_input, fmt::format("{}: is empty", lines_.name()));
    PERFLAB_TRY_VOID(take_header(line));
    if (beside.agent_info)
      PERFLAB_TRY_VOID(take_agents(*beside.agent_info, beside.agent_info_file));
    if (beside.kernel_trace)
      PERFLAB_TRY_VOID(take_dispatches(*beside.kernel_trace, beside.kernel_trace_file));
    PERFLAB_TRY_VOID(take_rows());
    builder_.finish();
    return {};
  }

 private:
  Result<void> take_header(std::string_view line) {
    const std::vector<std::string> header = csv_header(line);
    const std::optional<Method> method = method_of_header(line);
    if (!method)
      return fail(ErrorCode::bad_input, fmt::format("{}: is no table of PC samples", lines_.name()),
                  "give the *_pc_sampling_stochastic.csv or *_pc_sampling_host_trap.csv of "
                  "rocprofv3, or its *_results.json");
    stochastic_ = *method == Method::stochastic;
    columns_ = header.size();
    for (std::size_t i = 0; i < (stochastic_ ? kCsvColumns : kOfEveryMethod); ++i) {
      const auto found = std::ranges::find(header, kColumnNames[i]);
      if (found == header.end())
        return fail(ErrorCode::bad_input,
                    fmt::format("{}: has no column {}", lines_.name(), kColumnNames[i]));
      places_[i] = static_cast<std::size_t>(found - header.begin());
    }
    return {};
  }

  Result<void> take_rows() {
    const bool adjacent = places_[kCommentColumn] == places_[kInstructionColumn] + 1;
    CsvRow row(columns_, adjacent ? places_[kInstructionColumn] : CsvRow::npos);
    std::string_view line;
    bool fresh = true;
    for (std::uint64_t passed = 0;;) {
      PERFLAB_TRY(const bool more, lines_.next(line));
      if (!more) return {};
      if (line.empty()) continue;
      if (std::exchange(fresh, false)) {
        PERFLAB_TRY_VOID(builder_.use(stochastic_ ? Method::stochastic : Method::host_trap,
                                      Form::rocprofv3_csv));
        builder_.reserve(bytes_ / std::max<std::uint64_t>(line.size(), kBytesPerRow));
      }
      passed += line.size() + 1;
      if (progress_ && bytes_ > 0 && lines_.number() % 4096 == 0)
        progress_("reading " + lines_.name(),
                  static_cast<double>(passed) / static_cast<double>(bytes_));
      if (!row.split(line) || !take_row(row)) builder_.dropped();
    }
  }

  [[nodiscard]] std::string_view field(const CsvRow& row, Column column) const {
    return row[places_[column]];
  }

  bool take_row(const CsvRow& row) {
    RawSample sample;
    const auto number = [&](Column column, std::uint64_t& to) {
      const auto found = whole_number(field(row, column));
      to = found.value_or(0);
      return found.has_value();
    };
    if (!number(kTimestampColumn, sample.timestamp) || !number(kExecMaskColumn, sample.exec_mask) ||
        !number(kDispatchColumn, sample.dispatch_id))
      return false;
    if (stochastic_) {
      std::uint64_t issued = 0, waves = 0;
      if (!number(kIssuedColumn, issued) || !number(kWaveCountColumn, waves)) return false;
      if (issued != 0) sample.flags = kIssued;
      if (waves > 255) ++builder_.samples().counts.value_out_of_range;
      sample.wave_count = static_cast<std::uint8_t>(std::min<std::uint64_t>(waves, 255));
      sample.type = builder_.type_of(field(row, kTypeColumn));
      sample.reason = builder_.reason_of(field(row, kReasonColumn));
    }
    std::string_view instruction = field(row, kInstructionColumn),
                     comment = field(row, kCommentColumn);
    if (instruction.empty() && comment.starts_with(kNoCodeObject)) {
      sample.offset = whole_number(comment.substr(kNoCodeObject.size())).value_or(0);
      comment = {};
    }
    sample.instruction = instruction_row(instruction, comment);
    builder_.add(sample);
    return true;
  }

  /// The row of the two texts; what has none of them in common is another place.
  std::int64_t instruction_row(std::string_view instruction, std::string_view comment) {
    key_.assign(instruction);
    key_ += '\n';
    key_ += comment;
    const auto [found, added] = rows_.try_emplace(key_, static_cast<std::int64_t>(rows_.size()));
    if (added) {
      builder_.instruction(instruction);
      builder_.source_line(comment);
    }
    return found->second;
  }

  Result<void> take_agents(std::string_view text, const std::string& file) {
    PERFLAB_TRY(const TableRows table, TableRows::parse(text, file));
    builder_.malformed(table.malformed());
    for (std::size_t row = 0; row < table.size(); ++row) {
      if (table.text(row, "Agent_Type") != "GPU") continue;
      const auto node = table.number(row, "Logical_Node_Id");
      if (!node) {
        builder_.malformed();
        continue;
      }
      gpus_.push_back(*node);
      builder_.agent_facts({.handle = *node,
                            .arch = std::string(table.text(row, "Name")),
                            .product = std::string(table.text(row, "Product_Name")),
                            .wave_size = table.small(row, "Wave_Front_Size"),
                            .xccs = table.small(row, "Num_Xcc"),
                            .cus = table.small(row, "Cu_Count"),
                            .shader_engines = table.small(row, "Num_Shader_Banks"),
                            .simds_per_cu = table.small(row, "Simd_Per_Cu"),
                            .waves_per_simd = table.small(row, "Max_Waves_Per_Simd"),
                            .max_clock_mhz = table.small(row, "Max_Engine_Clk_Fcompute")});
    }
    return {};
  }

  /// "Agent 4" and "4" are nodes, "GPU 0" the first GPU. Nothing: no such GPU.
  [[nodiscard]] std::optional<std::uint64_t> node_of(std::string_view label) const {
    const std::size_t blank = label.find(' ');
    const auto number = whole_number(blank == label.npos ? label : label.substr(blank + 1));
    if (!label.starts_with("GPU ")) return number;
    return number && *number < gpus_.size() ? std::optional(gpus_[*number]) : std::nullopt;
  }

  Result<void> take_dispatches(std::string_view text, const std::string& file) {
    PERFLAB_TRY(const TableRows table, TableRows::parse(text, file));
    builder_.malformed(table.malformed());
    for (std::size_t row = 0; row < table.size(); ++row) {
      const auto id = table.number(row, "Dispatch_Id"), kernel = table.number(row, "Kernel_Id");
      Dispatch dispatch;
      dispatch.start = table.number(row, "Start_Timestamp");
      dispatch.end = table.number(row, "End_Timestamp");
      if (!id || !kernel || !dispatch.start || !dispatch.end || *dispatch.end < *dispatch.start) {
        builder_.malformed();
        continue;
      }
      dispatch.id = *id;
      const auto extent = [&](const std::string& what) {
        return Workgroup{.x = table.small(row, what + "_X"),
                         .y = table.small(row, what + "_Y"),
                         .z = table.small(row, what + "_Z")};
      };
      dispatch.grid = extent("Grid_Size");
      dispatch.workgroup = extent("Workgroup_Size");
      if (const auto node = node_of(table.text(row, "Agent_Id")))
        dispatch.agent = builder_.agent(*node);
      builder_.kernel({.id = *kernel,
                       .mangled_name = {},
                       .name = std::string(table.text(row, "Kernel_Name")),
                       .begin = {},
                       .vgprs = table.small(row, "VGPR_Count"),
                       .agprs = table.small(row, "Accum_VGPR_Count"),
                       .sgprs = table.small(row, "SGPR_Count")},
                      0, std::nullopt);
      builder_.recorded_dispatch(dispatch, *kernel);
    }
    return {};
  }

  Lines& lines_;
  std::uint64_t bytes_;
  const TellProgress& progress_;
  Builder builder_;
  bool stochastic_ = false;
  std::size_t columns_ = 0;
  std::array<std::size_t, kCsvColumns> places_{};
  std::vector<std::uint64_t> gpus_;  ///< logical nodes, in their order
  std::unordered_map<std::string, std::int64_t> rows_;
  std::string key_;
};

}  // namespace

std::optional<Method> method_of_header(std::string_view line) {
  const std::vector<std::string> header = csv_header(line);
  const auto has = [&](Column column) {
    return std::ranges::find(header, kColumnNames[column]) != header.end();
  };
  if (!has(kTimestampColumn) || !has(kExecMaskColumn)) return std::nullopt;
  return has(kIssuedColumn) ? Method::stochastic : Method::host_trap;
}

Result<void> read_csv(Lines& lines, std::uint64_t bytes, const TablesBeside& beside,
                      PcSamples& samples, const TellProgress& progress) {
  return TableReader(lines, bytes, samples, progress).read(beside);
}

}  // namespace perflab::pc_sampling
