// Loads that leave a loop or become one: invariant elements are read once in front of it, four
// elements in a row are read as one vector. Where the loop writes to other buffers too, source text
// cannot prove that they do not overlap: the summaries say so, and the judge runs them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "optimize/transform/pointer_copies.h"
#include "optimize/transform/transform_parts.h"

namespace perflab::optimize {
namespace {

std::string without_blanks(std::string_view text) {
  std::string packed;
  for (const char c : text)
    if (c > ' ') packed += c;
  return packed;
}

/// The elements of one loop, with what is known about their reads.
class LoopLoads {
 public:
  LoopLoads(const LoopView& view, const PointerCopies& copies)
      : view_(view),
        words_(view.words()),
        body_(view.body_words()),
        reached_(always_reached(body_)),
        copies_(copies) {}

  [[nodiscard]] bool in_loop(const Subscript& subscript) const {
    return view_.statement.contains(subscript.range);
  }
  /// Read on every iteration, in the body itself.
  [[nodiscard]] bool reached(const Subscript& subscript) const {
    for (std::size_t i = 0; i < body_.size(); ++i)
      if (body_[i].begin == subscript.range.begin) return reached_[i];
    return false;
  }
  /// An element of a buffer or of shared memory: arrays of its own the compiler knows better.
  [[nodiscard]] bool is_memory(const Subscript& subscript) const {
    return subscript.shared || !copies_.sources_of(subscript.array).empty();
  }
  /// A plain read: it is no address, and not written to.
  [[nodiscard]] bool is_load(const Subscript& subscript) const {
    if (subscript.is_written || !subscript.is_read) return false;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (words_[i].begin != subscript.range.begin) continue;
      const bool address = i > 0 && words_[i - 1].is("&") && is_unary(words_, i - 1);
      const bool measured = i > 1 && words_[i - 2].is("sizeof");
      return !address && !measured && !is_member(words_, i);
    }
    return false;
  }
  /// Whether something in the loop may write to the array: it is written or changed under its own
  /// name, used otherwise than by subscript, or what is written may point into the same parameter.
  [[nodiscard]] bool may_write_to(std::string_view array) const {
    if (may_change(words_, array)) return true;
    for (std::size_t i = 0; i + 1 < words_.size(); ++i)
      if (words_[i].is(array) && !is_member(words_, i) && !words_[i + 1].is("[")) return true;
    for (const Subscript& subscript : view_.kernel.subscripts) {
      if (!in_loop(subscript) || !subscript.is_written) continue;
      if (subscript.array == array || subscript.array.empty()) return true;
      if (share(array, subscript.array)) return true;
    }
    return writes_through_star(array) || writes_element_of(array);
  }
  [[nodiscard]] bool writes_others() const {
    return std::ranges::any_of(view_.kernel.subscripts, [&](const Subscript& subscript) {
      return in_loop(subscript) && subscript.is_written;
    });
  }
  /// Whether the index is made of names, numbers and plain operators that the loop leaves alone.
  [[nodiscard]] bool is_invariant(const TextRange& range) const {
    const CodeWords index = code_words(view_.model.text, range);
    for (std::size_t i = 0; i < index.size(); ++i) {
      const CodeWord& word = index[i];
      if (word.is("[") || word.is("->") || word.is("++") || word.is("--") || word.is("="))
        return false;
      if (word.kind == CodeWord::Kind::text) return false;
      if (word.kind != CodeWord::Kind::name || is_member(index, i)) continue;
      if (i + 1 < index.size() && index[i + 1].is("(")) return false;
      if (view_.loop.counted && word.is(view_.counted().variable)) return false;
      if (may_change(words_, word.text)) return false;
    }
    return !index.empty();
  }
  /// `tile[r]` of `tile[r][c]` is an array and no element.
  [[nodiscard]] bool is_row(const Subscript& subscript) const {
    for (const CodeWord& word : words_)
      if (word.begin >= subscript.range.end) return word.is("[");
    return false;
  }

