// Which file of this machine speaks about a recording.
#include "analyze/roofline/own_calibration.h"

#include <fmt/format.h>

#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "analyze/kernels/gpu.h"

namespace perflab::analyze {

std::optional<hal::Calibration> own_calibration(const trace::Trace& trace,
                                                std::vector<std::string>& warnings) {
  std::set<std::string> architectures;
  for (const trace::Agent& agent : trace.agents)
    if (std::string one = architecture_of(agent); !one.empty()) architectures.insert(one);
  if (architectures.size() != 1) return std::nullopt;
  const std::filesystem::path file = hal::calibration_place(*architectures.begin());
  std::error_code error;
  if (file.empty() || !std::filesystem::exists(file, error)) return std::nullopt;
  Result<hal::Calibration> read = hal::read_calibration(file);
  if (read) return *std::move(read);
  warnings.push_back(
      fmt::format("the calibration of this machine is not used: {}", read.error().message));
  return std::nullopt;
}

}  // namespace perflab::analyze
