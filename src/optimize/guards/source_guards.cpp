// Guards on the source of a candidate (docs/facts/candidates.md "Ways": how candidates cheat). What
// a body may call is a positive list (call_names.cpp); functions of the user's files are looked
// into. A candidate is parsed in a process of its own: some make clang crash, or never end.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/text/text.h"
#include "hal/terms.h"
#include "llm/proposer.h"
#include "optimize/ast/apart.h"
#include "optimize/guards/check_answer.h"
#include "optimize/guards/guards.h"
#include "optimize/guards/source_words.h"
#include "optimize/model/modelled_source.h"

namespace perflab::optimize {
namespace {

constexpr std::size_t kMostNamed = 5;

GuardResult passed_guard(std::string name, std::string note = {}) {
  return {
      .name = std::move(name), .passed = true, .reason = std::nullopt, .detail = std::move(note)};
}

GuardResult failed_guard(std::string name, Reason reason, std::string detail) {
  return {.name = std::move(name), .passed = false, .reason = reason, .detail = std::move(detail)};
}

/// "a, b, c and 4 more".
std::string listing(const std::set<std::string>& names) {
  std::vector<std::string> first(names.begin(), names.end());
  first.resize(std::min(first.size(), kMostNamed));
  std::string text = fmt::format("{}", fmt::join(first, ", "));
  if (names.size() > kMostNamed) text += fmt::format(" and {} more", names.size() - kMostNamed);
  return text;
}

/// One that fails when there are names.
GuardResult named_guard(std::string name, Reason reason, std::string_view what,
                        const std::set<std::string>& names) {
  if (names.empty()) return passed_guard(std::move(name));
  return failed_guard(std::move(name), reason, fmt::format("{}: {}", what, listing(names)));
}

std::uint32_t line_in(const SourceModel& model, std::uint32_t offset) {
  return static_cast<std::uint32_t>(
      1 +
      std::count(model.text.begin(),
                 model.text.begin() + std::min<std::ptrdiff_t>(
                                          offset, static_cast<std::ptrdiff_t>(model.text.size())),
                 '\n'));
}

/// A directive for people: one blank between its tokens.
std::string shown(std::string_view directive) {
  std::string text;
  for (const char c : trimmed(directive))
    if (c != ' ' || !text.ends_with(' ')) text.push_back(c);
  return text;
}

/// What is new in `after`, each as often as it is.
std::vector<std::string> added(std::vector<std::string> after, std::vector<std::string> before) {
  std::ranges::sort(after);
  std::ranges::sort(before);
  std::vector<std::string> found;
  std::ranges::set_difference(after, before, std::back_inserter(found));
  return found;
}

// --- what a body reaches -----------------------------------------------------------------------

/// What the candidate's body refers to, by itself and through functions that the original does not
/// call, as far as the original's does not.
class CandidateReach {
 public:
  CandidateReach(const ModelledSource& candidate, std::size_t kernel, const BodyFacts& original)
      : source_(*candidate.source),
        api_(source_.api()),
        facts_(source_),
        cursor_(candidate.kernels[kernel]),
        definition_(candidate.model.kernels[kernel].definition),
        original_(original),
        known_(original.calls.begin(), original.calls.end()) {
    const SyntaxTree tree = source_.tree_of(cursor_);
    stack_.push_back(source_.usr(cursor_));
    // Uses of the kernel's own name in its body are recursion.
    note_facts(facts_.facts_of(tree), "");
    look(tree, "");
  }

  std::set<std::string> host, outside, clocks, pointers, globals, statics, unwritten, volatiles,
      assembly;

 private:
  void look(const SyntaxTree& tree, const std::string& through) {
    for (const NamedFunction& function : facts_.functions_in(tree)) look_at(function, through);
    if (tree.too_deep) host.insert("a body that is nested too deeply");
  }

