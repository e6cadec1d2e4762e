// The answer of inspect: which gates failed, what was looked at, the kernels that matter most
// (those that spill, then those with the fewest waves), what limits the first of them, and what
// fewer registers would give. No time is in it: nothing ran.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text/command_line.h"
#include "base/text/number_text.h"
#include "base/text/pattern.h"
#include "hal/arch.h"
#include "report/answers/answers.h"
#include "report/excerpt/parts.h"
#include "report/kit/quantities.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

/// Failures of one gate in a summary at most.
constexpr std::size_t kMostGateRows = 3;
/// Columns of a mangled name in a command at most.
constexpr std::size_t kMostPatternColumns = 120;
/// Work-items of a work-group that may use all registers: a wave per SIMD of a CU with four of 64
/// lanes, two per SIMD of a CU with waves of 32.
constexpr double kUncappedWorkgroup = 256;

double spilled_registers(const DocumentPlace& kernel) {
  const DocumentPlace resources = kernel["resources"];
  return resources["vgpr_spills"].number() + resources["sgpr_spills"].number();
}

bool uses_scratch(const DocumentPlace& kernel) {
  const DocumentPlace resources = kernel["resources"];
  return resources["scratch_bytes"].number() > 0 || resources["dynamic_stack"].holds();
}

/// Kernels by what they cost: the most spills, then scratch, then the lowest occupancy (unknown
/// last), then the most VGPRs; else in the document's order.
std::vector<std::size_t> by_weight(const DocumentPlace& kernels) {
  struct Worseness {
    double spills = 0;
    bool scratch = false;
    double occupancy = 0, vgprs = 0;
    std::size_t index = 0;
  };
  constexpr double kUnknown = 2;  // occupancies end at 1
  std::vector<Worseness> weights;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const DocumentPlace kernel = kernels[i];
    weights.push_back({.spills = spilled_registers(kernel),
                       .scratch = uses_scratch(kernel),
                       .occupancy = kernel["occupancy"]["theoretical"].number(kUnknown),
                       .vgprs = kernel["resources"]["vgpr"].number(),
                       .index = i});
  }
  const auto key = [](const Worseness& one) {
    return std::tuple(-one.spills, !one.scratch, one.occupancy, -one.vgprs, one.index);
  };
  std::ranges::sort(weights, {}, key);
  std::vector<std::size_t> order;
  for (const Worseness& one : weights) order.push_back(one.index);
  return order;
}

/// A part per gate, the failed ones first.
void add_gates(const DocumentPlace& inspection, Json& summary) {
  const DocumentPlace gates = inspection["gates"];
  for (const bool passed : {false, true})
    for (std::size_t i = 0; i < gates.size(); ++i) {
      const DocumentPlace gate = gates[i];
      if (!gate["passed"] || *gate["passed"] != passed) continue;
      Part part{.part = "gate", .title = "Gates", .details = "gates"};
      part.rows.push_back(gate.excerpt({"name", "limit", "passed", "checked", "problem"}));
      if (gate["name"].text() == "against")
        part.rows.back()["old"] = inspection["against"]["file"].excerpt({"name"});
      const DocumentPlace failures = gate["failures"];
      const std::size_t shown = std::min(failures.size(), kMostGateRows);
      for (std::size_t j = 0; j < shown; ++j)
        part.rows.push_back(failures[j].excerpt({"name", "target", "value", "why"}));
      part.left_out = failures.size() - shown;
      add_part(summary, part);
    }
}

/// What differs from the older build and is no regression: those are the gate's.
void add_changes(const DocumentPlace& inspection, Json& summary) {
  Part part{.part = "changes", .title = "Changed, and not worse", .details = "against"};
  const DocumentPlace changes = inspection["against"]["changes"];
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const DocumentPlace figures = changes[i]["figures"];
    for (std::size_t j = 0; j < figures.size(); ++j) {
      if (figures[j]["worse"].holds()) continue;
      if (part.rows.size() == kMostSummaryRows) {
        ++part.left_out;
        continue;
      }
      Json row = figures[j].excerpt({"figure", "before", "after"});
      row["of"] = changes[i].excerpt({"name", "target"});
      part.rows.push_back(std::move(row));
    }
  }
  add_part(summary, part);
}

