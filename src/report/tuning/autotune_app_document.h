// autotune_app.json: kernels of one application tuned together.
#pragma once

#include <string>
#include <vector>

#include "base/text/json.h"
#include "measure/tuning/tune_application.h"

namespace perflab::report {

struct AutotuneAppData {
  const measure::ApplicationRequest& request;
  const measure::ApplicationRun& run;
  std::string file;  ///< the application file
};

Json autotune_app_document(const AutotuneAppData& data);

}  // namespace perflab::report
