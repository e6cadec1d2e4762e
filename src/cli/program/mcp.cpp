// rocm-perf mcp: the commands as tools of the Model Context Protocol, on stdin and stdout. Every
// call runs this same program, so that a client gets what the command line gives.
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "base/system/subprocess.h"
#include "base/version.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/program/mcp_advice.h"
#include "cli/program/mcp_tools.h"
#include "mcp/stdio.h"
#include "report/kit/document.h"

namespace perflab::cli {
namespace {

// What is larger is not read: that would take several times its size of memory.
constexpr std::size_t kMostOutput = std::size_t{64} << 20;
constexpr std::size_t kMostSaid = std::size_t{4} << 10;

struct McpArguments {
  bool allow_run = false;
  std::size_t max_answer = std::size_t{16} << 10;
};

mcp::Outcome run_tool(const std::vector<std::string>& words, const std::function<bool()>& give_up) {
  std::vector<std::string> argv{own_program()};
  argv.insert(argv.end(), words.begin(), words.end());
  ProcessOptions options;
  options.empty_input = true;  // ours is the client's
  options.standard_output = options.standard_error = StreamMode::capture;
  options.capture_limit = kMostOutput;
  options.give_up = give_up;
  Result<ProcessResult> result = run_program(argv, options);
  mcp::Outcome outcome;
  if (!result) {
    outcome.failure = describe(result.error());
    return outcome;
  }
  outcome.exit_code = result->exit_code;
  outcome.end = describe_end(*result);
  outcome.output = std::move(result->output.tail);
  outcome.output_bytes = result->output.total_bytes;
  outcome.said = std::move(result->error.tail);
  if (outcome.said.size() > kMostSaid) outcome.said.erase(0, outcome.said.size() - kMostSaid);
  return outcome;
}

std::string instructions(bool allow_run) {
  return fmt::format(
      "Performance lab for HIP kernels on AMD GPUs. Begin with analyze on a recorded trace; doctor "
      "says what works on this machine. Tools answer with a summary; a figure's `from` says where "
      "it stands in the full documents. Arguments section, kernel, top and offset, or the tool "
      "read_document with an answer's uri, read parts of those. A figure that is null is missing, "
      "and the document says why; schema explains fields. {}",
      allow_run ? "Tools may run programs, use the GPU and write files."
                : "This server only reads: it was started without --allow-run.");
}

Result<mcp::Offer> offer_of(const CLI::App& app, bool allow_run) {
  mcp::Offer offer{
      .name = "rocm-perf",
      .version = std::string(kProgramVersion),
      .instructions = instructions(allow_run),
      .tools = {},
      .resources = {},
      .advise = [allow_run](const std::string& tool, const Json& arguments, ErrorCode kind) {
        return mcp_advice(tool, arguments, kind, allow_run);
      }};
  PERFLAB_TRY(offer.tools, tools_of(describe_commands(app), allow_run));
  for (const std::string& name : report::schema_names()) {
    PERFLAB_TRY(const std::string_view text, report::schema_text(name));
    offer.resources.push_back({.uri = "rocm-perf://schema/" + name,
                               .name = name,
                               .description = "JSON Schema of the document " + name,
                               .mime_type = "application/schema+json",
                               .text = std::string(text)});
  }
  return offer;
}

Result<void> run_mcp(const CLI::App& app, const McpArguments& arguments) {
  PERFLAB_TRY(mcp::Offer offer, offer_of(app, arguments.allow_run));
  if (::isatty(STDIN_FILENO) != 0)
    fmt::print(stderr, "rocm-perf mcp: waits for messages of a client on stdin; Ctrl-D ends it\n");
  return mcp::serve(
      {.input = STDIN_FILENO, .output = STDOUT_FILENO, .most_bytes = arguments.max_answer},
      std::move(offer), run_tool);
}

}  // namespace

void add_mcp(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<McpArguments>();
  CLI::App* command =
      app.add_subcommand("mcp", "Serve the commands to an agent (Model Context Protocol)");
  set_examples(*command, {"rocm-perf mcp", "rocm-perf mcp --allow-run"});
  command->footer(
      "A client starts it and speaks to it; without --allow-run it only reads "
      "(docs/MCP.md).");
  command->add_flag("--allow-run", arguments->allow_run,
                    "Also offer what runs programs, uses the GPU or writes files");
  command
      ->add_option("--max-answer", arguments->max_answer,
                   "Largest answer of a tool, in bytes; what is longer comes in pages")
      ->check(CLI::Range(mcp::kLeastAnswerBytes, kMostOutput))
      ->capture_default_str();
  command->callback([&app, arguments, &exit_code] {
    if (const auto done = run_mcp(app, *arguments); !done) exit_code = report_error(done.error());
  });
}

}  // namespace perflab::cli