/// The file, and each target that it has code for.
Part inspected_part(const DocumentPlace& inspection) {
  Part part{.part = "inspected", .title = "Inspected"};
  part.rows.push_back(inspection["file"].excerpt({"name", "kind", "bytes"}));
  if (inspection["compiler"]) part.rows.push_back(inspection.excerpt({"compiler"}));
  const DocumentPlace objects = inspection["code_objects"];
  std::vector<std::string> targets;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const std::string target = objects[i]["target"].text();
    if (target.empty() || std::ranges::find(targets, target) != targets.end()) continue;
    targets.push_back(target);
    if (targets.size() <= kMostSummaryRows)
      part.rows.push_back(objects[i].excerpt({"target"}));
    else
      ++part.left_out;
  }
  return part;
}

Json static_kernel_row(const DocumentPlace& kernel) {
  Json row = kernel.excerpt({"name", "architecture", "target"});
  row["resources"] = kernel["resources"].excerpt({"vgpr", "sgpr", "vgpr_spills", "sgpr_spills",
                                                  "scratch_bytes", "dynamic_stack", "lds_bytes"});
  row["occupancy"] = kernel["occupancy"].excerpt({"theoretical", "workgroup_size"});
  if (const DocumentPlace resident = kernel["occupancy"]["models"]["resident"])
    row["resident"] = resident.excerpt({"limiters"});
  return row;
}

Part static_kernels_part(const DocumentPlace& kernels, const std::vector<std::size_t>& order) {
  Part part{.part = "kernels",
            .title = "Kernels, worst first (spills, scratch, occupancy)",
            .details = "kernels"};
  for (std::size_t i = 0; i < std::min(order.size(), kMostSummaryRows); ++i)
    part.rows.push_back(static_kernel_row(kernels[order[i]]));
  part.left_out = order.size() - part.rows.size();
  return part;
}

/// The kernel, and the figures that decide: what it spills, or what one more wave asks for.
Part static_limit_part(const DocumentPlace& kernel) {
  Part part{.part = "limit", .title = "What limits the first of them", .details = "mix"};
  Json row = kernel.excerpt({"name", "target"});
  row["occupancy"] = kernel["occupancy"].excerpt({"theoretical", "workgroup_size"});
  if (const DocumentPlace resident = kernel["occupancy"]["models"]["resident"])
    row["resident"] = resident.excerpt({"waves_per_simd", "max_waves_per_simd", "limiters"});
  part.rows.push_back(std::move(row));
  if (spilled_registers(kernel) > 0 || uses_scratch(kernel)) {
    part.rows.push_back(kernel["resources"].excerpt(
        {"vgpr", "vgpr_spills", "sgpr_spills", "scratch_bytes", "dynamic_stack"}));
    return part;
  }
  const DocumentPlace changes = kernel["occupancy"]["next_step"]["changes"];
  for (std::size_t i = 0; i < changes.size(); ++i)
    part.rows.push_back(changes[i].excerpt({"resource", "to", "decrease"}));
  if (!kernel["occupancy"]["theoretical"])
    part.missing = missing_of(kernel, "occupancy.theoretical")["reason"].text();
  return part;
}

/// Waves before and after; of a kernel that spills, the traffic that would go.
Part static_worth_part(const DocumentPlace& kernel) {
  Part part{.part = "worth", .title = "What it would be worth", .details = "mix"};
  const DocumentPlace occupancy = kernel["occupancy"];
  if (spilled_registers(kernel) > 0 || uses_scratch(kernel)) {
    if (const DocumentPlace once = kernel["instruction_mix"]["once_through"])
      part.rows.push_back(
          once.excerpt({"scratch_bytes", "global_bytes"}, "a wave, once through the code"));
    part.missing = "nothing was run";
  } else if (const DocumentPlace step = occupancy["next_step"]) {
    part.rows.push_back(occupancy.excerpt({"theoretical"}, "now"));
    part.rows.push_back(step.excerpt({"waves_per_simd", "occupancy"}, "then"));
  }
  return part;
}

