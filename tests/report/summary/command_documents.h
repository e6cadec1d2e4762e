// Documents of the commands that read no recording, put together by hand: what the tests of their
// answers run over.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compare/compare_sides.h"
#include "report/kit/document.h"
#include "report/replay/isolate_document.h"
#include "report/replay/replay_document.h"
#include "report/replay/reservation_document.h"

namespace perflab::report {

/// A case, whose document is made when a test wants it.
struct CommandDocument {
  std::string name;
  std::function<NamedDocument()> make;
};

/// All of them.
const std::vector<CommandDocument>& command_documents();
/// The document of a case as it is written: it keeps its schema.
NamedDocument written_document(const CommandDocument& one);
/// That of the case of that name.
NamedDocument command_document(const std::string& name);

/// comparison.json of two sides with these factors between their kernels k0, k1, ...: as many, six
/// runs each, or sums of the first kernel alone, as of a profile without its databases.
struct ComparedKernels {
  std::vector<double> factors = {1};
  std::size_t runs = 6;
  bool only_first = false;
  std::optional<std::size_t> others = {};  ///< that the profile names; only_first
};
NamedDocument compared_kernels(const ComparedKernels& kernels,
                               const compare::CompareOptions& options = {});

}  // namespace perflab::report
