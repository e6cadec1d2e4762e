// What stands where in the two files about the machine, and how tables name an agent of it.
#include "trace/counter_csv/system_info.h"

#include <fmt/format.h>

#include <array>

#include "base/text/csv.h"
#include "base/text/numbers.h"
#include "base/text/text.h"
#include "trace/counter_csv/fields.h"

namespace perflab::trace::counter_csv {
namespace {

constexpr std::int64_t kBytesPerKib = 1024;
/// More KiB of LDS than this is damage.
constexpr std::int64_t kMostLdsKib = 1 << 20;

/// A column of the file and the figure that it is.
struct Figure {
  std::string_view column;
  std::optional<std::int64_t> AgentFacts::* fact;
};

constexpr std::array<Figure, 7> kSysinfoFigures = {{
    {"cu_per_gpu", &AgentFacts::compute_units},
    {"num_xcd", &AgentFacts::xcc_count},
    {"simd_per_cu", &AgentFacts::simds_per_cu},
    {"wave_size", &AgentFacts::wave_size},
    {"max_waves_per_cu", &AgentFacts::max_waves_per_cu},
    {"max_sclk", &AgentFacts::clock_mhz},
    {"gpu_chip_id", &AgentFacts::device_id},
}};

constexpr std::array<Figure, 9> kAgentFigures = {{
    {"Cu_Count", &AgentFacts::compute_units},
    {"Num_Xcc", &AgentFacts::xcc_count},
    {"Simd_Per_Cu", &AgentFacts::simds_per_cu},
    {"Wave_Front_Size", &AgentFacts::wave_size},
    {"Max_Waves_Per_Simd", &AgentFacts::max_waves_per_simd},
    {"Max_Waves_Per_Cu", &AgentFacts::max_waves_per_cu},
    {"Max_Engine_Clk_Fcompute", &AgentFacts::clock_mhz},
    {"Gfx_Target_Version", &AgentFacts::target_version},
    {"Device_Id", &AgentFacts::device_id},
}};

/// One row of a table, read by the names of its columns.
struct Row {
  std::string_view file;
  const CsvTable& table;
  std::size_t index;

