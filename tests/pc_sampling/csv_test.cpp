// The CSV against the JSON of the same samples, quotes inside texts, and what is odd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "pc_sampling/csv_row.h"
#include "pc_sampling/dom_reader.h"
#include "pc_sampling/pc_checks.h"

namespace perflab::pc_sampling {
namespace {

using testing::HasSubstr;

constexpr std::string_view kHeader =
    R"("Sample_Timestamp","Exec_Mask","Dispatch_Id","Instruction","Instruction_Comment",)"
    R"("Correlation_Id")";

std::string table(std::string_view rows) {
  return std::string(kHeader) + "\n" + std::string(rows);
}

TEST(PcCsv, SameAsTheJson) {
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    test::PcRun run = faulty_run(seed);
    run.stochastic = seed % 4 != 0;
    run.kernel_trace = seed % 3 != 0;
    // Quotes and commas in texts are written as they are.
    run.kernels[0].instructions[3].comment = R"(/a "b", c/"x","y".cpp:3 -> d "e":4)";
    run.kernels[1].instructions[1].comment = R"(ends with a quote")";
    if (seed % 2 == 0) run.agents.push_back({.handle = 55, .arch = "gfx90a"});
    const PcSamples json = good(try_json(json_of({run})));
    const PcSamples csv = good(try_csv(csv_of(run), tables_of(run)));
    EXPECT_EQ(test::csv_lines_of(csv), test::csv_lines_of(json)) << "seed " << seed;
    EXPECT_EQ(csv.counts.no_code_object, json.counts.no_code_object);
    EXPECT_EQ(csv.counts.undecoded, json.counts.undecoded + json.counts.index_out_of_range);
    EXPECT_EQ(csv.counts.dispatch_unknown, json.counts.dispatch_unknown);
    EXPECT_EQ(csv.counts.dispatch_unrecorded, json.counts.dispatch_unrecorded);
    EXPECT_TRUE(csv.hardware.empty() && csv.workgroup.empty() && csv.arbiter_issue.empty());
  }
}

TEST(PcCsv, TextsWithCommasAndQuotes) {
  const PcSamples samples =
      good(try_csv(table("5,18446744073709551615,1,"
                         R"("v_mad_u64_u32 v[0:1], s[2:3], v0","",1)"
                         "\n4,1,1,"
                         R"("s_nop 0","a "b", "c":3",1)"
                         "\r\n3,1,1,"
                         R"("s_nop 0","as ""RFC"" has it, too",1)"
                         "\n\n2,1,2,s_endpgm,k.cpp:4,1")));
  ASSERT_EQ(samples.size(), 4U);
  EXPECT_EQ(samples.exec_mask[0], ~0ULL);
  EXPECT_EQ(samples.pcs[0].instruction, "v_mad_u64_u32 v[0:1], s[2:3], v0");
  EXPECT_EQ(samples.pcs[1].source_line, R"(a "b", "c":3)");
  EXPECT_EQ(samples.pcs[2].source_line, R"(as "RFC" has it, too)");
  EXPECT_EQ(samples.pcs[3].instruction, "s_endpgm");
  EXPECT_EQ(samples.timestamp, (std::vector<std::uint64_t>{5, 4, 3, 2}));
  EXPECT_EQ(samples.counts.dropped, 0U);
}

TEST(PcCsv, PlacesInNoCodeObject) {
  const PcSamples samples = good(try_csv(
      table("1,1,1,\"\",\"Unrecognized code object id, physical virtual address of PC:4096\",1\n"
            "2,1,1,\"\",\"\",1\n")));
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples.counts.no_code_object, 1U);
  EXPECT_EQ(samples.counts.undecoded, 1U);
  EXPECT_EQ(samples.pcs[0].offset, 4096U);
  EXPECT_FALSE(samples.pcs[0].decoded);
  EXPECT_TRUE(samples.pcs[0].source_line.empty());
  EXPECT_FALSE(samples.pcs[1].offset);
}

