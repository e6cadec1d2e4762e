// Reasons of nulls.
#include "report/kit/null_reasons.h"

#include <algorithm>

#include "report/kit/document.h"

namespace perflab::report {

const Missing* NullReasons::find(std::initializer_list<std::string_view> names) const {
  for (const std::string_view name : names)
    if (const auto entry = std::ranges::find(known_, name, &Missing::field); entry != known_.end())
      return &*entry;
  return nullptr;
}

Json NullReasons::null(std::string field, std::initializer_list<std::string_view> names,
                       std::string_view otherwise) {
  const Missing* entry = find({field});
  if (entry == nullptr) entry = find(names);
  if (entry != nullptr)
    fields_.push_back(
        {.field = std::move(field), .reason = entry->reason, .remedy = entry->remedy});
  else
    fields_.push_back({.field = std::move(field), .reason = std::string(otherwise), .remedy = {}});
  return nullptr;
}

Json NullReasons::null(std::string field, const Missing& why) {
  fields_.push_back({.field = std::move(field), .reason = why.reason, .remedy = why.remedy});
  return nullptr;
}

Json NullReasons::text(std::string field, const std::string& value, std::string_view otherwise) {
  return value.empty() ? null(std::move(field), {}, otherwise) : Json(value);
}

Json NullReasons::json() const {
  return missing_json(fields_);
}

}  // namespace perflab::report
