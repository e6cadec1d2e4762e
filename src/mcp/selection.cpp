// A part is made in three steps: the place is looked up, elements about other kernels are left out,
// and what remains is cut into a page that fits.
#include "mcp/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "base/text/json_fields.h"
#include "base/text/json_pointer.h"
#include "base/text/numbers.h"
#include "mcp/shortened.h"

namespace perflab::mcp {
namespace {

constexpr std::array<std::string_view, 4> kArguments{"section", "kernel", "top", "offset"};
// Weights: both are repeated in the call of the next page.
constexpr std::size_t kLongestSection = 800, kLongestKernel = 2400;
constexpr std::size_t kLongestKey = 200;  // weight of a member's name
constexpr std::size_t kMostNames = 40;    // in an error
constexpr std::string_view kEllipsis = "…";

std::string shown(std::string_view text) {
  return std::string(text.substr(0, utf8_cut(text, 80)));
}

/// What can be asked for at a place.
std::string choices_at(const Json& value, const std::string& place) {
  if (value.is_array())
    return value.empty() ? fmt::format("{} is an empty array", place)
                         : fmt::format("one of: {0}/0 to {0}/{1}", place, value.size() - 1);
  if (!value.is_object()) return fmt::format("{} has no parts; ask for it alone", place);
  std::vector<std::string> names;
  for (const auto& [name, item] : value.items()) {
    if (names.size() == kMostNames) break;
    if (weight(Json(name)) <= kLongestKey) names.push_back(place + "/" + pointer_token(name));
  }
  return fmt::format("one of: {}", fmt::join(names, ", "));
}

/// A token of a pointer as the name that it stands for.
std::string member_name(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escaped =
        token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1');
    out += !escaped ? token[i] : token[++i] == '0' ? '~' : '/';
  }
  return out;
}

const Json* child(const Json& value, std::string_view token) {
  if (value.is_object()) return member(value, member_name(token));
  const auto index = whole_number<std::size_t>(token);
  if (!value.is_array() || !index || *index >= value.size()) return nullptr;
  return token.size() > 1 && token.front() == '0' ? nullptr : &value[*index];
}

Result<const Json*> place_in(const Json& document, const std::string& pointer) {
  const Json* at = &document;
  for (std::size_t begin = 0; begin < pointer.size();) {
    const std::size_t end = std::min(pointer.find('/', begin + 1), pointer.size());
    const Json* const next =
        child(*at, std::string_view(pointer).substr(begin + 1, end - begin - 1));
    if (next == nullptr)
      return fail(ErrorCode::usage, fmt::format("the document has no section '{}'", shown(pointer)),
                  choices_at(*at, pointer.substr(0, begin)));
    at = next;
    begin = end;
  }
  return at;
}

/// The names of the kernel that an element of the array `of` is about.
std::vector<std::string> kernel_names(const Json& element, std::string_view of) {
  std::vector<std::string> names;
  const auto add = [&](const Json& object, std::string_view key) {
    if (auto name = member_as<std::string>(object, key)) names.push_back(std::move(*name));
  };
  constexpr std::array<std::string_view, 5> kNames{"name", "demangled", "mangled_name", "display",
                                                   "symbol"};
  add(element, "kernel");
  if (const Json* const kernel = member(element, "kernel"))
    for (const std::string_view key : kNames) add(*kernel, key);
  if (of == "kernels")
    for (const std::string_view key : kNames) add(element, key);
  return names;
}

/// Whether a kernel's name contains the text. Summaries cut long names around a "…", which stands
/// for anything.
bool name_contains(std::string_view name, std::string_view text) {
  while (true) {
    const std::string_view part = text.substr(0, text.find(kEllipsis));
    const std::size_t at = name.find(part);
    if (at == std::string_view::npos) return false;
    if (part.size() == text.size()) return true;
    name.remove_prefix(at + part.size());
    text.remove_prefix(part.size() + kEllipsis.size());
  }
}

struct Match {
  std::string section;
  const Json* value;
  bool exact;
};

/// Elements of arrays of kernels in a value, in its order; not those within one.
void find_kernels(const Json& value, const std::string& place, std::string_view own_name,
                  const std::string& kernel, std::vector<Match>& found) {
  if (value.is_object())
    for (const auto& [name, item] : value.items())
      find_kernels(item, place + "/" + pointer_token(name), name, kernel, found);
  if (!value.is_array()) return;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const std::string here = fmt::format("{}/{}", place, i);
    const std::vector<std::string> names = kernel_names(value[i], own_name);
    if (names.empty()) {
      find_kernels(value[i], here, own_name, kernel, found);
      continue;
    }
    const bool exact = std::ranges::find(names, kernel) != names.end();
    if (exact || std::ranges::any_of(
                     names, [&](const std::string& name) { return name_contains(name, kernel); }))
      found.push_back({here, &value[i], exact});
  }
}

