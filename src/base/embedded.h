// A text file that the build put into the binary (cmake/PerflabEmbed.cmake): schemas, architecture
// tables.
#pragma once

#include <string_view>

namespace perflab {

/// One embedded file: its name without folder, and its whole text (static storage).
struct EmbeddedFile {
  std::string_view name;
  std::string_view text;
};

}  // namespace perflab
