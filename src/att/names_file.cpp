// filenames.json: what was traced and which files there are; and the names of wave files
// themselves, for folders without it (docs/facts/thread_trace.md "Other files").
#include <algorithm>

#include "att/json_file.h"
#include "att/parse.h"
#include "att/rows.h"

namespace perflab::att {
namespace {

/// A number from 0 on that a key of an object is; nullopt: it is none, or too large for one.
std::optional<int> small_key(std::string_view key) {
  const auto number = whole_number(key);
  if (!number || !is_small(*number)) return std::nullopt;
  return static_cast<int>(*number);
}

/// Goes down the four levels of "wave_filenames": engine, SIMD, slot, id.
class WaveNames {
 public:
  explicit WaveNames(ThreadTrace& trace) : trace_(trace) {}

  void take(const dom::object& engines) { go_down(engines, 0); }

 private:
  void go_down(const dom::object& level, std::size_t depth) {
    for (const dom::key_value_pair field : level) {
      const auto number = depth == 0 ? engine_number(field.key) : small_key(field.key);
      if (!number) {
        count_drop(trace_.dropped, kNamesDropped);
        continue;
      }
      at_.at(depth) = *number;
      if (field.value.is_null()) continue;
      if (depth + 1 == at_.size()) {
        take_entry(field.value);
        continue;
      }
      dom::object below;
      if (field.value.get(below) == simdjson::SUCCESS)
        go_down(below, depth + 1);
      else
        count_drop(trace_.dropped, kNamesDropped);
    }
  }

  /// [file, begin, end]
  void take_entry(const dom::element& entry) {
    dom::array fields;
    std::string_view name;
    if (entry.get(fields) != simdjson::SUCCESS || fields.at(0).get(name) != simdjson::SUCCESS)
      return count_drop(trace_.dropped, kNamesDropped);
    if (!is_plain_name(name)) return count_drop(trace_.dropped, kNameRefused);
    trace_.waves.push_back(
        {.shader_engine = at_[0], .cu = -1, .simd = at_[1], .slot = at_[2], .id = at_[3]});
    trace_.wave_files.emplace_back(name);
  }

  ThreadTrace& trace_;
  std::array<int, 4> at_{};
};

}  // namespace

bool is_plain_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

std::optional<WavePlace> wave_place_of(std::string_view file_name) {
  constexpr std::string_view kEnd = ".json";
  if (!file_name.ends_with(kEnd)) return std::nullopt;
  std::string_view rest = file_name.substr(0, file_name.size() - kEnd.size());
  WavePlace place{.shader_engine = 0, .cu = -1, .simd = 0, .slot = 0, .id = 0};
  // From the back, because "se" is in no other part.
  for (const auto& [prefix, number] : {std::pair{std::string_view("_wv"), &place.id},
                                       std::pair{std::string_view("_sl"), &place.slot},
                                       std::pair{std::string_view("_sm"), &place.simd},
                                       std::pair{std::string_view("se"), &place.shader_engine}}) {
    const std::size_t at = rest.rfind(prefix);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view digits = rest.substr(at + prefix.size());
    const auto found = prefix == "se" ? engine_number(digits) : small_key(digits);
    if (!found) return std::nullopt;
    *number = *found;
    rest = rest.substr(0, at);
  }
  if (!rest.empty()) return std::nullopt;
  return place;
}

void take_version(const dom::object& root, ThreadTrace& trace) {
  std::string_view version;
  if (trace.version.empty() && root["version"].get(version) == simdjson::SUCCESS)
    trace.version = version;
}

Result<void> take_names(const dom::object& root, std::string_view file, ThreadTrace& trace) {
  take_version(root, trace);
  std::int64_t gfxip = 0;
  if (root["gfxip"].get(gfxip) == simdjson::SUCCESS && gfxip > 0 && is_small(gfxip))
    trace.gfxip = static_cast<int>(gfxip);
  PERFLAB_TRY_VOID(for_each_in(root, "counter_names", file, [&](const dom::element& element) {
    // A name that is none keeps its place: samples refer to it.
    std::string_view name;
    trace.counter_names.emplace_back(element.get(name) == simdjson::SUCCESS ? name : "");
  }));
  PERFLAB_TRY(const auto waves, object_at(root, "wave_filenames", file));
  if (waves) WaveNames(trace).take(*waves);
  return {};
}

}  // namespace perflab::att
