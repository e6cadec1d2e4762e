// What a model is told: two messages made of a task, the same bytes for the same task. Source text,
// compiler text and facts are data: each stands in a fence longer than any run of backticks in it,
// and the system message says that nothing inside is an instruction. That does not make a model
// obey: the guards judge what it proposes.
#pragma once

#include <string>
#include <string_view>

#include "llm/proposer.h"

namespace perflab::llm {

/// Bounds of a prompt, in bytes. The kernel itself is always whole.
struct PromptLimits {
  std::size_t file = std::size_t{64} << 10;       ///< the rest of the source file: whole or not
  std::size_t history = std::size_t{16} << 10;    ///< the oldest entries go first
  std::size_t hot_lines = std::size_t{8} << 10;   ///< the last entries go first
  std::size_t fact = std::size_t{16} << 10;       ///< any other fact: whole or not
  std::size_t compiler = std::size_t{16} << 10;   ///< its beginning is kept
  std::size_t rejected = std::size_t{128} << 10;  ///< the proposal to be mended: whole or not
};

struct Prompt {
  std::string system, user;
};
Prompt make_prompt(const Task& task, Proposal::Form wanted, const PromptLimits& limits = {});

/// A block of Markdown that holds any text: its fence is longer than every run of backticks inside.
std::string fenced(std::string_view text, std::string_view language);

}  // namespace perflab::llm