  [[nodiscard]] std::string_view text(std::string_view column) const {
    const auto at = table.column(column);
    return at ? trimmed(table.rows[index][*at]) : std::string_view{};
  }
  /// nullopt: no such column, or it says nothing. Line breaks within fields would shift the line;
  /// these files have none.
  [[nodiscard]] Result<std::optional<std::int64_t>> number(std::string_view column) const {
    const std::string_view found = text(column);
    if (found.empty() || found == "N/A") return std::nullopt;
    PERFLAB_TRY(const std::int64_t value,
                read_whole({.file = file, .line = index + 2, .column = column}, found));
    return std::optional(value);
  }
  /// Like number(), where 0 stands for unknown.
  [[nodiscard]] Result<std::optional<std::int64_t>> positive(std::string_view column) const {
    PERFLAB_TRY(const auto value, number(column));
    return value && *value > 0 ? value : std::nullopt;
  }
};

Result<CsvTable> table_with(std::string_view text, std::string_view file,
                            std::initializer_list<std::string_view> required) {
  PERFLAB_TRY(CsvTable table, parse_csv(text, file));
  for (const std::string_view column : required)
    if (!table.column(column))
      return fail(ErrorCode::bad_input, fmt::format("{}: has no column {}", file, column));
  if (table.rows.empty())
    return fail(ErrorCode::bad_input, fmt::format("{}: has a header line only", file));
  return table;
}

template <std::size_t N>
Result<AgentFacts> facts_of(const Row& row, const std::array<Figure, N>& figures) {
  AgentFacts facts;
  for (const Figure& figure : figures) {
    PERFLAB_TRY(facts.*figure.fact, row.positive(figure.column));
  }
  return facts;
}

const MachineAgent* find_gpu(const SystemInfo& machine,
                             std::optional<std::int64_t> MachineAgent::* by, std::int64_t number) {
  for (const MachineAgent& found : machine.agents)
    if (found.agent.type == "GPU" && found.*by == number) return &found;
  return nullptr;
}

const MachineAgent* nth_gpu(const SystemInfo& machine, std::int64_t n) {
  for (const MachineAgent& found : machine.agents)
    if (found.agent.type == "GPU" && n-- == 0) return &found;
  return nullptr;
}

}  // namespace

Result<SystemInfo> read_sysinfo(std::string_view text, std::string_view file) {
  PERFLAB_TRY(const CsvTable table, table_with(text, file, {"gpu_arch"}));
  const Row row{.file = file, .table = table, .index = 0};
  MachineAgent gpu;
  gpu.agent.type = "GPU";
  gpu.agent.name = row.text("gpu_arch");
  if (gpu.agent.name.empty())
    return fail(ErrorCode::bad_input, fmt::format("{}: column gpu_arch is empty", file));
  gpu.agent.product = row.text("gpu_model");
  // "MI300X_A1" is a stepping of the MI300X.
  gpu.agent.model = gpu.agent.product.substr(0, gpu.agent.product.find('_'));
  PERFLAB_TRY(gpu.agent.facts, facts_of(row, kSysinfoFigures));
  SystemInfo machine;
  machine.agents.push_back(std::move(gpu));
  machine.describes_the_gpu = true;
  PERFLAB_TRY(machine.l2_channels, row.positive("total_l2_chan"));
  return machine;
}

Result<SystemInfo> read_agent_info(std::string_view text, std::string_view file) {
  PERFLAB_TRY(const CsvTable table, table_with(text, file, {"Node_Id", "Agent_Type", "Name"}));
  if (table.rows.size() > kMostAgents)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: has more than {} agents", file, kMostAgents));
  SystemInfo machine;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Row row{.file = file, .table = table, .index = i};
    MachineAgent found;
    PERFLAB_TRY(found.node_id, row.number("Node_Id"));
    PERFLAB_TRY(found.logical_node_id, row.number("Logical_Node_Id"));
    found.agent.id = found.node_id.value_or(0);
    found.agent.absolute_index = found.agent.id;
    found.agent.type = row.text("Agent_Type");
    found.agent.name = row.text("Name");
    found.agent.product = row.text("Product_Name");
    found.agent.model = row.text("Model_Name");
    PERFLAB_TRY(found.agent.facts, facts_of(row, kAgentFigures));
    PERFLAB_TRY(const auto lds_kib, row.positive("Lds_Size_In_Kb"));
    if (lds_kib && *lds_kib < kMostLdsKib)
      found.agent.facts.lds_bytes_per_cu = *lds_kib * kBytesPerKib;
    machine.agents.push_back(std::move(found));
  }
  return machine;
}

std::optional<AgentLabel> parse_agent_label(std::string_view text) {
  AgentLabel label;
  if (const std::size_t blank = text.find(' '); blank != std::string_view::npos) {
    const std::string_view word = text.substr(0, blank);
    if (word != "Agent" && word != "GPU") return std::nullopt;
    label.among_gpus = word == "GPU";
    text.remove_prefix(blank + 1);
  }
  const auto number = whole_number<decltype(label.number)>(text);
  if (!number || *number < 0) return std::nullopt;
  label.number = *number;
  return label;
}

Agent agent_of(const SystemInfo& machine, const AgentLabel& label) {
  const MachineAgent* found = nullptr;
  if (machine.describes_the_gpu) {
    found = &machine.agents.front();
  } else if (label.among_gpus) {
    found = nth_gpu(machine, label.number);
  } else {
    found = find_gpu(machine, &MachineAgent::logical_node_id, label.number);
    if (found == nullptr) found = find_gpu(machine, &MachineAgent::node_id, label.number);
  }
  Agent agent;
  if (found != nullptr) agent = found->agent;
  agent.type = "GPU";
  if (found == nullptr || machine.describes_the_gpu) agent.id = agent.absolute_index = label.number;
  return agent;
}

}  // namespace perflab::trace::counter_csv
