// Writes the installed header perflab/occupancy.h at build time: the models' own headers, one
// behind the other, and the limits of every architecture as the program itself computes with them.
//   make_occupancy_header OUT VERSION HEADER...
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <sstream>

#include "base/system/files.h"
#include "hal/occupancy.h"

namespace {

using namespace perflab;
using namespace perflab::hal;

constexpr std::string_view kOpen = "namespace perflab::hal {";
constexpr std::string_view kClose = "}  // namespace perflab::hal";

std::string optional_number(const std::optional<std::int64_t>& value) {
  return value ? fmt::format("{}", *value) : "std::nullopt";
}

/// The initializer of OccupancyLimits. tests/hal/install_test.cpp compares every answer of the
/// header with the program's, so that a member that was forgotten here shows.
std::string limits_text(const OccupancyLimits& l) {
  std::string sgpr_waves;
  for (const SgprStep& step : l.llvm_sgpr_waves)
    sgpr_waves += fmt::format("{{.max_sgprs = {}, .waves = {}}}, ", optional_number(step.max_sgprs),
                              step.waves);
  return fmt::format(
      "{{.hardware_model = OccupancyModel::{}, .wave_size = {}, .simds = {},\n"
      "        .max_waves_llvm = {}, .max_waves_hip = {},\n"
      "        .max_waves_hardware = {}, .max_workgroup_size = {}, .barrier_workgroups = {},\n"
      "        .max_workgroups = {},\n"
      "        .vgprs_per_simd = {}, .vgpr_granule = {}, .addressable_vgprs = {},\n"
      "        .addressable_agprs = {}, .agpr_rule = AgprRule::{}, .accum_offset_granule = {},\n"
      "        .sgprs_per_simd = {}, .sgpr_granule = {}, .max_sgprs = {},\n"
      "        .llvm_sgpr_waves = {{{}}},\n"
      "        .lds_bytes = {}, .lds_bytes_per_cu = {}, .lds_max_per_workgroup = {},\n"
      "        .lds_granule = {}, .lds_reserved = {}}}",
      to_string(l.hardware_model), l.wave_size, l.simds, l.max_waves_llvm, l.max_waves_hip,
      l.max_waves_hardware, l.max_workgroup_size, l.barrier_workgroups, l.max_workgroups,
      l.vgprs_per_simd, l.vgpr_granule, l.addressable_vgprs, l.addressable_agprs,
      to_string(l.agpr_rule), l.accum_offset_granule, optional_number(l.sgprs_per_simd),
      l.sgpr_granule, l.max_sgprs, sgpr_waves, l.lds_bytes, l.lds_bytes_per_cu,
      l.lds_max_per_workgroup, l.lds_granule, l.lds_reserved);
}

Result<std::string> table_text() {
  std::string out =
      "inline const std::vector<KnownUnit>& table() {\n"
      "  static const std::vector<KnownUnit> units = {\n";
  for (const Arch& arch : all_archs()) {
    std::string unconfirmed;
    for (const std::string& field : arch.unconfirmed_of_occupancy())
      unconfirmed += fmt::format("\"{}\", ", field);
    for (const WaveSizeLimits& wave : arch.wave_sizes)
      for (const WorkgroupMode mode : {WorkgroupMode::cu, WorkgroupMode::wgp}) {
        if (mode == WorkgroupMode::wgp && !arch.cus_per_wgp) continue;
        PERFLAB_TRY(const OccupancyLimits limits, limits_of(arch, wave.wave_size, mode));
        out += fmt::format(
            "      {{.gfx = \"{}\", .mode = WorkgroupMode::{}, .is_default = {},\n"
            "       .limits = {},\n       .unconfirmed = {{{}}}}},\n",
            arch.gfx, to_string(mode),
            wave.wave_size == arch.default_wave_size && mode == arch.default_mode,
            limits_text(limits), unconfirmed);
      }
  }
  return out + "  };\n  return units;\n}\n";
}

/// A header's text: its standard includes, and what stands in its namespace.
Result<std::string> body_of(const std::string& path, std::set<std::string>& includes) {
  PERFLAB_TRY(const std::string text, read_file(path));
  const auto open = text.find(kOpen);
  const auto close = text.rfind(kClose);
  if (open == std::string::npos || close == std::string::npos)
    return fail(ErrorCode::bad_input, fmt::format("{} does not open perflab::hal", path));
  std::istringstream head(text.substr(0, open));
  std::string comment;
  for (std::string line; std::getline(head, line);) {
    if (line.starts_with("#include <")) includes.insert(line);
    if (line.starts_with("//")) comment += line + "\n";
  }
  return "\n" + comment + text.substr(open + kOpen.size(), close - open - kOpen.size());
}

Result<void> write_header(const std::string& out, const std::string& version,
                          const std::vector<std::string>& headers) {
  std::set<std::string> includes;
  std::string bodies;
  for (const std::string& header : headers) {
    PERFLAB_TRY(const std::string body, body_of(header, includes));
    bodies += body;
  }
  PERFLAB_TRY(const std::string table, table_text());
  const std::string text = fmt::format(
      "// perflab/occupancy.h of rocm-perf-lab {}: occupancy of GPU kernels under named models\n"
      "// (three for AMD, one for NVIDIA), the next step, and the limits of every architecture "
      "that\n"
      "// is known. Usable alone:\n"
      "// C++20 and its standard library. Generated by "
      "src/hal/installed/make_occupancy_header.cpp.\n"
      "#ifndef PERFLAB_OCCUPANCY_H\n#define PERFLAB_OCCUPANCY_H\n\n{}\n\n"
      "namespace perflab::occupancy {{\n{}{}\n}}  // namespace perflab::occupancy\n\n"
      "#endif  // PERFLAB_OCCUPANCY_H\n",
      version, fmt::join(includes, "\n"), bodies, table);
  return write_file_atomically(out, text);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print(stderr, "usage: make_occupancy_header OUT VERSION HEADER...\n");
    return 2;
  }
  const auto done = write_header(argv[1], argv[2], {argv + 3, argv + argc});
  if (done) return 0;
  fmt::print(stderr, "{}\n", describe(done.error()));
  return exit_code(done.error().code);
}
