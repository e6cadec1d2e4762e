// Which recordings have their summaries already. A recording is known again by its bytes alone, all
// of them: a time of change says nothing of a copy, and a size or a beginning nothing of the rest.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ranks/values/rank_summary.h"

namespace perflab::ranks {

/// Size and hash of all files that a recording is read from; `ranks` is 0. Null: one of them cannot
/// be read, or a writer of the database has not finished.
std::optional<Origin> origin_of(const std::filesystem::path& recording);

/// The summaries in a folder that this version of the program made with the same options.
class MadeBefore {
 public:
  MadeBefore(std::filesystem::path folder, const std::string& options);

  struct Kept {
    RankSummary summary;
    std::size_t bytes = 0;  ///< of its file
  };
  /// The summaries of a recording, in the order in which they are made; empty unless all of them
  /// are there, whole, under their own names, and were made of these bytes of a file of this name.
  [[nodiscard]] std::vector<Kept> of(const std::filesystem::path& recording,
                                     const Origin& origin) const;

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::vector<std::filesystem::path>> by_recording_;
};

}  // namespace perflab::ranks
