// rocm-perf occupancy: how many waves of a kernel fit, what limits them, and the next step.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>

#include "base/text/numbers.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/kit/present.h"
#include "report/code/occupancy_document.h"
#include "report/code/occupancy_text.h"

namespace perflab::cli {
namespace {

struct OccupancyArguments {
  std::string arch;
  hal::KernelResources kernel;
  std::optional<int> wave_size;
  bool cu_mode = false;
  bool wgp_mode = false;
  std::string waves_per_eu;
  std::optional<int> llvm;
  std::string sweep;
  HtmlArguments html;
  bool json = false;
};

/// "2" or "2,4".
Result<hal::WavesPerEu> waves_per_eu(const std::string& text) {
  const std::size_t comma = text.find(',');
  const auto low = whole_number<std::int64_t>(std::string_view(text).substr(0, comma));
  hal::WavesPerEu bounds{.lo = low.value_or(0), .hi = {}};
  if (comma != std::string::npos)
    bounds.hi = whole_number<std::int64_t>(std::string_view(text).substr(comma + 1));
  if (!low || (comma != std::string::npos && !bounds.hi))
    return fail(ErrorCode::usage, fmt::format("--waves-per-eu {} is not LO or LO,HI", text));
  if (bounds.lo < 1 || bounds.hi.value_or(bounds.lo) < bounds.lo)
    return fail(ErrorCode::usage,
                fmt::format("--waves-per-eu {}: LO must be at least 1, and HI at least LO", text));
  return bounds;
}

/// CLI11 takes the nearest 64-bit number for one that is beyond; nobody gave that one.
std::string refuse_beyond_64_bits(const std::string& text) {
  errno = 0;
  std::strtoll(text.c_str(), nullptr, 0);
  return errno == ERANGE ? fmt::format("{} is not a count of anything", text) : "";
}

Result<const hal::Arch*> arch_of(const std::string& target) {
  const hal::Arch* arch = hal::find_arch(target);
  if (arch == nullptr) return std::unexpected(hal::unknown_architecture(target));
  if (const auto feature = hal::unknown_feature(target))
    return fail(ErrorCode::usage,
                fmt::format("--arch {}: {} is not sramecc or xnack, once, with + or -", target,
                            feature->empty() ? "the empty feature" : *feature));
  return arch;
}

/// Options about what only AMD's GPUs have are refused for NVIDIA's: they would say nothing.
Result<void> check_options(const OccupancyArguments& arguments, const hal::Arch& arch) {
  if (arch.platform == hal::Platform::amd) return {};
  const std::pair<const char*, bool> amd_only[] = {
      {"--agpr", arguments.kernel.agprs != 0},
      {"--sgpr", arguments.kernel.sgprs.has_value()},
      {"--min-block", arguments.kernel.workgroup_size_min.has_value()},
      {"--cu-mode", arguments.cu_mode},
      {"--wgp-mode", arguments.wgp_mode},
      {"--waves-per-eu", !arguments.waves_per_eu.empty()},
      {"--llvm", arguments.llvm.has_value()}};
  for (const auto& [option, given] : amd_only)
    if (given)
      return fail(ErrorCode::usage,
                  fmt::format("{} is about AMD's GPUs: {} has no such thing", option, arch.gfx));
  return {};
}

Result<hal::OccupancyInput> input_of(const OccupancyArguments& arguments, const hal::Arch& arch) {
  PERFLAB_TRY_VOID(check_options(arguments, arch));
  hal::OccupancyInput input;
  input.kernel = arguments.kernel;
  input.wave_size = arguments.wave_size;
  if (arguments.cu_mode) input.mode = hal::WorkgroupMode::cu;
  if (arguments.wgp_mode) input.mode = hal::WorkgroupMode::wgp;
  input.kernel.llvm_rule =
      arguments.llvm.value_or(19) >= 20 ? hal::LlvmRule::v20 : hal::LlvmRule::v19;
  if (!arguments.waves_per_eu.empty()) {
    PERFLAB_TRY(input.kernel.waves_per_eu, waves_per_eu(arguments.waves_per_eu));
  }
  return input;
}

Result<void> run_occupancy(const OccupancyArguments& arguments) {
  static const std::map<std::string, hal::Sweep> kSweeps = {
      {"vgpr", hal::Sweep::vgpr}, {"lds", hal::Sweep::lds}, {"block", hal::Sweep::block}};
  PERFLAB_TRY_VOID(check_html_file(arguments.html, {}));
  PERFLAB_TRY(const hal::Arch* const arch, arch_of(arguments.arch));
  PERFLAB_TRY(const hal::OccupancyInput input, input_of(arguments, *arch));
  std::optional<hal::Sweep> sweep;
  if (!arguments.sweep.empty()) sweep = kSweeps.at(arguments.sweep);
  auto data = report::occupancy_data(*arch, input, sweep);
  if (!data) {
    // Everything was given on the command line.
    data.error().code = ErrorCode::usage;
    return std::unexpected(std::move(data).error());
  }
  return present({.html = arguments.html, .json = arguments.json},
                 {{"occupancy", report::occupancy_document(*data)}},
                 [&] { return report::occupancy_text(*data, terminal_style()); });
}

void add_kernel_options(CLI::App& command, OccupancyArguments& arguments) {
  hal::KernelResources& kernel = arguments.kernel;
  const auto add = [&](const char* name, auto& count, const char* description) {
    return command.add_option(name, count, description)->check(refuse_beyond_64_bits);
  };
  add("--vgpr", kernel.vgprs,
      "Architected vector registers of a wave; NVIDIA: registers of a thread")
      ->required();
  add("--agpr", kernel.agprs, "Accumulation registers of a wave (default: 0)");
  add("--sgpr", kernel.sgprs,
      "Scalar registers of a wave, with VCC and the like (default: no limit)");
  add("--block", kernel.workgroup_size, "Work-items of a work-group; NVIDIA: threads of a block")
      ->required();
  add("--min-block", kernel.workgroup_size_min,
      "Smallest work-group, when --block is the largest of a range (see --llvm)");
  add("--lds", kernel.static_lds,
      "Static LDS of a work-group, bytes; NVIDIA: shared memory of a block (default: 0)");
  add("--dynamic-lds", kernel.dynamic_lds, "LDS that a launch adds, bytes (default: 0)");
}

}  // namespace

void add_occupancy(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<OccupancyArguments>();
  CLI::App* command =
      app.add_subcommand("occupancy", "Show how many waves of a kernel fit and what limits them");
  set_examples(*command, {"rocm-perf occupancy --arch gfx942 --vgpr 72 --lds 16384 --block 256",
                          "rocm-perf occupancy --arch gfx942 --vgpr 72 --block 256 --sweep vgpr",
                          "rocm-perf occupancy --arch sm_90 --vgpr 96 --lds 49152 --block 256"});
  command->add_option("--arch", arguments->arch, "Architecture: gfx942, gfx1100, sm_90, ...")
      ->required();
  add_kernel_options(*command, *arguments);
  command->add_option("--wave", arguments->wave_size,
                      "Work-items of a wave: 32 or 64 (default: the architecture's)");
  CLI::Option* cu =
      command->add_flag("--cu-mode", arguments->cu_mode, "A work-group stays on one CU (-mcumode)");
  command
      ->add_flag("--wgp-mode", arguments->wgp_mode,
                 "A work-group spreads over a WGP (RDNA; the default there)")
      ->excludes(cu);
  command->add_option("--waves-per-eu", arguments->waves_per_eu,
                      "The attribute amdgpu_waves_per_eu: LO or LO,HI");
  command
      ->add_option("--llvm", arguments->llvm,
                   "Rule of the llvm model: 19, or 20 for LLVM 20 and later; they differ for a "
                   "range of work-group sizes (default: 19)")
      ->check(CLI::IsMember({19, 20}));
  command
      ->add_option("--sweep", arguments->sweep,
                   "Sweep one amount through its range: vgpr, lds or block")
      ->check(CLI::IsMember({"vgpr", "lds", "block"}));
  add_html_option(*command, arguments->html, "it");
  command->add_flag("--json", arguments->json, "Print the document and nothing else");
  command->callback([arguments, &exit_code] {
    if (const auto done = run_occupancy(*arguments); !done) exit_code = report_error(done.error());
  });
}

}  // namespace perflab::cli
