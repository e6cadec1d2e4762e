// What a server has, and a call of it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text/json.h"
#include "mcp/kept_runs.h"
#include "mcp/tool.h"

namespace perflab::mcp {

/// A text that clients can read: the schema of a document.
struct Resource {
  std::string uri, name, description, mime_type, text;
};

/// A call that does better than one that failed.
struct Advice {
  std::string tool;
  Json arguments = Json::object();
  std::string why;
};

/// What to call instead of a call of `tool` that ended with an error of this kind; none: nothing
/// is known. For any thread.
using Advise = std::function<std::vector<Advice>(const std::string& tool, const Json& arguments,
                                                 ErrorCode kind)>;

/// What a server has.
struct Offer {
  std::string name, version, instructions;
  std::vector<Tool> tools;
  std::vector<Resource> resources;
  Advise advise = {};  ///< empty: there is no advice
};

/// A call that is to be run, or one that reads what an earlier one left (`kept`).
struct Call {
  Json id;
  std::string revision;
  std::string tool;
  Json arguments = Json::object();      ///< without those of the selection
  std::vector<std::string> words = {};  ///< of the command line, without the program
  bool summarises = false;              ///< Tool::summarises, for these arguments
  Selection selection = {};             ///< the part that is wanted
  std::optional<KeptPlace> kept = {};
};

}  // namespace perflab::mcp
