// Age and findings of the calibration on this machine.
#include "doctor/calibration_here.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <system_error>

#include "base/text/numbers.h"
#include "hal/calibration.h"

namespace perflab::doctor {

std::optional<std::int64_t> days_since(std::string_view date,
                                       std::chrono::system_clock::time_point now) {
  using namespace std::chrono;
  std::array<int, 3> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto part = take_number<int>(date);
    if (!part) return std::nullopt;
    parts[i] = *part;
    if (i + 1 == parts.size()) break;
    if (!date.starts_with('-')) return std::nullopt;
    date.remove_prefix(1);
  }
  const year_month_day day{year(parts[0]), month(static_cast<unsigned>(parts[1])),
                           std::chrono::day(static_cast<unsigned>(parts[2]))};
  if (!day.ok()) return std::nullopt;
  const std::int64_t age = (floor<days>(now) - sys_days(day)).count();
  return age < 0 ? std::nullopt : std::optional(age);
}

std::optional<CalibrationHere> calibration_here(std::string_view architecture,
                                                std::chrono::system_clock::time_point now) {
  CalibrationHere here;
  here.file = hal::calibration_place(architecture);
  std::error_code error;
  if (here.file.empty() || !std::filesystem::exists(here.file, error)) return std::nullopt;
  const Result<hal::Calibration> read = hal::read_calibration(here.file);
  if (!read) {
    here.problem = read.error().message;
    return here;
  }
  here.date = read->date;
  here.age_days = days_since(read->date, now);
  here.driver = read->gpu.driver;
  for (const auto* const list : {&read->counters, &read->formulas})
    for (const hal::CalibratedFigure& figure : *list) {
      if (figure.disproved()) here.disproved.push_back(figure.name);
      here.confirmed += figure.verdict == hal::CalibrationVerdict::confirmed ? 1 : 0;
    }
  return here;
}

std::string calibration_text(const CalibrationHere& calibration) {
  if (!calibration.problem.empty()) return "its calibration cannot be read: " + calibration.problem;
  std::string age = "on an unknown day";
  if (calibration.age_days)
    age = *calibration.age_days == 0   ? "today"
          : *calibration.age_days == 1 ? "yesterday"
                                       : fmt::format("{} days ago", *calibration.age_days);
  std::string text =
      fmt::format("calibrated {}{}: {} confirmed, {} disproved", age,
                  calibration.driver.empty() ? "" : fmt::format(" (driver {})", calibration.driver),
                  calibration.confirmed, calibration.disproved.size());
  if (!calibration.disproved.empty())
    text += fmt::format(" and not used: {}", fmt::join(calibration.disproved, ", "));
  return text;
}

}  // namespace perflab::doctor
