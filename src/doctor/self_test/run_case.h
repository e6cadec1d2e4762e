// Runs one case: its steps one after the other, until one is not as it should be.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "base/error.h"
#include "doctor/self_test/test_outcome.h"

namespace perflab::doctor {

/// What cases run on.
struct Bench {
  std::map<std::string, std::string> places;   ///< "rocm-perf" and others, without brackets
  std::map<std::string, std::string> unbuilt;  ///< places that could not be built: why
  std::vector<Part> parts;
  std::filesystem::path folder;  ///< each case gets one in it
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  double patience = 1;  ///< times the limit of each case
};

/// The words with every place put in that `places` has.
std::string with_places(std::string_view text, const std::map<std::string, std::string>& places);

/// Error: interrupted, and a folder that cannot be made (usage).
Result<CaseRun> run_case(const TestCase& test, AddressMode mode, const Bench& bench);

}  // namespace perflab::doctor
