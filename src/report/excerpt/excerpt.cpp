// Places are found while a summary is made, so a field that a schema renames is missed by the test
// that follows every `from`.
#include "report/excerpt/excerpt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/text/json_pointer.h"

namespace perflab::report {
std::size_t most_columns(std::string_view field) {
  static constexpr std::array<std::string_view, 8> kSentences = {
      "means", "not_captured", "problem", "remedy", "sentence", "victim", "who", "why"};
  return std::ranges::find(kSentences, field) == kSentences.end() ? kMostNameColumns
                                                                  : kMostSentenceColumns;
}

DocumentPlace DocumentPlace::operator[](std::string_view member) const {
  const Json* found = nullptr;
  if (value_ != nullptr && value_->is_object())
    if (const auto at = value_->find(member); at != value_->end()) found = &*at;
  return {document_, found, pointer_ + "/" + pointer_token(member)};
}

DocumentPlace DocumentPlace::operator[](std::size_t index) const {
  const Json* const found = index < size() ? &(*value_)[index] : nullptr;
  return {document_, found, fmt::format("{}/{}", pointer_, index)};
}

std::size_t DocumentPlace::size() const {
  return value_ != nullptr && value_->is_array() ? value_->size() : 0;
}

double DocumentPlace::number(double otherwise) const {
  return value_ != nullptr && value_->is_number() ? value_->get<double>() : otherwise;
}

std::string DocumentPlace::text() const {
  return value_ != nullptr && value_->is_string() ? value_->get<std::string>() : std::string();
}

std::vector<std::string> DocumentPlace::texts() const {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < size(); ++i) out.push_back((*this)[i].text());
  return out;
}

bool DocumentPlace::holds() const {
  return value_ != nullptr && value_->is_boolean() && value_->get<bool>();
}

std::string DocumentPlace::name() const {
  return fmt::format("{}.json#{}", document_ == nullptr ? "" : document_->name, pointer_);
}

Json DocumentPlace::excerpt(std::initializer_list<std::string_view> fields,
                            std::string_view what) const {
  Json out = Json::object();
  if (!what.empty()) out["what"] = what;
  out["from"] = name();
  for (const std::string_view field : fields) {
    PERFLAB_CHECK(field != "from" && field != "what");
    const DocumentPlace member = (*this)[field];
    if (member.value_ == nullptr) continue;
    out[std::string(field)] = *member.value_;
  }
  return out;
}

Json DocumentPlace::count(std::string_view what) const {
  Json out = excerpt({}, what);
  out["elements"] = size();
  return out;
}

std::vector<Json> DocumentPlace::tally(std::string_view where) const {
  const Json::json_pointer place{std::string(where)};
  std::vector<Json> rows;
  for (std::size_t i = 0; i < size(); ++i) {
    const Json& element = (*value_)[i];
    if (!element.contains(place) || element.at(place).is_null()) continue;
    const Json& value = element.at(place);
    const auto row =
        std::ranges::find_if(rows, [&](const Json& one) { return one["is"] == value; });
    if (row != rows.end()) {
      (*row)["elements"] = (*row)["elements"].get<std::size_t>() + 1;
      continue;
    }
    rows.push_back(
        {{"from", name()}, {"where", where}, {"is", value}, {"elements", std::size_t{1}}});
  }
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const Json& row) { return row["elements"].get<std::size_t>(); });
  return rows;
}

DocumentPlace missing_of(const DocumentPlace& document, std::string_view field) {
  const DocumentPlace missing = document["missing"];
  for (std::size_t i = 0; i < missing.size(); ++i)
    if (missing[i]["field"].text() == field) return missing[i];
  return DocumentPlace(nullptr);
}

DocumentPlace document_of(std::span<const NamedDocument> documents, std::string_view name) {
  const auto found = std::ranges::find(documents, name, &NamedDocument::name);
  return DocumentPlace(found == documents.end() ? nullptr : &*found);
}

}  // namespace perflab::report
