// What a body calls and touches, by itself and through the functions whose bodies are in sight:
// barriers, atomics and the like for the transforms, names for the guards.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "optimize/ast/syntax_tree.h"
#include "optimize/flow/call_names.h"
#include "optimize/model/kernel_text.h"

namespace perflab::optimize {

/// What is done below a node, called functions included.
struct Reach {
  bool barrier = false;  ///< a barrier or a fence: accesses keep their order
  bool waits = false;    ///< a barrier: what other lanes wrote before it is there
  bool atomic = false, lanes = false, assembly = false;
  bool unknown_call =
      false;  ///< of something whose body is not in sight and whose name says nothing
  bool shared = false, dynamic_shared = false;
  Reach& operator|=(const Reach& other);
};

/// A function that a body names, called or not.
struct NamedFunction {
  std::string name;   ///< qualified; "(indirect)", "(dependent) NAME"
  CXCursor cursor{};  ///< null: those in parentheses, and types whose name says enough
};

class FactFinder {
 public:
  explicit FactFinder(const ParsedSource& source) : source_(source), api_(source.api()) {}

  /// By node of the tree, its subtree included.
  std::vector<Reach> reach_of(const SyntaxTree& tree);
  /// Functions that are named, in the order of the text.
  [[nodiscard]] std::vector<NamedFunction> functions_in(const SyntaxTree& tree) const;
  [[nodiscard]] BodyFacts facts_of(const SyntaxTree& tree);
  /// What the table says about a function that is not defined in the user's own files.
  [[nodiscard]] CallKind kind_of(const NamedFunction& function) const;
  /// A __shared__ variable.
  [[nodiscard]] bool is_shared(CXCursor variable) const;
  [[nodiscard]] bool is_kernel(CXCursor function) const;

 private:
  Reach reach_of_function(const NamedFunction& function);
  Reach own_reach(const SyntaxTree& tree, std::uint32_t node, const std::vector<CXCursor>& shared,
                  const std::vector<CXCursor>& dynamic);
  void functions_at(const SyntaxTree& tree, std::uint32_t node,
                    std::vector<NamedFunction>& found) const;
  /// Whether what a call without a function calls is named or stands in the body itself.
  [[nodiscard]] bool callee_is_told(const SyntaxTree& tree, const SyntaxNode& call) const;
  void function_at(CXCursor function, std::vector<NamedFunction>& found) const;
  void note_variable(const SyntaxTree& tree, std::uint32_t index, BodyFacts& facts) const;
  void note_volatile(const SyntaxTree& tree, std::uint32_t index, BodyFacts& facts) const;
  /// A call that waits for other lanes, also in what it calls.
  bool waits_for_lanes(const SyntaxTree& tree, std::uint32_t node);
  [[nodiscard]] bool is_constant(CXCursor variable) const;
  [[nodiscard]] bool keeps_state(const SyntaxNode& node) const;
  [[nodiscard]] CXType canonical(CXCursor cursor) const;

  const ParsedSource& source_;
  const ClangApi& api_;
  std::map<std::string, Reach> known_;  // by USR
};

}  // namespace perflab::optimize
