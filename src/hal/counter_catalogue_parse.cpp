// Reader of the counter tables.
#include "hal/counter_catalogue_parse.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text/json_fields.h"
#include "hal/counter_formula.h"
#include "hal/counter_table.h"

namespace perflab::hal {
namespace {

/// One architecture of a file, and what it lacks of the file's derived metrics.
struct Sibling {
  std::string gfx;
  bool confirmed = true;
  std::vector<std::string> lacks;
  std::vector<std::string> chips;
  std::map<std::string, std::string, std::less<>> uncounted;
};

struct TableFile {
  std::vector<Sibling> siblings;
  CounterTable table;  ///< what they have in common
};

class Reader {
 public:
  explicit Reader(TableFile& file) : file_(file), table_(file.table) {}

  void read(JsonFields& in) {
    in.each("architectures", [&](JsonFields& entry) {
      Sibling& sibling = file_.siblings.emplace_back();
      entry.read("gfx", sibling.gfx);
      entry.read("confirmed", sibling.confirmed);
      entry.read("lacks", sibling.lacks);
      if (entry.has("chips")) entry.read("chips", sibling.chips);
      if (entry.has("uncounted")) read_words(entry.object("uncounted"), sibling.uncounted);
      entry.refuse_unknown();
    });
    if (file_.siblings.empty()) in.wrong("", "there is no architecture");
    read_profiler(in);
    read_counters(in.object("counters"));
    read_slots(in.object("slots"));
    read_derived(in.object("derived"));
    in.each("aliases", [&](JsonFields& group) { read_aliases(group); });
    read_sets(in);
    in.each("formulas", [&](JsonFields& formula) { read_formula_entry(formula); });
    for (const std::string& name : in.object("sources").names())
      if (name != "counters" && name != "derived" && name != "slots" && name != "sets")
        in.wrong("", fmt::format("sources of {} are not known", name));
    in.refuse_unknown();
  }

 private:
  static void read_words(JsonFields&& in, std::map<std::string, std::string, std::less<>>& words) {
    for (const std::string& name : in.names()) words.emplace(name, in.get<std::string>(name));
  }

  /// What differs between the profilers; left out where it is rocprofv3.
  void read_profiler(JsonFields& in) {
    if (!in.has("profiler")) return;
    if (const auto name = in.get<std::string>("profiler"); name == "cupti")
      table_.profiler = CounterProfiler::cupti;
    else
      in.wrong("", fmt::format("{} is no profiler", name));
    in.read("counts_threads", table_.counts_threads);
    in.read("waves", table_.waves);
    in.read("instructions", table_.instructions);
    in.read("duration", table_.duration);
    read_words(in.object("levels"), table_.level_labels);
    for (const Sibling& sibling : file_.siblings)
      if (sibling.chips.empty())
        in.wrong("", fmt::format("{} has no chip that CUPTI knows", sibling.gfx));
  }

  void read_counters(JsonFields&& in) {
    for (const std::string& block : in.names())
      for (const std::string& name : in.get<std::vector<std::string>>(block)) {
        if (!table_.counters.insert(name).second) in.wrong("", name + " is there twice");
        add_prefix(name.substr(0, name.find('_')), block);
      }
  }

  void read_slots(JsonFields&& in) {
    for (const std::string& block : in.names()) {
      in.read(block, table_.block_slots.emplace_back(block, 0).second, 1);
      add_prefix(block, block);
    }
  }

  void add_prefix(const std::string& prefix, const std::string& block) {
    auto& prefixes = table_.block_prefixes;
    if (std::ranges::find(prefixes, prefix, &std::pair<std::string, std::string>::first) ==
        prefixes.end())
      prefixes.emplace_back(prefix, block);
  }

  void read_derived(JsonFields&& in) {
    for (const std::string& name : in.names()) {
      table_.derived.insert(name);
      const auto inputs = in.get<std::vector<std::string>>(name);
      for (const std::string& input : inputs)
        if (!table_.has_counter(input))
          in.wrong(name, fmt::format("is computed from {}, which is not known", input));
      table_.derived_inputs.emplace(name, inputs);
    }
  }

