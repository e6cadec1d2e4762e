// The file of one wave: its instructions, its timeline and what its waits were for
// (docs/facts/thread_trace.md "Wave files"). This is where the time of reading a trace goes.
#include <fmt/format.h>

#include "att/json_file.h"
#include "att/parse.h"
#include "att/rows.h"

namespace perflab::att {
namespace {

class WaveParser {
 public:
  WaveParser(const LineTable& lines, std::string_view file, Wave& wave, Dropped& dropped)
      : lines_(lines), file_(file), wave_(wave), dropped_(dropped) {}

  Result<bool> run(const dom::object& root) {
    PERFLAB_TRY(const std::optional<dom::object> wave, object_at(root, "wave", file_));
    if (!wave) return fail(ErrorCode::bad_input, fmt::format("{}: has no \"wave\" object", file_));
    if (!take_times(*wave)) {
      count_drop(dropped_, kWaveDropped);
      return false;
    }
    PERFLAB_TRY_VOID(take_instructions(*wave));
    PERFLAB_TRY_VOID(take_timeline(*wave));
    PERFLAB_TRY_VOID(take_links(*wave));
    return true;
  }

 private:
  /// Begin, end and CU.
  bool take_times(const dom::object& wave) {
    if (wave["begin"].get(wave_.begin) != simdjson::SUCCESS ||
        wave["end"].get(wave_.end) != simdjson::SUCCESS || !is_time(wave_.begin) ||
        !is_time(wave_.end) || wave_.end < wave_.begin || wave_.end - wave_.begin > kLongestLife)
      return false;
    std::int64_t cu = 0;
    wave_.place.cu =
        wave["cu"].get(cu) == simdjson::SUCCESS && is_small(cu) ? static_cast<int>(cu) : -1;
    return true;
  }

  Result<void> take_instructions(const dom::object& wave) {
    wave_.instructions.clear();
    std::int64_t room = kLongestLife;
    return for_each_in(wave, "instructions", file_, [&](const dom::element& element) {
      const auto row = integers<5>(element);
      if (!row) return count_drop(dropped_, kInstructionDropped);
      const auto& [time, category, stall, duration, line] = *row;
      if (time < wave_.begin || time > wave_.end || stall < 0 || stall > duration ||
          duration > room)
        return count_drop(dropped_, kInstructionDropped);
      room -= duration;
      wave_.instructions.push_back({.time = time,
                                    .stall = stall,
                                    .duration = duration,
                                    .row = lines_.row(line),
                                    .category = category_of(category)});
    });
  }

  Result<void> take_timeline(const dom::object& wave) {
    wave_.timeline.clear();
    std::int64_t room = kLongestLife;
    return for_each_in(wave, "timeline", file_, [&](const dom::element& element) {
      const auto row = integers<2>(element);
      if (!row) return count_drop(dropped_, kTimelineDropped);
      const auto& [state, duration] = *row;
      if (state < 0 || state >= std::int64_t{kWaveStates} || duration < 0 || duration > room)
        return count_drop(dropped_, kTimelineDropped);
      room -= duration;
      wave_.timeline.push_back({.state = static_cast<WaveState>(state), .duration = duration});
    });
  }

  Result<void> take_links(const dom::object& wave) {
    wave_.links.clear();
    wave_.link_targets.clear();
    return for_each_in(wave, "waitcnt", file_, [&](const dom::element& element) {
      if (!take_link(element)) count_drop(dropped_, kLinkDropped);
    });
  }

  /// [line, [[line it waited for, 0], …]]
  bool take_link(const dom::element& element) {
    dom::array fields;
    if (element.get(fields) != simdjson::SUCCESS) return false;
    auto field = fields.begin();
    std::int64_t line = 0;
    if (!(field != fields.end()) || (*field).get(line) != simdjson::SUCCESS) return false;
    ++field;
    if (!(field != fields.end())) return false;
    const std::size_t before = wave_.link_targets.size();
    if (!(*field).is_null()) {
      dom::array targets;
      if ((*field).get(targets) != simdjson::SUCCESS) return false;
      for (const dom::element target : targets) {
        const auto target_line = integers<1>(target);
        if (!target_line) {
          wave_.link_targets.resize(before);
          return false;
        }
        wave_.link_targets.push_back(lines_.row((*target_line)[0]));
      }
    }
    wave_.links.push_back(
        {.row = lines_.row(line),
         .first = static_cast<std::uint32_t>(before),
         .count = static_cast<std::uint32_t>(wave_.link_targets.size() - before)});
    return true;
  }

  const LineTable& lines_;
  std::string_view file_;
  Wave& wave_;
  Dropped& dropped_;
};

}  // namespace

Result<bool> parse_wave(JsonFile& json, const LineTable& lines, Wave& wave, Dropped& dropped) {
  PERFLAB_TRY(const dom::object root, json.parse());
  return WaveParser(lines, json.name(), wave, dropped).run(root);
}

Result<bool> parse_wave_text(std::string_view text, std::string_view name, const LineTable& lines,
                             Wave& wave, Dropped& dropped) {
  JsonFile json;
  PERFLAB_TRY_VOID(json.assign(text, name));
  return parse_wave(json, lines, wave, dropped);
}

}  // namespace perflab::att