/// What an amount of a step counts.
std::string unit_of(const std::string& resource) {
  if (resource == "lds") return "bytes of LDS";
  if (resource == "block") return "work-items in a work-group";
  return resource == "sgpr" ? "SGPRs" : "VGPRs";
}

/// A regex that finds the mangled name and nothing longer; empty: the name is too long to be typed.
std::string pattern_of(const std::string& mangled) {
  std::string out = fmt::format("^{}$", quoted_pattern(mangled));
  return out.size() > kMostPatternColumns ? std::string() : out;
}

/// `rocm-perf occupancy` of the kernel, through the range of `resource`.
std::string staircase_command(const DocumentPlace& kernel, const std::string& resource) {
  const DocumentPlace resources = kernel["resources"], occupancy = kernel["occupancy"];
  std::vector<std::string> words = {"rocm-perf", "occupancy", "--arch",
                                    kernel["architecture"].text()};
  const auto add = [&](const char* option, const DocumentPlace& value, bool zero) {
    if (!value || (value.number() == 0 && !zero)) return;
    words.insert(words.end(), {option, number_text(value.number())});
  };
  add("--vgpr", resources["arch_vgpr"], true);
  add("--agpr", resources["accum_vgpr"], false);
  add("--sgpr", resources["sgpr"], true);
  add("--lds", resources["lds_bytes"], false);
  add("--dynamic-lds", occupancy["dynamic_lds_bytes"], false);
  add("--block", occupancy["workgroup_size"], true);
  add("--wave", kernel["wave_size"], true);
  const hal::Arch* const arch = hal::find_arch(kernel["architecture"].text());
  if (occupancy["mode"].text() == "cu" && arch != nullptr && arch->cus_per_wgp)
    words.emplace_back("--cu-mode");
  if (resource == "vgpr" || resource == "lds" || resource == "block")
    words.insert(words.end(), {"--sweep", resource});
  return join_command_line(words);
}

/// What allows the kernel more registers. All waves of a work-group are resident together, so that
/// its size caps the registers of each.
std::string more_registers_words(const DocumentPlace& launch) {
  const DocumentPlace required = launch["required_workgroup_size"];
  double size = required ? 1 : launch["max_workgroup_size"].number();
  for (std::size_t i = 0; i < required.size(); ++i) size *= required[i].number();
  if (size <= kUncappedWorkgroup)
    return ", and ask for no more waves per SIMD than it needs (__launch_bounds__' second "
           "argument, "
           "amdgpu_waves_per_eu)";
  return required ? fmt::format(
                        "; its work-groups of {:.0f} cap the registers: smaller ones allow "
                        "more",
                        size)
                  : fmt::format(
                        "; its code allows work-groups of {:.0f}, which caps the registers: "
                        "if it is launched with fewer work-items, __launch_bounds__ of "
                        "that number allows more",
                        size);
}

NextStep mix_step(const DocumentPlace& inspection, const DocumentPlace& kernel) {
  const std::string why =
      "shows how many of its instructions read and write scratch. To spill less: keep fewer values "
      "live at once" +
      more_registers_words(kernel["launch"]);
  if (inspection["file"]["kind"].text() == "source")
    return {"", "the same command with --details mix " + why};
  std::vector<std::string> words = {"rocm-perf", "inspect",
                                    inspection["environment"]["file"].text(), "--arch",
                                    kernel["architecture"].text()};
  if (const std::string pattern = pattern_of(kernel["mangled_name"].text()); !pattern.empty())
    words.insert(words.end(), {"--kernel", pattern});
  words.insert(words.end(), {"--mix", "--details", "mix"});
  return {join_command_line(words), why};
}

