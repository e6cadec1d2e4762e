// What speaks against repeating a loop's body, and the loop over blocks of iterations.
#include "optimize/transform/loop_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/text/text.h"

namespace perflab::optimize {
namespace {

/// Bytes of all copies of a body: beyond it, a loop leaves the instruction cache sooner than it
/// saves a branch.
constexpr std::size_t kMostCopiedBytes = 4000;
/// Of a constant step: a block's length in any of the types is far below half of their range.
constexpr std::int64_t kLargestStep = std::int64_t{1} << 20;

/// Types of loop variables: those that integer promotion leaves as they are.
constexpr std::array<std::string_view, 6> kCounterTypes{
    "int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long"};

TextRange with_semicolon(std::string_view text, TextRange range) {
  if (range.end <= range.begin) return range;
  const char last = text[range.end - 1];
  if (last == '}' || last == ';') return range;
  const CodeWords next = code_words(
      text,
      {range.end, static_cast<std::uint32_t>(std::min<std::size_t>(text.size(), range.end + 200))});
  if (!next.empty() && next.front().is(";")) range.end = next.front().end();
  return range;
}

std::string_view text_over(std::string_view source, std::span<const CodeWord> words) {
  if (words.empty()) return {};
  return source.substr(words.front().begin, words.back().end() - words.front().begin);
}

/// Takes "for (init; condition; increment)" apart.
void see_header(LoopView& view) {
  const std::string_view source = view.model.text;
  const CodeWords words = code_words(source, {view.loop.range.begin, view.body.begin});
  if (words.size() < 5 || !words[0].is("for") || !words[1].is("(")) return;
  const auto close = closing_bracket(words, 1);
  if (!close || *close + 1 != words.size()) return;
  std::vector<std::size_t> cuts;
  int depth = 0;
  for (std::size_t i = 2; i < *close; ++i) {
    if (words[i].is("(") || words[i].is("[") || words[i].is("{")) ++depth;
    if (words[i].is(")") || words[i].is("]") || words[i].is("}")) --depth;
    if (words[i].is(";") && depth == 0) cuts.push_back(i);
  }
  if (cuts.size() != 2) return;
  const std::span<const CodeWord> all(words);
  view.init = text_over(source, all.subspan(2, cuts[0] - 2));
  view.condition = text_over(source, all.subspan(cuts[0] + 1, cuts[1] - cuts[0] - 1));
  view.increment = text_over(source, all.subspan(cuts[1] + 1, *close - cuts[1] - 1));
  view.header_seen = true;
}

std::string join_words(std::span<const CodeWord> words) {
  std::string text;
  for (const CodeWord& word : words) text += fmt::format("{} ", word.text);
  return text;
}
std::string words_of(std::string_view text) {
  return join_words(code_words(text, {0, static_cast<std::uint32_t>(text.size())}));
}

/// Whether condition and increment are what the model says and nothing beside it.
bool header_is_plain(const LoopView& view) {
  const CountedLoop& counted = view.counted();
  const std::string& variable = counted.variable;
  const std::string condition =
      fmt::format("{} {} {}", variable, counted.comparison, words_of(view.at(counted.bound)));
  if (words_of(view.condition) != condition) return false;
  const std::string increment = words_of(view.increment);
  for (const std::string_view sign : {"+", "-"}) {
    if (increment == fmt::format("{}{} {} ", sign, sign, variable) ||
        increment == fmt::format("{} {}{} ", variable, sign, sign))
      return true;
    if (increment.starts_with(fmt::format("{} {}= ", variable, sign)))
      return !increment.contains(",");
  }
  return increment.starts_with(fmt::format("{} = {} + ", variable, variable)) &&
         !increment.contains(",") && counted.step_value.has_value();
}

/// The step of "i += step" when it is no constant; empty otherwise.
std::string_view variable_step(const LoopView& view) {
  const std::size_t place = view.increment.find("+=");
  if (view.counted().step_value || place == std::string_view::npos) return {};
  return trimmed(view.increment.substr(place + 2));
}

TextRange range_in(const LoopView& view, std::string_view part) {
  const auto begin = static_cast<std::uint32_t>(part.data() - view.model.text.data());
  return {begin, begin + static_cast<std::uint32_t>(part.size())};
}

bool bound_keeps_type(const LoopView& view) {
  return has_type(view.model, view.kernel, view.counted().bound, view.counted().type);
}
bool is_unsigned(std::string_view type) {
  return type.starts_with("unsigned");
}
bool is_multiple(const LoopView& view, int factor) {
  const auto& trips = view.counted().trips;
  return trips && *trips > 0 && *trips % factor == 0;
}

std::optional<Objection> object_to_step(const LoopView& view) {
  const CountedLoop& counted = view.counted();
  const bool upwards = counted.comparison == "<" || counted.comparison == "<=";
  if (counted.comparison == "!=")
    return Objection{"comparison",
                     "it ends when the variable is equal to the bound, and whether a block steps "
                     "over the bound is not known"};
  if (!counted.step_value) {
    const std::string_view step = variable_step(view);
    if (!upwards || step.empty() || !bound_keeps_type(view) ||
        !has_type(view.model, view.kernel, range_in(view, step), counted.type))
      return Objection{"step", "its step is neither a constant nor a value of the variable's type"};
    const CodeWords body = view.body_words();
    if (may_hide_uses(view.model, body))
      return Objection{"macro", "a macro in its body may change its step"};
    for (const CodeWord& word : code_words(view.model.text, range_in(view, step)))
      if (word.kind == CodeWord::Kind::name && may_change(body, word.text))
        return Objection{"step", "its step may change in the body"};
    return {};
  }
  if (std::abs(*counted.step_value) > kLargestStep || *counted.step_value == 0)
    return Objection{"step", "its step is zero or too large"};
  if ((*counted.step_value > 0) != upwards)
    return Objection{"direction", "it steps away from its bound"};
  return {};
}

/// A bound of another type is compared in the common type; a step that is no plain number might
/// make the variable wrap, which only unsigned ones may.
std::optional<Objection> object_to_bound(const LoopView& view) {
  const CountedLoop& counted = view.counted();
  if (!counted.bound_is_invariant)
    return Objection{"bound_changes", "its bound may change while it runs"};
  const CodeWords bound = code_words(view.model.text, counted.bound);
  const bool reads = std::ranges::any_of(bound, [](const CodeWord& word) {
    return word.is("[") || word.is("->") || word.is("++") || word.is("--");
  });
  if (reads) return Objection{"bound_changes", "its bound is read from memory"};
  if (bound_keeps_type(view)) return {};
  for (const CodeWord& word : bound) {
    const auto type = word.kind == CodeWord::Kind::name
                          ? shown_type(view.model, view.kernel, word.text)
                          : std::nullopt;
    const bool fraction = word.kind == CodeWord::Kind::number &&
                          (word.text.contains('.') || word.text.ends_with('f'));
    if (fraction || (type && (*type == "float" || *type == "double")))
      return Objection{"bound_type", "its bound is not an integer"};
  }
  if (!is_unsigned(counted.type) && view.increment.contains('u'))
    return Objection{"step", "its step is unsigned and its variable is not"};
  return {};
}

/// Of the brace that is closed at `close`; 0 when it is not found.
std::size_t opening_brace(std::span<const CodeWord> words, std::size_t close) {
  int depth = 0;
  for (std::size_t i = close + 1; i-- > 0;) {
    if (words[i].is("}")) ++depth;
    if (words[i].is("{") && --depth == 0) return i;
  }
  return 0;
}

std::string_view distance_type(const LoopView& view) {
  const std::string& type = view.counted().type;
  if (!bound_keeps_type(view) || !variable_step(view).empty()) return "unsigned long long";
  if (type == "int" || type == "unsigned int") return "unsigned int";
  return type == "long" || type == "unsigned long" ? "unsigned long" : "unsigned long long";
}

/// Writes the statement of blocked_loop().
class BlockWriter {
 public:
  BlockWriter(const LoopView& view, const BlockPlan& plan)
      : view_(view), plan_(plan), counted_(view.counted()), indent_(view.indent()) {
    for (const std::string_view part : {"end", "main", "step"}) {
      names_.push_back(
          unused_name(view.model.text, fmt::format("{}{}_{}", kBlockPrefix, part, view.loop.line)));
    }
  }

