// make-pc-samples: what rocprofv3's PC sampling leaves, on demand and synthetic. Paths of what was
// written go to stdout.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "base/system/files.h"
#include "base/text/json.h"
#include "base/text/json_fields.h"
#include "support/pc_samples_writer.h"
#include "support/writer_main.h"

namespace perflab::test {
namespace {

constexpr const char* kExamples = R"help(Examples:
  make-pc-samples --out run                             a copy kernel, stochastic: JSON, CSV, tables
  make-pc-samples --out run --kernel copy,matrix        two kernels whose dispatches take turns
  make-pc-samples --out run --host-trap --form csv      host trap, CSV alone
  make-pc-samples --out run --until 41 --dispatches 200 samples stop after 41 of 200 dispatches
  make-pc-samples --out run --description mine.json     kernels of your own, in a file like this:
    [{"name": "k(int)", "mangled": "_Z1ki", "dispatches": 3, "waves": 8, "instructions": [
      {"text": "s_waitcnt vmcnt(0)", "comment": "k.cpp:3", "type": "VALU", "weight": 10,
       "issued_permille": 0, "reasons": {"WAITCNT": 1}}]}])help";

struct PcArguments {
  PcRun run;
  std::string out, prefix = "run", description, form = "both";
  std::vector<std::string> kernels = {"copy"};
  std::int64_t dispatches = 1;
  int agents = 1, xccs = 8;
  bool host_trap = false;
};

void declare_pc(CLI::App& app, PcArguments& args) {
  const auto permille = CLI::Range(0, 1000);
  app.footer(kExamples);
  app.add_option("--out", args.out, "The folder to write into")->required();
  app.add_option("--prefix", args.prefix, "How the files' names begin");
  app.add_option("--form", args.form, "json, csv or both")
      ->check(CLI::IsMember({"json", "csv", "both"}));
  app.add_option("--kernel", args.kernels, "Kernels: copy, matrix")
      ->delimiter(',')
      ->check(CLI::IsMember({"copy", "matrix"}));
  app.add_option("--description", args.description, "Kernels from a JSON file instead");
  app.add_option("--dispatches", args.dispatches, "Of each kernel")
      ->check(CLI::Range(1, 1'000'000));
  app.add_flag("--host-trap", args.host_trap, "The other method");
  app.add_option("--seed", args.run.seed, "Same seed, same bytes");
  app.add_option("--ticks", args.run.ticks, "Of each dispatch")->check(CLI::Range(1, 1'000'000));
  app.add_option("--tick-ns", args.run.tick_ns, "Nanoseconds from tick to tick")
      ->check(CLI::Range(100, 1'000'000'000));
  app.add_flag("--equal-ticks", args.run.equal_ticks,
               "All samples of an XCC's tick have one instruction and one wave slot");
  app.add_option("--agents", args.agents, "GPUs")->check(CLI::Range(1, 64));
  app.add_option("--xccs", args.xccs, "Of each GPU")->check(CLI::Range(1, 64));
  app.add_option("--lost", args.run.lost, "Of 1000 samples")->check(permille);
  app.add_option("--undecoded", args.run.undecoded, "Of 1000 samples")->check(permille);
  app.add_option("--no-code-object", args.run.no_code_object, "Of 1000 samples")->check(permille);
  app.add_option("--dispatch-unknown", args.run.dispatch_unknown, "Of 1000 samples")
      ->check(permille);
  app.add_option("--until", args.run.until_dispatch, "Later dispatches have no samples");
  app.add_flag("!--no-kernel-trace", args.run.kernel_trace, "No dispatches in the files");
}

Result<std::vector<PcKernel>> read_kernels(const std::string& file) {
  PERFLAB_TRY(const std::string text, read_file(file));
  PERFLAB_TRY(const Json described, parse_json(text, file));
  std::vector<PcKernel> kernels;
  for (const Json& each : described) {
    PcKernel& kernel = kernels.emplace_back();
    if (!each.is_object() || !each.contains("instructions"))
      return fail(ErrorCode::bad_input, file + ": a kernel has no instructions");
    kernel.name = member_as<std::string>(each, "name").value_or("");
    kernel.mangled = member_as<std::string>(each, "mangled").value_or("");
    kernel.dispatches = member_as<std::int64_t>(each, "dispatches").value_or(1);
    kernel.waves = member_as<std::int64_t>(each, "waves").value_or(8);
    for (const Json& row : each.at("instructions")) {
      PcInstruction& instruction = kernel.instructions.emplace_back();
      if (!row.is_object())
        return fail(ErrorCode::bad_input, file + ": an instruction is no object");
      instruction.text = member_as<std::string>(row, "text").value_or("");
      instruction.comment = member_as<std::string>(row, "comment").value_or("");
      instruction.type = member_as<std::string>(row, "type").value_or(instruction.type);
      instruction.weight = member_as<std::int64_t>(row, "weight").value_or(1);
      instruction.issued_permille = member_as<std::int64_t>(row, "issued_permille").value_or(0);
      if (!row.contains("reasons")) continue;
      instruction.reasons.clear();
      for (const auto& [name, weight] : row.at("reasons").items())
        instruction.reasons.emplace_back(name, weight.is_number_integer() ? weight.get<int>() : 1);
    }
  }
  if (kernels.empty()) return fail(ErrorCode::bad_input, file + ": describes no kernel");
  return kernels;
}

Result<void> write_described(PcArguments& args) {
  PcRun& run = args.run;
  run.stochastic = !args.host_trap;
  run.agents.clear();
  for (int i = 0; i < args.agents; ++i)
    run.agents.push_back({.handle = 18942 + static_cast<std::uint64_t>(i), .xccs = args.xccs});
  for (const std::string& name : args.kernels) {
    run.kernels.push_back(name == "copy" ? pc_copy_kernel() : pc_matrix_kernel());
    run.kernels.back().dispatches = args.dispatches;
  }
  if (!args.description.empty()) {
    PERFLAB_TRY(run.kernels, read_kernels(args.description));
  }
  write_pc_run(args.out, args.prefix, run,
               {.json = args.form != "csv", .csv = args.form != "json"});
  for (const auto& entry : std::filesystem::directory_iterator(args.out))
    fmt::print("{}\n", entry.path().string());
  return {};
}

int make_pc_samples_main(int argc, char** argv) {
  CLI::App app("Writes synthetic PC samples (what rocprofv3 --pc-sampling-... writes).",
               "make-pc-samples");
  PcArguments args;
  declare_pc(app, args);
  return writer_main(app, argc, argv, [&] { return write_described(args); });
}

}  // namespace
}  // namespace perflab::test

int main(int argc, char** argv) {
  try {
    return perflab::test::make_pc_samples_main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "make-pc-samples: {}\n", error.what());
    return perflab::exit_code(perflab::ErrorCode::internal);
  }
}