  /// Names that a tool had for counters of the table at some time.
  void read_aliases(JsonFields& group) {
    const CounterAlias alias{.counter = {},
                             .tool = group.get<std::string>("tool"),
                             .since = group.get<std::string>("since"),
                             .until = group.get<std::string>("until"),
                             .sources = group.get<std::vector<std::string>>("sources")};
    JsonFields names = group.object("names");
    for (const std::string& other : names.names()) {
      const auto counter = names.get<std::string>(other);
      if (!table_.counters.contains(counter))
        names.wrong("", fmt::format("{} is said to be another name of {}, which is not known",
                                    other, counter));
      if (table_.knows(other))
        names.wrong("",
                    fmt::format("{} is said to be another name, but is among the names", other));
      const auto [place, is_new] = table_.aliases.emplace(other, alias);
      if (!is_new) names.wrong("", other + " is there twice");
      place->second.counter = counter;
    }
    group.refuse_unknown();
  }

  void read_sets(JsonFields& in) {
    in.read("in_every_pass", table_.in_every_pass);
    for (const auto& set : in.get<std::vector<std::vector<std::string>>>("sets")) {
      std::vector<std::string> counters{table_.in_every_pass};
      counters.insert(counters.end(), set.begin(), set.end());
      for (const std::string& name : counters)
        if (!table_.knows(name)) in.wrong("", name + " is in a set, but is not known");
      if (const std::string block = overfull_block(table_, counters);
          !block.empty() && table_.profiler == CounterProfiler::rocprofv3)
        in.wrong("", fmt::format("the set with {} has too many counters of {}",
                                 fmt::join(set, ", "), block));
      table_.sets.push_back(std::move(counters));
    }
  }

  void read_formula_entry(JsonFields& in) {
    CounterFormula formula;
    in.read("name", formula.name);
    in.read("label", formula.label);
    in.read("unit", formula.unit);
    if (in.has("note")) in.read("note", formula.note);
    if (in.has("doubt")) in.read("doubt", formula.doubt);
    in.read("sources", formula.sources);
    const auto rule = in.get<std::string>("rule");
    if (rule != "work" && rule != "time")
      in.wrong("", fmt::format("rule of {} must be work or time", formula.name));
    formula.rule = rule == "work" ? CounterRule::work : CounterRule::time;
    if (table_.find(formula.name) != nullptr) in.wrong("", formula.name + " is there twice");
    const Json* const texts = in.find("formula");
    if (texts != nullptr && texts->is_string())
      add_alternative(in, texts->get<std::string>(), formula);
    else
      for (const std::string& text : in.get<std::vector<std::string>>("formula"))
        add_alternative(in, text, formula);
    if (formula.alternatives.empty()) in.wrong("", formula.name + " has no formula");
    in.refuse_unknown();
    table_.formulas.push_back(std::move(formula));
  }

  void add_alternative(JsonFields& in, const std::string& text, CounterFormula& formula) {
    Result<FormulaText> parsed = read_formula(text);
    if (!parsed) return in.wrong("", fmt::format("{}: {}", formula.name, parsed.error().message));
    for (const std::string& name : parsed->counters)
      if (!table_.knows(name))
        in.wrong("", fmt::format("{} needs {}, which is not known", formula.name, name));
    formula.alternatives.push_back(std::move(*parsed));
  }

  TableFile& file_;
  CounterTable& table_;
};

/// The table of one architecture: without what it lacks, and what cannot be computed without that.
CounterTable table_of(const TableFile& file, const Sibling& sibling) {
  CounterTable table = file.table;
  table.gfx = sibling.gfx;
  table.confirmed = sibling.confirmed;
  table.chips = sibling.chips;
  table.uncounted = sibling.uncounted;
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
  std::erase_if(table.formulas, [&](const CounterFormula& formula) {
    return formula.alternatives.empty() || sibling.uncounted.contains(formula.name);
  });
  return table;
}

}  // namespace

Result<std::vector<CounterTable>> parse_counter_tables(std::string_view text,
                                                       std::string_view what) {
  PERFLAB_TRY(const Json json, parse_json(text, what));
  TableFile file;
  JsonFields in(json, fmt::format("{} is not a counter table", what));
  Reader(file).read(in);
  PERFLAB_TRY_VOID(in.result());
  std::vector<CounterTable> tables;
  for (const Sibling& sibling : file.siblings) tables.push_back(table_of(file, sibling));
  return tables;
}

}  // namespace perflab::hal
