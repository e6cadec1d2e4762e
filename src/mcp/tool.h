// A tool of the Model Context Protocol as data: what clients see of it (name, description, JSON
// Schema of the arguments) and the command line that a call of it becomes. No argument of a call
// can become an option that the tool does not have.
// Specification 2026-07-28, server/tools; 2025-11-25 has the same.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text/json.h"

namespace perflab::mcp {

/// What a value of a parameter is.
enum class ValueKind { text, number, boolean };

/// Where a parameter stands on the command line.
enum class Place {
  positional,  ///< a word
  option,      ///< --name=value, or --name for a boolean
  words,       ///< words behind "--", all others before them
  server,      ///< nowhere: this server reads it (selection.h)
};

/// One argument of a tool.
struct Parameter {
  std::string name;    ///< the property: "what_if"
  std::string option;  ///< "--what-if"; empty for the other places
  Place place = Place::option;
  ValueKind kind = ValueKind::text;
  bool many = false;  ///< an array
  bool required = false;
  std::vector<std::string> choices;  ///< empty: any value
  std::string description;
  bool withheld = false;          ///< not offered, and refused: a server that only reads has it
  bool without_document = false;  ///< given: there is no document, and Tool::always is left out
  bool without_summary = false;   ///< given: Tool::for_summary is left out
};

/// One tool: a command of the program.
struct Tool {
  std::string name, description;     ///< name: letters, digits and underscores
  std::vector<std::string> command;  ///< its words: {"replay", "verify"}
  std::vector<std::string> always;   ///< options of every call: {"--json"}
  /// Prints all its documents as the members of one object, its answer on one page ("summary")
  /// first. Else it prints one document, or text.
  bool summarises = false;
  std::vector<std::string> for_summary = {};  ///< options behind `always` for that
  bool reads_kept = false;  ///< no command: it reads documents that earlier calls left here
  std::vector<Parameter> parameters;
  bool read_only = false;  ///< as it is offered here: runs nothing that it is given, writes nothing
  bool withheld = false;   ///< not offered, and refused: a server that only reads has it
};

/// The tool that reads what earlier calls left, and the arguments with which every tool that only
/// reads gives a part of its document (selection.h).
inline constexpr std::string_view kReadTool = "read_document";
Tool read_tool();
std::vector<Parameter> selection_parameters();
/// A call of it: {tool, arguments}.
Json read_call(const std::string& uri);

/// Whether the tool prints a summary when it is called with these arguments.
bool summarises(const Tool& tool, const Json& arguments);

/// The tool as tools/list shows it.
Json list_entry(const Tool& tool);

/// The words of the command line, without the program, for the arguments of a call (an object).
/// Error (usage): an argument that the tool does not have or that is withheld, a value of another
/// type, one that is missing.
Result<std::vector<std::string>> command_words(const Tool& tool, const Json& arguments);

}  // namespace perflab::mcp
