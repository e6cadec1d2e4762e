// What every JSON document has in common: its schema (schema_source.h; embedded in the binary),
// validation before writing, key order by schema, and the list of figures that are missing. Same
// value, same bytes (base/text/json.h).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/missing.h"
#include "base/text/json.h"

namespace perflab::report {

/// Names of the documents that have a schema: "analysis", "profile".
std::vector<std::string> schema_names();

/// The JSON Schema text of a document, complete, which ends with a zero byte and stays; error
/// (usage) for an unknown name, with the known ones.
Result<std::string_view> schema_text(std::string_view name);

/// Checks a document against its schema. The error (internal: the program made it) lists the first
/// violations.
Result<void> validate(std::string_view name, const Json& document);

/// Validates, puts keys into the schema's order and serialises. A document that fails is never
/// written.
Result<std::string> render(std::string_view name, Json document);

/// A document by its name: "analysis" is also its schema's, and analysis.json its file's.
struct NamedDocument {
  std::string name;
  Json value;
};

/// What the file of a document holds: the text of render().
struct RenderedDocument {
  std::string name;
  std::string text;
};

/// Reads a schema before render() needs it, which then need not wait. Error as schema_text()'s.
Result<void> read_schema(std::string_view name);

/// render() for each, on all cores: all are good, or the first error.
Result<std::vector<RenderedDocument>> render_all(std::vector<NamedDocument> documents);

/// `missing` as documents carry it: [{field, reason, remedy}].
Json missing_json(const std::vector<Missing>& missing);

/// An array of so many items, made on all cores: for those of which a document has hundreds.
Json array_of(std::size_t count, const std::function<Json(std::size_t)>& make);

/// An empty object with room for so many members: without it, each that is added can copy all that
/// are there. For the objects of which a document has thousands.
Json object_with_room(std::size_t members);

/// {name, version} of this program.
Json generator_json();

}  // namespace perflab::report
