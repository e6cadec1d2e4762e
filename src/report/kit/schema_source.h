// Schemas as they stand in schemas/, and as everyone else sees them: complete JSON Schemas (draft
// 7). The sources leave out what holds everywhere, and share parts in common.json.
#pragma once

#include "base/error.h"
#include "base/text/json.h"

namespace perflab::report {

/// The complete schema of a source. Every object with `properties` requires all of them and allows
/// no other, unless it says its own `required` or `additionalProperties`; "common.json#/
/// definitions/NAME" becomes a definition of the schema itself, with all that it refers to. Error
/// (internal): common.json has no such definition.
Result<Json> complete_schema(const Json& source, const Json& common);

/// Finds what `$ref` "#/definitions/x" of a complete schema names; the schema itself otherwise.
const Json& resolve_reference(const Json& root, const Json& schema);

}  // namespace perflab::report
