// profile.json: the profile of one kernel, over one or more runs. Schema:
// schemas/profile.schema.json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/pipeline.h"
#include "base/text/json.h"

namespace perflab::report {

/// What is known of one run beside its trace.
struct ProfileRun {
  std::optional<std::int64_t>
      process_wall_ns;         ///< measured from outside; nullopt for a recorded trace
  std::string outcome = "ok";  ///< "ok", "exit 3", "signal 9", "timed out", "interrupted"
  std::optional<std::size_t>
      analyzed;  ///< index into AnalyzedRuns' runs; nullopt: it left no database
};

/// Everything that the document is made from.
struct ProfileData {
  const analyze::AnalyzedRuns* analyzed = nullptr;  ///< null: the process was only timed
  std::vector<ProfileRun> runs;
  std::vector<std::string> warnings;  ///< about collecting
  std::vector<std::string> command, databases;
  std::string rocprofv3_version;
  std::optional<trace::Platform> platform;  ///< it was recorded on; empty: it was not recorded
  std::string platform_reason;              ///< why on this one
  trace::RankFacts rank;                    ///< of the process that was started; empty: of no job
  std::string no_gpu_reason;                ///< why there are no GPU figures, when analyzed is null
};

Json profile_document(const ProfileData& data);

/// A profile of recorded databases: one run, nothing known of the process.
ProfileData profile_of_recording(const analyze::AnalyzedRuns& analyzed);

}  // namespace perflab::report