  std::string exact() {
    const bool wrapped = !plan_.before.empty() || !plan_.after.empty();
    if (!wrapped) {
      copies(0, fmt::format("for ({}; {}; {})", view_.init, view_.condition, view_.increment));
      return trimmed_front();
    }
    line(0, "{");
    lines(plan_.before);
    copies(1, fmt::format("for ({}; {}; {})", view_.init, view_.condition, view_.increment));
    lines(plan_.after);
    last("}");
    return trimmed_front();
  }

  std::string with_rest() {
    line(0, "{");
    if (!view_.init.empty()) line(1, fmt::format("{};", view_.init));
    declare_end();
    const std::string& variable = counted_.variable;
    line(1, fmt::format("if ({}) {{", a_block_is_left()));
    line(2, fmt::format("{} {} = {};", end_type(), names_[1], main_end()));
    lines(plan_.before);
    copies(2, fmt::format("for (; {} {} {}; {})", variable, counted_.comparison, names_[1],
                          view_.increment));
    lines(plan_.after);
    line(1, "}");
    line(1, fmt::format("for (; {} {} {}; {})", variable, counted_.comparison, names_[0],
                        view_.increment));
    line(2, std::string(view_.at(view_.body)));
    last("}");
    return trimmed_front();
  }

 private:
  void line(int depth, std::string_view text) {
    out_ += fmt::format("{}{:{}}{}\n", indent_, "", 2 * depth, text);
  }
  void lines(std::string_view text) { out_ += text; }
  void last(std::string_view text) { out_ += fmt::format("{}{}", indent_, text); }
  std::string trimmed_front() {
    if (out_.ends_with('\n')) out_.pop_back();
    return out_.substr(indent_.size());
  }

