// What every document owes: the order of its schema, a reason for every null, no reason for what is
// there. Each check reports to GoogleTest.
#pragma once

#include <string>

#include "base/text/json.h"

namespace perflab::report {

/// The schema of a document.
Json schema_of(const std::string& name);

/// Fails for every object whose keys are not in the order of the schema. `unresolved`: the part of
/// `root` that describes `value`.
void expect_schema_order(const Json& root, const Json& unresolved, const Json& value,
                         const std::string& path);

/// Fails for every null that is neither ordinary nor explained: by an entry of a `missing` list
/// around it, or by the reason of the figure that it is part of.
void expect_nulls_explained(const Json& document);

/// Fails for every entry of `missing` that names a field which has a value, does not exist, or
/// comes twice; and for reasons that say nothing.
void expect_entries_are_true(const Json& holder, const std::string& where);

}  // namespace perflab::report
