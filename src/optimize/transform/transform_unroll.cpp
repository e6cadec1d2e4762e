// Loops over blocks of iterations: unrolled, with `#pragma unroll`, and with a sum's terms spread
// over several accumulators. The guards stand in loop_text.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text/text.h"
#include "optimize/transform/transform_parts.h"

namespace perflab::optimize {
namespace {

struct Factor {
  int number;
  Promise unroll, split;
};
constexpr std::array<Factor, 3> kFactors{
    Factor{4, Promise::unroll_by_4, Promise::split_by_4},
    Factor{8, Promise::unroll_by_8, Promise::split_by_8},
    Factor{2, Promise::unroll_by_2, Promise::split_by_2},
};

std::optional<Objection> object_to_unrolling(const LoopView& view) {
  if (!view.loop.innermost) return Objection{"not_innermost", "there is another loop in it"};
  if (auto objection = object_to_copies(view)) return objection;
  return object_to_blocks(view);
}

void add_unroll(TransformList& list, const LoopView& view) {
  const std::string id = fmt::format("unroll:{}", view.label);
  if (const auto objection = object_to_unrolling(view)) return list.forbid(id, *objection);
  for (const Factor& factor : kFactors) {
    const std::string this_id = fmt::format("{}:{}", id, factor.number);
    if (const auto objection = object_to_factor(view, factor.number)) {
      list.forbid(this_id, *objection);
      continue;
    }
    list.offer(
        factor.unroll, this_id,
        fmt::format("unroll the loop at line {} by {}", view.label, factor.number),
        replaced(
            list.model.text, view.statement,
            blocked_loop(
                view,
                {.factor = factor.number, .copy = {}, .before = {}, .head = {}, .after = {}})));
  }
}

/// The source with the pragma on a line of its own in front of the loop.
std::string with_pragma(const LoopView& view, int factor) {
  const std::string indent = view.indent();
  std::uint32_t place = view.statement.begin;
  const std::size_t before = place - std::min<std::size_t>(place, indent.size());
  const bool begins_line = before == 0 || view.model.text[before - 1] == '\n';
  const std::string pragma = fmt::format("#pragma unroll {}\n{}", factor, indent);
  return replaced(view.model.text, {place, place},
                  begins_line ? pragma : fmt::format("\n{}{}", indent, pragma));
}

/// What the compiler unrolls it proves by itself: leaving early and unknown bounds are its
/// business.
void add_pragma(TransformList& list, const LoopView& view) {
  const std::string id = fmt::format("pragma-unroll:{}", view.label);
  std::optional<Objection> objection = object_to_copies(view);
  if (!view.loop.innermost) objection = {"not_innermost", "there is another loop in it"};
  if (!objection && view.loop.kind != Loop::Kind::for_)
    objection = {"not_counted", "it is not a for loop"};
  if (!objection && list.facts.host)
    objection = {"host", "host compilers do not share the pragma: it may mean nothing to this one"};
  if (objection) return list.forbid(id, *objection);
  for (const Factor& factor : kFactors) {
    const std::string this_id = fmt::format("{}:{}", id, factor.number);
    if (const auto too_large = object_to_size(view, factor.number)) {
      list.forbid(this_id, *too_large);
      continue;
    }
    list.offer(Promise::pragma_unroll, this_id,
               fmt::format("ask the compiler to unroll the loop at line {} by {}", view.label,
                           factor.number),
               with_pragma(view, factor.number));
  }
}

/// Sums that the loop adds to: local variables of a floating type that the body only adds to.
class Sums {
 public:
  explicit Sums(const LoopView& view)
      : view_(view),
        body_(view.body_words()),
        kernel_words_(code_words(view.model.text, view.kernel.body)) {}

  struct Found {
    std::vector<std::string> names;
    std::optional<Objection> objection;  ///< about one that looks like a sum
  };
  Found find() {
    Found found;
    for (std::size_t i = 0; i < body_.size(); ++i) {
      const std::string name(body_[i].text);
      if (adds_at(i) == 0 || one_of(found.names, name)) continue;
      const std::optional<Objection> objection = object_to(name);
      if (objection)
        found.objection = objection;
      else
        found.names.push_back(name);
    }
    return found;
  }