NextStep static_next_step(const DocumentPlace& inspection, const DocumentPlace& kernel) {
  if (spilled_registers(kernel) > 0 || uses_scratch(kernel)) return mix_step(inspection, kernel);
  const DocumentPlace step = kernel["occupancy"]["next_step"];
  if (step && kernel["resources"]["arch_vgpr"]) {
    const std::string resource = step["changes"][0]["resource"].text();
    return {staircase_command(kernel, resource),
            fmt::format("shows how many waves fit with how many {}", unit_of(resource))};
  }
  if (!kernel["occupancy"]["theoretical"]) {
    const bool binary = inspection["file"]["kind"].text() != "source";
    const DocumentPlace size = missing_of(kernel, "occupancy.workgroup_size");
    if (size && binary)
      return {join_command_line({"rocm-perf", "inspect", inspection["environment"]["file"].text(),
                                 "--block", "256"}),
              "with the work-group size of the launch: " + size["reason"].text()};
    const DocumentPlace lack = missing_of(kernel, "occupancy.theoretical");
    return {"", lack["remedy"] ? lack["remedy"].text() : lack["reason"].text()};
  }
  return {"rocm-perf profile --roofline -- ./app",
          "registers and LDS leave no waves to gain: a run shows what limits it"};
}

// ---- the page: from the summary alone ----

std::string number_cell(const Json& row, std::string_view field) {
  return has_row_number(row, field) ? number_text(row_number(row, field)) : kDash;
}

/// "VGPRs", "LDS"; limiters that have no other name: as documents call them, without underscores.
std::string resource_name(const std::string& name) {
  if (name == "vgpr") return "VGPRs";
  if (name == "sgpr") return "SGPRs";
  if (name == "lds") return "LDS";
  if (name == "workgroup_slots") return "work-group slots";
  return name;
}

/// Whether it has as many waves as the hardware takes.
bool all_waves(const Json& row) {
  if (!row.contains("resident")) return false;
  const Json& limiters = row["resident"]["limiters"];
  return std::ranges::find(limiters, "waves") != limiters.end();
}

std::string limiters_text(const Json& row) {
  std::vector<std::string> names;
  if (row.contains("resident") && !all_waves(row))
    for (const Json& one : row["resident"]["limiters"])
      names.push_back(resource_name(one.get<std::string>()));
  return names.empty() ? kDash : fmt::format("{}", fmt::join(names, ", "));
}

/// "12v 3s" for spilled vector and scalar registers.
std::string spills_cell(const Json& resources) {
  const double vector = row_number(resources, "vgpr_spills");
  const double scalar = row_number(resources, "sgpr_spills");
  if (vector + scalar > 0) return fmt::format("{:.0f}v {:.0f}s", vector, scalar);
  return has_row_number(resources, "vgpr_spills") ? "0" : kDash;
}

std::string scratch_cell(const Json& resources) {
  return number_cell(resources, "scratch_bytes") +
         (resources.value("dynamic_stack", false) ? "+" : "");
}

std::string static_kernels_text(const Json& rows, std::size_t width) {
  using enum TextTable::Align;
  const bool several = std::ranges::any_of(
      rows, [&](const Json& row) { return row["architecture"] != rows[0]["architecture"]; });
  const bool scratch = std::ranges::any_of(
      rows, [](const Json& row) { return scratch_cell(row["resources"]) != "0"; });
  const bool limits = !std::ranges::all_of(rows, all_waves);
  std::vector<TextTable::Column> columns = {
      {.title = "spills"}, {.title = "VGPRs"}, {.title = "SGPRs"}, {.title = "LDS"}};
  if (scratch) columns.insert(columns.begin() + 1, {.title = "scratch", .expendable = 1});
  columns.push_back({.title = "occupancy"});
  if (limits) columns.push_back({.title = "limited by", .align = left, .expendable = 2});
  if (several) columns.push_back({.title = "GPU", .align = left});
  columns.push_back({.title = "kernel", .align = left, .flexible = true});
  TextTable table(columns);
  for (const Json& row : rows) {
    const Json& resources = row["resources"];
    const Json& occupancy = row["occupancy"];
    std::vector<std::string> cells = {spills_cell(resources)};
    if (scratch) cells.push_back(scratch_cell(resources));
    for (const char* field : {"vgpr", "sgpr", "lds_bytes"})
      cells.push_back(number_cell(resources, field));
    cells.push_back(has_row_number(occupancy, "theoretical")
                        ? percent(row_number(occupancy, "theoretical"))
                        : kDash);
    if (limits) cells.push_back(limiters_text(row));
    if (several) cells.push_back(row_text(row, "architecture"));
    cells.push_back(row_text(row, "name"));
    table.add(std::move(cells));
  }
  return table.text(width);
}

