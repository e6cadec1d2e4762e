// What each command needs, and what it does less without. The commands are those of src/cli; a test
// compares the lists.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/enum_names.h"
#include "doctor/examination.h"

namespace perflab::doctor {
namespace {

/// `required`: without it the command does nothing useful.
struct Use {
  Need need;
  bool required;
  std::string_view without;  ///< what cannot be done then
};
struct Command {
  std::string_view name;
  std::vector<Use> uses;
  std::vector<Use> cuda_uses = {};  ///< instead, on a machine with NVIDIA's driver and not AMD's
};

const std::vector<Command>& all_commands() {
  static const std::vector<Command> kCommands = {
      {"analyze", {}},
      {"autotune",
       {{Need::profiler, false, "no times of kernels (--kernel): commands time themselves"},
        {Need::cluster, false, "no --executor slurm"}}},
      {"autotune-app",
       {{Need::profiler, false, "no times of kernels (objective gpu): commands time themselves"}}},
      {"calibrate",
       {{Need::driver, true, "no GPU to run on"},
        {Need::profiler, true, "nothing that counts"},
        {Need::compiler, true, "its kernels cannot be compiled"},
        {Need::disassembler, true, "its kernels cannot be checked"}},
       {{Need::cuda_driver, true, "no GPU to run on"},
        {Need::cupti, true, "nothing that counts"},
        {Need::record_library, true, "nothing that counts"}}},
      {"capture", {}},
      {"compare", {}},
      {"completion", {}},
      {"critical-path", {}},
      {"dispatch-table", {}},
      {"inspect",
       {{Need::compiler, false, "no sources, only what is compiled already"},
        {Need::disassembler, false, "no instruction mix"}}},
      {"isolate",
       {{Need::driver, true, "no GPU to run on"},
        {Need::runtime, true, "no runtime to watch"},
        {Need::capture_library, true, "nothing that captures"}},
       {{Need::cuda_driver, true, "no GPU to run on"},
        {Need::cupti, true, "nothing to watch it with"},
        {Need::capture_library, true, "nothing that captures"}}},
      {"mcp", {}},
      {"occupancy", {}},
      {"optimize",
       {{Need::source_reader, true, "sources cannot be read"},
        {Need::compiler, false, "no candidates for captures, unless --build compiles them"},
        {Need::driver, false, "no --capture: host builds and --run work"},
        {Need::runtime, false, "no --capture: host builds and --run work"},
        {Need::profiler, false, "no application mode (--source) and no --rocprofv3"},
        {Need::network, false, "no --proposer llm: rules and exec: work"},
        {Need::sandbox, false, "what a model or a program proposes runs as you"}}},
      {"profile",
       {{Need::driver, true, "no GPU to run on"},
        {Need::profiler, true, "no profiler"},
        {Need::decoder, false, "no thread traces (--att)"}},
       {{Need::cuda_driver, true, "no GPU to run on"},
        {Need::cupti, true, "nothing that records"},
        {Need::record_library, true, "nothing that records"}}},
      {"rank-summary", {}},
      {"ranks", {}},
      {"replay",
       {{Need::driver, true, "no GPU to run on"},
        {Need::runtime, true, "no runtime; reserve-check works"}}},
      {"report", {}},
      {"roofline", {}},
      {"schema", {}},
  };
  return kCommands;
}

CommandReadiness readiness_of(const Command& command, const std::vector<Part>& parts) {
  CommandReadiness out{.command = std::string(command.name), .lacks = {}};
  const auto works = [&](Need need) {
    const auto part = std::ranges::find(parts, need, &Part::need);
    return part != parts.end() && part->state == State::works;
  };
  const bool cuda = !command.cuda_uses.empty() && !works(Need::driver) &&
                    std::ranges::find(parts, Need::cuda_driver, &Part::need) != parts.end();
  for (const Use& use : cuda ? command.cuda_uses : command.uses) {
    if (works(use.need)) continue;
    out.lacks.push_back({.need = use.need, .means = std::string(use.without)});
    out.readiness =
        use.required ? Readiness::not_ready : std::max(out.readiness, Readiness::partly);
  }
  return out;
}

}  // namespace

std::string_view to_string(Need need) {
  using enum Need;
  static constexpr auto kNames = enum_names<Need>({{driver, "driver"},
                                                   {runtime, "runtime"},
                                                   {profiler, "profiler"},
                                                   {decoder, "decoder"},
                                                   {compiler, "compiler"},
                                                   {disassembler, "disassembler"},
                                                   {source_reader, "source_reader"},
                                                   {network, "network"},
                                                   {capture_library, "capture_library"},
                                                   {cluster, "cluster"},
                                                   {sandbox, "sandbox"},
                                                   {cuda_driver, "cuda_driver"},
                                                   {cupti, "cupti"},
                                                   {record_library, "record_library"}});
  return kNames[need];
}

std::string_view to_string(State state) {
  using enum State;
  static constexpr auto kNames =
      enum_names<State>({{works, "works"}, {missing, "missing"}, {unusable, "unusable"}});
  return kNames[state];
}

std::string_view to_string(Readiness readiness) {
  using enum Readiness;
  static constexpr auto kNames =
      enum_names<Readiness>({{ready, "ready"}, {partly, "partly"}, {not_ready, "not_ready"}});
  return kNames[readiness];
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : all_commands()) names.emplace_back(command.name);
  return names;
}

Result<std::vector<CommandReadiness>> readiness(const std::vector<Part>& parts,
                                                const std::vector<std::string>& commands) {
  const std::vector<std::string> names = command_names();
  for (const std::string& asked : commands)
    if (std::ranges::find(names, asked) == names.end())
      return fail(ErrorCode::usage, fmt::format("doctor: there is no command '{}'", asked),
                  fmt::format("one of: {}", fmt::join(names, ", ")));
  std::vector<CommandReadiness> out;
  for (const Command& command : all_commands())
    if (commands.empty() || std::ranges::find(commands, command.name) != commands.end())
      out.push_back(readiness_of(command, parts));
  return out;
}

}  // namespace perflab::doctor