 private:
  /// How many uses of the name the statement at `index` has when it adds to it: `s += x`, `s -= x`,
  /// `s = s + x`, `s = fmaf(x, y, s)`; 0: it is no such statement.
  [[nodiscard]] int adds_at(std::size_t index) const {
    if (body_[index].kind != CodeWord::Kind::name || is_member(body_, index)) return 0;
    if (index > 0 && !begins_statement(body_[index - 1])) return 0;
    const std::size_t left = body_.size() - index;
    if (left < 4) return 0;
    if (body_[index + 1].is("+=") || body_[index + 1].is("-=")) return 1;
    if (!body_[index + 1].is("=")) return 0;
    const std::string_view name = body_[index].text;
    if (body_[index + 2].is(name) && body_[index + 3].is("+")) return is_plain_sum(index) ? 2 : 0;
    return is_fma(index) ? 2 : 0;
  }
  static bool begins_statement(const CodeWord& before) {
    return before.is("{") || before.is("}") || before.is(";") || before.is(")") ||
           before.is("else");
  }
  /// `s = s + x`: nothing of lower rank than "+" in x, which would take the sum in.
  [[nodiscard]] bool is_plain_sum(std::size_t index) const {
    constexpr std::array<std::string_view, 4> kSums{"+", "-", "*", "/"};
    int depth = 0;
    for (std::size_t i = index + 4; i < body_.size() && !body_[i].is(";"); ++i) {
      if (body_[i].is("(") || body_[i].is("[")) ++depth;
      if (body_[i].is(")") || body_[i].is("]")) --depth;
      if (depth > 0 || body_[i].kind != CodeWord::Kind::symbol) continue;
      if (!one_of(kSums, body_[i].text) && !body_[i].is(")") && !body_[i].is("]") &&
          !body_[i].is(".") && !body_[i].is("::") && !body_[i].is("->"))
        return false;
    }
    return true;
  }
  [[nodiscard]] bool is_fma(std::size_t index) const {
    constexpr std::array<std::string_view, 4> kFma{"fma", "fmaf", "__builtin_fma",
                                                   "__builtin_fmaf"};
    std::size_t call = index + 2;
    if (body_[call].is("std") && call + 2 < body_.size() && body_[call + 1].is("::")) call += 2;
    if (call + 1 >= body_.size() || !one_of(kFma, body_[call].text) || !body_[call + 1].is("("))
      return false;
    const auto close = closing_bracket(body_, call + 1);
    return close && *close >= 2 && body_[*close - 1].is(body_[index].text) &&
           body_[*close - 2].is(",") && *close + 1 < body_.size() && body_[*close + 1].is(";");
  }

  [[nodiscard]] std::optional<Objection> object_to(const std::string& name) const {
    int uses = 0, added = 0;
    for (std::size_t i = 0; i < body_.size(); ++i) {
      if (body_[i].kind == CodeWord::Kind::name && body_[i].is(name)) ++uses;
      if (body_[i].is(name)) added += adds_at(i);
    }
    const CodeWords header =
        code_words(view_.model.text, {view_.statement.begin, view_.body.begin});
    if (uses != added || has_name(header, name))
      return Objection{"loop_carried",
                       fmt::format("{} is used in it other than by adding to it", name)};
    const auto type = shown_type(view_.model, view_.kernel, name);
    if (!type || (*type != "float" && *type != "double" && *type != "_Float16"))
      return Objection{"not_floating",
                       fmt::format("{} is not seen to be a local variable of a floating type (the "
                                   "compiler reorders sums of integers by itself)",
                                   name)};
    if (may_hide_uses(view_.model, body_))
      return Objection{"macro", fmt::format("a macro in its body may use {}", name)};
    if (may_be_referred_to(name))
      return Objection{"may_alias", fmt::format("{} has another name somewhere", name)};
    return {};
  }
  [[nodiscard]] bool may_be_referred_to(const std::string& name) const {
    for (std::size_t i = 1; i < kernel_words_.size(); ++i) {
      const CodeWord& word = kernel_words_[i];
      // A lambda that captures, a reference that is bound to it, its address, a static one.
      if (word.is("[") && is_unary(kernel_words_, i)) return true;
      if (word.is("static") || word.is("volatile")) return true;
      if (!word.is(name)) continue;
      const CodeWord& before = kernel_words_[i - 1];
      if (before.is("&")) return true;
      // `T& other = s`, `T& other(s)`, `T& other{s}`.
      if (i > 3 && (before.is("=") || before.is("(") || before.is("{")) &&
          (kernel_words_[i - 3].is("&") || kernel_words_[i - 3].is("&&")))
        return true;
    }
    return false;
  }

