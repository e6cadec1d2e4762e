// Keys of chat servers: where they come from, and that they go nowhere else. Only the environment
// has them: a command line can be read by every user of the machine (proc(5), cmdline).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace perflab::llm {

/// Variables that hold keys. Programs that run candidates are started without them.
inline constexpr std::array<const char*, 3> kKeyVariables = {"ROCM_PERF_LLM_KEY", "OPENAI_API_KEY",
                                                             "ANTHROPIC_API_KEY"};

/// Moves them out of this process's environment into its memory: what is started afterwards, and
/// whoever reads proc(5) environ, does not get them. Before there are threads; again changes
/// nothing. Programs of the user's own get them back through held_keys().
void hold_keys();
/// Variables and values that hold_keys() took, in the order of kKeyVariables.
std::vector<std::pair<std::string, std::string>> held_keys();

/// The values of these variables, to be taken out of texts that a server or a program sent.
class Secrets {
 public:
  /// As they are held, or as the environment has them now. A value of fewer than 8 bytes is no
  /// secret ("none", "EMPTY"): taking it out would damage texts.
  static Secrets from_environment();
  /// The text with "[key]" in place of each of them, as often as it stands there.
  [[nodiscard]] std::string without(std::string text) const;

 private:
  std::vector<std::string> values_;  // the longest first: one may be the beginning of another
};

/// The value of a key's variable, held or in the environment, without blanks at its ends; empty:
/// not set. Error (usage) naming the variable, not the value: it holds characters that no header
/// may hold.
Result<std::string> read_key(const char* variable);

}  // namespace perflab::llm
