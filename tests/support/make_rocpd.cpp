// make-rocpd: rocpd databases on demand. Big ones for the benchmark, the bundled sample, any trace
// description, and a database of quirks. Paths of what was written go to stdout, talk to stderr.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "base/system/files.h"
#include "support/big_trace.h"
#include "support/described_counters.h"
#include "support/quirks_trace.h"
#include "support/rank_recordings.h"
#include "support/trace_description.h"
#include "support/writer_main.h"

namespace perflab::test {
namespace {

constexpr const char* kExamples = R"(Examples:
  make-rocpd --dispatches 1000000 --out big.db          1 million dispatches, 2 processes in 1 file
  make-rocpd --dispatches 1000 --files --out run.db     run.1.db and run.2.db, one per process
  make-rocpd --sample sample.db                         the bundled synthetic decode step
  make-rocpd --description my.json --out my.db          a trace of your own (examples/README.md)
  make-rocpd --description my.json --passes counted     its counter passes: counted/pass_1/..., pass_2/...
  make-rocpd --ranks 4 --late 2 --out traces            a job of four ranks: traces/rank_0000.db, ...
  make-rocpd --quirks quirks.db                         everything a reader must survive)";

struct Arguments {
  BigTraceOptions big;
  std::optional<std::int64_t> dispatches;
  std::string out;
  std::string sample;
  std::string description;
  std::string passes;
  std::string quirks;
  std::optional<int> ranks, late;
  bool files = false;
  bool one_file = false;
  bool no_launches = false;
  bool no_views = false;
};

void declare(CLI::App& app, Arguments& args) {
  app.footer(kExamples);
  app.add_option("--dispatches", args.dispatches, "Kernel dispatches, over all processes")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}));
  app.add_option("--out", args.out, "The database to write");
  app.add_option("--queues", args.big.queues, "Queues per process")->check(CLI::Range(1, 1024));
  app.add_option("--streams", args.big.streams, "Streams per process (default: one per queue)")
      ->check(CLI::Range(1, 4096));
  app.add_option("--processes", args.big.processes, "Processes")->check(CLI::Range(1, 4096));
  app.add_option("--kernels", args.big.kernels, "Distinct kernels per process")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--copies-every", args.big.copies_every, "Dispatches per memory copy; 0: none")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}));
  app.add_option("--seed", args.big.seed, "Same seed, same bytes");
  app.add_option("--schema-version", args.big.schema_version, "As the metadata says it");
  app.add_flag("--no-launches", args.no_launches, "Leave out the API regions");
  app.add_flag("--arguments", args.big.arguments, "Six argument rows per launch");
  app.add_flag("--events{16}", args.big.events_every,
               "Events between streams and synchronisations, with arguments; --events=N: one event "
               "per N launches (16)");
  app.add_flag("--counters", args.big.counters, "Two counters, one value per XCC");
  app.add_option("--counted", args.big.counted,
                 "Counters of every dispatch: a value per XCC, one value for X_sum and the like")
      ->delimiter(',');
  app.add_option("--listed", args.big.listed,
                 "All counters that the recording lists (default: those of --counted)")
      ->delimiter(',');
  app.add_option("--pass", args.big.pass, "The same program run once more, as that pass")
      ->check(CLI::Range(0, 999));
  app.add_flag("--no-views", args.no_views, "Leave out the views of the plain names");
  CLI::Option* one = app.add_flag("--one-file", args.one_file, "All processes in --out (default)");
  app.add_flag("--files", args.files, "One file per process: OUT.1.db, OUT.2.db, ...")
      ->excludes(one);
  app.add_option("--sample", args.sample, "Write the bundled sample to this file");
  app.add_option("--description", args.description, "A trace description (JSON) for --out");
  app.add_option("--passes", args.passes,
                 "Write counter passes of --sample or --description into this folder");
  app.add_option("--ranks", args.ranks, "Write a job of so many ranks into the folder --out")
      ->check(CLI::Range(1, 9999));
  app.add_option("--late", args.late, "The rank that makes the others of --ranks wait");
  app.add_option("--quirks", args.quirks, "Write a database of quirks to this file");
}

