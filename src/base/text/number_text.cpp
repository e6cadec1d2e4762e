// See number_text.h.
#include "base/text/number_text.h"

#include <fmt/format.h>

#include <cmath>

namespace perflab {

std::string number_text(double value, int digits) {
  constexpr double kMostWithoutExponent = 1e15;  // doubles are whole numbers up to 9e15
  std::string text = fmt::format("{:.{}g}", value, digits);
  const double size = std::fabs(value);
  // Rounding decides what is too large for the digits: 999.7 with three is 1e+03.
  return size < kMostWithoutExponent && text.find("e+") != std::string::npos
             ? fmt::format("{:.0f}", value)
             : text;
}

}  // namespace perflab
