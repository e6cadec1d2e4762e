// Texts in the JSON that the library writes: it has no JSON library in it.
#pragma once

#include <string>
#include <string_view>

namespace perflab::record {

/// A quoted JSON text. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(std::string_view text);

}  // namespace perflab::record
