// Its members are those that hal reads: hal::calibration_json.
#include "report/calibration/calibration_document.h"

#include "report/kit/document.h"

namespace perflab::report {

Json calibration_document(const hal::Calibration& calibration) {
  Json document = {
      {"schema_version", "1.0.0"}, {"document", "calibration"}, {"generator", generator_json()}};
  document.update(hal::calibration_json(calibration));
  return document;
}

}  // namespace perflab::report