  void note_facts(const BodyFacts& facts, const std::string& through) {
    const auto add_new = [&](const std::vector<std::string>& names,
                             const std::vector<std::string>& before, std::set<std::string>& to) {
      for (const std::string& name : names)
        if (!std::ranges::binary_search(before, name)) to.insert(name + through);
    };
    add_new(facts.globals, original_.globals, globals);
    add_new(facts.written_globals, original_.written_globals, globals);
    add_new(facts.static_locals, original_.static_locals, statics);
    add_new(facts.pointer_casts, original_.pointer_casts, pointers);
    add_new(facts.unwritten_reads, original_.unwritten_reads, unwritten);
    add_new(facts.volatiles, original_.volatiles, volatiles);
    add_new(facts.assembly, original_.assembly, assembly);
    add_new(facts.exceptions_or_new, original_.exceptions_or_new, host);
    for (const std::string& kernel : facts.launches)
      if (!std::ranges::binary_search(original_.launches, kernel))
        host.insert(kernel + " (another kernel)" + through);
  }

  [[nodiscard]] bool is_inside(CXCursor cursor) const {
    const ParsedSource::Extent extent = source_.extent_of(cursor);
    return extent.in_main && definition_.contains(extent.range);
  }

  void look_at(const NamedFunction& function, const std::string& through) {
    const bool unnamed = api_.Cursor_isNull(function.cursor) != 0;
    const std::string name = function.name + through;
    const auto definition = unnamed ? std::nullopt : source_.definition_of(function.cursor);
    const std::string key = definition ? source_.usr(*definition) : std::string();
    if (definition && std::ranges::find(stack_, key) != stack_.end()) {
      // HIP's operators of vectors are candidates for each other's calls in a template.
      if (source_.in_system_header(*definition)) return;
      if (!known_.contains(function.name) || (is_inside(*definition) && key != stack_.front()))
        host.insert(name + " (recursion)");
      return;
    }
    const bool inside = definition && is_inside(*definition);
    if (known_.contains(function.name) && !inside) return;
    std::string_view shown = function.name;
    if (shown.starts_with("(dependent) ")) shown.remove_prefix(12);
    const CallKind kind = unnamed ? kind_of_call(shown) : facts_.kind_of(function);
    switch (kind) {
      case CallKind::harmless:
      case CallKind::barrier:
      case CallKind::fence:
      case CallKind::atomic:
      case CallKind::lanes:
      case CallKind::device:
        // A function that the candidate declares by itself is not the one of that name; clang
        // declares its own where they are used first.
        if (!unnamed && !definition && is_inside(function.cursor) &&
            !function.name.starts_with("__builtin_"))
          host.insert(name);
        return;
      case CallKind::clock:
        clocks.insert(name);
        return;
      case CallKind::outside:
        outside.insert(name);
        return;
      case CallKind::makes_pointer:
        pointers.insert(name);
        return;
      case CallKind::unknown:
        break;
    }
    if (!definition) {
      host.insert(name);
      return;
    }
    if (!seen_.insert(key).second) return;
    stack_.push_back(key);
    const SyntaxTree tree = source_.tree_of(*definition);
    const std::string below =
        inside || !through.empty() ? through : fmt::format(" (through {})", function.name);
    // Lambdas and types of the body were seen with it, and only there their captures are known.
    if (!inside) {
      BodyFacts facts = facts_.facts_of(tree);
      // No proposal writes in a system's header.
      if (source_.in_system_header(*definition)) facts.unwritten_reads.clear();
      note_facts(facts, below);
    }
    look(tree, below);
    stack_.pop_back();
  }

  const ParsedSource& source_;
  const ClangApi& api_;
  FactFinder facts_;
  CXCursor cursor_;
  TextRange definition_;
  const BodyFacts& original_;
  std::set<std::string> known_, seen_;
  std::vector<std::string> stack_;
};

// --- one candidate ------------------------------------------------------------------------------

class SourceCheck {
 public:
  SourceCheck(const SourceModel& original, const SourceKernel& before,
              const ModelledSource& candidate, const SourceGuardOptions& options)
      : original_(original),
        before_(before),
        source_(candidate),
        candidate_(candidate.model),
        options_(options) {
    for (std::size_t i = 0; i < candidate_.kernels.size(); ++i)
      if (candidate_.kernels[i].signature == before_.signature) kernel_ = kernel_.value_or(i);
    for (std::size_t i = 0; i < candidate_.kernels.size(); ++i)
      if (candidate_.kernels[i].name == before_.name) kernel_ = kernel_.value_or(i);
  }

  [[nodiscard]] bool is_unchanged() const {
    const TextRange all_before{0, static_cast<std::uint32_t>(original_.text.size())};
    const TextRange all_after{0, static_cast<std::uint32_t>(candidate_.text.size())};
    return compared_tokens(original_, all_before) == compared_tokens(candidate_, all_after);
  }

