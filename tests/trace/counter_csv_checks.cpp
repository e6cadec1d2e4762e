#include "trace/counter_csv_checks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "trace/read/read_trace.h"

namespace perflab::trace {
namespace {

constexpr std::string_view kWideHeader =
    "Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,"
    "Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,Wave_Size,Kernel_Name,Start_Timestamp,"
    "End_Timestamp,Correlation_ID";

}  // namespace

constexpr std::string_view kRocprofHeader =
    "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\","
    "\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\","
    "\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\"Counter_Name\","
    "\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n";

std::string text_of(const RocprofRow& row) {
  return fmt::format(
      "{0},{0},\"{1}\",3,{2},{2},4096,12,\"{3}\",256,512,16,32,4,48,\"{4}\",{5},{6},{7}\n",
      row.dispatch, row.agent, row.pid, row.kernel, row.counter, row.value, row.start,
      row.start + row.length);
}

std::string rocprof_table(const std::vector<RocprofRow>& rows) {
  std::string text(kRocprofHeader);
  for (const RocprofRow& row : rows) text += text_of(row);
  return text;
}

std::string wide_row(int dispatch, std::string_view values, std::string_view kernel, int delay) {
  const int start = 1000 + 100 * dispatch + delay;
  return fmt::format("{},0,1,5,6,1024,64,0,0,4,0,16,64,{},{},{},0{}\n", dispatch, kernel, start,
                     start + 50, values);
}

std::string wide_table(std::string_view counters, const std::vector<std::string>& rows) {
  std::string text = fmt::format("{}{}\n", kWideHeader, counters);
  for (const std::string& row : rows) text += row;
  return text;
}

Sums sums_of(const Trace& trace, std::string_view counter) {
  Sums sums;
  for (std::size_t i = 0; i < trace.counters.size(); ++i)
    if (trace.strings.view(trace.counter_infos[trace.counters.counter[i]].name) == counter)
      sums[trace.dispatches.dispatch_id[trace.counters.dispatch[i]]] += trace.counters.sum[i];
  return sums;
}

Trace CounterCsv::read_paths(const Paths& files) {
  Result<Trace> trace = read(files, {.threads = 1});
  if (trace) return std::move(*trace);
  ADD_FAILURE() << describe(trace.error());
  return {};
}

Error CounterCsv::error_of(const Paths& files) {
  const Result<Trace> trace = read(files, {.threads = 1});
  if (trace) {
    ADD_FAILURE() << files.front() << " was read";
    return {};
  }
  EXPECT_EQ(trace.error().code, ErrorCode::bad_input);
  EXPECT_TRUE(is_one_sentence(trace.error().message)) << trace.error().message;
  return trace.error();
}

std::string CounterCsv::message_of(std::string_view text) {
  const std::filesystem::path path = folder_.write("bad.csv", text);
  const std::string message = error_of({path}).message;
  EXPECT_THAT(message, testing::StartsWith(path.string() + ": "));
  return message.substr(std::min(message.size(), path.string().size() + 2));
}

}  // namespace perflab::trace
