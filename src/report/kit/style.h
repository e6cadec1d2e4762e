// How text for people is drawn.
#pragma once

#include <cstddef>

namespace perflab::report {

struct TerminalStyle {
  std::size_t width = 100;     ///< columns
  bool colour = false;         ///< ANSI colours
  std::size_t most_rows = 15;  ///< rows per table; the rest is counted
};

}  // namespace perflab::report
