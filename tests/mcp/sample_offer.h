// A small server for tests: four tools and a resource.
#pragma once

#include <string>
#include <utility>

#include "mcp/protocol.h"

namespace perflab::mcp {

/// A parameter with a name and a kind; the option is --NAME with dashes.
inline Parameter sample_parameter(std::string name, ValueKind kind = ValueKind::text) {
  Parameter out;
  out.option = "--" + name;
  for (char& c : out.option)
    if (c == '_') c = '-';
  out.name = std::move(name);
  out.kind = kind;
  out.description = "about " + out.name;
  return out;
}

/// A positional parameter.
inline Parameter sample_positional(std::string name, bool many, bool required) {
  Parameter out = sample_parameter(std::move(name));
  out.option.clear();
  out.place = Place::positional;
  out.many = many;
  out.required = required;
  return out;
}

/// analyze: files, options of every kind, one that is withheld, and words behind "--".
inline Tool sample_tool() {
  Tool tool;
  tool.name = "analyze";
  tool.description = "Looks at files";
  tool.command = {"analyze"};
  tool.always = {"--json"};
  tool.read_only = true;
  tool.parameters = {sample_positional("FILES", true, true), sample_parameter("what_if"),
                     sample_parameter("segment", ValueKind::number),
                     sample_parameter("full", ValueKind::boolean), sample_parameter("out")};
  tool.parameters[1].many = true;
  tool.parameters[4].withheld = true;
  Parameter choice = sample_parameter("unit");
  choice.choices = {"ns", "ms"};
  Parameter plain = sample_parameter("recheck");
  plain.without_document = true;
  Parameter words = sample_positional("command", true, false);
  words.place = Place::words;
  tool.parameters.insert(tool.parameters.end(), {choice, plain, words});
  for (Parameter& part : selection_parameters()) tool.parameters.push_back(std::move(part));
  return tool;
}

inline Offer sample_offer() {
  Tool two;
  two.name = "compare";
  two.command = {"compare"};
  two.parameters = {sample_positional("A", false, false), sample_positional("B", false, false)};
  two.read_only = true;
  Tool withheld;
  withheld.name = "profile";
  withheld.command = {"profile"};
  withheld.withheld = true;
  return {.name = "sample",
          .version = "1.2.3",
          .instructions = "Ask.",
          .tools = {sample_tool(), two, withheld, read_tool()},
          .resources = {{.uri = "sample://schema/x",
                         .name = "x",
                         .description = "Schema of x",
                         .mime_type = "application/schema+json",
                         .text = "{}"}}};
}

/// A request of the era that begins with `initialize`.
inline Json legacy_request(const Json& id, const std::string& method, Json params = nullptr) {
  Json out = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
  if (!params.is_null()) out["params"] = std::move(params);
  return out;
}

/// A request of revision 2026-07-28, or of another one that says its revision itself.
inline Json modern_request(const Json& id, const std::string& method, Json params = Json::object(),
                           const std::string& revision = "2026-07-28") {
  params["_meta"] = {{"io.modelcontextprotocol/protocolVersion", revision},
                     {"io.modelcontextprotocol/clientCapabilities", Json::object()}};
  return legacy_request(id, method, std::move(params));
}

}  // namespace perflab::mcp
