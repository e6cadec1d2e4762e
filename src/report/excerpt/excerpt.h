// Excerpts of documents: figures with the place that they stand at. An excerpt is an object whose
// `from` names a place ("analysis.json#/totals", RFC 6901) and whose other members are fields of
// what stands there, but for `what`, which says in words what is meant, and excerpts within. Of an
// array it counts `elements`: all, or those that have the value `is` at the pointer `where`.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/json.h"
#include "report/kit/document.h"

namespace perflab::report {

/// Columns of the longest name in a summary: names of kernels can have thousands.
inline constexpr std::size_t kMostNameColumns = 160;
/// Columns of the longest sentence.
inline constexpr std::size_t kMostSentenceColumns = 320;
/// Columns of the longest text of several sentences: why something is missing, or to be done.
inline constexpr std::size_t kMostReasonColumns = 640;

/// Columns that a text of this field has at most in a summary: fields such as "problem" and
/// "remedy" hold sentences, all others names.
std::size_t most_columns(std::string_view field);

/// A place in a document.
class DocumentPlace {
 public:
  /// The document itself; nullptr: there is none, and nothing is found in it.
  explicit DocumentPlace(const NamedDocument* document)
      : document_(document), value_(document == nullptr ? nullptr : &document->value) {}

  /// Member of an object, element of an array; a place that is not there without one.
  [[nodiscard]] DocumentPlace operator[](std::string_view member) const;
  [[nodiscard]] DocumentPlace operator[](std::size_t index) const;

  /// Whether something other than null stands there.
  explicit operator bool() const { return value_ != nullptr && !value_->is_null(); }
  /// What stands there. Precondition: something does.
  [[nodiscard]] const Json& operator*() const { return *value_; }
  /// Number of elements; 0 for what is no array.
  [[nodiscard]] std::size_t size() const;
  /// The number, or `otherwise` where there is none.
  [[nodiscard]] double number(double otherwise = 0) const;
  /// The text, empty where there is none.
  [[nodiscard]] std::string text() const;
  /// The texts of an array's elements.
  [[nodiscard]] std::vector<std::string> texts() const;
  /// Whether true stands there.
  [[nodiscard]] bool holds() const;
  /// "analysis.json#/totals".
  [[nodiscard]] std::string name() const;

  /// {what, from, fields...}. A field that is not there is left out, null stays null. `what` empty:
  /// left out. Texts are whole: those of a summary are cut when all of it is known
  /// (summary/shorten.h).
  /// Precondition: no field is called "from" or "what".
  [[nodiscard]] Json excerpt(std::initializer_list<std::string_view> fields,
                             std::string_view what = {}) const;

  /// {what, from, elements} of an array: how many there are.
  [[nodiscard]] Json count(std::string_view what = {}) const;
  /// {from, where, is, elements} for each value that the elements of an array have at `where`, a
  /// pointer within an element; the most frequent first. Null and nothing are no values.
  [[nodiscard]] std::vector<Json> tally(std::string_view where) const;

 private:
  DocumentPlace(const NamedDocument* document, const Json* value, std::string pointer)
      : document_(document), value_(value), pointer_(std::move(pointer)) {}

  const NamedDocument* document_;
  const Json* value_;
  std::string pointer_ = {};
};

/// The entry of the `missing` of a document, or of a part with its own, for a field ("reason",
/// "remedy"); a place where nothing is: the field has a value, or nobody says why not.
DocumentPlace missing_of(const DocumentPlace& document, std::string_view field);

/// The document of that name, or a place where nothing is.
DocumentPlace document_of(std::span<const NamedDocument> documents, std::string_view name);

}  // namespace perflab::report
