// Fuzzes the readers of PC samples. The first byte says which: an odd one the JSON, with a window
// of as many bytes times 16, an even one the CSV; of a CSV a NUL byte parts the tables kernel_trace
// and agent_info from it. One error of the kind "bad input", or columns that fit together.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "check_rows.h"
#include "pc_sampling/json_window.h"
#include "pc_sampling/read_csv.h"
#include "pc_sampling/read_json.h"

namespace {

using namespace perflab;
using namespace perflab::pc_sampling;

bool is_row_or_none(Index row, std::size_t rows) {
  return row == kNone || row < rows;
}

template <class Column>
void check_column(const Column& column, const PcSamples& samples) {
  PERFLAB_CHECK(column.empty() || column.size() == samples.size());
}

void check_samples(const PcSamples& samples) {
  check_column(samples.source, samples);
  check_column(samples.dispatch, samples);
  check_column(samples.timestamp, samples);
  check_column(samples.exec_mask, samples);
  check_column(samples.hardware, samples);
  check_column(samples.workgroup, samples);
  check_column(samples.wave_in_group, samples);
  check_column(samples.flags, samples);
  check_column(samples.type, samples);
  check_column(samples.reason, samples);
  check_column(samples.wave_count, samples);
  check_column(samples.arbiter_issue, samples);
  check_column(samples.arbiter_stall, samples);
  check_column(samples.memory_counters, samples);
  for (std::size_t row = 0; row < samples.size(); ++row) {
    PERFLAB_CHECK(samples.source[row] < samples.sources.size());
    PERFLAB_CHECK(samples.pc[row] < samples.pcs.size());
    PERFLAB_CHECK(is_row_or_none(samples.dispatch[row], samples.dispatches.size()));
    PERFLAB_CHECK(samples.reason.empty() || samples.reason[row] < samples.reasons.size());
    PERFLAB_CHECK(is_row_or_none(samples.kernel_of(row), samples.kernels.size()));
    PERFLAB_CHECK(is_row_or_none(samples.agent_of(row), samples.agents.size()));
    static_cast<void>(samples.stall(row));
  }
  for (const Pc& pc : samples.pcs) {
    PERFLAB_CHECK(is_row_or_none(pc.code_object, samples.code_objects.size()));
    PERFLAB_CHECK(pc.decoded || pc.instruction.empty());
  }
  for (const Kernel& kernel : samples.kernels)
    PERFLAB_CHECK(is_row_or_none(kernel.code_object, samples.code_objects.size()));
}

perflab::Result<void> read_json_text(std::string_view text, std::size_t room, PcSamples& samples) {
  JsonWindow window(bytes_of_text(text), "a.json", room);
  return read_json(window, 0, samples);
}

perflab::Result<void> read_csv_texts(std::string_view text, PcSamples& samples) {
  std::array<std::string_view, 3> parts;
  for (std::string_view& part : parts) {
    part = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  TablesBeside beside;
  if (!parts[1].empty()) beside.kernel_trace = parts[1];
  if (!parts[2].empty()) beside.agent_info = parts[2];
  Lines lines(bytes_of_text(parts[0]), "a.csv");
  return read_csv(lines, 0, beside, samples);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  PcSamples samples;
  const auto done = data[0] % 2 == 1 ? read_json_text(text, std::size_t{16} * data[0], samples)
                                     : read_csv_texts(text, samples);
  if (done)
    check_samples(samples);
  else
    perflab::fuzz::check_bad_input(done.error());
  return 0;
}
