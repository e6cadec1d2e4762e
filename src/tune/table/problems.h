// The problems of a dispatch table as a user names them: sizes and the recording of each, on the
// command line or in a manifest. docs/AUTOTUNE.md "Dispatch tables".
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace perflab::tune {

/// Bounds of a size: products and ratios of two are numbers of full precision.
inline constexpr double kLeastSize = 1e-100, kMostSize = 1e100;
/// Of one table: leaving each out once has to end.
inline constexpr std::size_t kLeastProblems = 2, kMostProblems = 256;

/// One problem and where its tuning is recorded.
struct NamedProblem {
  std::vector<std::pair<std::string, double>> size;  ///< in the order written
  std::filesystem::path recording;
};

/// "M=1024,N=512:FILE". Error (usage): it is not of that form, a size is out of bounds or there
/// twice.
Result<NamedProblem> parse_problem(std::string_view text);

/// {"problems": [{"size": {"M": 1024, "N": 512}, "recording": "a.jsonl"}]}; files as they are
/// written there. Error (bad_input): it is not of that form, or a size is out of bounds.
Result<std::vector<NamedProblem>> parse_problems(std::string_view text, std::string_view what);

/// Problems in one order, whatever order they came in.
struct SortedProblems {
  std::vector<std::string> sizes;      ///< names: as written where all agree, else by the alphabet
  std::vector<NamedProblem> problems;  ///< ascending; their sizes in the order of the names
};
/// Errors (bad_input): fewer than two or more than 256 problems, other names of sizes, the same
/// sizes twice; the sentence names both files.
Result<SortedProblems> sort_problems(std::vector<NamedProblem> problems);

/// "M=1024, N=512".
std::string size_text(const std::vector<std::pair<std::string, double>>& size);

}  // namespace perflab::tune