 private:
  [[nodiscard]] bool share(std::string_view a, std::string_view b) const {
    const std::set<std::string> from = copies_.sources_of(a);
    return std::ranges::any_of(copies_.sources_of(b),
                               [&](const std::string& source) { return from.contains(source); });
  }
  /// `*p = x` with a p that may point into the array, or that is not known.
  [[nodiscard]] bool writes_through_star(std::string_view array) const {
    for (std::size_t i = 0; i + 2 < words_.size(); ++i) {
      if (!words_[i].is("*") || !is_unary(words_, i)) continue;
      const bool plain = words_[i + 1].kind == CodeWord::Kind::name;
      if (!plain || share(array, words_[i + 1].text)) return true;
    }
    return false;
  }

  /// `p[i] = x` where the model does not list it: in the arguments of a macro.
  [[nodiscard]] bool writes_element_of(std::string_view array) const {
    for (std::size_t i = 0; i + 1 < words_.size(); ++i) {
      if (words_[i].kind != CodeWord::Kind::name || !words_[i + 1].is("[")) continue;
      std::size_t next = i + 1;
      while (next < words_.size() && words_[next].is("[")) {
        const auto close = closing_bracket(words_, next);
        if (!close) return true;
        next = *close + 1;
      }
      const bool stepped = i > 0 && (words_[i - 1].is("++") || words_[i - 1].is("--"));
      const bool written = stepped || (next < words_.size() && changes(words_[next]));
      if (written && (words_[i].is(array) || share(array, words_[i].text))) return true;
    }
    return false;
  }