  void copies(int depth, std::string_view header) {
    line(depth, fmt::format("{} {{", header));
    lines(plan_.head);
    for (int copy = 0; copy < plan_.factor; ++copy) {
      line(depth + 1, plan_.copy ? plan_.copy(copy) : std::string(view_.at(view_.body)));
      if (copy + 1 < plan_.factor) line(depth + 1, fmt::format("{};", view_.increment));
    }
    line(depth, "}");
  }

  [[nodiscard]] bool upwards() const { return counted_.comparison.starts_with('<'); }
  /// Of the bound as it is compared: the variable's own type, or the common one.
  [[nodiscard]] std::string end_type() const {
    if (bound_keeps_type(view_)) return fmt::format("const {}", counted_.type);
    return fmt::format("const decltype({} + ({}))", counted_.variable, view_.at(counted_.bound));
  }
  void declare_end() {
    line(1, fmt::format("{} {} = {};", end_type(), names_[0], view_.at(counted_.bound)));
    if (!bound_keeps_type(view_)) {
      line(1, fmt::format("static_assert(static_cast<decltype({} + {})>(1) / 2 == 0, \"an "
                          "integer\");",
                          counted_.variable, names_[0]));
    }
    if (!variable_step(view_).empty())
      line(1, fmt::format("const {} {} = {};", counted_.type, names_[2], variable_step(view_)));
  }

