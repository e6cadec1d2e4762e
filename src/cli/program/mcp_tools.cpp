// From commands to tools. A server that only reads offers nothing by default: a command and each of
// its options has to stand in the table below as one that reads.
#include "cli/program/mcp_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace perflab::cli {
namespace {

using Names = std::vector<std::string_view>;

enum class Effect {
  reads,   ///< runs nothing that it is given, and writes nothing but what `acts` names
  acts,    ///< runs programs or the GPU, or writes files
  no_tool  ///< makes no sense for a client
};

/// What is said here of a command.
struct Facts {
  std::string_view command;
  Effect effect;
  std::string_view document = {};  ///< its schema; empty: none
  Names reads = {};                ///< of a command that reads: its options that only read
  Names acts = {};                 ///< its options that write files or have something run
  /// The words behind "--" as an argument; its name, what it is, and the positional that it
  /// replaces (they are required then).
  std::string_view words = {}, words_are = {}, instead_of = {};
  std::string_view only_reading = {};  ///< what a server that only reads says of it
};

constexpr std::string_view kCompilerWords = "Arguments of the compiler, one each";
constexpr std::string_view kProgramWords = "The program and its arguments, one each; no shell";

const std::vector<Facts>& all_facts() {
  static const std::vector<Facts> kFacts = {
      {.command = "analyze",
       .effect = Effect::reads,
       .document = "analysis",
       .reads = {"TRACE", "--att", "--code", "--counters", "--roofs", "--roofs-device", "--what-if",
                 "--segment", "--full", "--handover", "--no-critical-path", "--threads", "--brief",
                 "--details"},
       .acts = {"--out", "--perfetto", "--html"}},
      {.command = "autotune", .effect = Effect::acts, .document = "autotune"},
      {.command = "capture check",
       .effect = Effect::reads,
       .document = "capture",
       .reads = {"DIR", "--all", "--brief", "--details"}},
      {.command = "capture info",
       .effect = Effect::reads,
       .document = "capture",
       .reads = {"DIR", "--all", "--brief", "--details"}},
      {.command = "compare",
       .effect = Effect::reads,
       .document = "comparison",
       .reads = {"A", "B", "--a", "--b", "--threshold", "--confidence", "--fail-undecided",
                 "--kernel", "--min-share", "--samples", "--unit", "--larger-is-better",
                 "--threads", "--brief", "--details"},
       .acts = {"--out", "--junit", "--markdown", "--html"}},
      {.command = "completion", .effect = Effect::no_tool},
      {.command = "critical-path",
       .effect = Effect::reads,
       .document = "dag",
       .reads = {"TRACE", "--what-if", "--segment", "--full", "--handover", "--threads", "--brief",
                 "--details"},
       .acts = {"--out", "--perfetto", "--html"}},
      {.command = "doctor",
       .effect = Effect::reads,
       .document = "doctor",
       .reads = {"COMMAND", "--brief", "--details"},
       .acts = {"--html", "--self-test", "--only", "--time-budget", "--keep"}},
      // A source is compiled for the architectures of --arch, and for none without: that is what
      // keeps a compiler from being run.
      {.command = "inspect",
       .effect = Effect::reads,
       .document = "inspection",
       .reads = {"FILE", "--kernel", "--block", "--dynamic-lds", "--max-vgpr", "--min-occupancy",
                 "--no-spills", "--against", "--mix", "--no-mix", "--all", "--threads", "--brief",
                 "--details"},
       .acts = {"--arch", "--out", "--html"},
       .words = "compiler_arguments",
       .words_are = kCompilerWords,
       .only_reading = "Compiled files only: this server compiles no source."},
      {.command = "isolate",
       .effect = Effect::acts,
       .document = "isolate",
       .words = "command",
       .words_are = kProgramWords,
       .instead_of = "COMMAND"},
      {.command = "mcp", .effect = Effect::no_tool},
      {.command = "occupancy",
       .effect = Effect::reads,
       .document = "occupancy",
       .reads = {"--arch", "--vgpr", "--agpr", "--sgpr", "--block", "--min-block", "--lds",
                 "--dynamic-lds", "--wave", "--cu-mode", "--wgp-mode", "--waves-per-eu", "--llvm",
                 "--sweep"},
       .acts = {"--html"}},
      {.command = "optimize",
       .effect = Effect::acts,
       .document = "optimization",
       .words = "compiler_arguments",
       .words_are = kCompilerWords},
      {.command = "profile",
       .effect = Effect::acts,
       .document = "profile",
       .words = "command",
       .words_are = kProgramWords,
       .instead_of = "COMMAND"},
      {.command = "replay full-vm", .effect = Effect::acts, .document = "replay"},
      {.command = "replay reserve-check", .effect = Effect::acts, .document = "reservation"},
      {.command = "replay verify", .effect = Effect::acts, .document = "certificate"},
      {.command = "report", .effect = Effect::acts},
      {.command = "roofline",
       .effect = Effect::reads,
       .document = "roofline",
       .reads = {"FILE", "--roofs", "--roofs-device", "--kernel", "--code", "--threads", "--brief",
                 "--details"},
       .acts = {"--out", "--html"}},
      {.command = "schema", .effect = Effect::reads, .reads = {"NAME"}},
  };
  return kFacts;
}

// The server says these itself, or they are for people.
const Names kControlled = {"--json", "--quiet", "--help", "--version"};
// The one option with which a command has no document, and refuses --json.
constexpr std::string_view kWithoutDocument = "--recheck";

bool has(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::unexpected<Error> not_said(const std::string& what) {
  return fail(ErrorCode::internal,
              fmt::format("rocm-perf mcp: nothing says whether {} runs or writes something", what),
              "its table is in src/cli/program/mcp_tools.cpp");
}

/// The name that stands for an option: a positional's own, else the long one.
std::string said_name(const OptionInfo& option) {
  for (const std::string& name : option.names)
    if (option.positional ? !name.starts_with('-') : name.starts_with("--")) return name;
  return option.names.empty() ? std::string() : option.names.front();
}

/// "--what-if" as a property: what_if. Positionals keep their capitals: A and --a are two.
std::string property_name(std::string_view name) {
  name.remove_prefix(std::min(name.find_first_not_of('-'), name.size()));
  std::string out(name);
  std::ranges::replace(out, '-', '_');
  std::ranges::replace(out, ' ', '_');
  return out;
}

mcp::Parameter parameter_of(const OptionInfo& option, const std::string& name) {
  mcp::Parameter out{.name = property_name(name),
                     .option = option.positional ? "" : name,
                     .place = option.positional ? mcp::Place::positional : mcp::Place::option,
                     .kind = option.flag     ? mcp::ValueKind::boolean
                             : option.number ? mcp::ValueKind::number
                                             : mcp::ValueKind::text,
                     .many = option.many,
                     .required = option.required,
                     .choices = option.choices,
                     .description = option.description,
                     .withheld = false,
                     .without_document = name == kWithoutDocument};
  if (!option.default_text.empty())
    out.description += fmt::format(" (default: {})", option.default_text);
  return out;
}

std::string description_of(const CommandInfo& command, const Facts& facts, bool allow_run) {
  std::string out = command.description + ".";
  if (!allow_run && !facts.only_reading.empty()) out += fmt::format(" {}", facts.only_reading);
  if (facts.document.empty())
    out += fmt::format(" The same as `rocm-perf {}`.", command.name);
  else
    out += fmt::format(
        " The same as `rocm-perf {} --json`: the answer is the document {}, explained by the "
        "resource rocm-perf://schema/{}.",
        command.name, facts.document, facts.document);
  // Of the footer, what answers a call.
  std::string_view rest = command.footer;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (rest.starts_with("Exit code")) out += fmt::format(" {}", rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

mcp::Parameter words_of(const Facts& facts) {
  return {.name = std::string(facts.words),
          .option = {},
          .place = mcp::Place::words,
          .kind = mcp::ValueKind::text,
          .many = true,
          .required = !facts.instead_of.empty(),
          .choices = {},
          .description = std::string(facts.words_are),
          .withheld = false,
          .without_document = false};
}

Result<mcp::Tool> tool_of(const CommandInfo& command, const Facts& facts, bool allow_run) {
  mcp::Tool tool{.name = property_name(command.name),
                 .description = description_of(command, facts, allow_run),
                 .command = {},
                 .always = {},
                 .parameters = {},
                 .read_only = facts.effect == Effect::reads && !allow_run,
                 .withheld = facts.effect == Effect::acts && !allow_run};
  for (std::string_view rest = command.name; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    tool.command.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  for (const OptionInfo& option : command.options) {
    const std::string name = said_name(option);
    if (name == "--json") tool.always.push_back(name);
    if (has(kControlled, name) || name == facts.instead_of) continue;
    mcp::Parameter parameter = parameter_of(option, name);
    if (facts.effect == Effect::reads) {
      const bool acts = has(facts.acts, name);
      if (!acts && !has(facts.reads, name))
        return not_said(fmt::format("{} of `{}`", name, command.name));
      parameter.withheld = acts && !allow_run;
    }
    tool.parameters.push_back(std::move(parameter));
  }
  if (command.takes_words) {
    if (facts.words.empty())
      return not_said(fmt::format("the words behind -- of `{}`", command.name));
    tool.parameters.push_back(words_of(facts));
    tool.parameters.back().withheld = !allow_run;
  }
  return tool;
}

}  // namespace

Result<std::vector<mcp::Tool>> tools_of(const std::vector<CommandInfo>& commands, bool allow_run) {
  std::vector<mcp::Tool> tools;
  for (const CommandInfo& command : commands) {
    const auto facts = std::ranges::find(all_facts(), command.name, &Facts::command);
    if (facts == all_facts().end()) return not_said(fmt::format("`{}`", command.name));
    if (facts->effect == Effect::no_tool) continue;
    PERFLAB_TRY(tools.emplace_back(), tool_of(command, *facts, allow_run));
  }
  return tools;
}

}  // namespace perflab::cli