std::string inspected_text(const Json& part, std::size_t width) {
  static constexpr std::pair<std::string_view, std::string_view> kInspectedKinds[] = {
      {"code_object", "code object"},
      {"bundle", "offload bundle"},
      {"host_elf", "host program or library"},
      {"source", "source"}};
  std::string file, compiler;
  std::vector<std::string> targets;
  for (const Json& row : part["rows"]) {
    if (row.contains("target")) {
      targets.push_back(row_text(row, "target"));
    } else if (row.contains("compiler")) {
      compiler = "compiled by " + row_text(row, "compiler");
    } else {
      const std::string kind = row_text(row, "kind");
      const auto* const known = std::ranges::find(
          kInspectedKinds, kind, &std::pair<std::string_view, std::string_view>::first);
      file = fmt::format("{}: {}, {}", printable(row_text(row, "name")),
                         known == std::end(kInspectedKinds) ? kind : known->second,
                         bytes_text(row_number(row, "bytes")));
    }
  }
  if (!targets.empty()) file += fmt::format(", for {}", fmt::join(targets, ", "));
  return margined(file, width, 2) + (compiler.empty() ? compiler : margined(compiler, width, 2));
}

/// "FAILED max_vgpr 127: 1 of 2 kernels", and which.
std::string gates_text(const Json& part, std::size_t width, const Paint& paint) {
  constexpr std::size_t kFailureMargin = 9;
  const Json& rows = part["rows"];
  const Json& gate = rows[0];
  const bool passed = gate["passed"].get<bool>();
  const auto checked = gate["checked"].get<std::size_t>();
  const std::size_t failures = rows.size() - 1 + part["left_out"].get<std::size_t>();
  std::string name = row_text(gate, "name");
  if (has_row_number(gate, "limit"))
    name += fmt::format(" {}", number_text(row_number(gate, "limit")));
  if (gate.contains("old")) name += " " + printable(row_text(gate["old"], "name"));
  std::string outcome = fmt::format("all of {}", counted(checked, "kernel"));
  if (const std::string problem = row_text(gate, "problem"); !problem.empty())
    outcome = problem;
  else if (gate.contains("old") && !passed)
    outcome =
        fmt::format("{} worse in {}", counted(failures, "figure"), counted(checked, "kernel"));
  else if (!passed)
    outcome = fmt::format("{} of {}", failures, counted(checked, "kernel"));
  std::string out =
      margined(fmt::format("{} {}: {}", passed ? "passed" : "FAILED", name, outcome), width, 2);
  out.insert(2 + std::string_view("passed").size(), paint.end);
  out.insert(2, passed ? paint.good : paint.bad);
  for (std::size_t i = 1; i < rows.size(); ++i)
    out += margined(fmt::format("{} ({}): {}", fit(row_text(rows[i], "name"), 2 * width / 5),
                                row_text(rows[i], "target"), row_text(rows[i], "why")),
                    width, kFailureMargin);
  return out;
}

std::string figure_changes_text(const Json& rows, std::size_t width) {
  using enum TextTable::Align;
  TextTable table({{.title = "before"},
                   {.title = "after"},
                   {.title = "figure", .align = left},
                   {.title = "kernel", .align = left, .flexible = true}});
  for (const Json& row : rows)
    table.add({number_cell(row, "before"), number_cell(row, "after"), row_text(row, "figure"),
               row_text(row["of"], "name")});
  return table.text(width);
}

