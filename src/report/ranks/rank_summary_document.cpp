#include "report/ranks/rank_summary_document.h"

#include <fmt/format.h>

#include "base/text/error_json.h"
#include "report/kit/document.h"
#include "trace/rank_variables.h"

namespace perflab::report {
namespace {

Json made_json(const ranks::MadeSummary& one) {
  return {{"summary", one.path},
          {"recording", one.file},
          {"rank", or_null(one.rank)},
          {"rank_from", or_null(one.rank_from)},
          {"hostname", or_null(one.hostname)},
          {"pid", one.pid},
          {"gpu", one.gpu},
          {"collectives", one.collectives},
          {"bytes", one.bytes}};
}

}  // namespace

Json rank_summary_document(const ranks::MadeSummaries& made, const std::string& folder) {
  Json written = Json::array();
  Json kept = Json::array();
  Json failed = Json::array();
  std::vector<Missing> missing;
  const auto add = [&](Json& list, std::string_view name, const ranks::MadeSummary& one) {
    const std::string at = fmt::format("{}[{}]", name, list.size());
    if (!one.rank)
      missing.push_back({at + ".rank", "the recording does not say which rank this is",
                         "start the job with torchrun, mpirun or srun"});
    if (one.rank_from.empty())
      missing.push_back({at + ".rank_from", "the recording gives no number", ""});
    if (one.hostname.empty())
      missing.push_back({at + ".hostname", "the recording does not name its host", ""});
    list.push_back(made_json(one));
  };
  for (const ranks::MadeSummary& one : made.made) {
    add(one.kept ? kept : written, one.kept ? "kept" : "written", one);
  }
  for (const ranks::FailedSummary& one : made.failed) {
    failed.push_back({{"recording", one.file},
                      {"reason", one.error.message},
                      {"remedy", or_null(one.error.remedy)}});
  }
  return {{"schema_version", "1.1.0"},
          {"document", "rank_summary"},
          {"generator", generator_json()},
          {"folder", folder},
          {"written", written},
          {"kept", kept},
          {"failed", failed},
          {"missing", missing_json(missing)}};
}

std::string rank_summary_text(const ranks::MadeSummaries& made) {
  std::string text;
  for (const ranks::MadeSummary& one : made.made) {
    const bool hint = one.rank_from == trace::kFileName;
    text += fmt::format("{} {}: {}{}, {} collectives\n", one.kept ? "kept   " : "written", one.path,
                        one.rank ? fmt::format("rank {}", *one.rank) : "rank not known",
                        one.rank && hint ? " (by the file's name)" : "", one.collectives);
  }
  for (const ranks::FailedSummary& one : made.failed) {
    text += fmt::format("failed  {}\n", one.error.message);
    if (!one.error.remedy.empty()) text += fmt::format("        {}\n", one.error.remedy);
  }
  return text;
}

}  // namespace perflab::report
