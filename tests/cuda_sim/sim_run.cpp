// Programs are run with a time limit; the client appends to a file of its own per run.
#include "cuda_sim/sim_run.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/system/subprocess.h"

namespace perflab::cuda_sim {
namespace {

ClientLine parsed(const std::string& text) {
  ClientLine line;
  std::istringstream words(text);
  words >> line.word;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) line.values[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return line;
}

// {"a":1,"b":2} of the program's last line.
std::map<std::string, std::uint64_t> counts_in(const std::string& output) {
  std::map<std::string, std::uint64_t> counts;
  const std::size_t begin = output.rfind("{\"pid\"");
  if (begin == std::string::npos) return counts;
  std::string text = output.substr(begin);
  for (char& c : text)
    if (c == '{' || c == '}' || c == ',' || c == '"' || c == ':') c = ' ';
  std::istringstream words(text);
  std::string key;
  std::uint64_t value = 0;
  while (words >> key >> value) counts[key] = value;
  return counts;
}

}  // namespace

std::string ClientLine::text(const std::string& key) const {
  const auto at = values.find(key);
  EXPECT_NE(at, values.end()) << word << " has no " << key;
  return at == values.end() ? "" : at->second;
}

std::uint64_t ClientLine::number(const std::string& key) const {
  return std::strtoull(text(key).c_str(), nullptr, 10);
}

std::vector<ClientLine> SimRun::of(const std::string& word) const {
  std::vector<ClientLine> found;
  for (const ClientLine& line : lines)
    if (line.word == word) found.push_back(line);
  return found;
}

ClientLine SimRun::one(const std::string& word) const {
  const std::vector<ClientLine> found = of(word);
  EXPECT_EQ(found.size(), 1U) << word;
  return found.empty() ? ClientLine{} : found.front();
}

SimRun run_app(const std::vector<std::string>& arguments, const std::string& client,
               const Environment& environment, int timeout_ms) {
  static int runs = 0;
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / ("cuda_sim." + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::filesystem::path written = folder / std::to_string(runs++);
  std::vector<std::string> command{PERFLAB_CUDA_SIM_APP};
  command.insert(command.end(), arguments.begin(), arguments.end());
  ProcessOptions options;
  options.standard_output = StreamMode::capture;
  options.timeout = std::chrono::milliseconds(timeout_ms);
  options.grace = std::chrono::milliseconds(200);
  options.set_environment = {{"LD_LIBRARY_PATH", PERFLAB_CUDA_SIM_FOLDER},
                             {"CUDA_INJECTION64_PATH", PERFLAB_CUDA_SIM_CLIENT},
                             {"NVTX_INJECTION64_PATH", PERFLAB_CUDA_SIM_FOLDER "/libcupti.so.13"},
                             {"CUDA_SIM_CLIENT_OUT", written.string()},
                             {"CUDA_SIM_CLIENT", client}};
  for (const auto& [name, value] : environment) {
    std::erase_if(options.set_environment, [&](const auto& one) { return one.first == name; });
    options.set_environment.emplace_back(name, value);
  }
  const auto ended = run_program(command, options);
  SimRun run;
  if (!ended) {
    ADD_FAILURE() << "cuda_sim_app was not started";
    return run;
  }
  run.output = ended->output.tail;
  run.exit_code = ended->exit_code.value_or(-1);
  run.timed_out = ended->timed_out;
  run.counts = counts_in(run.output);
  std::ifstream lines(written);
  for (std::string line; std::getline(lines, line);) run.lines.push_back(parsed(line));
  std::filesystem::remove_all(folder);
  return run;
}

}  // namespace perflab::cuda_sim
