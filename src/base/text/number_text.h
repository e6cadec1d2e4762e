// Numbers in sentences and tables for people: 1307400, where "{:.6g}" says 1.3074e+06.
#pragma once

#include <string>

namespace perflab {

/// A number with `digits` significant digits; no exponent from 10^-4 to below 10^15, where the
/// digits before the point are all there.
std::string number_text(double value, int digits = 6);

}  // namespace perflab
