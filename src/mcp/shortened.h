// Values made small: arrays to their first elements, texts to their beginning. What was cut is
// listed by its place (a JSON pointer), so that nothing is left out silently.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/text/json.h"

namespace perflab::mcp {

/// Bytes that a value takes in a result: as structured content and once more as text.
std::size_t weight(const Json& value);

/// A value and what was cut of it.
struct Shortened {
  Json value;
  Json cuts = Json::array();  ///< [{section, kept, of}]; kept and of count rows, members or bytes
  bool all_members = true;    ///< of the value itself, if it is an object
};

/// The value, whole if it fits, else cut as little as it takes for value and cuts to be of at most
/// `most_weight` together. What cannot be made that small becomes an empty value of its kind.
/// `place`: where it stands in its document.
Shortened shortened(const Json& value, const std::string& place, std::size_t most_weight);

/// The value with at most `most` elements of those arrays that are in no other array; adds what it
/// cut to `cuts`.
Json outermost_arrays_cut(const Json& value, std::size_t most, const std::string& place,
                          Json& cuts);

/// Adds later cuts of a value that was cut before: a place that is in both was longer at first.
void merge_cuts(Json& cuts, Json later);

/// The most bytes up to `size` that end with a whole character of UTF-8.
std::size_t utf8_cut(std::string_view text, std::size_t size);
/// Bytes of the first character; 0 for an empty text.
std::size_t utf8_next(std::string_view text);

}  // namespace perflab::mcp
