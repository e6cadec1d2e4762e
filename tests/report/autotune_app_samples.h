// Applications whose kernels were tuned together, made by hand: one with a recording and a proof,
// and one with neither.
#pragma once

#include "report/tuning/autotune_app_document.h"

namespace perflab::report {

/// A run and what was asked for, kept together.
struct AutotuneAppSample {
  measure::ApplicationRequest request;
  measure::ApplicationRun run;

  [[nodiscard]] AutotuneAppData data() const {
    return {.request = request, .run = run, .file = "my app/app.json"};
  }
};

/// gemm is proven, softmax is not, nothing of fft works, scan is worth nothing; the application is
/// proven faster. Its file is in a folder whose name has a blank.
AutotuneAppSample sample_autotune_app();
/// One kernel, larger values are better, no recording and no command; nothing better was found.
AutotuneAppSample sample_autotune_app_alone();

}  // namespace perflab::report
