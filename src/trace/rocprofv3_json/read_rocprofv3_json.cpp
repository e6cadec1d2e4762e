// The file, its outermost object, and simdjson's errors in our words.
#include "trace/rocprofv3_json/read_rocprofv3_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/system/packed.h"
#include "base/text/json_scan.h"
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

/// Whether brackets, commas, colons and keys stand where JSON has them. simdjson's on-demand
/// lookups take that for granted once an object was walked over: what is damaged must not come to
/// them. Values are checked where they are read. Two spaces must stand behind the text's end.
bool is_well_formed(const char* at, std::size_t size) {
  const char* const end = at + size;
  const char* const behind = scan_json_value(at, end + 1).end;
  return behind != nullptr && std::all_of(behind, end, is_json_space);
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
  JsonCursor cursor;
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
  PERFLAB_TRY(std::string text, read_maybe_packed(path, kMostBytes));
  return load_text(state, std::move(text), path.string(), options);
}

}  // namespace perflab::trace::rocprofv3_json
