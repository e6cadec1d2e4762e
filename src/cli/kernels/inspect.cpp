// rocm-perf inspect: what a binary's or a source's device code says, with gates for CI.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

#include "analyze/inspect/inspection.h"
#include "analyze/inspect/inspection_gates.h"
#include "base/text/progress.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/kit/option_parsers.h"
#include "cli/kit/present.h"
#include "report/code/inspection_document.h"
#include "report/code/inspection_text.h"
#include "report/kit/document.h"
#include "report/kit/style.h"

namespace perflab::cli {
namespace {

struct InspectArguments {
  std::string file;
  std::vector<std::string> archs;
  std::string kernel;
  std::string against;
  std::optional<std::int64_t> block;
  std::int64_t dynamic_lds = 0;
  std::optional<std::int64_t> max_vgprs;
  std::string min_occupancy;
  bool no_spills = false;
  bool mix = false;
  bool no_mix = false;
  bool all = false;
  Outputs outputs;
  unsigned threads = 0;
};

/// "0.5" or "50%".
Result<double> fraction(const std::string& text) {
  const auto value = share_from(text, 1);
  if (!value)
    return fail(ErrorCode::usage, fmt::format("--min-occupancy {} is not an occupancy", text),
                "say it like 0.5 or 50%");
  return *value;
}

Result<analyze::InspectOptions> options_of(const InspectArguments& arguments,
                                           const std::vector<std::string>& compiler_arguments) {
  analyze::InspectOptions options;
  for (const std::string& arch : arguments.archs)
    if (std::ranges::find(options.archs, arch) == options.archs.end())
      options.archs.push_back(arch);
  if (!arguments.kernel.empty()) {
    PERFLAB_TRY(Pattern pattern, Pattern::compile(arguments.kernel));
    options.kernels = std::move(pattern);
  }
  options.launch = {
      .workgroup_size = arguments.block, .dynamic_lds = arguments.dynamic_lds, .recorded = {}};
  options.mix = arguments.mix      ? analyze::MixChoice::always
                : arguments.no_mix ? analyze::MixChoice::never
                                   : analyze::MixChoice::automatic;
  options.compiler_arguments = compiler_arguments;
  options.threads = arguments.threads;
  return options;
}

/// The sections of --details: those that have something to say.
std::vector<Section> inspect_sections(const InspectArguments& arguments,
                                      const analyze::Inspection& inspection,
                                      const std::vector<analyze::Gate>& gates,
                                      const std::optional<analyze::InspectionDiff>& against) {
  report::TerminalStyle style = terminal_style();
  if (arguments.all) style.most_rows = SIZE_MAX / 8;
  // Kernels one by one are long: many of them only when they are asked for.
  const std::size_t most =
      arguments.outputs.details == kAllSections ? report::kMostDetailedKernels : SIZE_MAX;
  std::vector<Section> sections = {
      {"kernels", [&, style] { return report::inspected_kernels_text(inspection, style); }}};
  if (!inspection.kernels.empty())
    sections.push_back(
        {"mix", [&, style, most] { return report::inspected_mix_text(inspection, most, style); }});
  if (against)
    sections.push_back({"against", [&, style] {
                          return report::inspected_changes_text(inspection, *against, style);
                        }});
  if (!gates.empty())
    sections.push_back({"gates", [&, style] {
                          return report::inspected_gates_text(inspection, gates, against, style);
                        }});
  if (!report::inspected_problems_text(inspection, style).empty())
    sections.push_back(
        {"problems", [&, style] { return report::inspected_problems_text(inspection, style); }});
  return sections;
}

/// Whether every gate was passed.
Result<bool> run_inspect(const InspectArguments& arguments,
                         const std::vector<std::string>& compiler_arguments) {
  std::vector<std::filesystem::path> inputs = {arguments.file};
  if (!arguments.against.empty()) inputs.emplace_back(arguments.against);
  PERFLAB_TRY_VOID(check_html_file(arguments.outputs.html, inputs, arguments.outputs.folder));
  PERFLAB_TRY(const analyze::InspectOptions options, options_of(arguments, compiler_arguments));
  analyze::GateLimits limits{
      .max_vgprs = arguments.max_vgprs, .min_occupancy = {}, .no_spills = arguments.no_spills};
  if (!arguments.min_occupancy.empty()) {
    PERFLAB_TRY(const double least, fraction(arguments.min_occupancy));
    limits.min_occupancy = least;
  }

  LongWork work("inspecting " + arguments.file);
  PERFLAB_TRY(const analyze::Inspection inspection, analyze::inspect_file(arguments.file, options));
  std::vector<analyze::Gate> gates = analyze::check_gates(inspection, limits);
  std::optional<analyze::InspectionDiff> against;
  if (!arguments.against.empty()) {
    analyze::InspectOptions reference = options;
    reference.reference = true;
    PERFLAB_TRY(const analyze::Inspection old, analyze::inspect_file(arguments.against, reference));
    against = analyze::compare_inspections(old, inspection);
    gates.push_back(analyze::comparison_gate(*against));
  }
  work.end();
  const bool passed = std::ranges::all_of(gates, &analyze::Gate::passed);

  PERFLAB_TRY_VOID(present_answer(
      arguments.outputs, {{"inspection", report::inspection_document(inspection, gates, against)}},
      inspect_sections(arguments, inspection, gates, against)));
  return passed;
}

}  // namespace

void add_inspect(CLI::App& app, const std::vector<std::string>& target, int& exit_code) {
  const auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command = app.add_subcommand(
      "inspect", "Show registers, spills and occupancy of a binary or HIP source");
  set_examples(*command,
               {"rocm-perf inspect ./app --kernel gemm",
                "rocm-perf inspect softmax.hip --arch gfx942 --no-spills --min-occupancy 50% -- "
                "-DBLOCK_SIZE=128"});
  command->footer(
      "Words after -- are arguments of the compiler.\n"
      "Exit code 1: a gate failed.");
  command
      ->add_option("FILE", arguments->file,
                   "Code object, offload bundle, executable, library, .o, or HIP source")
      ->required();
  command
      ->add_option("--arch", arguments->archs,
                   "Architecture to compile the source for, or the only one to show; repeatable")
      ->allow_extra_args(false);
  command->add_option("--kernel", arguments->kernel, "Only kernels whose name this regex matches");
  command
      ->add_option("--block", arguments->block,
                   "Work-items of a work-group for occupancy (default: the most it allows)")
      ->check(CLI::Range(1, 1 << 20));
  command
      ->add_option("--dynamic-lds", arguments->dynamic_lds,
                   "Bytes of LDS added at launch, for occupancy")
      ->check(CLI::Range(0, 1 << 30));
  command->add_option("--max-vgpr", arguments->max_vgprs, "Gate: no kernel uses more VGPRs")
      ->check(CLI::Range(0, 1 << 20));
  command->add_option("--min-occupancy", arguments->min_occupancy,
                      "Gate: no kernel is below this occupancy (resident model; 0.5 or 50%)");
  command->add_flag("--no-spills", arguments->no_spills,
                    "Gate: no kernel spills registers or uses scratch");
  command->add_option("--against", arguments->against,
                      "Gate: compare with an older build; more spills or less occupancy fail");
  CLI::Option* mix =
      command->add_flag("--mix", arguments->mix,
                        "Disassemble for the instruction mix, however many kernels there are");
  command->add_flag("--no-mix", arguments->no_mix, "Do not disassemble")->excludes(mix);
  add_answer_options(*command, arguments->outputs, "inspection");
  add_all_option(*command, arguments->all, arguments->outputs);
  command->add_option("--out", arguments->outputs.folder, "Write inspection.json into this folder");
  add_html_option(*command, arguments->outputs.html, "kernels and gates");
  command->add_option("--threads", arguments->threads,
                      "Threads (default: all cores); the result is the same");
  command->callback([arguments, &target, &exit_code] {
    const auto passed = run_inspect(*arguments, target);
    exit_code = !passed ? report_error(passed.error()) : *passed ? 0 : 1;
  });
}

}  // namespace perflab::cli
