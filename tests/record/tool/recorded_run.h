// Runs a program of the stand-in CUDA with the recording library in it, and finds what it left.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/system/subprocess.h"
#include "base/temp_folder.h"
#include "base/text/json.h"
#include "support/test_database.h"

namespace perflab::record {

/// One run of cuda_sim_app.
struct RecordedRun {
  using Variables = std::vector<std::pair<std::string, std::string>>;
  /// `arguments` of cuda_sim_app; `variables` beside those that have it recorded.
  explicit RecordedRun(const std::vector<std::string>& arguments, const Variables& variables = {});

  /// The files whose names end so, below the folder for recordings.
  [[nodiscard]] std::vector<std::filesystem::path> files(std::string_view ending) const;
  /// The one finished recording.
  [[nodiscard]] test::TestDatabase database() const;
  /// The recording that a kill left, rolled back as who opens it for writing does.
  [[nodiscard]] test::TestDatabase partial() const;
  /// info_process.extdata of a recording.
  static Json about(test::TestDatabase& database);

  test::TempFolder folder;
  ProcessResult result;
  std::map<std::string, long long> did;  ///< the program's own counts
};

}  // namespace perflab::record
