// Running cuda_sim_app with the test client injected, and what the client wrote.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace perflab::cuda_sim {

/// A line of the client: its first word, then key=value.
struct ClientLine {
  std::string word;
  std::map<std::string, std::string> values;

  [[nodiscard]] std::string text(const std::string& key) const;
  [[nodiscard]] std::uint64_t number(const std::string& key) const;
};

struct SimRun {
  std::vector<ClientLine> lines;
  std::map<std::string, std::uint64_t> counts;  ///< what the program says that it did
  std::string output;
  int exit_code = -1;  ///< -1: it was killed or timed out
  bool timed_out = false;

  /// The lines of a word, in order.
  [[nodiscard]] std::vector<ClientLine> of(const std::string& word) const;
  [[nodiscard]] std::size_t count(const std::string& word) const { return of(word).size(); }
  /// The one line of a word.
  [[nodiscard]] ClientLine one(const std::string& word) const;
};

using Environment = std::vector<std::pair<std::string, std::string>>;

/// `client` is CUDA_SIM_CLIENT's words.
SimRun run_app(const std::vector<std::string>& arguments, const std::string& client = "",
               const Environment& environment = {}, int timeout_ms = 60'000);

}  // namespace perflab::cuda_sim