Result<Json> kernels_in(const Json& value, const Selection& selection) {
  const std::string_view own_name =
      std::string_view(selection.section).substr(selection.section.rfind('/') + 1);
  std::vector<Match> found;
  find_kernels(value, selection.section, own_name, selection.kernel, found);
  if (std::ranges::any_of(found, &Match::exact))
    std::erase_if(found, [](const Match& one) { return !one.exact; });
  if (found.empty()) {
    std::vector<Match> all;
    find_kernels(value, selection.section, own_name, "", all);
    return fail(ErrorCode::usage,
                fmt::format("nothing here is about a kernel '{}'", shown(selection.kernel)),
                all.empty() ? "leave out kernel: this section has no kernels"
                            : "kernel is a name or a part of one; section kernels has the names");
  }
  Json out = Json::array();
  for (const Match& one : found) out.push_back({{"section", one.section}, {"value", *one.value}});
  return out;
}

/// What a page is made with.
struct Page {
  Json value;
  std::size_t rows = 0, of = 0;
  Json cuts = Json::array();
};

Page array_page(const Json& all, const Selection& selection, std::size_t room) {
  Page page{.value = Json::array(), .of = all.size()};
  const std::size_t most = selection.top.value_or(std::numeric_limits<std::size_t>::max());
  std::size_t used = 0;
  for (std::size_t i = selection.offset; i < all.size() && page.rows < most; ++i) {
    used += weight(all[i]) + 2;
    if (used > room) break;
    page.value.push_back(all[i]);
    ++page.rows;
  }
  if (page.rows > 0 || selection.offset >= all.size() || most == 0) return page;
  const Json& row = all[selection.offset];
  const bool found = !selection.kernel.empty();  // a row of kernels_in() says where it is from
  Shortened one =
      found ? shortened(row["value"], row["section"].get<std::string>(),
                        room - std::min(room, weight(row["section"]) + 60))
            : shortened(row, fmt::format("{}/{}", selection.section, selection.offset), room);
  page.value.push_back(found ? Json{{"section", row["section"]}, {"value", std::move(one.value)}}
                             : std::move(one.value));
  page.cuts = std::move(one.cuts);
  page.rows = 1;
  return page;
}

/// Members from the offset on, each cut to its shell where it is large.
Page member_page(const Json& all, const Selection& selection, std::size_t room) {
  Page page{.value = Json::object(), .of = all.size()};
  std::size_t used = 0, at = 0;
  for (const auto& [name, item] : all.items()) {
    if (at++ < selection.offset) continue;
    std::string key = name;
    while (weight(Json(key)) > kLongestKey) key.resize(utf8_cut(key, key.size() * 3 / 4));
    const std::string place = selection.section + "/" + pointer_token(key);
    Shortened one = shortened(item, place, std::min(room / 8, room - std::min(used, room)));
    used += weight(Json(key)) + weight(one.value) + weight(one.cuts);
    if (used > room && page.rows > 0) break;
    page.value[key] = std::move(one.value);
    for (Json& cut : one.cuts) page.cuts.push_back(std::move(cut));
    ++page.rows;
  }
  return page;
}

Page text_page(const std::string& all, const Selection& selection, std::size_t room) {
  const std::string_view rest = std::string_view(all).substr(selection.offset);
  std::size_t size = utf8_cut(rest, std::min(room, selection.top.value_or(room)));
  while (size > 0 && weight(Json(rest.substr(0, size))) > room) size = utf8_cut(rest, size * 3 / 4);
  // A page has something in it, or there would be no next one.
  if (size == 0) size = utf8_next(rest);
  return {.value = rest.substr(0, size), .rows = size, .of = all.size()};
}

/// An object, or the page of what else there is.
Page page_of(const Json& value, const Selection& selection, std::size_t room) {
  if (value.is_array()) return array_page(value, selection, room);
  if (value.is_string()) return text_page(value.get_ref<const std::string&>(), selection, room);
  if (!value.is_object()) return {.value = value, .rows = 1, .of = 1};
  if (selection.offset == 0) {
    Json cuts = Json::array();
    Json whole = value;
    if (selection.top) whole = outermost_arrays_cut(value, *selection.top, selection.section, cuts);
    if (Shortened part = shortened(whole, selection.section, room - std::min(room, weight(cuts)));
        part.all_members) {
      merge_cuts(cuts, std::move(part.cuts));
      return {.value = std::move(part.value),
              .rows = value.size(),
              .of = value.size(),
              .cuts = std::move(cuts)};
    }
  }
  return member_page(value, selection, room);
}

Result<std::size_t> count_of(const Json& value, const char* name, std::size_t least) {
  const auto count = value_as<std::size_t>(value);
  const auto number = value_as<double>(value);
  if (count && *count >= least) return *count;
  // Some clients send every number as a double.
  if (number && *number >= static_cast<double>(least) && *number < 1e15 &&
      static_cast<double>(static_cast<std::size_t>(*number)) == *number)
    return static_cast<std::size_t>(*number);
  return fail(ErrorCode::usage,
              fmt::format("argument '{}' has to be a whole number from {} on", name, least));
}

