// The environment is read once, inside the program's cuInit.
#include "record/tool/settings.h"

#include <charconv>
#include <cstdlib>

#include "record/protocol.h"

namespace perflab::record {
namespace {

const char* value_of(const char* variable) {
  return std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace

Result<What> parse_what(std::string_view list) {
  What what{.calls = false, .memory = false, .ranges = false, .sync = false};
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), word.size() + 1));
    if (word == kCallsWord)
      what.calls = true;
    else if (word == kMemoryWord)
      what.memory = true;
    else if (word == kRangesWord)
      what.ranges = true;
    else if (word == kSyncWord)
      what.sync = true;
    else if (word != kKernelsWord && !word.empty())
      return fail(ErrorCode::usage,
                  std::string(kWhatVariable) + ": '" + std::string(word) + "' is none of its words",
                  "kernels, api, memory, ranges, sync");
  }
  what.sync = what.sync && what.calls;
  return what;
}

std::string what_words_json(const What& what) {
  std::string words = "[\"" + std::string(kKernelsWord) + '"';
  const auto add = [&words](bool recorded, std::string_view word) {
    if (recorded) words += ", \"" + std::string(word) + '"';
  };
  add(what.calls, kCallsWord);
  add(what.memory, kMemoryWord);
  add(what.ranges, kRangesWord);
  add(what.sync, kSyncWord);
  return words + "]";
}

Result<std::optional<std::uint32_t>> parse_pc_sampling(std::string_view text) {
  constexpr std::uint32_t kLeast = 5, kMost = 31;  // cupti_pcsampling.h
  if (text == "default") return std::nullopt;
  std::uint32_t period = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), period);
  if (wrong != std::errc() || end != text.data() + text.size() || period < kLeast || period > kMost)
    return fail(ErrorCode::usage,
                std::string(kPcSamplingVariable) + ": '" + std::string(text) + "' is no period",
                "default, or a number from 5 to 31: samples are 2^n cycles apart");
  return period;
}

Result<std::optional<Settings>> settings_from_environment() {
  const char* folder = value_of(kFolderVariable);
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  Settings settings;
  settings.folder = folder;
  if (const char* list = value_of(kWhatVariable)) {
    PERFLAB_TRY(settings.what, parse_what(list));
  }
  if (const char* metrics = value_of(kCountersVariable)) settings.counters = metrics;
  if (const char* text = value_of(kPcSamplingVariable)) {
    PERFLAB_TRY(settings.pc_period, parse_pc_sampling(text));
    settings.pc_sampling = true;
  }
  if (const char* text = value_of(kPatienceVariable)) {
    const std::string_view digits = text;
    long milliseconds = 0;
    const auto [end, wrong] =
        std::from_chars(digits.data(), digits.data() + digits.size(), milliseconds);
    if (wrong != std::errc() || end != digits.data() + digits.size() || milliseconds < 0)
      return fail(ErrorCode::usage, std::string(kPatienceVariable) + " is no number: " + text);
    settings.patience = std::chrono::milliseconds(milliseconds);
  }
  return settings;
}

}  // namespace perflab::record