  /// Those that explain why it does not parse.
  GuardResults explanations() {
    GuardResults results;
    if (kernel_ && after().signature != before_.signature) results.push_back(signature());
    const auto all = [](const SourceModel& model) {
      return directives_in(model, {0, static_cast<std::uint32_t>(model.text.size())}, true);
    };
    for (const std::string& directive : added(all(candidate_), all(original_)))
      if (!is_loop_pragma(directive)) {
        const bool include = directive.find("include") != std::string::npos;
        results.push_back(failed_guard(include ? "includes" : "directives",
                                       include ? Reason::includes_changed : Reason::directive_added,
                                       fmt::format("It brings \"{}\".", shown(directive))));
        break;
      }
    return results;
  }

  void check(GuardResults& results) {
    if (!kernel_) {
      results.push_back(failed_guard("kernel", Reason::kernel_missing,
                                     fmt::format("It has no kernel {}.", before_.name)));
      return;
    }
    results.push_back(passed_guard("kernel"));
    results.push_back(signature());
    results.push_back(outside());
    results.push_back(includes());
    results.push_back(directives());
    const CandidateReach reach(source_, *kernel_, before_.facts);
    results.push_back(assembly(reach));
    results.push_back(named_guard("host_code", Reason::host_code,
                                  "The body uses what no kernel's body may", reach.host));
    results.push_back(named_guard("file_access", Reason::file_access,
                                  "The body reaches files, processes or the environment",
                                  reach.outside));
    results.push_back(clocks(reach));
    std::set<std::string> state = reach.statics;
    state.insert(reach.globals.begin(), reach.globals.end());
    for (const std::string& output : outputs_read()) state.insert(output);
    results.push_back(remembered(state, reach));
    results.push_back(named_guard("pointers", Reason::makes_pointers,
                                  "The body makes pointers out of something else", reach.pointers));
    results.push_back(launch_bounds());
  }

 private:
  [[nodiscard]] const SourceKernel& after() const { return candidate_.kernels[*kernel_]; }

  /// Of a host build, which is proven by whole runs: parameters that the kernel only wrote and that
  /// are read now. What an earlier launch left there would be a memory. On a GPU atomics on outputs
  /// are usual, and a capture poisons them.
  [[nodiscard]] std::vector<std::string> outputs_read() const {
    std::vector<std::string> names;
    if (!candidate_.options.host) return names;
    const std::vector<Parameter>& now = after().parameters;
    for (std::size_t i = 0; i < now.size() && i < before_.parameters.size(); ++i) {
      const Parameter& was = before_.parameters[i];
      if (was.pointer && was.written && !was.read && now[i].read)
        names.push_back(now[i].name + " (an output, which it did not read)");
    }
    return names;
  }

  /// What outlives a launch: variables that are made for it, and memory that merely is not cleared.
  [[nodiscard]] static GuardResult remembered(const std::set<std::string>& state,
                                              const CandidateReach& reach) {
    if (!state.empty())
      return named_guard("state", Reason::keeps_state, "The body uses variables that outlive it",
                         state);
    if (!reach.unwritten.empty())
      return named_guard("state", Reason::keeps_state,
                         "The body may read what an earlier launch left, before it is written",
                         reach.unwritten);
    return named_guard("state", Reason::keeps_state,
                       "The body has volatile accesses that were not there, through",
                       reach.volatiles);
  }

  [[nodiscard]] GuardResult signature() const {
    if (after().signature == before_.signature) return passed_guard("signature");
    return failed_guard(
        "signature", Reason::signature_changed,
        fmt::format("It was \"{}\" and is \"{}\".", before_.signature, after().signature));
  }

