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
  std::string_view when = {};  ///< when to use it, for a model that has to choose
  Names reads = {};            ///< of a command that reads: its options that only read
  Names acts = {};             ///< its options that write files or have something run
  /// The words behind "--" as an argument; its name, what it is, and the positional that it
  /// replaces (they are required then).
  std::string_view words = {}, words_are = {}, instead_of = {};
  std::string_view only_reading = {};  ///< what a server that only reads says of it
  /// Its options that `analyze` has too, or whose names mean an element of a section in all tools,
  /// or that are for people: the list of tools has to be short.
  Names not_offered = {};
};

constexpr std::string_view kCompilerWords = "Arguments of the compiler, one each";
constexpr std::string_view kProgramWords = "The program and its arguments, one each; no shell";

const std::vector<Facts>& all_facts() {
  static const std::vector<Facts> kFacts = {
      {.command = "analyze",
       .effect = Effect::reads,
       .when = "Start here: where the time of a run (rocprofv3, PyTorch) went, which kernel "
               "to look at first, what limits it, what to do next.",
       .reads = {"TRACE", "--att", "--pc-samples", "--pc-interval", "--code", "--counters",
                 "--roofs", "--roofs-device", "--calibration", "--what-if", "--segment",
                 "--no-critical-path", "--from", "--to"},
       .acts = {"--out"},
       .not_offered = {"--kernel"}},
      {.command = "autotune",
       .effect = Effect::acts,
       .when = "Find the fastest configuration of a kernel or program by running many.",
       .not_offered = {"--metric", "--limit"}},
      {.command = "calibrate",
       .effect = Effect::acts,
       .when = "Do this GPU's counters count what is done, and what is the most that it reaches? "
               "explain [\"SQ_WAVES\"] says what a counter counts."},
      {.command = "capture check",
       .effect = Effect::reads,
       .when = "Can this capture be replayed? Use it before any replay tool.",
       .reads = {"DIR", "--all"}},
      {.command = "capture info",
       .effect = Effect::reads,
       .when = "What a capture holds: kernel, launch, arguments, memory.",
       .reads = {"DIR", "--all"}},
      {.command = "compare",
       .effect = Effect::reads,
       .when = "Is a change a regression? Takes the same measurement before (A) and after (B): "
               "recordings, documents or files of samples.",
       .reads = {"A", "B", "--a", "--b", "--threshold", "--confidence", "--fail-undecided",
                 "--kernel", "--min-share", "--samples", "--unit", "--larger-is-better"},
       .acts = {"--out"}},
      {.command = "completion", .effect = Effect::no_tool},
      {.command = "critical-path",
       .effect = Effect::reads,
       .when = "What would a faster kernel gain for the whole run? what_if [\"NAME=2x\"] computes "
               "it; also which waits and gaps cost time.",
       .reads = {"TRACE", "--what-if", "--segment"},
       .acts = {"--out"},
       .not_offered = {"--from", "--to"}},
      {.command = "doctor",
       .effect = Effect::reads,
       .when = "What works on this machine and how to get the rest. Use it when another tool says "
               "that something is missing.",
       .reads = {"COMMAND"},
       .acts = {"--self-test", "--only", "--time-budget"}},
      // A source is compiled for the architectures of --arch, and for none without: that is what
      // keeps a compiler from being run.
      {.command = "inspect",
       .effect = Effect::reads,
       .when = "Does a kernel spill? Registers, spills, LDS and occupancy of compiled files; "
               "nothing is run.",
       .reads = {"FILE", "--kernel", "--block", "--dynamic-lds", "--max-vgpr", "--min-occupancy",
                 "--no-spills", "--against", "--mix", "--no-mix", "--all"},
       .acts = {"--arch", "--out"},
       .words = "compiler_arguments",
       .words_are = kCompilerWords,
       .only_reading = "Compiled files only: this server compiles no source."},
      {.command = "isolate",
       .effect = Effect::acts,
       .when = "Capture one dispatch of a program with its memory, to replay and verify it later.",
       .words = "command",
       .words_are = kProgramWords,
       .instead_of = "COMMAND"},
      // For people, and once for a program or a kernel: their descriptions would cost every
      // session.
      {.command = "autotune-app", .effect = Effect::no_tool},
      {.command = "dispatch-table", .effect = Effect::no_tool},
      {.command = "mcp", .effect = Effect::no_tool},
      {.command = "occupancy",
       .effect = Effect::reads,
       .when = "How many waves fit, from numbers alone, and what limits them. For a compiled "
               "kernel use inspect.",
       .reads = {"--arch", "--vgpr", "--agpr", "--sgpr", "--block", "--min-block", "--lds",
                 "--dynamic-lds", "--wave", "--cu-mode", "--wgp-mode", "--waves-per-eu",
                 "--sweep"}},
      {.command = "optimize",
       .effect = Effect::acts,
       .when = "Search a faster version of a HIP kernel and prove that it computes the same.",
       .words = "compiler_arguments",
       .words_are = kCompilerWords},
      {.command = "profile",
       .effect = Effect::acts,
       .when = "Record a program under rocprofv3 and say where its time went. For a recording that "
               "exists use analyze.",
       .words = "command",
       .words_are = kProgramWords,
       .instead_of = "COMMAND"},
      {.command = "ranks",
       .effect = Effect::reads,
       .when = "Which rank of a job of many GPUs makes the others wait, why, and is a long "
               "collective slow or waiting?",
       .reads = {"FILE", "--what-if"},
       .acts = {"--out"}},
      {.command = "rank-summary",
       .effect = Effect::acts,
       .when =
           "Many ranks of one job were recorded: makes the small file of each that the analysis "
           "of the whole job needs."},
      {.command = "replay full-vm",
       .effect = Effect::acts,
       .when = "Run a captured dispatch again, and time it. First use capture_check."},
      {.command = "replay reserve-check",
       .effect = Effect::acts,
       .when = "Can the addresses of a capture be had here? Use it when a replay fails."},
      {.command = "replay verify",
       .effect = Effect::acts,
       .when = "Does a replay, or another code object, compute what was captured? Use it to prove "
               "a change."},
      {.command = "report",
       .effect = Effect::acts,
       .when = "Make an HTML page of documents written earlier."},
      {.command = "roofline",
       .effect = Effect::reads,
       .when = "How close are kernels to what the GPU can do? Needs recordings with counters.",
       .reads = {"FILE", "--roofs", "--roofs-device", "--calibration", "--kernel", "--code"},
       .acts = {"--out"}},
      {.command = "schema",
       .effect = Effect::reads,
       .when = "What the fields of a document mean: its JSON Schema.",
       .reads = {"NAME"}},
  };
  return kFacts;
}

