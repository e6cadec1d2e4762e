// rocm-perf schema: the JSON Schema of a document.
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/kit/option_parsers.h"
#include "report/kit/document.h"

namespace perflab::cli {
namespace {

Result<void> run_schema(const std::string& name) {
  PERFLAB_TRY(const std::string_view text, report::schema_text(name));
  return print(std::string(text));
}

}  // namespace

void add_schema(CLI::App& app, int& exit_code) {
  const auto name = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("schema", "Print the JSON Schema of a document");
  set_examples(*command, {"rocm-perf schema profile"});
  command->add_option("NAME", *name, "The document")
      ->required()
      ->check(offered(report::schema_names()));
  command->callback([name, &exit_code] {
    if (const auto done = run_schema(*name); !done) exit_code = report_error(done.error());
  });
}

}  // namespace perflab::cli
