// One element of rocprofiler-sdk-tool: a process's recording. The order matters: names, agents and
// symbols first, then the records that name them; the parser finds each section wherever it stands.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/text/json.h"
#include "base/text/json_cursor.h"
#include "trace/load_state.h"
#include "trace/recording_rows.h"

namespace perflab::trace::rocprofv3_json {

/// Names of a kind of records and of its operations, by id.
struct KindNames {
  Index kind = 0;                 ///< strings
  std::vector<Index> operations;  ///< strings
};

/// Reads everything of one recording. Use once.
class JsonRecording {
 public:
  JsonRecording(LoadState& state, JsonCursor& cursor, const std::string& file,
                std::size_t expected_calls)
      : state_(state),
        trace_(state.trace),
        cursor_(cursor),
        file_(file),
        expected_calls_(expected_calls) {}

  /// `number`: of the recording in its file. Errors (bad_input) name the file.
  Result<void> load(od::object& recording, std::size_t number);

 private:
  // json_recording.cpp
  Result<void> start_recording(od::object& recording, std::size_t number);
  Result<std::optional<Json>> section(od::object& recording, std::string_view key);
  Result<void> load_agents(od::object& recording);
  Result<void> load_counter_infos(od::object& recording);
  Result<void> load_names(od::object& strings);
  void load_messages(od::object& strings);
  void load_code_objects(od::object& recording);
  void load_kernel_symbols(od::object& recording);
  // records.cpp
  void load_counters(od::object& callbacks);
  void load_records(od::object& buffers);
  void load_dispatches(od::array& records);
  void load_calls(od::array& records);
  void load_call(od::object& record);
  void load_copies(od::array& records);
  void load_allocations(od::array& records);
  bool read_dispatch(od::object& record, DispatchRow& row);
  bool read_dispatch_info(od::object& record, DispatchRow& row);
  bool read_times(od::object& record, std::int64_t& start, std::int64_t& end);
  /// The operation's name; nullopt: the file does not name it.
  std::optional<Index> operation_of(od::object& record, const KindNames*& kind);
  [[nodiscard]] Index agent_of(std::optional<std::uint64_t> handle) const;
  std::optional<std::int64_t> thread_in(od::object& record);

  LoadState& state_;
  Trace& trace_;
  JsonCursor& cursor_;
  const std::string& file_;
  std::size_t expected_calls_;
  std::optional<RecordingRows> rows_;
  Index node_ = kNone;
  std::vector<KindNames> kinds_;
  std::unordered_map<std::uint64_t, Index> agents_, code_objects_, counters_;
  std::unordered_map<std::uint64_t, std::string> messages_;  ///< of ranges, by correlation id
  std::vector<NamedArgument> arguments_;                     ///< of the call that is read
};

}  // namespace perflab::trace::rocprofv3_json
