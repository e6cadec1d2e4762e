// Documents to the few facts that fit into a question.
#include "optimize/rounds/context.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/system/files.h"
#include "collect/run_folder.h"
#include "hal/arch.h"
#include "optimize/kernel_names.h"
#include "report/analysis/analysis_document.h"
#include "report/roofline/roofline_document.h"

namespace perflab::optimize {
namespace {

constexpr std::size_t kMostHotLines = 12;

/// The row of an array whose "name" is that kernel; nullptr: none.
const Json* row_of(const Json& rows, const std::string& bare_name) {
  if (!rows.is_array()) return nullptr;
  for (const Json& row : rows)
    if (row.is_object() && row.contains("name") && row["name"].is_string() &&
        bare_kernel_name(row["name"].get<std::string>()) == bare_name)
      return &row;
  return nullptr;
}

const Json* member_of(const Json& object, std::initializer_list<const char*> path) {
  const Json* at = &object;
  for (const char* key : path) {
    if (!at->is_object() || !at->contains(key)) return nullptr;
    at = &(*at)[key];
  }
  return at;
}

/// The members of a row that are named, those that it has.
Json excerpt_of(const Json* row, std::initializer_list<const char*> keys) {
  if (row == nullptr) return nullptr;
  Json out = Json::object();
  for (const char* key : keys)
    if (row->contains(key)) out[key] = (*row)[key];
  return out;
}

Json architecture_facts(const std::string& name) {
  const hal::Arch* arch = name.empty() ? nullptr : hal::find_arch(name);
  if (arch == nullptr) return name.empty() ? Json(nullptr) : Json{{"name", name}};
  return {{"name", arch->gfx},
          {"family", arch->family},
          {"wave_size", arch->default_wave_size},
          {"simds_per_cu", arch->simds_per_cu},
          {"max_waves_per_simd", arch->max_waves_per_simd_hardware},
          {"vgprs_per_wave", arch->addressable_vgprs},
          {"lds_bytes_per_cu", arch->lds_bytes_per_cu},
          {"lds_banks", arch->lds_banks},
          {"max_workgroup_size", arch->max_workgroup_size}};
}

Json hot_lines_of(const Json* traced) {
  if (traced == nullptr) return nullptr;
  const auto lines = traced->find("lines");
  if (lines == traced->end() || !lines->is_array()) return nullptr;
  Json out = Json::array();
  for (const Json& line : *lines) {
    if (out.size() == kMostHotLines) break;
    out.push_back(excerpt_of(&line, {"line", "cost_share", "hits", "stall", "wait_caused"}));
  }
  return out;
}

Result<Json> read_run_document(const std::filesystem::path& file, std::string_view name) {
  PERFLAB_TRY(const std::string text, read_file(file));
  PERFLAB_TRY(Json json, parse_json(text, file.string()));
  if (!json.is_object() || json.value("document", Json()) != name)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: is not a document '{}'", file.string(), name));
  return json;
}

/// What the run would gain at most.
double worth_of(const analyze::KernelCriticality& row, const std::optional<double>& factor) {
  double gain = 0;
  for (const analyze::Gain& one : row.gains)
    if (one.factor == 0) gain = static_cast<double>(one.gain);
  return gain * (factor && *factor > 0 ? 1 - 1 / *factor : 1);
}

std::optional<double> headroom_of(const analyze::Analysis& analysis, std::string_view name) {
  for (const analyze::KernelBottleneck& one : analysis.bottlenecks.kernels)
    if (one.kernel == name) return one.bound.kernel_factor;
  return std::nullopt;
}

}  // namespace

RunDocuments documents_of(const analyze::AnalyzedTrace& analyzed) {
  RunDocuments out;
  out.analysis = report::analysis_document(analyzed.trace, analyzed.analysis);
  if (analyzed.analysis.roofline)
    out.roofline = report::roofline_document(analyzed.trace, analyzed.analysis);
  return out;
}

Result<RunDocuments> read_documents(const std::filesystem::path& place) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(place, ignored);
  const std::filesystem::path file = folder ? place / "analysis.json" : place;
  RunDocuments out;
  PERFLAB_TRY(out.analysis, read_run_document(file, "analysis"));
  const std::filesystem::path roofline = file.parent_path() / "roofline.json";
  if (!std::filesystem::exists(roofline, ignored)) return out;
  PERFLAB_TRY(out.roofline, read_run_document(roofline, "roofline"));
  return out;
}

