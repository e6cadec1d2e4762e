// JSON of a kernel's counters and figures; field names are those of schemas/roofline.schema.json.
#include "report/roofline_json.h"

#include <algorithm>

#include "report/document.h"

namespace perflab::report {

Json figure_json(const analyze::Figure& figure) {
  return {{"name", figure.name},
          {"label", figure.label},
          {"value", or_null(figure.value)},
          {"unit", figure.unit},
          {"state", analyze::to_string(figure.state)},
          {"formula", or_null(figure.formula)},
          {"passes", figure.passes},
          {"dispatches", figure.dispatches},
          {"across_passes", or_null(figure.across_passes)},
          {"note", or_null(figure.note)},
          {"reason", or_null(figure.reason)},
          {"remedy", or_null(figure.remedy)}};
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
  return {{"name", counter.name},
          {"state", analyze::to_string(counter.state)},
          {"pass", or_null(counter.pass)},
          {"derived", counter.derived},
          {"dispatches", counter.dispatches},
          {"mean", or_null(counter.mean)},
          {"min", or_null(counter.min)},
          {"max", or_null(counter.max)},
          {"instances", counter.instances},
          {"instance_min", or_null(counter.instance_min)},
          {"instance_max", or_null(counter.instance_max)},
          {"reason", or_null(counter.reason)}};
}

Json feature_groups_json(const std::vector<analyze::Figure>& features) {
  std::vector<std::string> names;
  std::vector<Json> groups;
  for (const analyze::Figure& figure : features) {
    const std::string group = figure.name.substr(0, figure.name.find('.'));
    auto at = static_cast<std::size_t>(std::ranges::find(names, group) - names.begin());
    if (at == names.size()) {
      names.push_back(group);
      groups.emplace_back(Json::array());
    }
    groups[at].push_back(figure_json(figure));
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
    const auto entry = std::ranges::find(kernel_.missing, name, &analyze::Missing::field);
    if (entry == kernel_.missing.end()) continue;
    used_.insert(name);
    fields_.push_back(
        {.field = std::move(field), .reason = entry->reason, .remedy = entry->remedy});
    return;
  }
  fields_.push_back({.field = std::move(field), .reason = otherwise, .remedy = ""});
}

std::vector<analyze::Missing> MissingReasons::all() const {
  std::vector<analyze::Missing> out = fields_;
  for (const analyze::Missing& entry : kernel_.missing)
    if (!used_.contains(entry.field) &&
        std::ranges::find(out, entry.field, &analyze::Missing::field) == out.end())
      out.push_back(entry);
  return out;
}

}  // namespace perflab::report
