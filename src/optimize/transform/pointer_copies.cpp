// Copies of pointers, to a fixed point over all assignments of the body in any order.
#include "optimize/transform/pointer_copies.h"

namespace perflab::optimize {
namespace {

/// Whether the name at `index` is only looked through there: `p[...]`, `p->`, `*p`.
bool is_looked_through(const CodeWords& words, std::size_t index) {
  if (index + 1 < words.size() && (words[index + 1].is("[") || words[index + 1].is("->"))) {
    // "&p[4]" is a pointer again.
    return !(index > 0 && words[index - 1].is("&") && is_unary(words, index - 1));
  }
  return index > 0 && words[index - 1].is("*") && is_unary(words, index - 1);
}

/// `float* p{a}`, `Pair p(a, b)`: a name behind a type; a call f(a) has none before it.
bool declares(const CodeWords& words, std::size_t name) {
  if (name == 0 || words[name].kind != CodeWord::Kind::name) return false;
  const CodeWord& before = words[name - 1];
  return may_end_type(before) || before.is("*") || before.is("&");
}

/// The variable whose element or member stands before the "=" at that index, or itself.
std::string_view assigned_variable(const CodeWords& words, std::size_t equals) {
  std::size_t i = equals;
  while (i-- > 0) {
    if (words[i].is("]")) {
      int depth = 0;
      do {
        if (words[i].is("]")) ++depth;
        if (words[i].is("[")) --depth;
      } while (depth > 0 && i-- > 0);
    } else if (words[i].kind != CodeWord::Kind::name) {
      return {};
    } else if (!is_member(words, i)) {
      return words[i].text;
    } else {
      --i;  // the "." or "->"
    }
  }
  return {};
}

}  // namespace

PointerCopies::PointerCopies(const SourceModel& model, const SourceKernel& kernel)
    : words_(code_words(model.text, kernel.body)) {
  for (const Parameter& parameter : kernel.parameters)
    if (parameter.pointer) sources_[parameter.name].insert(parameter.name);
  for (bool grew = true; grew;) {
    grew = false;
    for (std::size_t i = 1; i + 1 < words_.size(); ++i) {
      const bool initialised = (words_[i].is("{") || words_[i].is("(")) && declares(words_, i - 1);
      if (!words_[i].is("=") && !initialised) continue;
      const std::string_view to = assigned_variable(words_, i);
      if (to.empty()) continue;
      grew = assign(to, i) || grew;
    }
  }
}

bool PointerCopies::assign(std::string_view to, std::size_t equals) {
  std::set<std::string> found;
  int depth = 0;
  for (std::size_t i = equals; i < words_.size(); ++i) {
    const CodeWord& word = words_[i];
    if (word.is("[")) {
      // What an index is made of does not reach the pointer.
      if (const auto close = closing_bracket(words_, i)) i = *close;
      continue;
    }
    if (word.is("(") || word.is("{")) ++depth;
    if (word.is(")") || word.is("}")) --depth;
    if (word.is(";") || depth < 0 || (depth == 0 && word.is(","))) break;
    if (word.kind != CodeWord::Kind::name || is_looked_through(words_, i)) continue;
    const auto source = sources_.find(word.text);
    if (source != sources_.end()) found.insert(source->second.begin(), source->second.end());
  }
  if (found.empty()) return false;
  auto& known = sources_[std::string(to)];
  const std::size_t before = known.size();
  known.insert(found.begin(), found.end());
  return known.size() > before;
}

std::optional<std::string> PointerCopies::of_several() const {
  for (const auto& [name, sources] : sources_)
    if (sources.size() > 1) return name;
  return {};
}

std::set<std::string> PointerCopies::sources_of(std::string_view name) const {
  const auto found = sources_.find(name);
  return found == sources_.end() ? std::set<std::string>{} : found->second;
}

}  // namespace perflab::optimize
