#include "measure/tuning/autotune_templates.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/system/subprocess.h"

namespace perflab::measure {

using tune::CommandTemplate;

std::vector<std::string> value_names(const tune::Space& space) {
  std::vector<std::string> names;
  for (const tune::Parameter& parameter : space.parameters()) names.push_back(parameter.name);
  for (const auto& [name, expression] : space.description().derived) names.push_back(name);
  return names;
}

namespace {

std::unexpected<Error> refuse_template(std::string message, std::string remedy) {
  return fail(ErrorCode::usage, std::move(message), std::move(remedy));
}

/// Names that templates may use.
std::vector<std::string> known_names(const tune::Space& space, bool with_builds) {
  std::vector<std::string> names = value_names(space);
  if (with_builds) names.emplace_back(tune::kBuildFolderName);
  return names;
}

/// Where a build for a capture leaves its code object, unless --code-object says it.
constexpr const char* kLaunchedFile = "{build_dir}/kernel.code_object";

/// Parses one template; the error says which.
Result<std::optional<CommandTemplate>> parsed(const std::string& text, const char* option,
                                              const std::vector<std::string>& known) {
  if (text.empty()) return std::optional<CommandTemplate>();
  Result<CommandTemplate> made = CommandTemplate::parse(text, known);
  if (!made) {
    made.error().message = fmt::format("{}: {}", option, made.error().message);
    return std::unexpected(std::move(made).error());
  }
  return std::optional(std::move(*made));
}

/// Error (usage): the template does not name one file.
Result<void> check_one_file(const CommandTemplate& file, const tune::Space& space,
                            const std::string& text) {
  std::vector<tune::Binding> bindings = space.bindings(space.default_configuration());
  bindings.emplace_back(std::string(tune::kBuildFolderName), std::string("b"));
  PERFLAB_TRY(const std::vector<std::string> words, file.fill(bindings));
  if (words.size() == 1) return {};
  return refuse_template(
      fmt::format("--code-object {}: it is the path of one file, and these are {} words", text,
                  words.size()),
      "quote it within the template");
}

}  // namespace

Result<Templates> parse_templates(const AutotuneTemplates& texts, bool captured,
                                  const tune::Space& space) {
  const std::vector<std::string> known = known_names(space, !texts.build.empty());
  Templates out;
  PERFLAB_TRY(out.run, parsed(texts.command, "--cmd-template", known));
  PERFLAB_TRY(out.check, parsed(texts.check, "--check", known));
  PERFLAB_TRY(out.code_object, parsed(texts.code_object, "--code-object", known));
  if (out.code_object) PERFLAB_TRY_VOID(check_one_file(*out.code_object, space, texts.code_object));
  std::vector<std::string> of_build = known;
  if (captured) {
    of_build.emplace_back(tune::kCodeObjectName);
    out.launched = out.code_object;
    if (!out.launched) {
      PERFLAB_TRY(out.launched, parsed(kLaunchedFile, "--code-object", known));
    }
  }
  PERFLAB_TRY(out.build, parsed(texts.build, "--build-template", of_build));
  if (out.launched && !out.code_object &&
      std::ranges::find(out.build->names(), tune::kCodeObjectName) == out.build->names().end())
    return refuse_template(
        "--build-template does not say with {code_object} where the code object goes",
        "\"... -o {code_object}\", or name the file that it leaves with --code-object");
  return out;
}

Result<void> check_program(const CommandTemplate& command) {
  const std::string program = command.fixed_program();
  if (program.empty() || find_program(program)) return {};
  return fail(ErrorCode::missing_tool,
              fmt::format("--cmd-template: {}: no program of that name can be started", program),
              "name one that is on PATH, or its path; --build-template builds it first");
}

Result<std::vector<std::string>> filled_template(const std::optional<CommandTemplate>& one,
                                                 const std::optional<CommandTemplate>& launched,
                                                 const tune::Space& space,
                                                 const std::optional<tune::ConfigId>& winner) {
  if (!one || !winner) return std::vector<std::string>();
  std::vector<tune::Binding> bindings = space.bindings(*winner);
  bindings.emplace_back(std::string(tune::kBuildFolderName), std::string(kBestBuildFolder));
  if (launched) {
    PERFLAB_TRY(const std::vector<std::string> file, launched->fill(bindings));
    bindings.emplace_back(std::string(tune::kCodeObjectName), file.front());
  }
  return one->fill(bindings);
}

}  // namespace perflab::measure