  [[nodiscard]] GuardResult outside() const {
    const auto end_of = [](const SourceModel& model) {
      return static_cast<std::uint32_t>(model.text.size());
    };
    const auto compare = [&](const TextRange& was,
                             const TextRange& is) -> std::optional<std::string> {
      const auto first = compared_tokens(original_, was);
      const auto second = compared_tokens(candidate_, is);
      const auto [a, b] = std::ranges::mismatch(first, second);
      if (a == first.end() && b == second.end()) return std::nullopt;
      const std::uint32_t place = b == second.end() ? is.end : b->begin;
      return fmt::format("Line {} is outside of the kernel and differs: \"{}\" was \"{}\".",
                         line_in(candidate_, place),
                         b == second.end() ? std::string("nothing") : std::string(trimmed(b->text)),
                         a == first.end() ? std::string("nothing") : std::string(trimmed(a->text)));
    };
    auto difference = compare({0, before_.definition.begin}, {0, after().definition.begin});
    if (!difference)
      difference = compare({before_.definition.end, end_of(original_)},
                           {after().definition.end, end_of(candidate_)});
    return difference ? failed_guard("outside", Reason::outside_changed, *std::move(difference))
                      : passed_guard("outside");
  }

  /// Those in the definition are directives in a body.
  [[nodiscard]] GuardResult includes() const {
    const auto outside_includes = [](const SourceModel& model, const SourceKernel& kernel) {
      std::vector<std::string> found = directives_in(model, kernel.definition, false);
      std::erase_if(found, [](const std::string& d) {
        return d.find("include") == std::string::npos && d.find("import") == std::string::npos &&
               d.find("embed") == std::string::npos;
      });
      return found;
    };
    const auto was = outside_includes(original_, before_);
    const auto is = outside_includes(candidate_, after());
    if (was == is) return passed_guard("includes");
    const auto more = added(is, was);
    return failed_guard("includes", Reason::includes_changed,
                        more.empty() ? "An include is gone or has moved."
                                     : fmt::format("It brings \"{}\".", shown(more.front())));
  }

  [[nodiscard]] GuardResult directives() const {
    const TextRange was = before_.definition;
    const TextRange is = after().definition;
    for (const std::string& directive :
         added(directives_in(candidate_, is, true), directives_in(original_, was, true)))
      if (!is_loop_pragma(directive))
        return failed_guard("directives", Reason::directive_added,
                            fmt::format("The kernel has \"{}\" now.", shown(directive)));
    for (const std::string_view word : {"_Pragma", "__pragma"})
      if (count_of(candidate_, is, word) > count_of(original_, was, word))
        return failed_guard("directives", Reason::directive_added,
                            fmt::format("The kernel has {} now.", word));
    if (skipped_text(candidate_, is) != skipped_text(original_, was))
      return failed_guard("directives", Reason::directive_added,
                          "A branch that is not compiled here differs, so it cannot be checked.");
    const std::vector<std::string> before = attributes_in(original_, was);
    for (const std::string& name : attributes_in(candidate_, is))
      if (!is_plain_attribute(name) && !std::ranges::binary_search(before, name))
        return failed_guard(
            "directives", Reason::directive_added,
            fmt::format("The attribute \"{}\" is none that a proposal may add.", name));
    return passed_guard("directives");
  }

  [[nodiscard]] GuardResult assembly(const CandidateReach& reach) const {
    std::size_t was = 0;
    std::size_t is = 0;
    for (const std::string_view word : {"asm", "__asm", "__asm__"}) {
      was += count_of(original_, before_.definition, word);
      is += count_of(candidate_, after().definition, word);
    }
    const bool added_reach = !reach.assembly.empty();
    if (is == 0 && !added_reach) return passed_guard("assembly");
    if (!added_reach && same_assembly()) return passed_guard("assembly", "It was there before.");
    return failed_guard("assembly", Reason::inline_assembly,
                        fmt::format("The body has inline assembly that was not there{}.",
                                    was > 0 ? " in that form" : ""));
  }

