// rocm-perf completion: the script that completes its command lines in a shell.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <map>
#include <memory>

#include "base/system/files.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/program/completion_script.h"

namespace perflab::cli {
namespace {

struct CompletionArguments {
  std::string shell, out;
};

const std::map<std::string, Shell>& shells_by_name() {
  static const std::map<std::string, Shell> kShells = {
      {"bash", Shell::bash}, {"fish", Shell::fish}, {"zsh", Shell::zsh}};
  return kShells;
}

Result<void> run_completion(const CLI::App& app, const CompletionArguments& arguments) {
  const std::string script = completion_script(app, shells_by_name().at(arguments.shell));
  return arguments.out.empty() ? print(script) : write_file_atomically(arguments.out, script);
}

}  // namespace

void add_completion(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<CompletionArguments>();
  CLI::App* command =
      app.add_subcommand("completion", "Print the script that completes command lines in a shell");
  set_examples(*command,
               {"rocm-perf completion bash --out "
                "~/.local/share/bash-completion/completions/rocm-perf",
                "rocm-perf completion zsh --out ~/.zfunc/_rocm-perf",
                "rocm-perf completion fish --out ~/.config/fish/completions/rocm-perf.fish"});
  command->footer(
      "For this bash only: source <(rocm-perf completion bash)\n"
      "`cmake --install` puts all three where the shells look for them.");
  command->add_option("SHELL", arguments->shell, "Shell that the script is for")
      ->required()
      ->check(CLI::IsMember(shells_by_name()));
  command->add_option("--out", arguments->out, "Write the script to this file");
  command->callback([&app, arguments, &exit_code] {
    if (const auto done = run_completion(app, *arguments); !done)
      exit_code = report_error(done.error());
  });
}

}  // namespace perflab::cli