Result<std::string> text_of_argument(const Json& value, const char* name, std::size_t most_weight) {
  auto text = value_as<std::string>(value);
  if (!text) return fail(ErrorCode::usage, fmt::format("argument '{}' has to be a string", name));
  if (weight(value) > most_weight)
    return fail(ErrorCode::usage, fmt::format("argument '{}' is too long", name),
                fmt::format("give at most {} characters of it", most_weight / 2 - 2));
  return std::move(*text);
}

/// Whether a character begins at that byte.
bool begins_at(const std::string& text, std::size_t at) {
  return utf8_cut(text, at) == at;
}

}  // namespace

bool Selection::asks() const {
  return !document.empty() || !section.empty() || !kernel.empty() || top || offset > 0;
}

bool is_selection_argument(std::string_view name) {
  return std::ranges::find(kArguments, name) != kArguments.end();
}

Result<Selection> selection_of(const Json& arguments) {
  Selection out;
  if (const Json* const section = member(arguments, "section")) {
    PERFLAB_TRY(std::string text, text_of_argument(*section, "section", kLongestSection));
    if (const std::size_t end = text.find(".json");
        end != std::string::npos && end > 0 && text.find_first_of("/#") >= end + 5 &&
        (end + 5 == text.size() || text[end + 5] == '#')) {
      out.document = text.substr(0, end);
      text.erase(0, std::min(end + 6, text.size()));
    }
    if (!text.empty() && text.front() == '#') text.erase(0, 1);
    if (!text.empty() && text.front() != '/') text.insert(0, "/");
    if (text == "/") text.clear();  // as answers call the document
    out.section = std::move(text);
  }
  if (const Json* const kernel = member(arguments, "kernel")) {
    PERFLAB_TRY(out.kernel, text_of_argument(*kernel, "kernel", kLongestKernel));
  }
  if (const Json* const top = member(arguments, "top")) {
    PERFLAB_TRY(out.top, count_of(*top, "top", 1));
  }
  if (const Json* const offset = member(arguments, "offset")) {
    PERFLAB_TRY(out.offset, count_of(*offset, "offset", 0));
  }
  return out;
}

Json arguments_of(const Selection& selection) {
  Json out = Json::object();
  if (!selection.document.empty())
    out["section"] = selection.document + ".json#" + selection.section;
  else if (!selection.section.empty())
    out["section"] = selection.section;
  if (!selection.kernel.empty()) out["kernel"] = selection.kernel;
  if (selection.top) out["top"] = *selection.top;
  if (selection.offset > 0) out["offset"] = selection.offset;
  return out;
}

Result<Json> select(const Json& document, const Selection& selection, const Json& call,
                    std::size_t most_weight) {
  PERFLAB_TRY(const Json* const found, place_in(document, selection.section));
  Json matches;
  const Json* value = found;
  if (!selection.kernel.empty()) {
    PERFLAB_TRY(matches, kernels_in(*found, selection));
    value = &matches;
  }
  Selection after = selection;
  after.offset = std::numeric_limits<std::int64_t>::max();  // the longest number that it can be
  Json next = call;
  next["arguments"].update(arguments_of(after));
  Json out = {{"section", selection.section.empty() ? "/" : selection.section}};
  const Json numbers = {{"offset", after.offset},
                        {"rows", after.offset},
                        {"of", after.offset},
                        {"next_offset", after.offset}};
  const std::size_t frame = weight(out) + weight(next) + weight(numbers) + 120;
  PERFLAB_CHECK(most_weight >= kLeastWeight && frame + kLeastWeight / 5 <= most_weight);
  const std::size_t room = most_weight - frame;
  const bool rows = value->is_array() || value->is_object() || value->is_string();
  const std::size_t of = value->is_string() ? value->get_ref<const std::string&>().size()
                         : rows             ? value->size()
                                            : 1;
  if (selection.offset > 0 && selection.offset >= of)
    return fail(ErrorCode::usage, fmt::format("offset {}: there are {} rows", selection.offset, of),
                "offset counts from 0");
  if (selection.offset > 0 && value->is_string() &&
      !begins_at(value->get_ref<const std::string&>(), selection.offset))
    return fail(ErrorCode::usage, fmt::format("offset {} is within a character", selection.offset),
                "take the offset that the page before it names");
  Page page = page_of(*value, selection, room);
  out["value"] = std::move(page.value);
  const std::size_t end = selection.offset + page.rows;
  if (selection.offset > 0 || end < page.of) {
    const bool more = end < page.of;
    out["page"] = {{"offset", selection.offset},
                   {"rows", page.rows},
                   {"of", page.of},
                   {"next_offset", more ? Json(end) : Json(nullptr)}};
    if (more) {
      next["arguments"]["offset"] = end;
      out["next"] = std::move(next);
    }
  }
  if (!page.cuts.empty()) out["cut"] = std::move(page.cuts);
  return out;
}

}  // namespace perflab::mcp
