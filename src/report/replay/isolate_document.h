// What `rocm-perf isolate` says about a run: the document and the page of text.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "base/text/json.h"
#include "capture/model.h"
#include "isolate/launch.h"
#include "report/kit/style.h"

namespace perflab::report {

/// A run, and the capture that it left.
struct IsolateData {
  const isolate::LaunchPlan* plan = nullptr;
  const isolate::LaunchOutcome* outcome = nullptr;
  std::optional<capture::Description> capture;
  std::optional<Error> problem;  ///< why there is none
};

/// The document `isolate`.
Json isolate_document(const IsolateData& data);

/// The capture in a few lines, or the kernels that the program launched.
std::string isolate_text(const IsolateData& data, const TerminalStyle& style);

}  // namespace perflab::report
