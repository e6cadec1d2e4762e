// Names, and what follows from the outcomes of all cases.
#include "doctor/self_test/test_outcome.h"

#include <algorithm>
#include <array>

#include "base/enum_names.h"
#include "base/error.h"

namespace perflab::doctor {
namespace {

constexpr std::size_t kMostFound = 400;

/// Whether the value has every member of `wanted`, or is it.
bool has_all(const Json& value, const Json& wanted) {
  if (!wanted.is_object()) return value == wanted;
  if (!value.is_object()) return false;
  return std::ranges::all_of(wanted.items(), [&](const auto& member) {
    const auto found = value.find(member.key());
    return found != value.end() && has_all(*found, member.value());
  });
}

const Json* field_of(const FieldCheck& check, const Json& document) {
  const Json::json_pointer pointer(check.field);
  return document.contains(pointer) ? &document.at(pointer) : nullptr;
}

}  // namespace

std::string_view to_string(Relation relation) {
  using enum Relation;
  static constexpr auto kNames = enum_names<Relation>({{equal, "equal"},
                                                       {differs, "differs"},
                                                       {at_least, "at_least"},
                                                       {contains, "contains"},
                                                       {lacks, "lacks"}});
  return kNames[relation];
}

std::string_view to_string(AddressMode mode) {
  return mode == AddressMode::usual ? "usual" : "reserved";
}

std::string_view to_string(TestOutcome outcome) {
  using enum TestOutcome;
  static constexpr auto kNames =
      enum_names<TestOutcome>({{held, "held"}, {failed, "failed"}, {skipped, "skipped"}});
  return kNames[outcome];
}

std::string_view to_string(TestReason reason) {
  using enum TestReason;
  static constexpr auto kNames = enum_names<TestReason>({{no_device, "no_device"},
                                                         {no_compiler, "no_compiler"},
                                                         {does_not_compile, "does_not_compile"},
                                                         {part_missing, "part_missing"},
                                                         {not_here, "not_here"},
                                                         {fails_alone, "fails_alone"},
                                                         {undecided, "undecided"},
                                                         {time_budget, "time_budget"},
                                                         {cannot_start, "cannot_start"},
                                                         {timed_out, "timed_out"},
                                                         {wrong_end, "wrong_end"},
                                                         {no_document, "no_document"},
                                                         {wrong_document, "wrong_document"}});
  return kNames[reason];
}

bool holds(const FieldCheck& check, const Json& document) {
  const Json* const field = field_of(check, document);
  if (field == nullptr) return check.relation == Relation::lacks;
  const auto has_wanted = [&](const Json& element) { return has_all(element, check.value); };
  switch (check.relation) {
    case Relation::equal:
      return *field == check.value;
    case Relation::differs:
      return *field != check.value;
    case Relation::at_least:
      return field->is_number() && field->get<double>() >= check.value.get<double>();
    case Relation::contains:
      return field->is_array() && std::ranges::any_of(*field, has_wanted);
    case Relation::lacks:
      return !field->is_array() || std::ranges::none_of(*field, has_wanted);
  }
  return false;
}

std::string found_text(const FieldCheck& check, const Json& document) {
  const Json* field = field_of(check, document);
  if (field == nullptr) return "nothing";
  // What should not be there is what is of interest.
  if (check.relation == Relation::lacks && field->is_array())
    for (const Json& element : *field)
      if (has_all(element, check.value)) field = &element;
  std::string text = field->dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kMostFound) text = text.substr(0, kMostFound) + " ...";
  return text;
}

std::size_t SelfTest::count(TestOutcome outcome) const {
  return static_cast<std::size_t>(std::ranges::count(runs, outcome, &CaseRun::outcome));
}

int SelfTest::exit_code() const {
  if (count(TestOutcome::failed) > 0) return perflab::exit_code(ErrorCode::refused);
  return count(TestOutcome::held) > 0 ? 0 : perflab::exit_code(ErrorCode::missing_tool);
}

}  // namespace perflab::doctor
