// What is common to the starts of all of Slurm's commands.
#include "slurm/process.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/text/text.h"

namespace perflab::slurm {
namespace {

// For salloc and srun to take back what they asked for.
constexpr std::chrono::milliseconds kSlurmGrace{5'000};

/// Variables of the Slurm job that we may be a part of ourselves: they would shape our steps.
std::vector<std::string> surrounding_job() {
  constexpr std::array<std::string_view, 3> kKept{"SLURM_CONF", "SLURM_JWT", "SLURM_CLUSTERS"};
  std::vector<std::string> names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    const auto is_prefix = [&](std::string_view kept) { return name.starts_with(kept); };
    if (name.starts_with("SLURM_") && std::ranges::none_of(kKept, is_prefix))
      names.emplace_back(name);
  }
  return names;
}

}  // namespace

ProcessOptions quiet_options() {
  ProcessOptions options;
  options.empty_input = true;
  options.unset_environment = surrounding_job();
  options.standard_output = StreamMode::capture;
  options.standard_error = StreamMode::capture;
  options.grace = kSlurmGrace;
  return options;
}

std::string_view without_prefix(std::string_view line) {
  for (const std::string_view program : {"salloc: ", "srun: ", "slurmstepd: "})
    if (line.starts_with(program)) line.remove_prefix(program.size());
  for (const std::string_view word : {"error: ", "fatal: "})
    if (line.starts_with(word)) line.remove_prefix(word.size());
  return line;
}

std::string last_line(std::string_view text) {
  std::string_view last;
  std::string_view exit;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of("\r\n");
    const std::string_view line = trimmed(text.substr(0, end));
    if (!line.empty()) (line.contains(": Exited with exit code ") ? exit : last) = line;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return std::string(without_prefix(last.empty() ? exit : last));
}

std::string last_words(const ProcessResult& result) {
  if (std::string line = last_line(result.error.tail); !line.empty()) return line;
  if (std::string line = last_line(result.output.tail); !line.empty()) return line;
  return describe_end(result);
}

}  // namespace perflab::slurm
