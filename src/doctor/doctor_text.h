// What a person sees: commands first, then the parts, then what to do.
#pragma once

#include <string>

#include "doctor/examination.h"
#include "report/kit/style.h"

namespace perflab::doctor {

std::string doctor_text(const Examination& examination, const report::TerminalStyle& style);

}  // namespace perflab::doctor
