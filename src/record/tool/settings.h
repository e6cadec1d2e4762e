// What the environment asks of the library (record/protocol.h).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "record/activity/converter.h"

namespace perflab::record {

struct Settings {
  std::string folder;
  What what;
  std::string counters;  ///< empty: none
  bool pc_sampling = false;
  std::optional<std::uint32_t> pc_period;  ///< exponent of the cycles; missing: CUPTI's choice
  std::chrono::milliseconds patience{10'000};
};

/// The words of PERFLAB_RECORD_WHAT; an empty list is kernels alone. Error (usage): an unknown one.
Result<What> parse_what(std::string_view list);

/// The words that stand for it, kernels first.
std::string what_words_json(const What& what);

/// What PERFLAB_RECORD_PC_SAMPLING says. Error (usage): neither "default" nor a number 5 to 31.
Result<std::optional<std::uint32_t>> parse_pc_sampling(std::string_view text);

/// The settings; missing when the environment names no folder. Error (usage): one cannot be used.
Result<std::optional<Settings>> settings_from_environment();

}  // namespace perflab::record
