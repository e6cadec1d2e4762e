// One batch of samples of rocprofv3's JSON into columns. Internal to src/pc_sampling.
#pragma once

#include <simdjson.h>

#include <string_view>

#include "base/text/json_cursor.h"
#include "pc_sampling/builder.h"

namespace perflab::pc_sampling {

/// Adds the samples of "[…]" to the builder; those that lack what every sample of the method has
/// are counted as dropped. Damage is left in the cursor. Behind the text there must be simdjson's
/// padding.
void add_samples(od::parser& parser, std::string_view elements, Method method, Builder& builder,
                 JsonCursor& cursor);

/// Calls visit(object) for each object of "[…]", of a text in memory as above; how many elements
/// are none.
template <class Visit>
std::uint64_t each_object(od::parser& parser, std::string_view elements, JsonCursor& cursor,
                          const Visit& visit) {
  od::document document;
  od::array array;
  const simdjson::padded_string_view text(elements.data(), elements.size(),
                                          elements.size() + simdjson::SIMDJSON_PADDING);
  if (!cursor.good(parser.iterate(text).get(document)) ||
      !cursor.good(document.get_array().get(array)))
    return 0;
  return cursor.each(array, visit);
}

}  // namespace perflab::pc_sampling
