// Values made small, in steps: every step allows fewer rows, members and bytes of a text, the last
// ones no depth either.
#include "mcp/shortened.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/text/json_pointer.h"

namespace perflab::mcp {
namespace {

struct Step {
  std::size_t rows, text, members, depth;
};
constexpr std::size_t kAnyDepth = 1000;
constexpr std::array<Step, 14> kSteps{{{3000, 60'000, 3000, kAnyDepth},
                                       {1000, 20'000, 1000, kAnyDepth},
                                       {300, 6000, 300, kAnyDepth},
                                       {100, 2000, 200, kAnyDepth},
                                       {30, 1000, 100, kAnyDepth},
                                       {10, 500, 100, kAnyDepth},
                                       {5, 400, 60, kAnyDepth},
                                       {2, 300, 60, kAnyDepth},
                                       {1, 200, 60, kAnyDepth},
                                       {2, 200, 60, 4},
                                       {2, 150, 60, 3},
                                       {1, 100, 60, 3},
                                       {0, 100, 60, 2},
                                       {0, 60, 60, 1}}};
constexpr std::size_t kLongestName = 200;   // weight of the name of a member
constexpr std::size_t kLongestPlace = 600;  // weight of a place in a list of cuts

/// What values weigh at least, until they weigh too much: documents are long, and nobody needs the
/// exact weight of one that is far too long.
class LeastWeight {
 public:
  explicit LeastWeight(std::size_t most) : left_(most) {}
  /// Adds a value without those in it, and the name that it has in an object.
  void add(const Json& value, std::size_t name_bytes) {
    const std::size_t text =
        value.is_string() ? value.get_ref<const std::string&>().size() + 2 : std::size_t{1};
    const std::size_t least = 2 * (text + name_bytes);
    exceeded_ = exceeded_ || least > left_;
    left_ -= std::min(least, left_);
  }
  [[nodiscard]] bool exceeded() const { return exceeded_; }

 private:
  std::size_t left_;
  bool exceeded_ = false;
};

void add_all(const Json& value, std::size_t name_bytes, LeastWeight& weight) {
  weight.add(value, name_bytes);
  if (value.is_object())
    for (auto one = value.begin(); one != value.end() && !weight.exceeded(); ++one)
      add_all(*one, one.key().size() + 3, weight);
  if (value.is_array())
    for (auto one = value.begin(); one != value.end() && !weight.exceeded(); ++one)
      add_all(*one, 0, weight);
}

bool fits(const Json& value, std::size_t most_weight) {
  LeastWeight least(most_weight);
  add_all(value, 0, least);
  return !least.exceeded() && weight(value) <= most_weight;
}

void add_cut(Json& cuts, const std::string& place, std::size_t kept, std::size_t of) {
  // Only a made-up document has such a place.
  if (weight(Json(place)) > kLongestPlace) return;
  cuts.push_back({{"section", place.empty() ? "/" : place}, {"kept", kept}, {"of", of}});
}

/// Stops, with a part of it, when that is too heavy already.
Json cut_copy(const Json& value, const Step& step, const std::string& place, std::size_t depth,
              Json& cuts, LeastWeight& least) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const std::size_t kept = utf8_cut(text, step.text);
    if (kept < text.size()) add_cut(cuts, place, kept, text.size());
    Json out = text.substr(0, kept);
    least.add(out, 0);
    return out;
  }
  least.add(nullptr, 0);
  if (value.is_array()) {
    const std::size_t kept = depth < step.depth ? std::min(value.size(), step.rows) : 0;
    if (kept < value.size()) add_cut(cuts, place, kept, value.size());
    Json out = Json::array();
    for (std::size_t i = 0; i < kept && !least.exceeded(); ++i)
      out.push_back(
          cut_copy(value[i], step, fmt::format("{}/{}", place, i), depth + 1, cuts, least));
    return out;
  }
  if (!value.is_object()) return value;
  const std::size_t most = depth < step.depth ? step.members : 0;
  Json out = Json::object();
  for (const auto& [name, item] : value.items()) {
    if (out.size() == most || least.exceeded()) break;
    if (weight(Json(name)) > kLongestName) continue;
    out[name] = cut_copy(item, step, place + "/" + pointer_token(name), depth + 1, cuts, least);
  }
  if (out.size() < value.size()) add_cut(cuts, place, out.size(), value.size());
  return out;
}

}  // namespace

std::size_t weight(const Json& value) {
  const std::string line = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto escapes = std::ranges::count_if(line, [](char c) { return c == '"' || c == '\\'; });
  return 2 * line.size() + static_cast<std::size_t>(escapes);
}

Shortened shortened(const Json& value, const std::string& place, std::size_t most_weight) {
  if (fits(value, most_weight)) return {.value = value};
  Shortened out;
  for (const Step& step : kSteps) {
    LeastWeight least(most_weight);
    out.cuts = Json::array();
    out.value = cut_copy(value, step, place, 0, out.cuts, least);
    out.all_members = !value.is_object() || out.value.size() == value.size();
    if (!least.exceeded() && weight(out.value) + weight(out.cuts) <= most_weight) return out;
  }
  LeastWeight any(std::numeric_limits<std::size_t>::max());
  out.cuts = Json::array();
  out.value = cut_copy(value, {0, 0, 0, 0}, place, 0, out.cuts, any);
  out.all_members = !value.is_object() || value.empty();
  return out;
}

Json outermost_arrays_cut(const Json& value, std::size_t most, const std::string& place,
                          Json& cuts) {
  if (value.is_array() && value.size() > most) {
    add_cut(cuts, place, most, value.size());
    return Json(Json::array_t(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(most)));
  }
  if (!value.is_object()) return value;
  Json out = Json::object();
  for (const auto& [name, item] : value.items())
    out[name] = outermost_arrays_cut(item, most, place + "/" + pointer_token(name), cuts);
  return out;
}

void merge_cuts(Json& cuts, Json later) {
  for (Json& cut : later) {
    const auto before = std::ranges::find_if(
        cuts, [&](const Json& one) { return one["section"] == cut["section"]; });
    if (before == cuts.end())
      cuts.push_back(std::move(cut));
    else
      (*before)["kept"] = cut["kept"];
  }
}

std::size_t utf8_cut(std::string_view text, std::size_t size) {
  if (size >= text.size()) return text.size();
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) --size;
  return size;
}

std::size_t utf8_next(std::string_view text) {
  std::size_t size = std::min<std::size_t>(text.size(), 1);
  while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xc0U) == 0x80U) ++size;
  return size;
}

}  // namespace perflab::mcp
