// Reader of the counter tables. nlohmann's exceptions say which field is missing or mistyped; they
// end in parse_counter_tables().
#include "hal/counter_tables_parse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text/json.h"
#include "hal/counter_formula.h"
#include "hal/pass_plan.h"

namespace perflab::hal {
namespace {

/// One architecture of a file, and what it lacks of the file's derived metrics.
struct Sibling {
  std::string gfx;
  bool confirmed = true;
  std::vector<std::string> lacks;
};

struct TableFile {
  std::vector<Sibling> siblings;
  CounterTable table;  ///< what they have in common
};

/// A sentence about the first field that is not among `known`; empty when there is none.
std::string unknown_field(const Json& object, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : object.items())
    if (std::ranges::find(known, name) == known.end())
      return fmt::format("field {} is not known", name);
  return {};
}

/// Reads into `file`; returns the first problem in words. Throws Json::exception.
class Reader {
 public:
  explicit Reader(TableFile& file) : file_(file), table_(file.table) {}

  std::string read(const Json& json) {
    std::string problem =
        unknown_field(json, {"architectures", "in_every_pass", "slots", "sets", "formulas",
                             "counters", "derived", "aliases", "sources"});
    if (problem.empty()) problem = read_siblings(json.at("architectures"));
    if (problem.empty()) problem = read_counters(json.at("counters"), json.at("slots"));
    if (problem.empty()) problem = read_derived(json.at("derived"));
    for (const Json& group : json.at("aliases"))
      if (problem.empty()) problem = read_aliases(group);
    if (problem.empty()) problem = read_sets(json);
    if (problem.empty())
      for (const Json& formula : json.at("formulas"))
        if (problem = read_formula_entry(formula); !problem.empty()) break;
    if (problem.empty())
      problem = unknown_field(json.at("sources"), {"counters", "derived", "slots", "sets"});
    return problem;
  }

 private:
  std::string read_siblings(const Json& architectures) {
    for (const Json& entry : architectures) {
      if (auto problem = unknown_field(entry, {"gfx", "confirmed", "lacks"}); !problem.empty())
        return problem;
      file_.siblings.push_back(
          {.gfx = entry.at("gfx"), .confirmed = entry.at("confirmed"), .lacks = entry.at("lacks")});
    }
    return file_.siblings.empty() ? "there is no architecture" : "";
  }

  std::string read_counters(const Json& counters, const Json& slots) {
    for (const auto& [block, names] : counters.items())
      for (const std::string name : names) {
        if (!table_.counters.insert(name).second) return fmt::format("{} stands there twice", name);
        add_prefix(name.substr(0, name.find('_')), block);
      }
    for (const auto& [block, count] : slots.items()) {
      if (!count.is_number_unsigned() || count.get<int>() < 1)
        return fmt::format("slots of {} must be a whole number, at least 1", block);
      table_.block_slots.emplace_back(block, count.get<int>());
      add_prefix(block, block);
    }
    return {};
  }

  void add_prefix(const std::string& prefix, const std::string& block) {
    auto& prefixes = table_.block_prefixes;
    if (std::ranges::find(prefixes, prefix, &std::pair<std::string, std::string>::first) ==
        prefixes.end())
      prefixes.emplace_back(prefix, block);
  }

  std::string read_derived(const Json& derived) {
    for (const auto& [name, inputs] : derived.items()) {
      table_.derived.insert(name);
      for (const std::string input : inputs)
        if (!table_.has_counter(input))
          return fmt::format("{} is computed from {}, which is not known", name, input);
      table_.derived_inputs.emplace(name, inputs);
    }
    return {};
  }

  /// Names that a tool had for counters of the table at some time.
  std::string read_aliases(const Json& group) {
    if (auto problem = unknown_field(group, {"tool", "since", "until", "names", "sources"});
        !problem.empty())
      return problem;
    for (const auto& [other, counter] : group.at("names").items()) {
      if (!table_.counters.contains(counter.get<std::string>()))
        return fmt::format("{} is said to be another name of {}, which is not known", other,
                           counter.get<std::string>());
      if (table_.knows(other))
        return fmt::format("{} is said to be another name, but stands among the names", other);
      const CounterAlias alias{.counter = counter,
                               .tool = group.at("tool"),
                               .since = group.at("since"),
                               .until = group.at("until"),
                               .sources = group.at("sources")};
      if (!table_.aliases.emplace(other, alias).second)
        return fmt::format("{} stands there twice", other);
    }
    return {};
  }

