// Every figure here stands in profile.json too.
#include "report/analysis/profile_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "base/text/number_text.h"
#include "hal/terms.h"
#include "report/analysis/analysis_text.h"
#include "report/bottleneck/bottleneck_text.h"
#include "report/bottleneck/occupancy_gap.h"
#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"
#include "report/thread_trace/thread_trace_text.h"

namespace perflab::report {
namespace {

std::string triple(const std::array<std::uint32_t, 3>& v) {
  return fmt::format("{}x{}x{}", v[0], v[1], v[2]);
}

std::string occupancy_line(const hal::Occupancy& occupancy) {
  const auto model = [](std::string_view name, const hal::ModelOccupancy& m) {
    return fmt::format("{} {:.4g} of {}", name, m.waves_per_simd, m.max_waves_per_simd);
  };
  if (occupancy.platform == hal::Platform::nvidia)
    return fmt::format("{}, limited by {}\n             {} blocks of an SM: {:.4g} of {} warps\n",
                       percent(occupancy.cuda.occupancy),
                       limiter_names(occupancy.cuda.limiters, occupancy.platform),
                       occupancy.cuda.workgroups_per_cu,
                       occupancy.cuda.waves_per_simd * occupancy.simds,
                       occupancy.cuda.max_waves_per_simd * occupancy.simds);
  return fmt::format(
      "{} (resident model), limited by {}\n             waves per SIMD: {}, {}, {}\n",
      percent(occupancy.resident.occupancy), limiter_names(occupancy.resident.limiters),
      model("resident", occupancy.resident), model("llvm", occupancy.llvm),
      model("hip", occupancy.hip));
}

std::string kernel_lines(const analyze::Kernel& kernel, const TerminalStyle& style) {
  std::string out;
  const auto line = [&](std::string_view label, const std::string& text) {
    out += fmt::format("  {:<10} {}\n", label, printable(text));
  };
  const analyze::Resources& r = kernel.resources;
  line("kernel", fit(kernel.name, style.width > 13 ? style.width - 13 : 20));
  const hal::Platform platform = hal::platform_of(kernel.gpu.architecture);
  const hal::Terms& t = hal::terms(platform);
  line("gpu", fmt::format("{} {}, {} {}", kernel.gpu.product, kernel.gpu.architecture,
                          number_or_dash(kernel.gpu.compute_units), t.cus));
  if (!kernel.gpu.differences.empty()) line("recorded", differences_text(kernel.gpu));
  line("launch",
       fmt::format("{} {}, grid {} {}, {} {}", t.workgroup, triple(kernel.launch.workgroup),
                   triple(kernel.launch.grid), t.work_items,
                   kernel.workgroups ? fmt::format("{}", *kernel.workgroups) : "—", t.workgroups));
  const std::string registers =
      platform == hal::Platform::amd
          ? fmt::format("{} VGPRs, {} SGPRs", number_or_dash(r.vgprs), number_or_dash(r.sgprs))
          : fmt::format("{} a thread", number_or_dash(r.vgprs));
  line("registers", fmt::format("{}; {} {} B (static {}), {} {} B", registers, t.lds,
                                number_or_dash(r.lds_bytes), number_or_dash(r.static_lds_bytes),
                                t.scratch, number_or_dash(r.scratch_bytes)));
  if (kernel.code) {
    std::vector<std::string> corrections;
    for (const analyze::Correction& c : kernel.code->corrections)
      corrections.push_back(
          fmt::format("{} {} (recorded: {})", c.field, c.code_object, c.recorded));
    line("code",
         fmt::format("registers from {} ({}){}{}", kernel.code->file, kernel.code->target,
                     corrections.empty() ? "" : "; corrected: ", fmt::join(corrections, ", ")));
  }
  if (kernel.occupancy)
    out += fmt::format("  {:<10} {}", "occupancy", occupancy_line(*kernel.occupancy));
  if (kernel.occupancy_gap)
    out += labelled("achieved", occupancy_gap_text(*kernel.occupancy_gap, platform), style.width);
  return out;
}

std::string stability_line(const ProfileData& data) {
  const analyze::RunStability& stability = data.analyzed->stability;
  if (!stability.cv)
    return fmt::format("not known: {} run{} (--runs 5 measures it)", data.runs.size(),
                       data.runs.size() == 1 ? "" : "s");
  return fmt::format("{}: CV {:.2f} % over {} runs", stats::to_string(*stability.label),
                     100 * *stability.cv, stability.runs.size());
}

}  // namespace

std::string profile_text(const ProfileData& data, const TerminalStyle& style) {
  const Paint paint(style.colour);
  std::string out = heading(paint, "Profile");
  for (std::size_t i = 0; data.analyzed == nullptr && i < data.runs.size(); ++i)
    if (const auto& wall = data.runs[i].process_wall_ns)
      out += fmt::format("  run {}: the process took {}\n", i + 1,
                         duration_text(static_cast<double>(*wall)));
  if (data.analyzed == nullptr)
    return out + fmt::format("  no GPU figures: {}\n", printable(data.no_gpu_reason)) +
           warnings_section(data.warnings, style.width, paint);
  const analyze::Analysis& analysis = data.analyzed->representative.analysis;
  const analyze::Kernel& kernel = analysis.kernels[analysis.selection->kernel];
  out += kernel_lines(kernel, style);
  out += fmt::format(
      "  {:<10} {} in {} {}, {} of all kernel time\n", "runtime",
      duration_text(static_cast<double>(kernel.durations.total)), kernel.durations.count,
      hal::terms(hal::platform_of(kernel.gpu.architecture)).dispatches, percent(kernel.share));
  out += fmt::format("  {:<10} {}\n", "stability", stability_line(data));
  for (const std::string& assumption : kernel.assumptions)
    out += fmt::format("  {:<10} {}\n", "assumed", printable(assumption));
  for (const Missing& missing : kernel.missing)
    if (missing.field == "resources.vgpr_per_thread" || missing.field == "occupancy.theoretical")
      out += fmt::format("  {:<10} {}: {}\n", "missing", missing.field, printable(missing.reason));
  return out + warnings_section(data.warnings, style.width, paint);
}

}  // namespace perflab::report
