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
  std::chrono::milliseconds patience{10'000};
};

/// The words of PERFLAB_RECORD_WHAT; an empty list is kernels alone. Error (usage): an unknown one.
Result<What> parse_what(std::string_view list);

/// The words that stand for it, kernels first.
std::string what_words_json(const What& what);

/// The settings; missing when the environment names no folder. Error (usage): one cannot be used.
Result<std::optional<Settings>> settings_from_environment();

}  // namespace perflab::record