// The server says these itself, or they are texts for people.
const Names kControlled = {"--json",  "--brief",   "--details", "--threads",
                           "--quiet", "--verbose", "--help",    "--version"};
// Pages and tables to look at (`report` makes pages of written documents), models, sandboxes and
// clusters that somebody sets up, knobs for whoever studies searches, graphs or this program: no
// call of an agent needs them, and every session would pay for them.
const Names kForPeople = {"--model",
                          "--prior",
                          "--race",
                          "--metric-unit",
                          "--prune-factor",
                          "--pc-sampling-all-kernels",
                          "--caches",
                          "--timeout-factor",
                          "--html",
                          "--junit",
                          "--pc-sampling-method",
                          "--markdown",
                          "--perfetto",
                          "--base-url",
                          "--provider",
                          "--max-tokens",
                          "--max-cost",
                          "--price-in",
                          "--price-out",
                          "--transcript",
                          "--executor",
                          "--workers",
                          "--slurm-arg",
                          "--partition",
                          "--build-jobs",
                          "--build-ahead",
                          "--keep-builds",
                          "--no-sandbox",
                          "--sandbox-show",
                          "--proposer-network",
                          "--seed",
                          "--patience",
                          "--full",
                          "--handover",
                          "--keep",
                          "--att-target-cu",
                          "--effort",
                          "--llvm",
                          "--no-recopy",
                          "--memory"};
// The one option with which a command has no document, and refuses --json.
constexpr std::string_view kWithoutDocument = "--recheck";

// Bytes of the description of an argument, of a tool with more arguments than kMany less; a longer
// one ends with a clause or a word before that.
constexpr std::size_t kLongestDescription = 43, kLongestOfMany = 35, kMany = 24;

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

/// What an agent needs of a description: every session pays for all of them.
std::string short_text(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return std::string(text);
  std::size_t end = 0;
  for (const std::string_view mark : {". ", "; ", ": ", " (", ", "})
    if (const std::size_t at = text.rfind(mark, longest);
        at != std::string_view::npos && at >= longest / 3)
      end = std::max(end, at);
  if (end > 0) return std::string(text.substr(0, end));
  return fmt::format("{}…", text.substr(0, text.rfind(' ', longest - 1)));
}

mcp::Parameter parameter_of(const OptionInfo& option, const std::string& name,
                            std::size_t longest) {
  mcp::Parameter out{
      .name = property_name(name),
      .option = option.positional ? "" : name,
      .place = option.positional ? mcp::Place::positional : mcp::Place::option,
      .kind = option.flag     ? mcp::ValueKind::boolean
              : option.number ? mcp::ValueKind::number
                              : mcp::ValueKind::text,
      .many = option.many,
      .required = option.required,
      .choices = option.choices,
      .description = short_text(option.description, longest),
      .withheld = false,
      .without_document = name == kWithoutDocument,
      .without_summary = has({option.excludes.begin(), option.excludes.end()}, "--brief")};
  if (!option.default_text.empty())
    out.description += fmt::format(" (default: {})", option.default_text);
  return out;
}

std::string description_of(const CommandInfo& command, const Facts& facts, bool allow_run) {
  std::string out(facts.when);
  if (!allow_run && !facts.only_reading.empty()) out += fmt::format(" {}", facts.only_reading);
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

/// The arguments that go deeper, but for one that the command has itself ("--kernel").
void add_selection(mcp::Tool& tool) {
  for (mcp::Parameter& parameter : mcp::selection_parameters())
    if (std::ranges::find(tool.parameters, parameter.name, &mcp::Parameter::name) ==
        tool.parameters.end())
      tool.parameters.push_back(std::move(parameter));
}

Result<mcp::Tool> tool_of(const CommandInfo& command, const Facts& facts, bool allow_run) {
  mcp::Tool tool{.name = property_name(command.name),
                 .description = description_of(command, facts, allow_run),
                 .command = {},
                 .always = {},
                 .summarises = false,
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
    if (name == "--brief") tool.summarises = true;
    const bool for_people = has(kForPeople, name) && facts.command != "report";
    if (has(kControlled, name) || for_people || name == facts.instead_of ||
        has(facts.not_offered, name))
      continue;
    mcp::Parameter parameter = parameter_of(
        option, name, command.options.size() > kMany ? kLongestOfMany : kLongestDescription);
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
  // cli/kit/present.h: the answer first, and all that it is made of.
  if (tool.summarises) tool.for_summary = {"--brief", "--all-documents"};
  if (facts.effect == Effect::reads) add_selection(tool);
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
  tools.push_back(mcp::read_tool());
  return tools;
}

}  // namespace perflab::cli