Result<void> write_big(const Arguments& args) {
  BigTraceOptions options = args.big;
  if (options.events_every < 0 ||
      (options.events_every > 0 && options.streams > 0 && options.streams != options.queues))
    return fail(ErrorCode::usage, "--events needs a positive number and one stream per queue.");
  options.dispatches = args.dispatches.value_or(0);
  options.launches = !args.no_launches;
  options.one_file = !args.files;
  options.views = args.no_views ? Views::none : Views::real;
  const auto begin = std::chrono::steady_clock::now();
  PERFLAB_TRY(const BigTraceResult made, write_big_trace(args.out, options));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  for (const std::filesystem::path& file : made.files) fmt::print("{}\n", file.string());
  fmt::print(stderr, "{} dispatches, {} regions, {} copies, {} counter values in {:.2f} s\n",
             made.dispatches, made.regions, made.copies, made.counter_values, took.count());
  return {};
}

/// The trace to `out` and its counter passes to --passes, whichever of them is asked for.
Result<void> write_description(const TraceDescription& description, const std::string& out,
                               const std::string& passes) {
  if (!out.empty()) {
    PERFLAB_TRY_VOID(write_described_trace(description, out));
    fmt::print("{}\n", out);
  }
  if (passes.empty()) return {};
  PERFLAB_TRY(const std::vector<std::filesystem::path> files,
              write_described_counters(description, passes));
  for (const std::filesystem::path& file : files) fmt::print("{}\n", file.string());
  return {};
}

Result<void> write_job(const Arguments& args) {
  std::error_code error;
  std::filesystem::create_directories(args.out, error);
  if (error) return fail(ErrorCode::bad_input, fmt::format("{}: {}", args.out, error.message()));
  for (int rank = 0; rank < *args.ranks; ++rank) {
    const auto path = std::filesystem::path(args.out) / fmt::format("rank_{:04}.db", rank);
    PERFLAB_TRY_VOID(
        write_rank_recording(path, {.rank = rank, .size = *args.ranks, .late = args.late}));
    fmt::print("{}\n", path.string());
  }
  return {};
}

Result<void> run(const Arguments& args) {
  const int jobs = (args.dispatches ? 1 : 0) + (args.sample.empty() ? 0 : 1) +
                   (args.description.empty() ? 0 : 1) + (args.quirks.empty() ? 0 : 1) +
                   (args.ranks ? 1 : 0);
  if (jobs != 1)
    return fail(ErrorCode::usage,
                "Say exactly one of --dispatches, --sample, --description, --ranks and --quirks.",
                "make-rocpd --dispatches 1000 --out small.db");
  if (!args.passes.empty() && args.sample.empty() && args.description.empty())
    return fail(ErrorCode::usage, "--passes needs --sample or --description.");
  if (!args.sample.empty()) {
    PERFLAB_TRY(const TraceDescription description,
                read_description(sample_description(), "examples/decode_step.json"));
    return write_description(description, args.sample, args.passes);
  }
  if (!args.quirks.empty()) {
    PERFLAB_TRY([[maybe_unused]] const QuirkCounts counts, write_quirks(args.quirks));
    fmt::print("{}\n", args.quirks);
    return {};
  }
  if (args.out.empty() && args.passes.empty())
    return fail(ErrorCode::usage, "--out is missing: the name of the database to write.");
  if (args.dispatches) return write_big(args);
  if (args.ranks) return write_job(args);
  PERFLAB_TRY(const std::string text, read_file(args.description));
  PERFLAB_TRY(const TraceDescription description, read_description(text, args.description));
  return write_description(description, args.out, args.passes);
}

/// The whole program.
int make_rocpd(int argc, char** argv) {
  CLI::App app("Writes rocpd databases (what rocprofv3 writes), for tests and benchmarks.",
               "make-rocpd");
  Arguments args;
  declare(app, args);
  return writer_main(app, argc, argv, [&] { return run(args); });
}

}  // namespace
}  // namespace perflab::test

int main(int argc, char** argv) {
  try {
    return perflab::test::make_rocpd(argc, argv);
  } catch (const std::exception& error) {
    std::fputs(error.what(), stderr);
    return perflab::exit_code(perflab::ErrorCode::internal);
  }
}