  std::string read_sets(const Json& json) {
    table_.in_every_pass = json.at("in_every_pass");
    for (const Json& set : json.at("sets")) {
      std::vector<std::string> counters{table_.in_every_pass};
      for (const std::string name : set) counters.push_back(name);
      for (const std::string& name : counters)
        if (!table_.knows(name)) return fmt::format("{} stands in a set, but is not known", name);
      if (const std::string block = overfull_block(table_, counters); !block.empty())
        return fmt::format("the set with {} has too many counters of {}", counters.at(1), block);
      table_.sets.push_back(std::move(counters));
    }
    return {};
  }

  std::string read_formula_entry(const Json& json) {
    if (auto problem = unknown_field(
            json, {"name", "label", "unit", "rule", "formula", "note", "doubt", "sources"});
        !problem.empty())
      return problem;
    CounterFormula formula;
    formula.name = json.at("name");
    formula.label = json.at("label");
    formula.unit = json.at("unit");
    formula.note = json.value("note", "");
    formula.doubt = json.value("doubt", "");
    formula.sources = json.at("sources");
    const std::string rule = json.at("rule");
    if (rule != "work" && rule != "time")
      return fmt::format("rule of {} must be work or time", formula.name);
    formula.rule = rule == "work" ? CounterRule::work : CounterRule::time;
    if (table_.find(formula.name) != nullptr)
      return fmt::format("{} stands there twice", formula.name);
    const Json& texts = json.at("formula");
    for (const Json& text : texts.is_string() ? Json::array({texts}) : texts)
      if (std::string problem = add_alternative(text, formula); !problem.empty()) return problem;
    if (formula.alternatives.empty()) return fmt::format("{} has no formula", formula.name);
    table_.formulas.push_back(std::move(formula));
    return {};
  }

  std::string add_alternative(const std::string& text, CounterFormula& formula) {
    Result<FormulaText> parsed = read_formula(text);
    if (!parsed) return fmt::format("{}: {}", formula.name, parsed.error().message);
    for (const std::string& name : parsed->counters)
      if (!table_.knows(name))
        return fmt::format("{} needs {}, which is not known", formula.name, name);
    formula.alternatives.push_back(std::move(*parsed));
    return {};
  }

  TableFile& file_;
  CounterTable& table_;
};

/// The table of one architecture: without what it lacks, and what cannot be computed without that.
CounterTable table_of(const TableFile& file, const Sibling& sibling) {
  CounterTable table = file.table;
  table.gfx = sibling.gfx;
  table.confirmed = sibling.confirmed;
  for (const std::string& name : sibling.lacks) {
    table.counters.erase(name);
    table.derived.erase(name);
    table.derived_inputs.erase(name);
    std::erase_if(table.aliases, [&](const auto& entry) { return entry.second.counter == name; });
    for (CounterFormula& formula : table.formulas)
      std::erase_if(formula.alternatives, [&](const FormulaText& text) {
        return std::ranges::find(text.counters, name) != text.counters.end();
      });
    for (std::vector<std::string>& set : table.sets) std::erase(set, name);
  }
  std::erase_if(table.formulas,
                [](const CounterFormula& formula) { return formula.alternatives.empty(); });
  return table;
}

}  // namespace

Result<std::vector<CounterTable>> parse_counter_tables(std::string_view text,
                                                       std::string_view what) {
  PERFLAB_TRY(const Json json, parse_json(text, what));
  TableFile file;
  std::string problem;
  try {
    problem = Reader(file).read(json);
  } catch (const Json::exception& error) {
    problem = error.what();
  }
  if (!problem.empty())
    return fail(ErrorCode::bad_input, fmt::format("{} is no counter table: {}", what, problem));
  std::vector<CounterTable> tables;
  for (const Sibling& sibling : file.siblings) tables.push_back(table_of(file, sibling));
  return tables;
}

}  // namespace perflab::hal
