// What a person sees of an application whose kernels were tuned together. Drawn from the document,
// or from excerpts of it.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/text/json.h"
#include "measure/tuning/tune_application.h"
#include "report/kit/style.h"

namespace perflab::report {

/// A line per kernel: its worth, evaluations, gain and what the run is predicted to gain by it.
/// `kernels`: elements of `kernels` of the document; of excerpts too.
std::string app_kernels_text(const Json& kernels, std::size_t width);

/// "1.25x (1.20 to 1.31)", "1.02x (not proven)", "the default", a dash: `gain`, `proven` and
/// `is_default` of a kernel.
std::string app_gain_text(const Json& kernel);

/// Names of the sections of the text: the kernels with the shares of the budget, what to use.
inline constexpr std::array<std::string_view, 2> kAutotuneAppSections = {"kernels",
                                                                         "configurations"};
/// One of them, of the document. Precondition: a name of kAutotuneAppSections.
std::string autotune_app_section(const Json& document, std::string_view name,
                                 const TerminalStyle& style);

}  // namespace perflab::report
