// The JSON against the second reader, in every form, and what is odd in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "pc_sampling/dom_reader.h"
#include "pc_sampling/pc_checks.h"

namespace perflab::pc_sampling {
namespace {

using testing::HasSubstr;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::size_t count_of(std::string_view text, std::string_view what) {
  std::size_t many = 0;
  for (std::size_t at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++many;
  return many;
}

TEST(PcJson, SameAsTheSecondReader) {
  for (std::uint64_t seed = 1; seed <= 16; ++seed) {
    test::PcRun run = faulty_run(seed);
    run.stochastic = seed % 4 != 0;
    run.spaced_key = seed % 2 == 0;
    run.lock_error = seed % 3 == 0;
    run.memory_counters = seed % 5 == 0;
    run.kernel_trace = seed % 7 != 0;
    run.tables_last = seed % 3 == 1;
    const std::string text = json_of({run});
    const PcSamples samples = good(try_json(text));
    EXPECT_EQ(test::lines_of(samples), test::dom_lines(text)) << "seed " << seed;
    EXPECT_EQ(samples.size(), make_pc_samples(run).size());
  }
}

// What is in memory at a time must not matter: windows from one that a sample just fills.
TEST(PcJson, AnyWindow) {
  const std::string text = json_of({faulty_run(3)});
  const std::vector<std::string> expected = test::dom_lines(text);
  for (const std::size_t room : {16U, 700U, 1500U, 1501U, 4096U, 100'000U})
    EXPECT_EQ(test::lines_of(good(try_json(text, room))), expected) << room;
}

TEST(PcJson, SpacesAndOtherOrder) {
  std::string text = json_of({faulty_run(5)});
  const std::vector<std::string> expected = test::dom_lines(text);
  for (const std::string_view mark : {",", ":", "{"})
    replace_all(text, std::string(mark) + "\"", std::string(mark) + " \n\t\r \"");
  replace_all(text, R"({"record")", R"({"later": {"a": [1, "]}"]}, "record")");
  EXPECT_EQ(test::lines_of(good(try_json(text))), expected);
}

TEST(PcJson, EveryElementIsRead) {
  test::PcRun first = faulty_run(1), second = faulty_run(2);
  second.pid = 77;
  second.kernels = {test::pc_matrix_kernel()};
  const std::string text = json_of({first, second});
  const PcSamples samples = good(try_json(text));
  EXPECT_EQ(test::lines_of(samples), test::dom_lines(text));
  ASSERT_EQ(samples.sources.size(), 2U);
  EXPECT_EQ(samples.sources[1].pid, 77);
  EXPECT_EQ(samples.sources[1].element, 1U);
  EXPECT_EQ(samples.sources[0].samples, make_pc_samples(first).size());
  EXPECT_EQ(samples.source.front(), 0U);
  EXPECT_EQ(samples.source.back(), 1U);
  // Ids are those of a process: dispatch 1 of each is another.
  for (std::size_t row = 0; row < samples.size(); ++row)
    if (samples.dispatch[row] != kNone) {
      EXPECT_EQ(samples.dispatches[samples.dispatch[row]].source, samples.source[row]);
    }
}

TEST(PcJson, WhatIsOddIsCountedApart) {
  const test::PcRun run = faulty_run(11);
  const PcSamples samples = good(try_json(json_of({run})));
  Counts expected;
  for (const test::PcMade& made : make_pc_samples(run)) {
    if (made.code_object == 0)
      ++expected.no_code_object;
    else if (made.inst_index < 0)
      ++expected.undecoded;
    else if (made.inst_index > 1000)
      ++expected.index_out_of_range;
    if (made.dispatch_id == 0) ++expected.dispatch_unknown;
  }
  EXPECT_GT(expected.no_code_object, 0U);
  EXPECT_GT(expected.undecoded, 0U);
  EXPECT_GT(expected.index_out_of_range, 0U);
  EXPECT_GT(expected.dispatch_unknown, 0U);
  EXPECT_EQ(samples.counts.no_code_object, expected.no_code_object);
  EXPECT_EQ(samples.counts.undecoded, expected.undecoded);
  EXPECT_EQ(samples.counts.index_out_of_range, expected.index_out_of_range);
  EXPECT_EQ(samples.counts.dispatch_unknown, expected.dispatch_unknown);
  EXPECT_EQ(samples.counts.dispatch_unrecorded, 0U);
  EXPECT_EQ(samples.counts.kernel_disagrees, 0U);
  // Index -1 is no instruction, not the last one.
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const Pc& pc = samples.pcs[samples.pc[row]];
    EXPECT_EQ(pc.decoded, !pc.instruction.empty());
  }
}

TEST(PcJson, NamesThatAreNotKnown) {
  std::string text = json_of({faulty_run(7)});
  replace_all(text, "REASON_WAITCNT", "REASON_TEA_BREAK");
  replace_all(text, "INSTRUCTION_TYPE_MATRIX", "INSTRUCTION_TYPE_TENSOR");
  const PcSamples samples = good(try_json(text));
  EXPECT_EQ(samples.counts.unknown_reason, count_of(text, "TEA_BREAK"));
  EXPECT_EQ(samples.counts.unknown_type, count_of(text, "TENSOR"));
  EXPECT_EQ(samples.counts.unknown_names.at(
                "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_TEA_BREAK"),
            samples.counts.unknown_reason);
  EXPECT_EQ(samples.counts.dropped, 0U);
  const auto unknown = std::ranges::count(samples.type, InstructionType::unknown);
  EXPECT_EQ(static_cast<std::uint64_t>(unknown), samples.counts.unknown_type);
}

// The name "unknown" of the model is none of rocprofv3's.
TEST(PcJson, OurNamesAreNone) {
  EXPECT_EQ(stall_kind_of("ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_unknown"),
            StallKind::unknown);
  EXPECT_EQ(stall_kind_of("ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_long_scoreboard"),
            StallKind::unknown);
  EXPECT_EQ(stall_kind_of("WAITCNT"), StallKind::unknown);
  EXPECT_EQ(instruction_type_of("ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_DUAL_VALU"),
            InstructionType::dual_valu);
}

TEST(PcJson, SamplesThatLackSomethingAreDropped) {
  const std::string whole = json_of({faulty_run(7)});
  const std::size_t all = good(try_json(whole)).size();
  for (const std::string_view key :
       {"exec_mask", "timestamp", "dispatch_id", "wave_issued", "inst_type", "wave_cnt",
        "stall_reason", "hw_id", "wrkgrp_id", "pc", "code_object_offset"}) {
    std::string text = whole;
    // Of the last sample alone.
    const std::size_t at = text.rfind("\"" + std::string(key) + "\"");
    ASSERT_NE(at, std::string::npos) << key;
    text.replace(at + 1, key.size(), "?");
    const PcSamples samples = good(try_json(text));
    EXPECT_EQ(samples.size(), all - 1) << key;
    EXPECT_EQ(samples.counts.dropped, 1U) << key;
  }
  std::string text = whole;
  replace_all(text, R"("wave_cnt":)", R"("wave_cnt":-)");
  EXPECT_EQ(good(try_json(text)).counts.dropped, all);
}

TEST(PcJson, ValuesBeyondTheirTypeAreCounted) {
  std::string text = json_of({faulty_run(7)});
  const std::size_t at = text.rfind("\"chiplet\":") + 10;
  text.insert(at, "99");
  const PcSamples samples = good(try_json(text));
  EXPECT_EQ(samples.counts.value_out_of_range, 1U);
  EXPECT_EQ(samples.hardware.back().xcc, 255);
}

TEST(PcJson, NoDispatchesRecorded) {
  test::PcRun run = faulty_run(9);
  run.kernel_trace = false;
  for (const bool without_key : {false, true}) {
    std::string text = json_of({run});
    if (without_key) replace_all(text, "\"kernel_dispatch\"", "\"nothing\"");
    const PcSamples samples = good(try_json(text));
    EXPECT_FALSE(samples.sources[0].has_dispatches);
    EXPECT_EQ(samples.counts.dispatch_unrecorded + samples.counts.dispatch_unknown, samples.size());
    // The kernel is then that of the code.
    for (std::size_t row = 0; row < samples.size(); ++row)
      if (samples.pcs[samples.pc[row]].code_object != kNone) {
        EXPECT_EQ(samples.kernel_of(row), samples.pcs[samples.pc[row]].kernel);
      }
  }
}

TEST(PcJson, EmptyListsAreNoError) {
  test::PcRun run = faulty_run(1);
  run.until_dispatch = 0;
  const PcSamples samples = good(try_json(json_of({run})));
  EXPECT_EQ(samples.size(), 0U);
  EXPECT_EQ(samples.dispatches.size(), 4U);
  EXPECT_EQ(samples.counts.dropped, 0U);
}

TEST(PcJson, MalformedTablesAreCounted) {
  std::string text = json_of({faulty_run(1)});
  replace_all(text, R"("kernel_symbols":[{)", R"("kernel_symbols":[7,{"kernel_id":-1},{)");
  replace_all(text, R"("pc_sample_instructions":[)", R"("pc_sample_instructions":[null,)");
  replace_all(text, R"("summary":[])", R"("metadata":[])");
  const PcSamples samples = good(try_json(text));
  EXPECT_EQ(samples.counts.malformed_rows, 4U);
  EXPECT_GT(samples.size(), 0U);
}

TEST(PcJson, OneMethodAndOneForm) {
  test::PcRun other = faulty_run(2);
  other.stochastic = false;
  EXPECT_THAT(message_of(try_json(json_of({faulty_run(1), other}))),
              HasSubstr("method host_trap, those before are of method stochastic"));
}

TEST(PcJson, CutOffAnywhere) {
  test::PcRun run;
  run.kernels = {test::pc_copy_kernel()};
  run.ticks = 1;
  run.agents[0].xccs = 1;
  run.agents[0].engines = 1;
  const std::string text = json_of({run});
  EXPECT_EQ(good(try_json(text)).size(), 2U);
  for (std::size_t size = 1; size < text.size(); ++size)
    EXPECT_THAT(message_of(try_json(std::string_view(text).substr(0, size), 600)),
                HasSubstr("a.json: is not JSON, or only a part of it"))
        << size;
  EXPECT_THAT(message_of(try_json(text + "x")), HasSubstr("only a part of it"));
}

TEST(PcJson, Damaged) {
  const std::string text = json_of({faulty_run(1)});
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string damaged = text;
    damaged.replace(damaged.rfind(from), from.size(), to);
    return damaged;
  };
  for (const std::string& damaged :
       {with("\"exec_mask\":", "\"exec_mask\""), with("},\"pc\"", "\"pc\""),
        with("{\"x\"", "[\"x\""), with(",\"timestamp\"", "\"timestamp\""),
        with("\"chiplet\"", "chiplet"), with("\"dispatch_id\":", "\"dispatch_id\":,"),
        with("\"inst_index\"", "\"\xff\"")})
    EXPECT_THAT(message_of(try_json(damaged)), HasSubstr("is not JSON, or only a part of it"));
}

TEST(PcJson, OtherJson) {
  EXPECT_THAT(message_of(try_json("[1,2]")), HasSubstr("is JSON, but no output of rocprofv3"));
  EXPECT_THAT(message_of(try_json(R"({"traceEvents":[{"a":1}]})")), HasSubstr("no output of"));
  EXPECT_THAT(message_of(try_json(R"({"rocprofiler-sdk-tool":[]})")), HasSubstr("no output of"));
  EXPECT_THAT(message_of(try_json(R"({"rocprofiler-sdk-tool":{}})")), HasSubstr("no output of"));
  const Result<PcSamples> none =
      try_json(R"({"rocprofiler-sdk-tool":[{"buffer_records":{"kernel_dispatch":[]}}]})");
  EXPECT_EQ(message_of(none), "a.json: has no PC samples");
  EXPECT_THAT(none.error().remedy, HasSubstr("--output-format csv json"));
}

}  // namespace
}  // namespace perflab::pc_sampling