std::string resident_line(const Json& row) {
  const Json& occupancy = row["occupancy"];
  const std::string waves = fmt::format("{} of {} waves per SIMD in work-groups of {}",
                                        number_cell(row["resident"], "waves_per_simd"),
                                        number_cell(row["resident"], "max_waves_per_simd"),
                                        number_cell(occupancy, "workgroup_size"));
  if (all_waves(row)) return waves + ": neither registers nor LDS limit it";
  return fmt::format("{} occupancy: {}; limited by {} (resident model)",
                     percent(row_number(occupancy, "theoretical")), waves, limiters_text(row));
}

std::string limit_rows_text(const Json& rows, std::size_t width) {
  std::string out;
  for (const Json& row : rows) {
    if (row.contains("name")) {
      out += fmt::format(
          "  {}\n",
          fit(fmt::format("{} ({})", row_text(row, "name"), row_text(row, "target")), width - 2));
      if (row.contains("resident")) out += margined(resident_line(row), width, 2);
    } else if (row.contains("vgpr_spills")) {
      out += margined(
          fmt::format("- {} VGPRs and {} SGPRs are spilled; {} bytes of scratch per work-item{}",
                      number_cell(row, "vgpr_spills"), number_cell(row, "sgpr_spills"),
                      number_cell(row, "scratch_bytes"),
                      row.value("dynamic_stack", false) ? " and a stack that grows" : ""),
          width, 2);
      out += margined(fmt::format("- {} VGPRs are used", number_cell(row, "vgpr")), width, 2);
    } else {
      const double used = row_number(row, "to") + row_number(row, "decrease");
      out += margined(fmt::format("- {} {}; more waves fit with {} or fewer", number_text(used),
                                  unit_of(row_text(row, "resource")), number_cell(row, "to")),
                      width, 2);
    }
  }
  return out;
}

std::string worth_rows_text(const Json& rows, std::size_t width) {
  if (rows.empty()) return {};
  if (rows[0].contains("scratch_bytes"))
    return margined(fmt::format("once through the code, a wave moves {} through scratch and {} "
                                "through global memory, all lanes active",
                                bytes_text(row_number(rows[0], "scratch_bytes")),
                                bytes_text(row_number(rows[0], "global_bytes"))),
                    width, 2);
  if (rows.size() < 2) return {};  // taken out of a page that was too long
  const Json& then = rows.back();
  return margined(
      fmt::format("with that: {} waves per SIMD, {} occupancy instead of {}; only a run shows "
                  "the gain in time",
                  number_cell(then, "waves_per_simd"), percent(row_number(then, "occupancy")),
                  percent(row_number(rows[0], "theoretical"))),
      width, 2);
}

}  // namespace

std::optional<std::string> inspection_part_text(const Json& /*summary*/, const Json& part,
                                                std::size_t width, const Paint& paint) {
  const std::string name = part["part"];
  const Json& rows = part["rows"];
  if (name == "gate") return gates_text(part, width, paint);
  if (name == "changes") return figure_changes_text(rows, width);
  if (name == "inspected") return inspected_text(part, width);
  if (name == "kernels") return static_kernels_text(rows, width);
  if (name == "limit") return limit_rows_text(rows, width);
  if (name == "worth") return worth_rows_text(rows, width);
  return std::nullopt;
}

void summarise_inspection(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace inspection = document_of(documents, "inspection");
  const DocumentPlace kernels = inspection["kernels"];
  add_gates(inspection, summary);
  add_changes(inspection, summary);
  add_part(summary, inspected_part(inspection));
  if (kernels.size() == 0) return;
  const std::vector<std::size_t> order = by_weight(kernels);
  add_part(summary, static_kernels_part(kernels, order));
  const DocumentPlace first = kernels[order.front()];
  add_part(summary, static_limit_part(first));
  add_part(summary, static_worth_part(first));
  add_next(summary, static_next_step(inspection, first));
}

}  // namespace perflab::report
