// Which variables of a kernel may hold pointers that come from which parameters, told from the text
// of its assignments. Too many rather than too few.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "optimize/model/source_model.h"
#include "optimize/transform/code_text.h"

namespace perflab::optimize {

class PointerCopies {
 public:
  PointerCopies(const SourceModel& model, const SourceKernel& kernel);

  /// A variable (or a pointer parameter that is assigned to) that may hold a pointer of two
  /// parameters; nothing: there is none.
  [[nodiscard]] std::optional<std::string> of_several() const;
  /// The parameters that a name may point into; a parameter's own name among them.
  [[nodiscard]] std::set<std::string> sources_of(std::string_view name) const;

 private:
  /// Adds the sources of what stands right of the "=" at that index; whether they grew.
  bool assign(std::string_view to, std::size_t equals);

  CodeWords words_;
  std::map<std::string, std::set<std::string>, std::less<>> sources_;
};

}  // namespace perflab::optimize
