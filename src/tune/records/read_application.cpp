#include "tune/records/read_application.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/enum_names.h"
#include "base/text/json.h"
#include "base/text/json_fields.h"
#include "base/text/pattern.h"
#include "tune/records/read_space.h"
#include "tune/space/command_template.h"

namespace perflab::tune {
namespace {

constexpr const char* kApplicationForm =
    R"({"kernels": [{"name": "gemm", "space": "gemm_space.json", "command": "./gemm --bm {BM}", )"
    R"("objective": "gpu"}, ...], "command": "./app --config {config}"})";
constexpr std::size_t kLongestName = 64;

/// A key of the configuration file, and part of a file's name.
bool is_name(std::string_view text) {
  const auto of_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !text.empty() && text.size() <= kLongestName && text.front() != '.' &&
         text.front() != '-' && std::ranges::all_of(text, of_name);
}

void read_text(JsonFields& fields, std::string_view key, std::string& out) {
  if (!fields.has(key)) return;
  fields.read(key, out);
  if (fields.good() && out.empty()) fields.wrong(key, "is empty");
}

void read_file_name(JsonFields& fields, std::string_view key, std::filesystem::path& out) {
  std::string text;
  read_text(fields, key, text);
  out = text;
}

void read_maximize(JsonFields& fields, bool& out) {
  if (fields.has("maximize")) fields.read("maximize", out);
}

void read_pattern(JsonFields& fields, std::string_view key, std::string& out, int groups,
                  PatternScope scope) {
  read_text(fields, key, out);
  if (!fields.good() || out.empty()) return;
  const Result<Pattern> pattern = Pattern::compile(out, scope);
  if (!pattern)
    fields.wrong(key, "is no pattern: " + pattern.error().message);
  else if (pattern->groups() < groups)
    fields.wrong(key, "has no group around the number");
}

/// The file's name, or the space itself in any of its forms.
void read_kernel_space(JsonFields& item, ApplicationKernel& kernel) {
  if (!item.has("space")) return;
  const Json* const space = item.find("space");
  if (space == nullptr) return;
  if (space->is_string()) return read_file_name(item, "space", kernel.space);
  Result<SpaceFile> parsed = parse_space(to_canonical_text(*space), "it");
  if (parsed)
    kernel.described = std::move(parsed->description);
  else
    item.wrong("space", "is no search space: " + parsed.error().message);
}

void read_default(JsonFields& item, ApplicationKernel& kernel) {
  if (!item.has("default")) return;
  JsonFields values = item.object("default");
  for (const std::string& name : values.names()) {
    const Json* const json = values.find(name);
    if (json == nullptr) return;
    Result<Value> value = value_from_json(*json, name);
    if (!value) return values.wrong(name, "is no value of a parameter");
    kernel.default_values.emplace_back(name, std::move(*value));
  }
  if (kernel.default_values.empty()) item.wrong("default", "names no parameter");
}

/// Members that say nothing beside another one.
void refuse_beside(JsonFields& item, std::string_view with,
                   std::span<const std::string_view> members) {
  for (const std::string_view member : members)
    if (item.has(member)) item.wrong(member, fmt::format("says nothing beside \"{}\"", with));
}

constexpr std::array<std::string_view, 8> kOfLaunches = {
    "workgroup", "grid", "blocks", "dynamic_lds", "type", "max_ulp", "rtol", "atol"};

void read_tolerance(JsonFields& item, ApplicationTolerance& tolerance) {
  read_text(item, "type", tolerance.type);
  if (item.has("max_ulp")) item.read("max_ulp", tolerance.max_ulp.emplace(), 0);
  const auto read = [&](std::string_view key, std::optional<double>& out) {
    if (item.has(key)) item.read(key, out.emplace(), 0);
  };
  read("rtol", tolerance.relative);
  read("atol", tolerance.absolute);
}

void read_source(JsonFields& item, ApplicationKernel& kernel) {
  static constexpr std::array<std::string_view, 8> kMeasured = {
      "command",     "capture",   "build",        "check",
      "code_object", "objective", "metric_regex", "metric_unit"};
  static constexpr std::array<std::string_view, 6> kOfCommands = {
      "command", "check", "objective", "metric_regex", "metric_unit", "maximize"};
  if (item.has("simulate")) {
    kernel.source = KernelSource::simulate;
    refuse_beside(item, "simulate", kMeasured);
    read_file_name(item, "simulate", kernel.recording);
    read_maximize(item, kernel.maximize);
    return refuse_beside(item, "simulate", kOfLaunches);
  }
  if (item.good() && kernel.space.empty() && !kernel.described)
    return item.wrong("", "it has neither \"space\" nor \"simulate\"");
  read_text(item, "build", kernel.build);
  read_text(item, "code_object", kernel.code_object);
  if (item.has("capture")) {
    kernel.source = KernelSource::capture;
    refuse_beside(item, "capture", kOfCommands);
    read_file_name(item, "capture", kernel.capture);
    read_text(item, "workgroup", kernel.launch.workgroup);
    read_text(item, "grid", kernel.launch.grid);
    read_text(item, "blocks", kernel.launch.blocks);
    read_text(item, "dynamic_lds", kernel.launch.dynamic_lds);
    return read_tolerance(item, kernel.tolerance);
  }
  refuse_beside(item, "command", kOfLaunches);
  item.read("command", kernel.command);
  read_text(item, "check", kernel.check);
  read_text(item, "objective", kernel.objective);
  if (item.good() && !kernel.objective.empty() && kernel.objective != "gpu" &&
      kernel.objective != "metric" && kernel.objective != "wall")
    item.wrong("objective", "is none of gpu, metric and wall");
  read_pattern(item, "metric_regex", kernel.metric_pattern, 1, PatternScope::lines);
  read_text(item, "metric_unit", kernel.metric_unit);
  read_maximize(item, kernel.maximize);
}

ApplicationKernel read_kernel(JsonFields& item) {
  ApplicationKernel kernel;
  item.read("name", kernel.name);
  if (item.good() && !is_name(kernel.name))
    item.wrong("name", fmt::format("is not of letters, digits, '_', '-' and '.', {} at most",
                                   kLongestName));
  kernel.pattern = kernel.name;
  if (item.has("kernel")) read_pattern(item, "kernel", kernel.pattern, 0, PatternScope::text);
  read_kernel_space(item, kernel);
  read_default(item, kernel);
  read_source(item, kernel);
  item.refuse_unknown();
  return kernel;
}

void read_command(JsonFields& fields, Application& application) {
  read_text(fields, "command", application.command);
  read_pattern(fields, "metric_regex", application.metric_pattern, 1, PatternScope::lines);
  read_text(fields, "metric_unit", application.metric_unit);
  read_maximize(fields, application.maximize);
  if (!fields.good()) return;
  if (application.command.empty()) {
    for (const std::string_view member : {"metric_regex", "metric_unit", "maximize"})
      if (fields.has(member)) fields.wrong(member, "says nothing without \"command\"");
    return;
  }
  if (application.maximize && application.metric_pattern.empty())
    fields.wrong("maximize", "says nothing of a time: \"metric_regex\" names what is maximised");
  const auto command = CommandTemplate::parse(
      application.command, std::vector<std::string>{std::string(kConfigurationName)});
  if (!command)
    fields.wrong("command", "cannot be used: " + command.error().message);
  else if (command->names().empty())
    fields.wrong("command", "does not say with {config} where the configuration file goes");
}

}  // namespace

std::string_view to_string(KernelSource source) {
  using enum KernelSource;
  static constexpr auto kNames = enum_names<KernelSource>(
      {{command, "command"}, {capture, "capture"}, {simulate, "simulate"}});
  return kNames[source];
}

Result<Application> parse_application(std::string_view text, std::string_view what) {
  PERFLAB_TRY(const Json root, parse_json(text, what));
  Application application;
  JsonFields fields(root, what);
  fields.each("kernels", [&](JsonFields& item) {
    ApplicationKernel kernel = read_kernel(item);
    if (item.good() && std::ranges::find(application.kernels, kernel.name,
                                         &ApplicationKernel::name) != application.kernels.end())
      item.wrong("name", "is that of an earlier kernel");
    application.kernels.push_back(std::move(kernel));
  });
  if (fields.good() &&
      (application.kernels.empty() || application.kernels.size() > kMostApplicationKernels))
    fields.wrong("kernels", fmt::format("has {} kernels: 1 to {} are tuned together",
                                        application.kernels.size(), kMostApplicationKernels));
  read_command(fields, application);
  fields.refuse_unknown();
  PERFLAB_TRY_VOID(fields.result(kApplicationForm));
  return application;
}

}  // namespace perflab::tune
