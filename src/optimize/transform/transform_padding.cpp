// Padding of shared arrays against bank conflicts: with rows that are a multiple of all banks,
// elements of one column lie in one bank, and the work-items of a wave that read a column queue up
// for it (banks: TransformFacts::lds_banks, 4 bytes wide; "LDS bank conflicts" of AMD's ISA
// guides).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "optimize/transform/transform_parts.h"

namespace perflab::optimize {
namespace {

constexpr std::int64_t kBankBytes = 4;

std::optional<std::int64_t> bytes_of(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 14> kBytes{{
      {"char", 1},
      {"signed char", 1},
      {"unsigned char", 1},
      {"short", 2},
      {"unsigned short", 2},
      {"_Float16", 2},
      {"__half", 2},
      {"int", 4},
      {"unsigned int", 4},
      {"float", 4},
      {"long", 8},
      {"unsigned long", 8},
      {"double", 8},
      {"bool", 1},
  }};
  const auto* const found =
      std::ranges::find(kBytes, type, &std::pair<std::string_view, std::int64_t>::first);
  if (found == kBytes.end()) return {};
  return found->second;
}

using LaneNames = std::set<std::string, std::less<>>;

/// Whether the value differs from lane to lane of a wave: made of threadIdx.x or of such a name,
/// but for what a division makes the same for neighbours.
bool depends_on_lane(std::span<const CodeWord> words, const LaneNames& names) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::size_t next = i + 1;
    if (words[i].is("threadIdx")) {
      if (i + 2 >= words.size() || !words[i + 2].is("x")) continue;
      next = i + 3;
    } else if (!names.contains(words[i].text)) {
      continue;
    }
    const bool divided = next < words.size() && (words[next].is("/") || words[next].is(">>"));
    if (!divided) return true;
  }
  return false;
}

LaneNames lane_names(const CodeWords& words) {
  LaneNames names;
  for (bool grew = true; grew;) {
    grew = false;
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
      if (!words[i].is("=") || words[i - 1].kind != CodeWord::Kind::name) continue;
      std::size_t end = i + 1;
      while (end < words.size() && !words[end].is(";") && !words[end].is(",")) ++end;
      if (depends_on_lane(std::span(words).subspan(i + 1, end - i - 1), names))
        grew = names.emplace(words[i - 1].text).second || grew;
    }
  }
  return names;
}

/// How the array is used: every use an element, and a column of it read by the lanes of a wave.
struct ArrayUses {
  bool only_elements = true, by_column = false;
};

ArrayUses uses_of(const TransformList& list, const SharedArray& array) {
  ArrayUses uses;
  const CodeWords words = code_words(list.model.text, list.kernel.body);
  const auto lanes = lane_names(words);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const CodeWord& word = words[i];
    if (word.kind != CodeWord::Kind::name || !word.is(array.name) || is_member(words, i)) continue;
    const std::span<const CodeWord> all(words);
    const auto first =
        i + 1 < words.size() && words[i + 1].is("[") ? closing_bracket(all, i + 1) : std::nullopt;
    const auto second = first && *first + 1 < words.size() && words[*first + 1].is("[")
                            ? closing_bracket(all, *first + 1)
                            : std::nullopt;
    const bool is_declaration =
        array.declaration.begin <= word.begin && word.begin < array.declaration.end;
    if (is_declaration) continue;
    const bool address = i > 0 && words[i - 1].is("&") && is_unary(words, i - 1);
    const bool measured = i > 1 && (words[i - 1].is("sizeof") || words[i - 2].is("sizeof"));
    if (!second || address || measured) {
      uses.only_elements = false;
      continue;
    }
    const auto row = all.subspan(i + 2, *first - i - 2);
    const auto column = all.subspan(*first + 2, *second - *first - 2);
    if (depends_on_lane(row, lanes) && !depends_on_lane(column, lanes)) uses.by_column = true;
  }
  return uses;
}

}  // namespace

void add_padding(TransformList& list) {
  for (const SharedArray& array : list.kernel.shared_arrays) {
    if (array.dimensions.size() != 2) continue;
    const std::string id = fmt::format("pad-lds:{}", array.name);
    const auto bytes = bytes_of(array.element_type);
    const ArrayUses uses = uses_of(list, array);
    const std::int64_t row_of_banks = list.facts.lds_banks * kBankBytes;
    std::optional<Objection> objection;
    if (list.facts.host)
      objection = {"host", "a host's memory has no banks"};
    else if (array.dynamic)
      objection = {"dynamic_shared_memory", "the launch decides its size"};
    else if (!array.last_dimension || !array.dimensions[1])
      objection = {"size", "the text does not show how long its rows are"};
    else if (!bytes)
      objection = {"element_type",
                   fmt::format("the size of a {} is not known", array.element_type)};
    else if (row_of_banks <= 0 || *array.dimensions[1] * *bytes % row_of_banks != 0)
      objection = {"no_conflict", fmt::format("its rows of {} bytes do not begin in the same bank",
                                              *array.dimensions[1] * *bytes)};
    else if (!uses.only_elements)
      objection = {"escapes", "it is used otherwise than element by element"};
    else if (!uses.by_column)
      objection = {"no_column_access", "no access is seen in which lanes read a column"};
    if (objection) {
      list.forbid(id, *objection);
      continue;
    }
    list.offer(Promise::padding, id,
               fmt::format("pad the rows of {} by one element against bank conflicts", array.name),
               replaced(list.model.text, *array.last_dimension,
                        fmt::format("({}) + 1", list.model.at(*array.last_dimension))));
  }
}

}  // namespace perflab::optimize
