// What tests of `profile` look at: the arguments that the stand-in for rocprofv3 got, and warnings.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "base/temp_folder.h"
#include "base/text/json.h"

namespace perflab::cli {

/// The values of an option over all calls of rocprofv3 (the stand-in's `log`: an argument a line).
inline std::vector<std::string> values_of(const std::filesystem::path& log,
                                          const std::string& option) {
  std::vector<std::string> values;
  std::istringstream lines(test::text_of(log));
  for (std::string line, before; std::getline(lines, line); before = line)
    if (before == option) values.push_back(line);
  return values;
}

/// Those of a profile, a line each.
inline std::string warnings_of(const Json& profile) {
  std::string all;
  for (const Json& warning : profile["warnings"]) all += warning.get<std::string>() + "\n";
  return all;
}

}  // namespace perflab::cli