  /// "i < end && unsigned(end) - unsigned(i) > 3".
  [[nodiscard]] std::string a_block_is_left() const {
    const std::string_view type = distance_type(view_);
    std::string here = counted_.variable;
    if (!bound_keeps_type(view_)) {
      here = fmt::format("static_cast<decltype({} + {})>({})", counted_.variable, names_[0],
                         counted_.variable);
    }
    const std::string end = fmt::format("static_cast<{}>({})", type, names_[0]);
    here = fmt::format("static_cast<{}>({})", type, here);
    const std::string distance =
        upwards() ? fmt::format("{} - {}", end, here) : fmt::format("{} - {}", here, end);
    const bool inclusive = counted_.comparison.ends_with('=');
    std::string test = fmt::format("{} {} {}", counted_.variable, counted_.comparison, names_[0]);
    if (counted_.step_value)
      return fmt::format("{} && {} {} {}", test, distance, inclusive ? ">=" : ">", reach());
    // The product of step and factor might not fit; the quotient always does.
    return fmt::format("{} > 0 && {} && static_cast<{}>({}) <= ({}{}) / {}", names_[2], test, type,
                       names_[2], distance, inclusive ? "" : " - 1", plan_.factor - 1);
  }
  /// From a block's first iteration to its last.
  [[nodiscard]] std::int64_t reach() const {
    return (plan_.factor - 1) * std::abs(*counted_.step_value);
  }
  [[nodiscard]] std::string main_end() const {
    if (counted_.step_value)
      return fmt::format("{} {} {}", names_[0], upwards() ? "-" : "+", reach());
    const std::string_view type = distance_type(view_);
    return fmt::format("static_cast<{}>(static_cast<{}>({}) - {} * static_cast<{}>({}))",
                       counted_.type, type, names_[0], plan_.factor - 1, type, names_[2]);
  }