TEST(PcCsv, RowsThatAreNoneAreDropped) {
  const PcSamples samples =
      good(try_csv(table("x,1,1,\"a\",\"b\",1\n"                     // no number
                         "1,-1,1,\"a\",\"b\",1\n"                    // negative
                         "1,1.5,1,\"a\",\"b\",1\n"                   // a fraction
                         "1,18446744073709551616,1,\"a\",\"b\",1\n"  // 65 bits
                         "1,1,1,\"a\"\n"                             // too few
                         "1,1,1,\"a\",\"b\",1,2\n"                   // too many
                         "1,1,1,\"a\",\"b\",1\n"
                         "1,1,1,\"a\",\"b")));  // cut off
  EXPECT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples.counts.dropped, 7U);
}

TEST(PcCsv, NamesThatAreNotKnown) {
  const PcSamples samples =
      good(try_csv(std::string(kHeader) +
                   ",Wave_Issued_Instruction,Instruction_Type,Stall_Reason,Wave_Count\n"
                   "1,1,1,\"a\",\"b\",1,0,\"X\",\"Y\",300\n"));
  EXPECT_EQ(samples.counts.unknown_type, 1U);
  EXPECT_EQ(samples.counts.unknown_reason, 1U);
  EXPECT_EQ(samples.counts.value_out_of_range, 1U);
  EXPECT_EQ(samples.wave_count[0], 255);
  EXPECT_EQ(samples.stall(0), StallKind::unknown);
}

TEST(PcCsv, OtherTables) {
  EXPECT_EQ(message_of(try_csv("")), "a.csv: is empty");
  EXPECT_EQ(message_of(try_csv("\"Kind\",\"Agent_Id\"\n1,2\n")),
            "a.csv: is no table of PC samples");
  EXPECT_EQ(message_of(try_csv("Sample_Timestamp,Exec_Mask,Dispatch_Id,Instruction\n")),
            "a.csv: has no column Instruction_Comment");
  EXPECT_EQ(message_of(try_csv(std::string(kHeader) + ",Wave_Issued_Instruction\n")),
            "a.csv: has no column Instruction_Type");
  EXPECT_THAT(message_of(try_csv(table(std::string(3'000'000, 'x')))),
              HasSubstr("is longer than 1 MiB"));
  EXPECT_EQ(method_of_header(kHeader), Method::host_trap);
}

TEST(PcCsv, AgentsByTheirKind) {
  TablesBeside beside;
  beside.agent_info =
      "Logical_Node_Id,Agent_Type,Name,Product_Name\n0,CPU,c,c\n3,GPU,gfx942,a\n4,GPU,gfx942,b\n";
  beside.kernel_trace =
      "Agent_Id,Dispatch_Id,Kernel_Id,Kernel_Name,Start_Timestamp,End_Timestamp\n"
      "GPU 1,1,7,\"k(int, int)\",10,20\nAgent 3,2,7,\"k(int, int)\",30,40\nGPU 9,3,7,k,50,60\n"
      "Agent 3,4,7,k,60,50\n";
  const PcSamples samples = good(
      try_csv(table("1,1,1,\"a\",\"b\",1\n1,1,2,\"a\",\"b\",1\n1,1,3,\"a\",\"b\",1\n"), beside));
  EXPECT_EQ(samples.agents[samples.agent_of(0)].product, "b");
  EXPECT_EQ(samples.agents[samples.agent_of(1)].product, "a");
  EXPECT_EQ(samples.agent_of(2), kNone);
  EXPECT_EQ(samples.kernels[samples.kernel_of(0)].name, "k(int, int)");
  EXPECT_EQ(samples.counts.malformed_rows, 1U);  // ends before it begins
}

TEST(PcCsv, Rows) {
  CsvRow row(3, 1);
  EXPECT_TRUE(row.split(R"(1,"a","b")"));
  EXPECT_TRUE(row.split(R"(1,"a"",","b")"));  // a comment that begins with a comma and a quote
  EXPECT_EQ(row[1], R"(a",)");
  EXPECT_FALSE(row.split(R"(1,"a")"));
  EXPECT_FALSE(row.split(R"(1,"a","b)"));
  EXPECT_FALSE(row.split(""));
  EXPECT_EQ(csv_header("\"a,b\",c"), (std::vector<std::string>{"a,b", "c"}));
}

}  // namespace
}  // namespace perflab::pc_sampling
