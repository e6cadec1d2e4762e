// The words as pairs, and articles that change with them.
#include "hal/terms.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace perflab::hal {
namespace {

using Words = std::pair<std::string_view, std::string_view>;

/// Longer ones before those that they begin with. Words that are verbs too ("queue") stay.
constexpr auto kWords = std::to_array<Words>({
    {"a CU", "an SM"},
    {kAmdTerms.a_workgroup, kNvidiaTerms.a_workgroup},
    {kAmdTerms.workgroups, kNvidiaTerms.workgroups},
    {kAmdTerms.workgroup, kNvidiaTerms.workgroup},
    {kAmdTerms.work_items, kNvidiaTerms.work_items},
    {kAmdTerms.work_item, kNvidiaTerms.work_item},
    {kAmdTerms.waves, kNvidiaTerms.waves},
    {kAmdTerms.wave, kNvidiaTerms.wave},
    {kAmdTerms.cus, kNvidiaTerms.cus},
    {kAmdTerms.cu, kNvidiaTerms.cu},
    {kAmdTerms.simds, kNvidiaTerms.simds},
    {kAmdTerms.simd, kNvidiaTerms.simd},
    {kAmdTerms.lds, kNvidiaTerms.lds},
    {kAmdTerms.vgprs, kNvidiaTerms.vgprs},
    {kAmdTerms.vgpr, kNvidiaTerms.vgpr},
    {kAmdTerms.scratch, kNvidiaTerms.scratch},
    {kAmdTerms.dispatches, kNvidiaTerms.dispatches},
    {kAmdTerms.dispatch, kNvidiaTerms.dispatch},
    {kAmdTerms.runtime, kNvidiaTerms.runtime},
    {kAmdTerms.marker, kNvidiaTerms.marker},
    {"resident model", "cuda model"},
    {"matrix pipes", "tensor pipes"},
    {"matrix instructions", "tensor instructions"},
});

/// Parts of the names of fields (counters/sm_90.json says what each counts there).
constexpr auto kParts = std::to_array<Words>({
    {"wave", kNvidiaTerms.wave},
    {"waves", kNvidiaTerms.waves},
    {"cu", kNvidiaTerms.cu},
    {"cus", kNvidiaTerms.cus},
    {"lds", kNvidiaTerms.lds},
    {"hbm", "DRAM"},  // GDDR on many of them
    {"matrix", kNvidiaTerms.matrix},
    {"mfma", kNvidiaTerms.matrix},
    {"valu", "math"},
    {"vmem", "load and store"},
});

bool is_part_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '/';
}

/// Whether the words stand alone at `at`: a full stop behind them is no part of a word.
bool stands_alone(std::string_view text, std::size_t at, std::size_t size) {
  if (at > 0 && (is_part_of_word(text[at - 1]) || text[at - 1] == '-')) return false;
  const std::size_t behind = at + size;
  if (behind >= text.size()) return true;
  if (text[behind] == '.') return behind + 1 == text.size() || text[behind + 1] == ' ';
  return !is_part_of_word(text[behind]) && text[behind] != '-';
}

}  // namespace

std::string in_terms(std::string_view text, Platform platform) {
  if (platform == Platform::amd) return std::string(text);
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto* const found = std::ranges::find_if(kWords, [&](const Words& words) {
      return text.substr(at).starts_with(words.first) && stands_alone(text, at, words.first.size());
    });
    if (found == kWords.end()) {
      out += text[at++];
      continue;
    }
    out += found->second;
    at += found->first.size();
  }
  return out;
}

std::string field_in_terms(std::string_view field, Platform platform) {
  std::string out;
  for (std::size_t at = 0; at <= field.size();) {
    const std::size_t end = std::min(field.find_first_of("_. ", at), field.size());
    const std::string_view part = field.substr(at, end - at);
    const auto* const found = std::ranges::find(kParts, part, &Words::first);
    if (at > 0) out += ' ';
    out += platform == Platform::nvidia && found != kParts.end() ? found->second : part;
    at = end + 1;
  }
  return out;
}

}  // namespace perflab::hal
