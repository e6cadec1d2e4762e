// JSON of a kernel's counters and figures; field names are those of schemas/roofline.schema.json.
#include "report/roofline/roofline_json.h"

#include <algorithm>

#include "hal/counter_catalogue.h"
#include "report/kit/document.h"

namespace perflab::report {

const std::string& FigureWriter::note_of(const std::string& architecture,
                                         const analyze::Figure& figure) {
  const auto [note, added] = notes_.try_emplace({architecture, figure.name}, figure.note);
  if (!added) return note->second;
  const hal::CounterTable* const table = hal::find_counter_table(architecture);
  const hal::CounterFormula* const formula = table == nullptr ? nullptr : table->find(figure.name);
  if (formula != nullptr) note->second = formula->note;
  Json rule = nullptr;
  if (formula != nullptr) rule = formula->rule == hal::CounterRule::work ? "work" : "time";
  formulas_.push_back({{"architecture", or_null(architecture)},
                       {"name", figure.name},
                       {"label", figure.label},
                       {"unit", figure.unit},
                       {"rule", std::move(rule)},
                       {"note", or_null(note->second)}});
  return note->second;
}

Json FigureWriter::figure(const std::string& architecture, const analyze::Figure& figure) {
  // A note that is not the formula's is of this figure: how it was concluded without its counters.
  const std::string& note = note_of(architecture, figure);
  const bool concluded = figure.reason.empty() && figure.note != note;
  Json out = object_with_room(10);
  out["name"] = figure.name;
  out["value"] = or_null(figure.value);
  out["unit"] = figure.unit;
  out["state"] = analyze::to_string(figure.state);
  out["formula"] = or_null(figure.formula);
  out["passes"] = figure.passes;
  out["dispatches"] = figure.dispatches;
  out["across_passes"] = or_null(figure.across_passes);
  out["reason"] = or_null(concluded ? figure.note : figure.reason);
  out["remedy"] = or_null(figure.remedy);
  return out;
}

Json ceiling_json(const analyze::Ceiling& ceiling) {
  return {{"value", or_null(ceiling.value)},
          {"unit", ceiling.unit},
          {"from", ceiling.value ? or_null(ceiling.from) : Json(nullptr)},
          {"formula", or_null(ceiling.formula)},
          {"unconfirmed", ceiling.unconfirmed},
          {"reason", or_null(ceiling.reason)}};
}

Json counter_json(const analyze::CounterValue& counter) {
  Json out = object_with_room(12);
  out["name"] = counter.name;
  out["state"] = analyze::to_string(counter.state);
  out["pass"] = or_null(counter.pass);
  out["derived"] = counter.derived;
  out["dispatches"] = counter.dispatches;
  out["mean"] = or_null(counter.mean);
  out["min"] = or_null(counter.min);
  out["max"] = or_null(counter.max);
  out["instances"] = counter.instances;
  out["instance_min"] = or_null(counter.instance_min);
  out["instance_max"] = or_null(counter.instance_max);
  out["reason"] = or_null(counter.reason);
  return out;
}

Json FigureWriter::groups(const std::string& architecture,
                          const std::vector<analyze::Figure>& figures) {
  std::vector<std::string> names;
  std::vector<Json> groups;
  for (const analyze::Figure& one : figures) {
    const std::string group = one.name.substr(0, one.name.find('.'));
    auto at = static_cast<std::size_t>(std::ranges::find(names, group) - names.begin());
    if (at == names.size()) {
      names.push_back(group);
      groups.emplace_back(Json::array());
    }
    groups[at].push_back(figure(architecture, one));
  }
  Json out = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i)
    out.push_back({{"group", names[i]}, {"figures", std::move(groups[i])}});
  return out;
}

const analyze::Figure* find_feature(const analyze::KernelRoofline& kernel, std::string_view name) {
  const auto found = std::ranges::find(kernel.features, name, &analyze::Figure::name);
  return found == kernel.features.end() ? nullptr : &*found;
}

void MissingReasons::is_null(std::string field, std::initializer_list<std::string> names,
                             const std::string& otherwise) {
  for (const std::string& name : names) {
    const auto entry = std::ranges::find(kernel_.missing, name, &Missing::field);
    if (entry == kernel_.missing.end()) continue;
    used_.insert(name);
    fields_.push_back(
        {.field = std::move(field), .reason = entry->reason, .remedy = entry->remedy});
    return;
  }
  fields_.push_back({.field = std::move(field), .reason = otherwise, .remedy = ""});
}

std::vector<Missing> MissingReasons::all() const {
  std::vector<Missing> out = fields_;
  for (const Missing& entry : kernel_.missing)
    if (!used_.contains(entry.field) &&
        std::ranges::find(out, entry.field, &Missing::field) == out.end())
      out.push_back(entry);
  return out;
}

}  // namespace perflab::report
