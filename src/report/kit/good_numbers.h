// Long arrays of whole numbers, and of rows of them, are checked without a general validator: a
// timeline has 400,000 numbers, for each of which that one takes longer than writing it does.
#pragma once

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace perflab::report {

/// The document as a validator of `schema` takes it, without the items of long arrays that were
/// found good here: it has an error by the schema exactly if the document has one. `root`: the
/// complete schema that references of `schema` are within.
nlohmann::json without_good_numbers(const Json& root, const Json& schema, const Json& document);

}  // namespace perflab::report
