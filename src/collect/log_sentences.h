// What rocprofv3 says while it runs is read as it comes, since only the end of the output is kept:
// lines, and the different sentences among them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perflab::collect {

/// Cuts output into lines. Of a line longer than `longest` the rest is dropped.
class LogLines {
 public:
  explicit LogLines(std::size_t longest) : longest_(longest) {}

  /// Calls take(line) for every line that is whole now.
  template <class Take>
  void read(std::string_view text, const Take& take) {
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      if (line_.size() < longest_) line_ += text.substr(0, std::min(end, longest_ - line_.size()));
      if (end == std::string_view::npos) return;
      finish(take);
      text.remove_prefix(end + 1);
    }
  }

  /// Calls take(line) for what is left: the output has ended.
  template <class Take>
  void finish(const Take& take) {
    take(std::string_view(line_));
    line_.clear();
  }

 private:
  std::size_t longest_;
  std::string line_;
};

/// The first `most` different sentences; the rest is counted, since every process, GPU or shader
/// engine says it again.
class Sentences {
 public:
  explicit Sentences(std::size_t most) : most_(most) {}

  void add(std::string text) {
    if (std::ranges::find(sentences_, text) != sentences_.end()) return;
    if (sentences_.size() < most_)
      sentences_.push_back(std::move(text));
    else
      ++left_out_;
  }

  [[nodiscard]] std::vector<std::string> all() const {
    std::vector<std::string> all = sentences_;
    if (left_out_ > 0) all.push_back(fmt::format("{} more of that kind", left_out_));
    return all;
  }

 private:
  std::size_t most_;
  std::vector<std::string> sentences_;
  std::size_t left_out_ = 0;
};

}  // namespace perflab::collect