Json facts_for_proposer(const RunDocuments& documents, const std::string& kernel,
                        const std::string& arch) {
  const std::string name = bare_kernel_name(kernel);
  const Json nothing;
  const auto rows = [&](const Json& document, std::initializer_list<const char*> path) {
    const Json* found = member_of(document, path);
    return row_of(found != nullptr ? *found : nothing, name);
  };
  return {{"architecture", architecture_facts(arch)},
          {"roofline", excerpt_of(rows(documents.roofline, {"kernels"}),
                                  {"flops", "compute", "levels", "binding"})},
          {"bottleneck", excerpt_of(rows(documents.analysis, {"bottlenecks", "kernels"}),
                                    {"label", "confidence", "summary", "evidence", "against",
                                     "bound", "advice"})},
          {"hot_lines", hot_lines_of(rows(documents.analysis, {"thread_traces", "kernels"}))}};
}

Result<RecordedRun> recorded_run(const std::filesystem::path& place) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(place, ignored)) return RecordedRun{place, {place}};
  RecordedRun run{.place = collect::latest_run(place), .databases = {}};
  for (const auto found = collect::find_databases(run.place);
       const collect::DatabaseFile& database : found.databases)
    run.databases.push_back(database.path);
  if (run.databases.empty())
    return fail(ErrorCode::bad_input,
                fmt::format("{}: there is no rocpd database in it", run.place.string()),
                "rocm-perf profile -- ./app keeps one in .rocpd_profile");
  return run;
}

Result<ChosenKernel> choose_kernel(const analyze::AnalyzedTrace& analyzed,
                                   const SourceModel& model) {
  const analyze::Analysis& analysis = analyzed.analysis;
  if (!analysis.critical_path)
    return fail(ErrorCode::usage,
                "the run has no critical path to choose a kernel by: " +
                    analysis.critical_path_missing.reason,
                "name one: --kernel NAME");
  ChosenKernel best;
  double most = -1;
  for (const analyze::KernelCriticality& row : analysis.critical_path->kernels) {
    const std::string_view recorded = analyzed.trace.strings.view(row.name);
    const auto kernel =
        std::ranges::find(model.kernels, bare_kernel_name(recorded),
                          [](const SourceKernel& one) { return bare_kernel_name(one.name); });
    if (kernel == model.kernels.end()) continue;
    const std::optional<double> factor = headroom_of(analysis, recorded);
    const double worth = worth_of(row, factor);
    if (worth <= most) continue;
    most = worth;
    best.name = kernel->name;
    best.why = fmt::format(
        "{} is on the critical path for {:.3f} ms in {} dispatches; {}; the run of {:.3f} ms could "
        "gain {:.3f} ms at most",
        kernel->name, static_cast<double>(row.path_time) / 1e6, row.dispatches,
        factor ? fmt::format("its roofline and occupancy leave a factor of {:.2f}", *factor)
               : "nothing that was measured bounds its gain",
        static_cast<double>(analysis.critical_path->length) / 1e6, worth / 1e6);
  }
  if (!best.name.empty()) return best;
  std::vector<std::string> names;
  for (const SourceKernel& kernel : model.kernels) names.push_back(kernel.name);
  return fail(ErrorCode::usage,
              fmt::format("no kernel of {} ran (it has {})", model.options.path.string(),
                          names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))),
              "--source names the file with the kernel to make faster");
}

}  // namespace perflab::optimize
