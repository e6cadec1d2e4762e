// The calibration that `calibrate` left on this machine for an architecture, and how old it is.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perflab::doctor {

struct CalibrationHere {
  std::filesystem::path file;
  std::string date;                      ///< "2026-11-27T00:31:05Z"; empty: it cannot be read
  std::optional<std::int64_t> age_days;  ///< nullopt: the date is none, or lies ahead
  std::string driver;                    ///< that it was made with; empty: not told
  std::uint64_t confirmed = 0;           ///< counters and formulas
  std::vector<std::string> disproved;    ///< likewise, by name: what is not used
  std::string problem;                   ///< why it cannot be read; empty: it can
};

/// Days between a date of calibration.json and now.
std::optional<std::int64_t> days_since(std::string_view date,
                                       std::chrono::system_clock::time_point now);

/// Reads the file at hal::calibration_place(); nullopt: there is none.
std::optional<CalibrationHere> calibration_here(std::string_view architecture,
                                                std::chrono::system_clock::time_point now);

/// "calibrated 3 days ago: 41 confirmed, 2 disproved (A, B)".
std::string calibration_text(const CalibrationHere& calibration);

}  // namespace perflab::doctor
