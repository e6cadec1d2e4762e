// What the lints of both platforms look for, and how a finding is put together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/capture_reader.h"
#include "replay/finding.h"

namespace perflab::replay {

/// A kernel's arguments are looked at word by word.
inline constexpr std::uint64_t kWordBytes = 8;

class LintRules {
 protected:
  explicit LintRules(const capture::Capture& capture)
      : capture_(capture), description_(capture.description()) {}

  /// Where an address leads.
  struct Place {
    const capture::MemoryRegion* region = nullptr;  ///< none: into nothing that is known
    std::string text;                               ///< in words
  };

  void add(Severity severity, std::string_view rule, std::string sentence,
           std::string_view remedy = {});
  /// The word at a byte of the arguments; missing: they end before it.
  [[nodiscard]] std::optional<std::uint64_t> word(std::uint64_t offset) const;
  /// The region that holds an address; captured ones first. One past the end counts when no other
  /// region holds it: ranges are often given as begin and end.
  [[nodiscard]] Place place(std::uint64_t address) const;
  /// `sure`: the argument is declared as a pointer; else the word may be a number.
  void pointer(std::uint64_t value, const std::string& which, bool sure);
  /// The findings of both platforms added, all in their order.
  std::vector<Finding> finished();

  const capture::Capture& capture_;
  const capture::Description& description_;

 private:
  [[nodiscard]] bool near_code(std::uint64_t address) const;
  void into_region(const capture::MemoryRegion& region, const std::string& is, bool sure);
  void not_captured();

  std::vector<Finding> findings_;
};

}  // namespace perflab::replay
