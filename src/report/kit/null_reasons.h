// How a builder of documents explains its nulls: the analysis names what is missing as its structs
// do, documents by their own paths. This finds the reason of each null.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/missing.h"
#include "base/text/json.h"

namespace perflab::report {

/// The `missing` list of one object of a document.
class NullReasons {
 public:
  /// `known`: what the analysis found missing; it has to outlive this.
  explicit NullReasons(const std::vector<Missing>& known) : known_(known) {}

  /// The entry that the analysis has under one of these names; nullptr: none.
  [[nodiscard]] const Missing* find(std::initializer_list<std::string_view> names) const;

  /// The field of the document is null: its reason is that of the first of `names` (its own name
  /// before them) which the analysis has, else `otherwise`. Returns null.
  Json null(std::string field, std::initializer_list<std::string_view> names,
            std::string_view otherwise);

  /// The field is null for this reason, whatever field `why` names. Returns null.
  Json null(std::string field, const Missing& why);

  /// The value, or null and its reason.
  template <class T>
  Json value(std::string field, const std::optional<T>& value,
             std::initializer_list<std::string_view> names, std::string_view otherwise) {
    return value ? Json(*value) : null(std::move(field), names, otherwise);
  }
  /// The same for a text, which is missing when it is empty.
  Json text(std::string field, const std::string& value, std::string_view otherwise);

  /// The list as the document has it.
  [[nodiscard]] Json json() const;

 private:
  const std::vector<Missing>& known_;
  std::vector<Missing> fields_;
};

}  // namespace perflab::report
