// The file, its outermost object, and simdjson's errors in our words.
#include "trace/rocprofv3_json/read_rocprofv3_json.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/system/gzip.h"
#include "trace/rank_variables.h"
#include "trace/rocprofv3_json/json_recording.h"

namespace perflab::trace::rocprofv3_json {
namespace {

/// Bytes of JSON per correlation id, at least: a call is about 200.
constexpr std::size_t kBytesPerCall = 64;

/// What simdjson can index.
constexpr std::size_t kMostBytes = 0xFFFF'FFFF - simdjson::SIMDJSON_PADDING;

[[nodiscard]] std::unexpected<Error> damaged(const std::string& name, simdjson::error_code error) {
  std::string_view what = "is not JSON, or only a part of it";
  if (error == simdjson::EMPTY) what = "is empty";
  if (error == simdjson::UTF8_ERROR) what = "is not JSON: it holds bytes that are not UTF-8";
  if (error == simdjson::MEMALLOC) what = "does not fit into memory";
  if (error == simdjson::CAPACITY) what = "is larger than 4 GiB";
  if (error == simdjson::DEPTH_ERROR) what = "is nested too deeply";
  return fail(ErrorCode::bad_input, fmt::format("{}: {}", name, what),
              "give the file as rocprofv3 wrote it; one that was cut off has to be recorded again");
}

/// What a byte is outside of texts.
enum class Mark : std::uint8_t {
  scalar,
  space,
  quote,
  open_object,
  open_array,
  close_object,
  close_array,
  comma,
  colon,
  backslash,
};

constexpr std::array<Mark, 256> kMarks = [] {
  std::array<Mark, 256> marks{};
  for (const char space : {' ', '\n', '\r', '\t'})
    marks[static_cast<unsigned char>(space)] = Mark::space;
  marks['"'] = Mark::quote;
  marks['{'] = Mark::open_object;
  marks['['] = Mark::open_array;
  marks['}'] = Mark::close_object;
  marks[']'] = Mark::close_array;
  marks[','] = Mark::comma;
  marks[':'] = Mark::colon;
  marks['\\'] = Mark::backslash;
  return marks;
}();

Mark mark_of(char c) {
  return kMarks[static_cast<unsigned char>(c)];
}

/// The quote that ends the text which began before `at`; null: none does.
const char* end_of_text(const char* at, const char* end) {
  while (true) {
    at = static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
    if (at == nullptr) return nullptr;
    const char* before = at;
    while (before[-1] == '\\') --before;  // the quote in front of the text ends this
    if ((at - before) % 2 == 0) return at;
    ++at;
  }
}

/// Whether brackets, commas, colons and keys stand where JSON has them. simdjson's on-demand
/// lookups take that for granted once an object was walked over: what is damaged must not come to
/// them. Values are checked where they are read. A space must stand behind the text's end. A loop
/// over a table: a quarter of the time in which simdjson makes its DOM (bench/README.md).
bool is_well_formed(const char* at, std::size_t size) {
  constexpr std::size_t kDeepest = 512;
  enum Next : std::uint8_t { value, value_or_end, key, key_or_end, colon, comma_or_end };
  const char* const end = at + size;
  std::array<Mark, kDeepest + 1> open{};  // brackets that are open, from the second place on
  std::size_t depth = 0;
  Next next = value;
  for (;; ++at) {
    const Mark mark = mark_of(*at);
    switch (mark) {
      case Mark::space:
        if (at >= end) return depth == 0 && next == comma_or_end;
        break;
      case Mark::quote:
        if (next == colon || next == comma_or_end) return false;
        at = end_of_text(at + 1, end);
        if (at == nullptr) return false;
        next = next == key || next == key_or_end ? colon : comma_or_end;
        break;
      case Mark::open_object:
      case Mark::open_array:
        if (next > value_or_end || depth == kDeepest) return false;
        open[++depth] = mark;
        next = mark == Mark::open_object ? key_or_end : value_or_end;
        break;
      case Mark::close_object:
        if (open[depth] != Mark::open_object || (next != comma_or_end && next != key_or_end))
          return false;
        --depth;
        next = comma_or_end;
        break;
      case Mark::close_array:
        if (open[depth] != Mark::open_array || (next != comma_or_end && next != value_or_end))
          return false;
        --depth;
        next = comma_or_end;
        break;
      case Mark::comma:
        if (next != comma_or_end || depth == 0) return false;
        next = open[depth] == Mark::open_object ? key : value;
        break;
      case Mark::colon:
        if (next != colon) return false;
        next = value;
        break;
      case Mark::scalar:
        if (next > value_or_end) return false;
        while (mark_of(at[1]) == Mark::scalar) ++at;
        next = comma_or_end;
        break;
      case Mark::backslash:
        return false;
    }
  }
}

}  // namespace

Result<void> load_text(LoadState& state, std::string text, const std::string& name,
                       const ReadOptions& options) {
  if (text.size() > kMostBytes) return damaged(name, simdjson::CAPACITY);
  if (options.progress) options.progress("reading " + name, 0);
  const std::size_t size = text.size();
  text.append(simdjson::SIMDJSON_PADDING, ' ');
  if (size > 0 && !is_well_formed(text.data(), size)) return damaged(name, simdjson::TAPE_ERROR);
  od::parser parser;
  od::document document;
  od::object root;
  od::array recordings;
  const simdjson::padded_string_view view(text.data(), size, text.size());
  if (const auto error = parser.iterate(view).get(document)) return damaged(name, error);
  if (const auto error = document.get_object().get(root))
    return error == simdjson::INCORRECT_TYPE
               ? fail(ErrorCode::bad_input, fmt::format("{}: its JSON is no object", name))
               : Result<void>(damaged(name, error));
  if (const auto error = root.find_field_unordered(kRootKey).get_array().get(recordings)) {
    if (error != simdjson::NO_SUCH_FIELD && error != simdjson::INCORRECT_TYPE)
      return damaged(name, error);
    return fail(ErrorCode::bad_input,
                fmt::format("{}: has no list \"{}\": is no output of rocprofv3", name, kRootKey));
  }
  Cursor cursor;
  std::size_t number = 0;
  const std::size_t before = state.trace.processes.size();
  Result<void> done;
  cursor.each(recordings, [&](od::object& object) {
    if (!done) return;
    JsonRecording recording(state, cursor, name, size / kBytesPerCall);
    done = recording.load(object, number++);
  });
  if (cursor.damaged()) return damaged(name, cursor.damage());
  PERFLAB_TRY_VOID(std::move(done));
  if (number == 0) return fail(ErrorCode::bad_input, fmt::format("{}: holds no recording", name));
  // The form has no environment. A name is that of one process.
  if (state.trace.processes.size() == before + 1)
    state.trace.processes[before].rank = rank_of_name(name);
  return {};
}

Result<void> load(LoadState& state, const std::filesystem::path& path, const ReadOptions& options) {
  PERFLAB_TRY(std::string text, read_maybe_gzip(path, kMostBytes));
  return load_text(state, std::move(text), path.string(), options);
}

}  // namespace perflab::trace::rocprofv3_json
