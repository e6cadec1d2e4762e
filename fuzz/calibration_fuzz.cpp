// Any bytes as a calibration.json: refused, or a calibration that is written and read again as the
// same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "base/text/json.h"
#include "hal/calibration.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace hal = perflab::hal;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = perflab::parse_json(text, "fuzz");
  if (!document) return 0;
  const auto calibration = hal::calibration_from_json(*document, "fuzz");
  if (!calibration) return 0;
  static_cast<void>(calibration->roofs());
  perflab::Json written = {{"schema_version", "1.0.0"}, {"document", "calibration"}};
  written.update(hal::calibration_json(*calibration));
  const auto again = hal::calibration_from_json(written, "again");
  PERFLAB_CHECK(again.has_value());
  PERFLAB_CHECK(hal::calibration_json(*again) == hal::calibration_json(*calibration));
  return 0;
}
