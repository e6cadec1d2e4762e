// Parts of a document for somebody who can read only so much at once: which place, which kernels,
// how many rows, from which row on. Values in, values out. Nothing is lost: what a part leaves out
// is counted and named by its place, and pages joined are the whole.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text/json.h"

namespace perflab::mcp {

/// What part of a document is wanted. Nothing set: all of it.
struct Selection {
  std::string document;            ///< its name ("dag"); empty: the first
  std::string section;             ///< a place as a JSON pointer (RFC 6901); empty: the document
  std::string kernel;              ///< only the elements that are about such kernels
  std::optional<std::size_t> top;  ///< rows of an array at most
  std::size_t offset = 0;          ///< the first row

  /// Whether anything is set.
  [[nodiscard]] bool asks() const;
};

/// Whether the name is that of an argument of a selection: section, kernel, top, offset.
bool is_selection_argument(std::string_view name);

/// The selection of an object's members of those names; others are ignored. `section` is a member
/// ("kernels"), a place ("/kernels/0"), or one of a named document, as summaries say where a figure
/// is from ("dag.json#/kernels/0"). Error (usage): a value of another kind, or too long.
Result<Selection> selection_of(const Json& arguments);

/// The arguments that selection_of() makes this selection of.
Json arguments_of(const Selection& selection);

/// Least `most_weight` of select(), as weight() of shortened.h counts.
inline constexpr std::size_t kLeastWeight = 7000;

/// The part, as
///   {section, value, page?: {offset, rows, of, next_offset}, cut?: [{section, kept, of}],
///    next?: `call` with the arguments of the next page}
/// of at most `most_weight`. An array, an object with too many members and a long text (in bytes)
/// come in pages. With `kernel`, the value is an array of {section, value}: the elements of all
/// arrays of kernels in the section whose kernel has that name, or, where none has, contains it. An
/// element that is too large for a page is cut, and `cut` says where to read all of it.
/// `call`: {tool, arguments} to take the arguments of the next page, of at most 400 bytes. Error
/// (usage): there is no such place or row; the remedy says what there is.
Result<Json> select(const Json& document, const Selection& selection, const Json& call,
                    std::size_t most_weight);

}  // namespace perflab::mcp