  const LoopView& view_;
  const BlockPlan& plan_;
  const CountedLoop& counted_;
  std::string indent_, out_;
  std::vector<std::string> names_;  ///< of the bound, of the main loop's bound, of the step
};

}  // namespace

std::string LoopView::indent() const {
  const std::size_t line = model.text.rfind('\n', statement.begin);
  const std::size_t begin = line == std::string::npos ? 0 : line + 1;
  const std::size_t end = model.text.find_first_not_of(" \t", begin);
  return model.text.substr(begin, std::min<std::size_t>(end, statement.begin) - begin);
}

LoopView view_loop(const SourceModel& model, const SourceKernel& kernel, std::size_t index) {
  const Loop& loop = kernel.loops[index];
  const auto before =
      std::count_if(kernel.loops.begin(), kernel.loops.begin() + static_cast<std::ptrdiff_t>(index),
                    [&](const Loop& other) { return other.line == loop.line; });
  std::string label = fmt::to_string(loop.line);
  if (before > 0) label += fmt::format(".{}", before + 1);
  LoopView view{.model = model,
                .kernel = kernel,
                .loop = loop,
                .label = std::move(label),
                .statement = with_semicolon(model.text, loop.range),
                .body = with_semicolon(model.text, loop.body),
                .init = {},
                .condition = {},
                .increment = {}};
  if (loop.kind == Loop::Kind::for_) see_header(view);
  return view;
}

std::optional<Objection> object_to_copies(const LoopView& view) {
  const Loop& loop = view.loop;
  const bool exact = loop.counted && loop.counted->trips.has_value();
  const CodeWords body = view.body_words();
  const bool directive = std::ranges::any_of(
      body, [](const CodeWord& word) { return word.kind == CodeWord::Kind::directive; });
  const bool made = std::ranges::any_of(
      view.words(), [](const CodeWord& word) { return word.text.starts_with(kBlockPrefix); });
  const std::array<std::pair<bool, Objection>, 11> objections{{
      {loop.in_macro || has_name(body, "__LINE__") || has_name(body, "__COUNTER__"),
       {"in_macro", "a part of it comes out of a macro, or asks for its line"}},
      {loop.has_barrier, {"barrier", "work-items of the group wait for each other in it"}},
      {loop.has_atomic, {"atomic", "it has atomic operations"}},
      {loop.uses_dynamic_shared,
       {"dynamic_shared_memory", "it uses shared memory whose size the launch decides"}},
      {loop.crosses_lanes && !exact,
       {"cross_lane",
        "lanes of a wave read each other in it, and lanes with other numbers of iterations would "
        "be in another copy"}},
      {loop.has_assembly, {"assembly", "it has inline assembly"}},
      {loop.pragma.has_value() || made,
       {"already_unrolled", "the source says already how it is unrolled"}},
      {has_name(body, "static"), {"static_local", "copies of a static variable are variables"}},
      {has_name(body, "__shared__"),
       {"shared_declaration", "copies of a shared array are arrays of their own"}},
      {directive, {"directive", "there are preprocessor directives in its body"}},
      {loop.has_goto || (has_name(body, "case") && !has_name(body, "switch")),
       {"goto", "a label may occur only once"}},
  }};
  const auto* const found = std::ranges::find(objections, true, &std::pair<bool, Objection>::first);
  if (found == objections.end()) return {};
  return found->second;
}

std::optional<Objection> object_to_blocks(const LoopView& view) {
  const Loop& loop = view.loop;
  if (loop.has_break) return Objection{"break", "it may be left early"};
  if (loop.has_return) return Objection{"return", "the kernel may be left in it"};
  if (loop.has_continue) return Objection{"continue", "an iteration may end early"};
  if (loop.has_unknown_call)
    return Objection{"unknown_call", "it calls a function whose body is not visible"};
  if (!loop.counted || !view.header_seen || !header_is_plain(view))
    return Objection{"not_counted",
                     "it is not a plain `for (T i = first; i < bound; i += step)`, or something "
                     "beside its header may change the variable"};
  if (!one_of(kCounterTypes, view.counted().type))
    return Objection{"type", fmt::format("its variable is a {}", view.counted().type)};
  return {};
}

std::optional<Objection> object_to_factor(const LoopView& view, int factor) {
  const CountedLoop& counted = view.counted();
  if (counted.trips && *counted.trips < factor)
    return Objection{"trips", fmt::format("it runs {} times only", *counted.trips)};
  if (!is_multiple(view, factor)) {
    if (view.loop.crosses_lanes)
      return Objection{
          "cross_lane",
          "lanes of a wave read each other in it, and the number of iterations is not a "
          "multiple of the block"};
    if (auto objection = object_to_step(view)) return objection;
    if (auto objection = object_to_bound(view)) return objection;
  }
  return object_to_size(view, factor);
}

std::optional<Objection> object_to_size(const LoopView& view, int factor) {
  const std::size_t bytes = view.at(view.body).size() * static_cast<std::size_t>(factor);
  if (bytes <= kMostCopiedBytes) return {};
  return Objection{"too_large", fmt::format("{} copies of its body are {} bytes; the most is {}",
                                            factor, bytes, kMostCopiedBytes)};
}

std::string blocked_loop(const LoopView& view, const BlockPlan& plan) {
  BlockWriter writer(view, plan);
  return is_multiple(view, plan.factor) ? writer.exact() : writer.with_rest();
}

std::vector<bool> always_reached(std::span<const CodeWord> words) {
  constexpr std::array<std::string_view, 6> kBranches{"if", "else", "switch", "for", "while", "do"};
  const int top = !words.empty() && words.front().is("{") ? 1 : 0;
  std::vector<bool> reached(words.size(), false);
  int braces = 0, parentheses = 0;
  bool branch = false, choice = false, begins = true;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const CodeWord& word = words[i];
    if (word.is("(")) ++parentheses;
    if (word.is(")")) --parentheses;
    if (word.is("{")) ++braces;
    if (word.is("}")) --braces;
    const bool outside = braces == top && parentheses == 0;
    if (outside && (word.is(";") || i == 0)) {
      branch = choice = false;
      begins = true;
      if (word.is(";") || word.is("{")) continue;
    } else if (outside && word.is("}") && !choice) {
      // The end of a branch's block, or of `T{...}` in the middle of a branch's statement.
      const std::size_t open = opening_brace(words, i);
      if (open == 0 || words[open - 1].is(")") || words[open - 1].is("else") ||
          words[open - 1].is("do") || words[open - 1].is(";") || words[open - 1].is("}") ||
          words[open - 1].is("{")) {
        branch = false;
        begins = true;
        continue;
      }
    }
    if (begins && one_of(kBranches, word.text)) branch = true;
    begins = false;
    // A "[" that is no index begins a lambda.
    if (word.is("[") && is_unary(words, i)) choice = true;
    if (!branch && (word.is("?") || word.is("&&") || word.is("||"))) choice = true;
    reached[i] = braces == top && !branch && !choice;
  }
  return reached;
}

}  // namespace perflab::optimize
