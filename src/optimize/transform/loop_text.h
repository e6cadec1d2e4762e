// A counted loop as text, and the one way in which loops are rewritten here: whole blocks of
// iterations in a main loop, the rest in the loop as it was. The body's text is repeated as it
// stands with the loop's own step between the copies, so a block does what that many iterations
// did; what goes is the question between them. [stmt.for] of the C++ standard.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optimize/model/source_model.h"
#include "optimize/transform/code_text.h"

namespace perflab::optimize {

/// Why a transform is not offered.
struct Objection {
  std::string guard, sentence;
};

/// A kernel's loop with its text. Holds references to the model.
struct LoopView {
  const SourceModel& model;
  const SourceKernel& kernel;
  const Loop& loop;
  std::string label;    ///< its line; of several loops in one line also which: "12", "12.2"
  TextRange statement;  ///< with the semicolon behind a body without braces
  TextRange body;       ///< likewise
  /// Of the header of a for; empty when it could not be taken apart.
  std::string_view init, condition, increment;
  bool header_seen = false;

  [[nodiscard]] std::string_view at(const TextRange& range) const { return model.at(range); }
  [[nodiscard]] CodeWords words() const { return code_words(model.text, statement); }
  [[nodiscard]] CodeWords body_words() const { return code_words(model.text, body); }
  /// Blanks that its line begins with.
  [[nodiscard]] std::string indent() const;
  [[nodiscard]] const CountedLoop& counted() const { return *loop.counted; }
};

LoopView view_loop(const SourceModel& model, const SourceKernel& kernel, std::size_t index);

/// Against repeating the body at all, by whoever does it.
std::optional<Objection> object_to_copies(const LoopView& view);
/// Against blocked_loop() beyond object_to_copies(), whatever the factor.
std::optional<Objection> object_to_blocks(const LoopView& view);
/// Against blocks of that many iterations.
std::optional<Objection> object_to_factor(const LoopView& view, int factor);
/// Against a body of that size that often.
std::optional<Objection> object_to_size(const LoopView& view, int factor);

/// What stands in a block beside copies of the body; each empty, or whole lines.
struct BlockPlan {
  int factor = 1;
  /// The body's copy of that number, from 0; missing: the body as it is.
  std::function<std::string(int copy)> copy;
  std::string before;  ///< in front of the main loop: runs when there is at least one block
  std::string head;    ///< in front of a block's first copy
  std::string after;   ///< behind the main loop, likewise
};

/// The statement in place of the loop. The main loop runs only where a whole block is left, and
/// that is computed without overflow: the distance to the bound is taken unsigned, behind the
/// loop's own first test. No rest is written when the number of iterations is a known multiple.
std::string blocked_loop(const LoopView& view, const BlockPlan& plan);

/// The words of the body that stand where every iteration comes by: on no branch, behind no "?",
/// "&&" or "||", in no inner loop.
std::vector<bool> always_reached(std::span<const CodeWord> words);

/// Names that blocked_loop() gives begin with it: its main loops are not blocked again.
inline constexpr std::string_view kBlockPrefix = "rp_block_";

}  // namespace perflab::optimize
