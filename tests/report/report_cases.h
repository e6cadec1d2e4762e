// The traces that the document tests run over: recorded ones, the sample, the quirks, and written
// ones for what no recording has. Each is read by a path relative to its folder, so that documents
// do not depend on where the project lies.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyze/pipeline.h"
#include "base/text/json.h"
#include "report/analysis/profile_document.h"

namespace perflab::report {

/// One input of the document tests.
struct Case {
  std::string name;
  /// Makes or finds the databases of each run, relative to the present folder, which it may change;
  /// nothing when they are not there.
  std::function<std::vector<std::vector<std::filesystem::path>>()> runs;
};

/// All of them.
const std::vector<Case>& all_cases();

/// The case of that name.
const Case& case_named(const std::string& name);

/// The runs of a case, analysed; nullopt when its databases are not part of this checkout. Changes
/// the present folder.
std::optional<analyze::AnalyzedRuns> analyze_case(const Case& a_case, unsigned threads = 2);

/// A document as it is written, rendered and validated; a failure is reported to GoogleTest.
std::string rendered(const std::string& name, const Json& document);

/// The same, parsed again.
Json rendered_json(const std::string& name, const Json& document);

/// The documents of a case.
struct Documents {
  Json analysis, profile;
  Json roofline, dag, timeline;  ///< null without one

  /// {"analysis", ...}, {"profile", ...}, and {"roofline", ...}, {"dag", ...} and {"timeline", ...}
  /// when there is one.
  [[nodiscard]] std::vector<std::pair<std::string, Json>> by_name() const;
};
Documents documents_of(const analyze::AnalyzedRuns& runs);

/// Profile, thread trace and verdicts, as --details prints them under each other.
std::string profile_texts(const ProfileData& data);

/// A profile without GPU figures, as `rocm-perf profile --no-rocprof` makes it: two runs.
Json profile_without_gpu();

}  // namespace perflab::report