  const LoopView& view_;
  CodeWords body_, kernel_words_;
};

/// The loop over blocks whose copies add to accumulators of their own.
std::string split_loop(const LoopView& view, const std::vector<std::string>& sums, int factor) {
  const std::string indent = view.indent() + "    ";
  const auto accumulator = [&](const std::string& sum, int copy) {
    return unused_name(view.model.text, fmt::format("rp_{}_{}", sum, copy));
  };
  BlockPlan plan{.factor = factor, .copy = {}, .before = {}, .head = {}, .after = {}};
  for (const std::string& sum : sums) {
    const auto type = shown_type(view.model, view.kernel, sum);
    std::vector<std::string> begin, parts;
    for (int copy = 1; copy < factor; ++copy) {
      begin.push_back(fmt::format("{} = 0", accumulator(sum, copy)));
      parts.push_back(accumulator(sum, copy));
    }
    plan.before += fmt::format("{}{} {};\n", indent, type.value_or(""), fmt::join(begin, ", "));
    // In pairs: the order of a tree, whose error grows least.
    while (parts.size() > 1) {
      std::vector<std::string> pairs;
      for (std::size_t i = 0; i < parts.size(); i += 2) {
        pairs.push_back(i + 1 < parts.size() ? fmt::format("({} + {})", parts[i], parts[i + 1])
                                             : parts[i]);
      }
      parts = std::move(pairs);
    }
    plan.after += fmt::format("{}{} += {};\n", indent, sum, parts.front());
  }
  plan.copy = [&](int copy) {
    if (copy == 0) return std::string(view.at(view.body));
    std::string text = "{";
    for (const std::string& sum : sums) {
      text += fmt::format(" {}& {} = {};", *shown_type(view.model, view.kernel, sum), sum,
                          accumulator(sum, copy));
    }
    return fmt::format("{} {} }}", text, view.at(view.body));
  };
  return blocked_loop(view, plan);
}

void add_split(TransformList& list, const LoopView& view) {
  const std::string id = fmt::format("split-accumulator:{}", view.label);
  const Sums::Found found = Sums(view).find();
  if (found.names.empty() && !found.objection) return;  // there is nothing to split
  std::optional<Objection> objection = object_to_unrolling(view);
  if (!objection && found.names.empty()) objection = found.objection;
  if (objection) return list.forbid(id, *objection);
  for (const Factor& factor : kFactors) {
    const std::string this_id = fmt::format("{}:{}", id, factor.number);
    if (const auto against = object_to_factor(view, factor.number)) {
      list.forbid(this_id, *against);
      continue;
    }
    list.offer(
        factor.split, this_id,
        fmt::format("spread {} of the loop at line {} over {} accumulators (the terms are "
                    "added in another order: the error budget decides)",
                    fmt::join(found.names, ", "), view.label, factor.number),
        replaced(list.model.text, view.statement, split_loop(view, found.names, factor.number)));
  }
}

}  // namespace

void add_unrolling(TransformList& list) {
  for (std::size_t i = 0; i < list.kernel.loops.size(); ++i) {
    const LoopView view = view_loop(list.model, list.kernel, i);
    add_unroll(list, view);
    add_split(list, view);
    add_pragma(list, view);
  }
}

}  // namespace perflab::optimize
