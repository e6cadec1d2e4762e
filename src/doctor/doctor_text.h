// What --details prints: commands first, then the parts, then what to do.
#pragma once

#include <string>

#include "doctor/examination.h"
#include "report/kit/style.h"

namespace perflab::doctor {

/// What each command can do here.
std::string doctor_commands_text(const Examination& examination,
                                 const report::TerminalStyle& style);
std::string doctor_gpus_text(const Examination& examination, const report::TerminalStyle& style);
/// All parts, and what is worth knowing of those that work.
std::string doctor_parts_text(const Examination& examination, const report::TerminalStyle& style);
/// What to do about the others; empty: all work.
std::string doctor_missing_text(const Examination& examination, const report::TerminalStyle& style);

/// All of it.
std::string doctor_text(const Examination& examination, const report::TerminalStyle& style);

}  // namespace perflab::doctor
