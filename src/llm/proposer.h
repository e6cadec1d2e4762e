// Where proposals for a faster kernel come from: a language model, another program, or (in
// optimize/) built-in rules. A proposal is a text; nothing is believed about it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text/json.h"

namespace perflab::llm {

/// What a proposer is asked.
struct Task {
  std::string source;         ///< the whole source file as it stands (the best accepted so far)
  std::string kernel;         ///< qualified name of the kernel
  std::string kernel_source;  ///< its definition, a part of `source`
  /// The rest of what is known, an object: "architecture", "roofline", "bottleneck", "hot_lines",
  /// "resources", "history" (what was tried, and how it ended). A fact that is missing is null.
  Json context;
  /// The compiler's text about the last proposal, which is to be mended; empty: a new proposal.
  std::string compiler_text;
  std::string rejected_source;  ///< likewise: the proposal itself
  unsigned round = 0;           ///< from 1, counts proposals; repairs are of the same round
};

/// What came back.
struct Proposal {
  enum class Form : std::uint8_t {
    file,    ///< the whole source file
    kernel,  ///< the kernel's definition, to stand in place of the present one
  };
  Form form = Form::file;
  std::string text;     ///< empty when there is a problem
  std::string summary;  ///< one line: what was changed, in the proposer's words; untrusted
  /// Why there is no usable text: a stable name and a sentence. "no_code" (prose only),
  /// "too_large", "several_codes", "timed_out", "command_failed", "bad_answer". Empty: there is
  /// one.
  std::string problem, problem_detail;
};

/// What a run of a proposer used up.
struct Usage {
  std::uint64_t exchanges = 0, prompt_tokens = 0, completion_tokens = 0;
  std::optional<double> cost_usd;  ///< missing: prices are not known
};

class Proposer {
 public:
  Proposer() = default;
  Proposer(const Proposer&) = delete;
  Proposer& operator=(const Proposer&) = delete;
  Proposer(Proposer&&) = delete;
  Proposer& operator=(Proposer&&) = delete;
  virtual ~Proposer() = default;

  /// "rules", "llm MODEL", "exec COMMAND": for documents; never a key.
  [[nodiscard]] virtual std::string name() const = 0;
  /// The next proposal; nothing: there are no more, or the budget is spent (why_ended()). Errors:
  /// missing_tool (no such host, no key, the program cannot be started), usage (a transcript that
  /// does not fit), interrupted.
  virtual Result<std::optional<Proposal>> next(const Task& task) = 0;
  /// Whether it can mend a proposal that did not compile.
  [[nodiscard]] virtual bool repairs() const { return true; }
  [[nodiscard]] virtual Usage usage() const { return {}; }
  /// "" while there may be more; else a sentence.
  [[nodiscard]] virtual std::string why_ended() const { return {}; }
};

/// Most bytes of a proposal's text: a kernel source is not larger.
inline constexpr std::size_t kMostProposalBytes = std::size_t{1} << 20;

}  // namespace perflab::llm