  const LoopView& view_;
  CodeWords words_, body_;
  std::vector<bool> reached_;
  const PointerCopies& copies_;
};

std::optional<Objection> object_to_moving_loads(const LoopView& view) {
  const Loop& loop = view.loop;
  const std::array<std::pair<bool, Objection>, 10> objections{{
      {loop.in_macro, {"in_macro", "a part of it comes out of a macro"}},
      {loop.has_barrier, {"barrier", "work-items of the group wait for each other in it"}},
      {loop.has_atomic, {"atomic", "it has atomic operations"}},
      {loop.has_assembly, {"assembly", "it has inline assembly"}},
      {loop.has_unknown_call, {"unknown_call", "it calls a function whose body is not visible"}},
      {loop.pragma.has_value(), {"already_unrolled", "there is a pragma about it already"}},
      {may_hide_uses(view.model, view.words()),
       {"macro", "a macro in it may write to what its text does not show"}},
      {view.kernel.facts.volatile_access, {"volatile", "the kernel has volatile accesses"}},
      {loop.has_break || loop.has_continue || loop.has_return || loop.has_goto,
       {"break", "an iteration may end before the element is read"}},
      {loop.kind != Loop::Kind::for_ || !loop.counted || !view.header_seen,
       {"not_counted", "whether it runs at least once cannot be asked beforehand"}},
  }};
  const auto* const found = std::ranges::find(objections, true, &std::pair<bool, Objection>::first);
  if (found == objections.end()) return {};
  return found->second;
}

std::string overlap_clause(const LoopLoads& loads) {
  if (!loads.writes_others()) return "";
  return " (right only if the loop does not write to it through another buffer, which the judge "
         "proves on the captured state only)";
}

/// The loop with every `element` of it replaced by a value that was read before.
std::string hoisted_loop(const LoopView& view, std::vector<TextRange> places,
                         std::string_view element) {
  const std::string value = unused_name(view.model.text, fmt::format("rp_once_{}", view.loop.line));
  std::string body(view.at(view.body));
  std::ranges::sort(places, std::ranges::greater{}, &TextRange::begin);
  for (const TextRange& place : places) {
    body = replaced(body, {place.begin - view.body.begin, place.end - view.body.begin}, value);
  }
  const std::string indent = view.indent();
  const std::string read = fmt::format("const auto {} = {};", value, element);
  const CountedLoop& counted = view.counted();
  if (counted.trips && *counted.trips > 0) {
    return fmt::format("{{\n{0}  {1}\n{0}  for ({2}; {3}; {4})\n{0}    {5}\n{0}}}", indent, read,
                       view.init, view.condition, view.increment, body);
  }
  const std::string init = view.init.empty() ? "" : fmt::format("\n{}  {};", indent, view.init);
  return fmt::format(
      "{{{1}\n{0}  if ({2}) {{\n{0}    {3}\n{0}    for (; {2}; {4})\n{0}      {5}\n{0}  }}\n{0}}}",
      indent, init, view.condition, read, view.increment, body);
}

void add_hoists(TransformList& list, const LoopView& view, const LoopLoads& loads,
                std::size_t index) {
  std::map<std::string, std::vector<const Subscript*>> elements;
  for (const Subscript& subscript : list.kernel.subscripts) {
    // In the body only: a condition is asked once more than the body runs.
    if (!view.body.contains(subscript.range) || !loads.is_load(subscript)) continue;
    if (!loads.is_memory(subscript) || loads.is_row(subscript) ||
        !loads.is_invariant(subscript.index))
      continue;
    elements[without_blanks(view.at(subscript.range))].push_back(&subscript);
  }
  for (const auto& [element, uses] : elements) {
    // What stands in inner loops only is theirs.
    if (std::ranges::none_of(uses, [&](const Subscript* use) { return use->loop == index; }))
      continue;
    const std::string id = fmt::format("hoist:{}:{}", view.label, element);
    std::optional<Objection> objection = object_to_moving_loads(view);
    const std::string& array = uses.front()->array;
    if (!objection && loads.may_write_to(array))
      objection = {"written", fmt::format("{} may be written in the loop", array)};
    if (!objection && view.counted().trips && *view.counted().trips <= 0)
      objection = {"trips", "the loop never runs"};
    const auto reached =
        std::ranges::find_if(uses, [&](const Subscript* use) { return loads.reached(*use); });
    if (!objection && reached == uses.end())
      objection = {"conditional", "it is not read on every iteration"};
    if (objection) {
      list.forbid(id, *objection);
      continue;
    }
    std::vector<TextRange> places;
    for (const Subscript* use : uses) places.push_back(use->range);
    list.offer(Promise::hoist, id,
               fmt::format("read {} once in front of the loop at line {}{}", element, view.label,
                           overlap_clause(loads)),
               replaced(list.model.text, view.statement,
                        hoisted_loop(view, std::move(places), view.at(uses.front()->range))));
  }
}

constexpr std::array<std::string_view, 3> kWideTypes{"float", "int", "unsigned int"};
constexpr int kWideElements = 4;

/// Whether the index grows by one with the loop's variable and does not wrap while it does: the
/// variable itself, or `base + variable` with an invariant base of the variable's signed type.
bool is_next_to(const LoopView& view, const LoopLoads& loads, const TextRange& index) {
  const std::string& variable = view.counted().variable;
  if (view.at(index) == variable) return true;
  const CodeWords words = code_words(view.model.text, index);
  const std::string& type = view.counted().type;
  if (words.size() < 3 || (type != "int" && type != "long")) return false;
  if (!words.back().is(variable) || !words[words.size() - 2].is("+")) return false;
  const TextRange base{index.begin, words[words.size() - 3].end()};
  return loads.is_invariant(base) && has_type(view.model, view.kernel, base, type);
}

/// Four elements in a row of a parameter, that every iteration reads one of and none writes.
struct ElementRow {
  std::string array, pointee;
  std::string_view index;
  std::vector<TextRange> uses;
  bool reached = false;
};

/// By the element's text.
std::map<std::string, ElementRow> element_rows(const TransformList& list, const LoopView& view,
                                               const LoopLoads& loads) {
  std::map<std::string, ElementRow> rows;
  for (const Subscript& subscript : list.kernel.subscripts) {
    if (!view.body.contains(subscript.range) || !loads.is_load(subscript)) continue;
    if (!is_next_to(view, loads, subscript.index)) continue;
    const auto parameter =
        std::ranges::find(list.kernel.parameters, subscript.array, &Parameter::name);
    if (parameter == list.kernel.parameters.end() || !one_of(kWideTypes, parameter->pointee) ||
        loads.may_write_to(subscript.array) ||
        !view.at(subscript.range).starts_with(parameter->name))
      continue;
    ElementRow& row = rows[without_blanks(view.at(subscript.range))];
    row.array = parameter->name;
    row.pointee = parameter->pointee;
    row.index = view.at(subscript.index);
    row.uses.push_back(subscript.range);
    row.reached = row.reached || loads.reached(subscript);
  }
  std::erase_if(rows, [](const auto& row) { return !row.second.reached; });
  return rows;
}

/// The plan for a block of four iterations that begins with the loads of its rows.
BlockPlan wide_plan(const LoopView& view, const std::map<std::string, ElementRow>& rows) {
  const std::string indent = view.indent() + "      ";
  BlockPlan plan{.factor = kWideElements, .copy = {}, .before = {}, .head = {}, .after = {}};
  std::vector<std::pair<TextRange, std::string>> places;
  for (const auto& [element, row] : rows) {
    std::string wish = fmt::format("rp_four_{}", row.array);
    while (plan.head.contains(fmt::format(" {} =", wish))) wish += "_next";
    const std::string value = unused_name(view.model.text, wish);
    const std::string type = unused_name(view.model.text, fmt::format("{}_t", wish));
    // The alignment of one element: where a row begins is not known.
    plan.head += fmt::format(
        "{0}typedef {1} {2} __attribute__((vector_size(16), aligned(4), may_alias));\n{0}const {2} "
        "{3} = *reinterpret_cast<const {2}*>({4} + {5});\n",
        indent, row.pointee, type, value, row.array, row.index);
    for (const TextRange& use : row.uses) places.emplace_back(use, value);
  }
  std::ranges::sort(places, std::ranges::greater{},
                    [](const auto& place) { return place.first.begin; });
  plan.copy = [&view, places](int copy) {
    std::string text(view.at(view.body));
    for (const auto& [range, value] : places) {
      text = replaced(text, {range.begin - view.body.begin, range.end - view.body.begin},
                      fmt::format("{}[{}]", value, copy));
    }
    return text;
  };
  return plan;
}

void add_wide_loads(TransformList& list, const LoopView& view, const LoopLoads& loads) {
  if (!view.loop.innermost || !view.loop.counted || view.counted().step_value != 1) return;
  const auto rows = element_rows(list, view, loads);
  if (rows.empty()) return;
  const std::string id = fmt::format("wide-loads:{}", view.label);
  std::optional<Objection> objection = object_to_copies(view);
  if (!objection) objection = object_to_blocks(view);
  if (!objection) objection = object_to_moving_loads(view);
  if (!objection) objection = object_to_factor(view, kWideElements);
  if (!objection && list.model.options.cuda())
    objection = Objection{"alignment",
                          "NVIDIA's GPUs fault on a load of 16 bytes at another place, and where a "
                          "row begins is not known"};
  if (objection) return list.forbid(id, *objection);
  std::string elements;
  for (const auto& [element, row] : rows)
    elements += fmt::format("{}{}", elements.empty() ? "" : ", ", element);
  list.offer(Promise::wide_loads, id,
             fmt::format("read four elements at once for {} in the loop at line {}{}", elements,
                         view.label, overlap_clause(loads)),
             replaced(list.model.text, view.statement, blocked_loop(view, wide_plan(view, rows))));
}

}  // namespace

void add_loads(TransformList& list) {
  const PointerCopies copies(list.model, list.kernel);
  for (std::size_t i = 0; i < list.kernel.loops.size(); ++i) {
    const LoopView view = view_loop(list.model, list.kernel, i);
    const LoopLoads loads(view, copies);
    add_hoists(list, view, loads, i);
    add_wide_loads(list, view, loads);
  }
}

}  // namespace perflab::optimize
