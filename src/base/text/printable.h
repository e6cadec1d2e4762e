// Foreign text on a terminal: names of kernels come from files that anybody wrote.
#pragma once

#include <string>
#include <string_view>

namespace perflab {

/// The text with '?' for every byte that is part of a control character (C0, DEL, C1) or no UTF-8
/// (RFC 3629 section 4), so that data cannot drive the terminal.
std::string printable(std::string_view text);

}  // namespace perflab
