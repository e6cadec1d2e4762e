// The file of one wave: its instructions, its timeline and what its waits were for
// (docs/facts/thread_trace.md "Wave files"). This is where the time of reading a trace goes.
#include <fmt/format.h>

#include <array>
#include <optional>

#include "att/json_file.h"
#include "att/parse.h"
#include "att/row_lists.h"
#include "att/rows.h"

namespace perflab::att {
namespace {

constexpr std::string_view kInstructions = "instructions", kTimeline = "timeline",
                           kLinks = "waitcnt";

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
    wave_.instructions.clear();
    PERFLAB_TRY_VOID(for_each_in(*wave, kInstructions, file_, [&](const dom::element& element) {
      const auto row = integers<5>(element);
      if (!row || !take_instruction(*row)) count_drop(dropped_, kInstructionDropped);
    }));
    wave_.timeline.clear();
    PERFLAB_TRY_VOID(for_each_in(*wave, kTimeline, file_, [&](const dom::element& element) {
      const auto row = integers<2>(element);
      if (!row || !take_state(*row)) count_drop(dropped_, kTimelineDropped);
    }));
    PERFLAB_TRY_VOID(take_links(*wave));
    return true;
  }

  /// The same with lists that were left out of the text that has this root. False: this is not what
  /// they are of, they hold something else, or there is an error: run() tells which.
  bool run_without(const dom::object& root, std::string_view instructions,
                   std::string_view timeline) {
    dom::object wave;
    if (root["wave"].get(wave) != simdjson::SUCCESS || !is_left_out(wave, kInstructions) ||
        !is_left_out(wave, kTimeline) || !take_times(wave))
      return false;
    wave_.instructions.clear();
    wave_.timeline.clear();
    return for_each_row<5>(instructions,
                           [&](const auto& row, std::size_t count) {
                             if (count < row.size() || !take_instruction(row))
                               count_drop(dropped_, kInstructionDropped);
                           }) &&
           for_each_row<2>(timeline,
                           [&](const auto& row, std::size_t count) {
                             if (count < row.size() || !take_state(row))
                               count_drop(dropped_, kTimelineDropped);
                           }) &&
           take_links(wave).has_value();
  }

 private:
  static bool is_left_out(const dom::object& wave, std::string_view key) {
    constexpr std::string_view kMark =
        JsonFile::kLeftOut.substr(1, JsonFile::kLeftOut.size() - 2);  // its quotes
    std::string_view text;
    return wave[key].get(text) == simdjson::SUCCESS && text == kMark;
  }

  /// Begin, end and CU.
  bool take_times(const dom::object& wave) {
    room_ = states_room_ = kLongestLife;
    if (wave["begin"].get(wave_.begin) != simdjson::SUCCESS ||
        wave["end"].get(wave_.end) != simdjson::SUCCESS || !is_time(wave_.begin) ||
        !is_time(wave_.end) || wave_.end < wave_.begin || wave_.end - wave_.begin > kLongestLife)
      return false;
    std::int64_t cu = 0;
    wave_.place.cu =
        wave["cu"].get(cu) == simdjson::SUCCESS && is_small(cu) ? static_cast<int>(cu) : -1;
    return true;
  }

  bool take_instruction(const std::array<std::int64_t, 5>& row) {
    const auto& [time, category, stall, duration, line] = row;
    if (time < wave_.begin || time > wave_.end || stall < 0 || stall > duration || duration > room_)
      return false;
    room_ -= duration;
    wave_.instructions.push_back({.time = time,
                                  .stall = stall,
                                  .duration = duration,
                                  .row = lines_.row(line),
                                  .category = category_of(category)});
    return true;
  }

  bool take_state(const std::array<std::int64_t, 2>& row) {
    const auto& [state, duration] = row;
    if (state < 0 || state >= std::int64_t{kWaveStates} || duration < 0 || duration > states_room_)
      return false;
    states_room_ -= duration;
    wave_.timeline.push_back({.state = static_cast<WaveState>(state), .duration = duration});
    return true;
  }

  Result<void> take_links(const dom::object& wave) {
    wave_.links.clear();
    wave_.link_targets.clear();
    return for_each_in(wave, kLinks, file_, [&](const dom::element& element) {
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
  std::int64_t room_ = 0, states_room_ = 0;  ///< cycles that rows can still take
};

/// Reads a file that is written as rocprofv3 writes it; false: it is not, in some way.
bool parse_fast(JsonFile& json, WaveParser& parser) {
  const std::string_view text = json.text();
  const std::array lists = {rows_behind(text, "\"instructions\":"),
                            rows_behind(text, "\"timeline\":")};
  if (lists[0].empty() || lists[1].empty() || lists[0].data() > lists[1].data()) return false;
  const std::optional<dom::object> root = json.parse_without(lists);
  return root && parser.run_without(*root, lists[0], lists[1]);
}

}  // namespace

Result<bool> parse_wave(JsonFile& json, const LineTable& lines, Wave& wave, Dropped& dropped) {
  Dropped of_wave;  // of one reading: the other begins anew
  WaveParser fast(lines, json.name(), wave, of_wave);
  if (parse_fast(json, fast)) {
    for (const auto& [reason, count] : of_wave) dropped[reason] += count;
    return true;
  }
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
