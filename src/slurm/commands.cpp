// Argument arrays for Slurm's commands, and the little of their output that is understood. Slurm
// has no translated messages, and these have been the same since 2.x (src/salloc/salloc.c,
// src/common/slurm_errno.c).
#include "slurm/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/text.h"
#include "slurm/process.h"

namespace perflab::slurm {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kJobName = "rocm-perf";
constexpr milliseconds kQueryTimeout{60'000};  // squeue's own is MessageTimeout, 10 s, with retries
constexpr milliseconds kCancelTimeout{30'000};  // likewise
constexpr int kStateAttempts = 5;               // a controller that restarts is away for seconds
constexpr milliseconds kStatePause{500};
constexpr milliseconds kAtOnce{1'000};

/// The digits after a phrase: "Granted job allocation 17".
std::string number_after(std::string_view text, std::string_view phrase) {
  const std::size_t found = text.find(phrase);
  if (found == std::string_view::npos) return {};
  text.remove_prefix(found + phrase.size());
  const std::size_t end = text.find_first_not_of("0123456789");
  // The number may still be cut off where the text ends.
  return end == std::string_view::npos ? std::string() : std::string(text.substr(0, end));
}

std::string allocation_in(std::string_view text) {
  std::string granted = number_after(text, "Granted job allocation ");
  return granted.empty() ? number_after(text, "Pending job allocation ") : granted;
}

/// Words of slurm_errno.c and getopt(3) that mean that asking again later is in vain: "Invalid
/// partition name specified", "Requested node configuration is not available", "Access/permission
/// denied".
bool is_final(std::string_view line) {
  constexpr std::array<std::string_view, 5> kFinal{
      "nvalid", "unrecognized option", "ambiguous option", "onfiguration is not available",
      "ermission denied"};
  return std::ranges::any_of(kFinal, [&](std::string_view words) { return line.contains(words); });
}

/// The last line that refuses the request for good; empty: none does.
std::string refusal_in(std::string_view text) {
  std::string_view refusal;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (is_final(line)) refusal = line;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return std::string(without_prefix(trimmed(refusal)));
}

}  // namespace

Result<Commands> Commands::find() {
  Commands commands;
  for (const auto& [name, path] :
       {std::pair{"salloc", &commands.salloc_}, std::pair{"srun", &commands.srun_},
        std::pair{"squeue", &commands.squeue_}, std::pair{"scancel", &commands.scancel_}}) {
    const auto found = find_program(name);
    if (!found)
      return fail(ErrorCode::missing_tool, fmt::format("{}: no such program on PATH", name),
                  "run this where Slurm's commands are (a login node), or use --executor local");
    *path = found->string();
  }
  return commands;
}

Error salloc_fails(std::string why_not) {
  return fail(ErrorCode::missing_tool, std::move(why_not),
              "see whether sinfo and salloc work here, or use --executor local")
      .error();
}

Result<Grant> Commands::allocate(const Request& request) const {
  std::vector<std::string> argv{salloc_, "--no-shell", "--nodes=1", "--ntasks=1",
                                fmt::format("--job-name={}", kJobName)};
  if (!request.partition.empty()) argv.push_back("--partition=" + request.partition);
  if (!request.excluded_nodes.empty())
    argv.push_back(fmt::format("--exclude={}", fmt::join(request.excluded_nodes, ",")));
  argv.insert(argv.end(), request.extra.begin(), request.extra.end());

  ProcessOptions options = quiet_options();
  options.give_up = request.give_up;
  std::string said;
  std::string id;
  options.on_output = [&](std::string_view bytes) {
    if (!id.empty()) return;
    said += bytes;
    id = allocation_in(said);
    if (!id.empty() && request.on_id) request.on_id(id);
  };
  const auto began = std::chrono::steady_clock::now();
  const auto ran = run_program(argv, options);
  if (!ran && ran.error().code == ErrorCode::missing_tool)
    return Grant{.allocation = {}, .why_not = ran.error().message};
  if (!ran) return std::unexpected(ran.error());
  const ProcessResult& result = *ran;
  const bool at_once = std::chrono::steady_clock::now() - began < kAtOnce;
  if (result.succeeded() && !id.empty()) return Grant{.allocation = id, .why_not = {}};
  if (!id.empty()) cancel({id});
  if (result.interrupted || result.given_up)
    return fail(ErrorCode::interrupted, "salloc: stopped while it waited for a node");
  if (const std::string refusal = refusal_in(result.error.tail); !refusal.empty())
    return fail(ErrorCode::usage,
                fmt::format("Slurm refuses {}: {}",
                            request.partition.empty()
                                ? "the allocation"
                                : fmt::format("the allocation in partition {}", request.partition),
                            refusal),
                "sinfo lists the partitions and their nodes");
  std::string why_not = fmt::format("salloc gave no allocation: {}", last_words(result));
  // Slurm's fatal(): its configuration or a plugin is not there.
  if (result.error.tail.contains("fatal: ")) return std::unexpected(salloc_fails(why_not));
  return Grant{.allocation = {},
               .why_not = std::move(why_not),
               .failed_at_once = at_once && id.empty() && !result.succeeded()};
}

Result<ProcessResult> Commands::step(const Step& step) const {
  std::vector<std::string> argv{srun_,
                                "--jobid=" + step.allocation,
                                "--nodes=1",
                                "--ntasks=1",
                                "--quiet",
                                "--input=none",
                                "--mpi=none",
                                "--quit-on-interrupt",
                                "--chdir=" + step.working_directory.string()};
  if (step.overlap) argv.emplace_back("--overlap");
  argv.insert(argv.end(), step.argv.begin(), step.argv.end());
  ProcessOptions options = quiet_options();
  options.timeout = step.timeout;
  options.give_up = step.give_up;
  return run_program(argv, options);
}

std::optional<State> Commands::state_of(const std::string& allocation) const {
  for (int attempt = 0; attempt < kStateAttempts; ++attempt) {
    if (attempt > 0) ::usleep(static_cast<useconds_t>(kStatePause.count() * 1000));
    ProcessOptions options = quiet_options();
    options.timeout = kQueryTimeout;
    const auto result = run_program(
        {squeue_, "--noheader", "--jobs=" + allocation, "--states=all", "--format=%T %N"}, options);
    if (!result) return std::nullopt;
    if (result->error.tail.contains("Invalid job id")) return State{.name = "gone", .nodes = {}};
    if (!result->succeeded()) continue;
    const std::string line = last_line(result->output.tail);
    if (line.empty()) return State{.name = "gone", .nodes = {}};
    const std::size_t blank = line.find(' ');
    State state{.name = line.substr(0, blank), .nodes = {}};
    if (blank != std::string::npos) state.nodes = std::string(trimmed(line.substr(blank)));
    state.running =
        state.name == "RUNNING" || state.name == "CONFIGURING" || state.name == "SUSPENDED";
    return state;
  }
  return std::nullopt;
}

void Commands::cancel(const std::vector<std::string>& allocations) const {
  if (allocations.empty()) return;
  std::vector<std::string> argv{scancel_, "--quiet", fmt::format("--jobname={}", kJobName)};
  argv.insert(argv.end(), allocations.begin(), allocations.end());
  ProcessOptions options = quiet_options();
  options.timeout = kCancelTimeout;
  options.heed_interrupts = false;
  // An allocation that cannot be ended (no controller) ends with its own time limit.
  static_cast<void>(run_program(argv, options));
}

}  // namespace perflab::slurm
