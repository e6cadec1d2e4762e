// What the handle of the C interface holds: documents, the error, and with perflab_open() the
// recording that they are of.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/table.h"
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
