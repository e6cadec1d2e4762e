// What the handle of the C interface holds: documents, the error, and with perflab_open() the
// recording that they are of. What all calls share: structs of callers, errors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/table.h"
#include "base/error.h"
#include "report/kit/document.h"

// NOLINTNEXTLINE(readability-identifier-naming): the name of the C interface
struct perflab_documents {
  int status = 0;
  std::string message;
  std::string_view error_name = "";  // of a constant, which ends with a zero byte
  std::string error_text, remedy;
  std::vector<perflab::report::RenderedDocument> entries;
  std::string page;  // once it was asked for
  /// Shared with Arrow streams and what consumers hold of them; none without perflab_open().
  std::shared_ptr<perflab::api::Recording> recording;
};

namespace perflab::api {

/// What the caller's struct says, as this version's has it. Error (usage): its size is not set, or
/// a member that this version does not have is.
template <class Inputs>
Result<Inputs> inputs_of(const Inputs* given, const std::string& name) {
  if (given == nullptr || given->size < sizeof(std::size_t))
    return fail(ErrorCode::usage, name + ": size is not set",
                "set everything to zero, then size to sizeof(" + name + ")");
  // A caller that was built with fewer members has zero in the rest; one with more has to leave
  // them zero, since this library does not know them.
  Inputs inputs{};
  std::memcpy(&inputs, given, std::min(given->size, sizeof inputs));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof inputs; i < given->size; ++i)
    if (bytes[i] != 0)
      return fail(ErrorCode::usage, name + ": a member is set that this version does not have",
                  "use the library of the header's version, or a newer one");
  return inputs;
}

/// The status of an error, and what it says.
void set_failed(const Error& error, perflab_documents& out);

}  // namespace perflab::api