  /// Every asm statement of the candidate is one of the original's.
  [[nodiscard]] bool same_assembly() const {
    const auto statements = [](const SourceModel& model, const TextRange& range) {
      std::set<std::string> found;
      const auto tokens = compared_tokens(model, range);
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].text != "asm" && tokens[i].text != "__asm" && tokens[i].text != "__asm__")
          continue;
        std::string statement;
        for (; i < tokens.size() && tokens[i].text != ";"; ++i) statement += tokens[i].text + " ";
        found.insert(statement);
      }
      return found;
    };
    return std::ranges::includes(statements(original_, before_.definition),
                                 statements(candidate_, after().definition));
  }

  [[nodiscard]] GuardResult clocks(const CandidateReach& reach) const {
    std::set<std::string> found = reach.clocks;
    for (const std::string_view word : {"__TIME__", "__DATE__", "__TIMESTAMP__"})
      if (count_of(candidate_, after().definition, word) >
          count_of(original_, before_.definition, word))
        found.emplace(word);
    return named_guard("clock", Reason::reads_clock, "The body asks what time it is", found);
  }

  [[nodiscard]] GuardResult launch_bounds() const {
    if (candidate_.options.host) return passed_guard("launch_bounds");
    if (!options_.workgroup_size)
      return passed_guard("launch_bounds",
                          "The work-group that is launched is not known: not checked.");
    std::string note;
    for (const KernelAttribute& attribute : after().attributes) {
      const bool bounds = attribute.name == "launch_bounds";
      if (!bounds && attribute.name != "amdgpu_flat_work_group_size") continue;
      const std::size_t most = bounds ? 0 : 1;
      if (attribute.values.size() <= most) {
        note = fmt::format("{} is not a number here: the code object tells.", attribute.name);
        continue;
      }
      const bool too_small = attribute.values[most] < *options_.workgroup_size;
      if (too_small || (!bounds && attribute.values[0] > *options_.workgroup_size))
        return failed_guard(
            "launch_bounds", Reason::launch_bounds,
            fmt::format("{} says {} for {} of {}.", attribute.name,
                        fmt::join(attribute.values, ", "),
                        hal::terms(hal::platform_of(candidate_.options.arch)).workgroups,
                        *options_.workgroup_size));
    }
    return passed_guard("launch_bounds", std::move(note));
  }

  const SourceModel& original_;
  const SourceKernel& before_;
  const ModelledSource& source_;
  const SourceModel& candidate_;
  const SourceGuardOptions& options_;
  std::optional<std::size_t> kernel_;
};

std::string messages_text(const std::vector<std::string>& messages) {
  std::string text = "It does not parse:";
  for (std::size_t i = 0; i < std::min(messages.size(), kMostNamed); ++i)
    text += "\n" + messages[i];
  return text;
}

/// The whole check but for the text's size.
Result<GuardResults> check_here(const SourceModel& original, const SourceKernel& before,
                                const std::string& candidate, const SourceGuardOptions& options) {
  auto modelled = model_source(candidate, original.options, before.name, true);
  if (!modelled) {
    if (modelled.error().code != ErrorCode::bad_input)
      return std::unexpected(std::move(modelled).error());
    return GuardResults{passed_guard("text"),
                        failed_guard("parses", Reason::does_not_parse, modelled.error().message)};
  }
  SourceCheck check(original, before, *modelled, options);
  const std::vector<std::string>& errors = modelled->source->errors();
  if (!errors.empty()) {
    GuardResults results{passed_guard("text")};
    std::ranges::move(check.explanations(), std::back_inserter(results));
    results.push_back(failed_guard("parses", Reason::does_not_parse, messages_text(errors)));
    return results;
  }
  if (check.is_unchanged())
    return GuardResults{
        failed_guard("text", Reason::unchanged, "It differs in blanks and comments only.")};
  GuardResults results{passed_guard("text"), passed_guard("parses")};
  check.check(results);
  return results;
}

}  // namespace

const GuardResult* first_failure(const GuardResults& results) {
  const auto found = std::ranges::find(results, false, &GuardResult::passed);
  return found == results.end() ? nullptr : &*found;
}

Result<GuardResults> check_source(const SourceModel& original, const std::string& candidate,
                                  const SourceGuardOptions& options) {
  PERFLAB_TRY(const std::size_t index, find_kernel(original, options.kernel));
  const SourceKernel& before = original.kernels[index];
  if (trimmed(candidate).empty())
    return GuardResults{failed_guard("text", Reason::no_code, "There is no text.")};
  if (candidate.size() > llm::kMostProposalBytes)
    return GuardResults{failed_guard(
        "text", Reason::too_large,
        fmt::format("{} bytes are more than {}.", candidate.size(), llm::kMostProposalBytes))};
  PERFLAB_TRY_VOID(prepare_parsing(original.options));
  PERFLAB_TRY(const ApartResult apart, run_apart([&] {
                return check_answer(check_here(original, before, candidate, options));
              }));
  if (apart.text) return answered_check(*apart.text);
  return GuardResults{passed_guard("text"),
                      failed_guard("parses", Reason::does_not_parse,
                                   fmt::format("Clang {} over it.", apart.ending))};
}

}  // namespace perflab::optimize
