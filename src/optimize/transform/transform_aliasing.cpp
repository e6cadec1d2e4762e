// Promises about pointers: __restrict__ on parameters, and read-only aliases of them. Source text
// cannot prove that buffers do not overlap: the summaries say so, and the judge runs them.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "optimize/transform/pointer_copies.h"
#include "optimize/transform/transform_parts.h"

namespace perflab::optimize {
namespace {

constexpr std::string_view kOverlapNote =
    "right only if the buffers do not overlap, which the judge proves on the captured state only";

bool writes_one_and_reads_another(const SourceKernel& kernel) {
  for (const Parameter& written : kernel.parameters) {
    if (!written.pointer || !written.written) continue;
    for (const Parameter& read : kernel.parameters)
      if (read.pointer && read.read && &read != &written) return true;
  }
  return false;
}

void add_restrict(TransformList& list) {
  std::vector<const Parameter*> open;
  for (const Parameter& parameter : list.kernel.parameters) {
    if (parameter.pointer && !parameter.restricted && parameter.behind_star)
      open.push_back(&parameter);
  }
  if (open.empty()) return;
  if (!writes_one_and_reads_another(list.kernel))
    return list.forbid("restrict", "no_other_buffer",
                       "there are no two buffers of which one is written and one read");
  if (may_hide_uses(list.model, code_words(list.model.text, list.kernel.body)))
    return list.forbid("restrict", "macro", "a macro in the body may copy a pointer");
  if (const auto shared = PointerCopies(list.model, list.kernel).of_several())
    return list.forbid("restrict", "may_alias",
                       fmt::format("the pointer {} is made from more than one parameter", *shared));
  std::string text = list.model.text;
  std::ranges::sort(open, std::ranges::greater{},
                    [](const Parameter* parameter) { return *parameter->behind_star; });
  for (const Parameter* parameter : open) {
    const std::uint32_t place = *parameter->behind_star;
    const bool blank = place < text.size() && text[place] == ' ';
    text = replaced(text, {place, place}, blank ? " __restrict__" : " __restrict__ ");
  }
  list.offer(Promise::restrict_all, "restrict",
             fmt::format("mark {} pointer parameters __restrict__ ({})", open.size(), kOverlapNote),
             std::move(text));
}

/// Whether the body only reads elements of it, by subscript.
bool only_subscripted(const CodeWords& body, std::string_view name) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i].kind != CodeWord::Kind::name || !body[i].is(name) || is_member(body, i)) continue;
    if (i + 1 >= body.size() || !body[i + 1].is("[")) return false;
    if (i > 0 && body[i - 1].is("&") && is_unary(body, i - 1)) return false;
  }
  return true;
}

void add_read_only_alias(TransformList& list, const Parameter& parameter) {
  const std::string id = fmt::format("read-only-alias:{}", parameter.name);
  const TextRange& body = list.kernel.body;
  const CodeWords words = code_words(list.model.text, body);
  if (!only_subscripted(words, parameter.name))
    return list.forbid(id, "escapes",
                       fmt::format("{} is used otherwise than by subscript", parameter.name));
  const std::string alias = unused_name(list.model.text, fmt::format("rp_read_{}", parameter.name));
  const std::string inner = replaced(
      list.model.text, body,
      fmt::format("{{\n  const {0}* const {1} = {2};\n  {{\n    const {0}* __restrict__ {2} = {1};"
                  "\n    {3}\n  }}\n}}",
                  parameter.pointee, alias, parameter.name, list.model.at(body)));
  list.offer(Promise::read_only_alias, id,
             fmt::format("read {} through a pointer that says it is read-only ({})", parameter.name,
                         kOverlapNote),
             inner);
}

void add_read_only(TransformList& list) {
  std::vector<std::string> without_const;
  for (const Parameter& parameter : list.kernel.parameters) {
    if (!parameter.pointer || parameter.written || !parameter.read) continue;
    if (!parameter.const_pointee) without_const.push_back(parameter.name);
    const bool simple = !parameter.pointee.empty() && !parameter.pointee.contains('(') &&
                        !parameter.pointee.contains("type-parameter");
    if (!parameter.restricted && simple) add_read_only_alias(list, parameter);
  }
  for (const std::string& name : without_const) {
    list.forbid(fmt::format("const-parameter:{}", name), "signature",
                "`const` on what a parameter points to changes the kernel's mangled name");
  }
}

}  // namespace

void add_aliasing(TransformList& list) {
  add_restrict(list);
  add_read_only(list);
}

}  // namespace perflab::optimize
