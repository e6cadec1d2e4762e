// hal/counter_catalogue.h: every table and formula, the names of counters, and the reader of the
// tables. Values of formulas: counter_formulas_test.cpp.
#include "hal/counter_catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "hal/arch.h"
#include "hal/counter_catalogue_parse.h"
#include "hal/counter_table_of.h"

namespace perflab::hal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

bool all_in(const FormulaText& text, const std::vector<std::string>& set) {
  return std::ranges::all_of(text.counters, [&](const std::string& counter) {
    return std::ranges::find(set, counter) != set.end();
  });
}

TEST(CounterTables, AreThereForEveryArchitectureOfTheHardwareTables) {
  std::vector<std::string> expected, found;
  for (const Platform platform : {Platform::amd, Platform::nvidia})
    for (const Arch& arch : archs_of(platform)) expected.push_back(arch.gfx);
  std::ranges::sort(expected);
  for (const CounterTable& each : all_counter_tables()) found.push_back(each.gfx);
  EXPECT_EQ(found, expected);
  EXPECT_EQ(find_counter_table("gfx942:sramecc+:xnack-"), find_counter_table("gfx942"));
  for (const char* name :
       {"", ":", "gfx", "gfx94", "gfx9422", "GFX942", "gfx1152", "sm_9", "sm_91"})
    EXPECT_EQ(find_counter_table(name), nullptr) << name;
}

TEST(CounterTables, AreConfirmedExceptWhereASiblingStandsIn) {
  for (const CounterTable& each : rocprof_tables())
    EXPECT_EQ(each.confirmed, each.gfx != "gfx940" && each.gfx != "gfx941") << each.gfx;
  // Known work was counted on an H100 alone.
  for (const CounterTable& each : all_counter_tables())
    if (each.profiler == CounterProfiler::cupti) {
      EXPECT_EQ(each.confirmed, each.gfx == "sm_90") << each.gfx;
    }
}

TEST(CounterTables, HaveAsManyCountersAsTheDefinitions) {
  // Entries of rocprofiler-sdk's config.yaml (July 2026) with a block, and expressions that are no
  // plain reduction of such an entry.
  const std::map<std::string, std::pair<std::size_t, std::size_t>> kExpected = {
      {"gfx1030", {45, 32}},  {"gfx1100", {40, 28}},  {"gfx1101", {40, 28}}, {"gfx1102", {40, 28}},
      {"gfx1150", {222, 27}}, {"gfx1151", {222, 27}}, {"gfx1200", {45, 28}}, {"gfx1201", {45, 28}},
      {"gfx908", {243, 35}},  {"gfx90a", {261, 101}}, {"gfx940", {265, 45}}, {"gfx941", {265, 45}},
      {"gfx942", {265, 47}},  {"gfx950", {428, 47}}};
  for (const CounterTable& each : rocprof_tables())
    EXPECT_EQ(std::pair(each.counters.size(), each.derived.size()), kExpected.at(each.gfx))
        << each.gfx;
}

TEST(CounterFormulas, SayWhatTheyAreAndWhereTheyComeFrom) {
  const std::set<std::string> units = {"bytes", "FLOP",         "OP",      "%",    "cycles",
                                       "waves", "instructions", "1/cycle", "lanes"};
  for (const CounterTable& each : all_counter_tables()) {
    for (const CounterFormula& formula : each.formulas) {
      SCOPED_TRACE(each.gfx + " " + formula.name);
      EXPECT_FALSE(formula.label.empty());
      EXPECT_TRUE(units.contains(formula.unit)) << formula.unit;
      EXPECT_FALSE(formula.alternatives.empty());
      EXPECT_FALSE(formula.sources.empty());
      for (const std::string& key : formula.sources)
        EXPECT_TRUE(counter_source(key).has_value()) << key;
    }
  }
  EXPECT_EQ(counter_source("no such key"), std::nullopt);
}

TEST(CounterFormulas, NameOnlyCountersOfTheirArchitectureAndConstants) {
  for (const CounterTable& each : all_counter_tables()) {
    for (const CounterFormula& formula : each.formulas) {
      for (const FormulaText& text : formula.alternatives) {
        SCOPED_TRACE(each.gfx + " " + formula.name + " = " + text.text);
        EXPECT_FALSE(text.counters.empty());
        for (const std::string& counter : text.counters)
          EXPECT_TRUE(each.has_counter(counter) || each.is_derived(counter)) << counter;
        EXPECT_LE(text.constants.size(), kConstants.size());
        // 2, 3, 5, ...: no two inputs alike, so that no difference is 0.
        double next = 1;
        const auto result = evaluate(text, [&](std::string_view) { return next = next * 2 + 1; });
        EXPECT_TRUE(result.has_value());
      }
    }
  }
}

TEST(CounterFormulas, OfWorkAreNamedByPipeAndPrecision) {
  for (const CounterTable& each : all_counter_tables()) {
    for (const CounterFormula& formula : each.formulas) {
      const bool vector = formula.name.starts_with("vector.");
      if (!vector && !formula.name.starts_with("matrix.")) continue;
      SCOPED_TRACE(each.gfx + " " + formula.name);
      const std::string precision = formula.name.substr(7);
      const bool integer = precision.starts_with("int");
      EXPECT_EQ(formula.unit, integer ? "OP" : "FLOP");
      EXPECT_EQ(formula.rule, CounterRule::work);
      if (vector && integer) {
        EXPECT_TRUE(precision == "int32" || precision == "int64");
        continue;
      }
      // A name of hal::Precision, and one that this architecture has a rate for.
      const Arch* const arch = find_arch(each.gfx);
      // Consumer chips count FP64 in their tensor cores; nobody publishes a rate.
      if (each.profiler == CounterProfiler::cupti && formula.name == "matrix.fp64") continue;
      // NVIDIA's instructions of FP16 are packed ones.
      const bool packed = each.profiler == CounterProfiler::cupti && vector && precision == "fp16";
      const Pipe pipe = packed ? Pipe::packed : vector ? Pipe::vector : Pipe::matrix;
      EXPECT_TRUE(std::ranges::any_of(arch->rates, [&](const Rate& rate) {
        return rate.pipe == pipe && to_string(rate.precision) == precision;
      }));
    }
  }
}

TEST(CounterFormulas, AreThereWhereTheArchitectureCanSayThem) {
  for (const char* gfx : {"gfx90a", "gfx940", "gfx941", "gfx942", "gfx950"})
    for (const char* name : {"cycles",
                             "vector.fp16",
                             "vector.fp32",
                             "vector.fp64",
                             "vector.int32",
                             "vector.int64",
                             "matrix.fp16",
                             "matrix.bf16",
                             "matrix.fp32",
                             "matrix.fp64",
                             "matrix.int8",
                             "estimate.fp32",
                             "lanes",
                             "fabric.read_bytes",
                             "fabric.write_bytes",
                             "l2.read_bytes",
                             "l2.write_bytes",
                             "lds.bytes",
                             "occupancy.achieved",
                             "wave_time.dependency",
                             "latency.vmem",
                             "hit.l1",
                             "hit.l2",
                             "limiter.vgpr",
                             "dram_share.read"})
      EXPECT_NE(table(gfx).find(name), nullptr) << gfx << " " << name;
  EXPECT_EQ(table("gfx90a").find("matrix.fp8"), nullptr);
  EXPECT_NE(table("gfx942").find("matrix.fp8"), nullptr);
  EXPECT_EQ(table("gfx942").find("matrix.fp4"), nullptr);
  EXPECT_THAT(table("gfx950").find("matrix.fp4")->note, HasSubstr("FP6 and FP4"));
  EXPECT_EQ(table("gfx942").find("latency.l1_l2_read"), nullptr);
  EXPECT_NE(table("gfx950").find("latency.l1_l2_read"), nullptr);
  for (const char* gfx : {"gfx908", "gfx1030", "gfx1100", "gfx1102", "gfx1151", "gfx1201"}) {
    for (const char* name : {"vector.fp32", "matrix.fp16", "l2.read_bytes"})
      EXPECT_EQ(table(gfx).find(name), nullptr) << gfx << " " << name;
    for (const char* name : {"cycles", "estimate.fp32", "fabric.read_bytes", "fabric.write_bytes",
                             "lds.bytes", "occupancy.achieved", "hit.l2"})
      EXPECT_NE(table(gfx).find(name), nullptr) << gfx << " " << name;
  }
}

TEST(CounterFormulas, OfTimeFindTheirCountersInOneSet) {
  for (const CounterTable& each : all_counter_tables())
    for (const CounterFormula& formula : each.formulas) {
      if (formula.rule != CounterRule::time) continue;
      EXPECT_TRUE(std::ranges::any_of(formula.alternatives,
                                      [&](const FormulaText& text) {
                                        return std::ranges::any_of(each.sets, [&](const auto& set) {
                                          return all_in(text, set);
                                        });
                                      }))
          << each.gfx << " " << formula.name;
    }
}

TEST(CounterFormulas, OfWorkFindTheirCountersInTheSets) {
  for (const CounterTable& each : all_counter_tables()) {
    std::vector<std::string> all;
    for (const auto& set : each.sets) all.insert(all.end(), set.begin(), set.end());
    for (const CounterFormula& formula : each.formulas) {
      if (formula.rule != CounterRule::work) continue;
      EXPECT_TRUE(std::ranges::any_of(formula.alternatives,
                                      [&](const FormulaText& text) { return all_in(text, all); }))
          << each.gfx << " " << formula.name;
    }
  }
}

// What goes beyond L2 depends on what the caches held: one pass, although it counts as work.
TEST(CounterFormulas, OfBytesBeyondL2FindTheirCountersInOneSet) {
  for (const CounterTable& each : all_counter_tables())
    for (const char* name : {"fabric.read_bytes", "fabric.write_bytes", "lds.bytes"}) {
      const CounterFormula* formula = each.find(name);
      ASSERT_NE(formula, nullptr);
      EXPECT_TRUE(std::ranges::any_of(
          each.sets, [&](const auto& set) { return all_in(formula->alternatives.front(), set); }))
          << each.gfx << " " << name;
    }
}

// ---------------------------------------------------------------- names

TEST(CounterNames, WhatTheArchitectureCounts) {
  const CounterTable& t = table("gfx942");
  for (const char* name : {"SQ_WAVES", "TCC_HIT", "TCC_HIT_sum", "TCC_HIT_avr", "TCC_HIT_min",
                           "TCC_HIT_max", "TCC_HIT[3]", "TCC_HIT[127]", "SQ_LEVEL_WAVES_ACCUM",
                           "SQ_ACCUM_PREV_HIRES", "GRBM_GUI_ACTIVE"})
    EXPECT_TRUE(t.has_counter(name)) << name;
  for (const char* name : {"", "_sum", "_ACCUM", "[3]", "TCC_HIT[]", "TCC_HIT[x]", "TCC_HIT[3",
                           "TCC_HITS", "TCC_HIT_sum_sum", "TCC_HIT_SUM", "TCC_EA_RDREQ_sum",
                           "tcc_hit", "VmemLatency", "VmemLatency_sum", "SQ_WAVES "})
    EXPECT_FALSE(t.has_counter(name)) << name;
  EXPECT_TRUE(table("gfx90a").has_counter("TCC_EA_RDREQ_sum"));
  EXPECT_FALSE(table("gfx90a").has_counter("TCC_EA0_RDREQ_sum"));
  EXPECT_FALSE(table("gfx1100").has_counter("SQ_ACTIVE_INST_VALU"));
}

TEST(CounterNames, DerivedMetrics) {
  EXPECT_TRUE(table("gfx942").is_derived("VmemLatency"));
  EXPECT_TRUE(table("gfx942").is_derived("LdsBankConflict"));
  EXPECT_FALSE(table("gfx940").is_derived("LdsBankConflict"));  // unlike its sibling
  EXPECT_TRUE(table("gfx90a").is_derived("L2CacheHit"));
  EXPECT_FALSE(table("gfx942").is_derived("L2CacheHit"));
  EXPECT_FALSE(table("gfx942").is_derived("TCC_HIT_sum"));
  EXPECT_FALSE(table("gfx1200").is_derived("WRITE_SIZE"));
  EXPECT_THAT(table("gfx942").derived_inputs.at("VmemLatency"),
              ElementsAre("SQ_INST_LEVEL_VMEM_ACCUM", "SQ_INSTS_VMEM"));
  for (const CounterTable& each : all_counter_tables())
    for (const std::string& name : each.derived) {
      EXPECT_FALSE(each.counters.contains(name)) << each.gfx << " " << name;
      EXPECT_EQ(each.block_of(name), "") << each.gfx << " " << name;
    }
}

TEST(CounterNames, BlocksAndTheirSlots) {
  const CounterTable& t = table("gfx942");
  EXPECT_EQ(t.block_of("SQ_WAVES"), "SQ");
  EXPECT_EQ(t.block_of("SQC_ICACHE_REQ"), "SQ");
  EXPECT_EQ(t.block_of("TCC_HIT_sum"), "TCC");
  EXPECT_EQ(t.block_of("TCC_HIT[3]"), "TCC");
  EXPECT_EQ(t.block_of("TCP_NOT_IN_THE_TABLE"), "TCP");
  EXPECT_EQ(t.block_of("VmemLatency"), "");
  EXPECT_EQ(t.block_of("FETCH_SIZE"), "");
  EXPECT_EQ(t.block_of("MyCounter"), "");
  EXPECT_EQ(t.block_of("MY_COUNTER"), "");
  EXPECT_EQ(t.block_of("SQ"), "");
  EXPECT_EQ(t.block_of(""), "");
  EXPECT_EQ(table("gfx1150").block_of("SQG_WAVES"), "SQG");
  EXPECT_EQ(table("gfx1100").block_of("SQC_LDS_IDX_ACTIVE"), "SQ");
  EXPECT_EQ(t.slots("SQ"), 8);
  EXPECT_EQ(t.slots("TCC"), 4);
  EXPECT_EQ(t.slots("TA"), 2);
  EXPECT_EQ(t.slots("SPI"), 6);
  EXPECT_EQ(t.slots("TCA"), std::nullopt);
  EXPECT_EQ(t.slots(""), std::nullopt);
  EXPECT_EQ(table("gfx1100").slots("GL2C"), 4);
  EXPECT_EQ(table("gfx1201").slots("SQ"), 16);
  for (const CounterTable& each : all_counter_tables())
    for (const std::string& name : each.counters)
      EXPECT_FALSE(each.block_of(name).empty()) << each.gfx << " " << name;
}

TEST(CounterNames, SimilarOnes) {
  const CounterTable& t = table("gfx942");
  EXPECT_EQ(t.similar("SQ_WAVE").at(0), "SQ_WAVES");
  EXPECT_EQ(t.similar("sq_insts_valu").at(0), "SQ_INSTS_VALU");
  EXPECT_EQ(t.similar("TCC_HITS_sum").at(0), "TCC_HIT_sum");
  EXPECT_EQ(t.similar("TCC_EA_RDREQ_sum").at(0), "TCC_EA0_RDREQ_sum");
  EXPECT_EQ(t.similar("VmemLatancy").at(0), "VmemLatency");
  EXPECT_LE(t.similar("SQ_INSTS_VALU_ADD_F3").size(), 3U);
  EXPECT_THAT(t.similar("Xyzzy"), IsEmpty());
  EXPECT_THAT(t.similar(""), IsEmpty());
}

// ---------------------------------------------------------------- names by time and tool

TEST(CounterAliases, AreOfAKnownCounterWithAToolATimeAndASource) {
  for (const CounterTable& each : all_counter_tables()) {
    for (const auto& [other, alias] : each.aliases) {
      SCOPED_TRACE(each.gfx + " " + other);
      EXPECT_FALSE(each.knows(other));
      EXPECT_TRUE(each.counters.contains(alias.counter));
      EXPECT_EQ(each.block_of(other), each.block_of(alias.counter));
      EXPECT_FALSE(alias.tool.empty());
      EXPECT_NE(alias.since.empty(), alias.until.empty());
      EXPECT_FALSE(alias.sources.empty());
      for (const std::string& key : alias.sources) EXPECT_TRUE(counter_source(key)) << key;
    }
  }
}

TEST(CounterAliases, AreAsManyAsEventsWithTwoNames) {
  // Names that share block and event with a counter of the table, in any version of
  // rocprofiler-compute's definitions, rocprofiler-sdk's or rocprofiler v1's up to July 2026.
  const std::map<std::string, std::size_t> kExpected = {
      {"gfx908", 18}, {"gfx90a", 2}, {"gfx1150", 7}, {"gfx1151", 7}};
  for (const CounterTable& each : all_counter_tables()) {
    const auto expected = kExpected.find(each.gfx);
    EXPECT_EQ(each.aliases.size(), expected == kExpected.end() ? 0 : expected->second) << each.gfx;
  }
}

TEST(CounterAliases, KeepReductionAndChannel) {
  const CounterTable& t = table("gfx908");
  EXPECT_EQ(t.own_name("TCC_EA0_RDREQ_sum"), "TCC_EA_RDREQ_sum");
  EXPECT_EQ(t.own_name("TCC_EA0_WRREQ_64B[31]"), "TCC_EA_WRREQ_64B[31]");
  EXPECT_EQ(t.own_name("TCC_EA_RDREQ_LEVEL"), "TCC_EA0_RDREQ_LEVEL");
  EXPECT_EQ(t.own_name("TCC_EA_RDREQ_sum"), "TCC_EA_RDREQ_sum");
  EXPECT_EQ(t.own_name("Nobody"), "Nobody");
  EXPECT_THAT(t.spellings("TCC_EA_WRREQ_sum"),
              ElementsAre("TCC_EA_WRREQ_sum", "TCC_EA0_WRREQ_sum"));
  EXPECT_THAT(t.spellings("TCC_HIT_sum"), ElementsAre("TCC_HIT_sum"));
  EXPECT_EQ(t.alias("TCC_EA_RDREQ_DRAM_sum")->until, "2025-08-08");
  EXPECT_EQ(t.alias("TCC_EA_RDREQ_sum"), nullptr);
  EXPECT_EQ(table("gfx942").alias("TCC_EA_RDREQ_sum"), nullptr);
}

// ---------------------------------------------------------------- reader

constexpr std::string_view kSmallTable = R"({
  "architectures": [
    {"gfx": "gfx1", "confirmed": true, "lacks": []},
    {"gfx": "gfx2", "confirmed": false, "lacks": ["Ratio", "TCC_B"]}
  ],
  "in_every_pass": "GRBM_GUI_ACTIVE",
  "slots": {"GRBM": 1, "TCC": 2},
  "sets": [["TCC_A", "TCC_B"]],
  "formulas": [
    {"name": "a", "label": "A", "unit": "%", "rule": "time", "formula": ["TCC_A/TCC_B", "Ratio"],
     "sources": ["S"]},
    {"name": "b", "label": "B", "unit": "%", "rule": "work", "formula": "CU*TCC_A", "note": "n",
     "sources": ["S"]}
  ],
  "counters": {"GRBM": ["GRBM_GUI_ACTIVE"], "TCC": ["TCC_A", "TCC_B", "TCC_C"]},
  "derived": {"Ratio": ["TCC_A", "TCC_B"]},
  "aliases": [
    {"tool": "T", "since": "2025-01-01", "until": "", "sources": ["S"],
     "names": {"TCC_OLD": "TCC_A", "TCC_OLDER": "TCC_B"}}
  ],
  "sources": {"counters": ["S"]}
})";

/// The error of the small table with one piece replaced.
std::string problem_with(std::string_view piece, std::string_view replacement) {
  std::string text(kSmallTable);
  const std::size_t at = text.find(piece);
  if (at == std::string::npos) throw std::runtime_error("no such piece: " + std::string(piece));
  text.replace(at, piece.size(), replacement);
  const auto parsed = parse_counter_tables(text, "small.json");
  return parsed ? "" : parsed.error().message;
}

TEST(ParseCounterTables, ReadsWhatStandsThere) {
  const auto parsed = parse_counter_tables(kSmallTable, "small.json");
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->size(), 2U);
  const CounterTable& first = parsed->at(0);
  EXPECT_EQ(first.gfx, "gfx1");
  EXPECT_TRUE(first.confirmed);
  EXPECT_THAT(first.sets, ElementsAre(ElementsAre("GRBM_GUI_ACTIVE", "TCC_A", "TCC_B")));
  ASSERT_EQ(first.formulas.size(), 2U);
  EXPECT_EQ(first.formulas[0].alternatives.size(), 2U);
  EXPECT_THAT(first.formulas[0].alternatives[0].counters, ElementsAre("TCC_A", "TCC_B"));
  EXPECT_EQ(first.formulas[0].rule, CounterRule::time);
  EXPECT_EQ(first.formulas[0].note, "");
  EXPECT_EQ(first.formulas[1].rule, CounterRule::work);
  EXPECT_THAT(first.formulas[1].alternatives[0].constants, ElementsAre("CU"));
  EXPECT_EQ(first.formulas[1].note, "n");
}

TEST(ParseCounterTables, ASiblingIsWithoutWhatItLacksAndWhatNeedsThat) {
  const auto parsed = parse_counter_tables(kSmallTable, "small.json");
  ASSERT_TRUE(parsed);
  const CounterTable& sibling = parsed->at(1);
  EXPECT_FALSE(sibling.confirmed);
  EXPECT_FALSE(sibling.has_counter("TCC_B"));
  EXPECT_FALSE(sibling.is_derived("Ratio"));
  EXPECT_EQ(sibling.find("a"), nullptr);
  EXPECT_NE(sibling.find("b"), nullptr);
  EXPECT_NE(sibling.alias("TCC_OLD"), nullptr);
  EXPECT_EQ(sibling.alias("TCC_OLDER"), nullptr);
  EXPECT_THAT(sibling.sets, ElementsAre(ElementsAre("GRBM_GUI_ACTIVE", "TCC_A")));
}

TEST(ParseCounterTables, SaysWhatIsWrong) {
  EXPECT_EQ(problem_with("CU*TCC_A", "CU*TCC_A"), "");
  EXPECT_THAT(
      problem_with("CU*TCC_A", "CU*TCC_D"),
      HasSubstr(
          "small.json is not a counter table: formulas[1]: b needs TCC_D, which is not known"));
  EXPECT_THAT(problem_with("CU*TCC_A", "CUS*TCC_A"), HasSubstr("b needs CUS"));
  EXPECT_THAT(problem_with("CU*TCC_A", "CU*(TCC_A"), HasSubstr("\"CU*(TCC_A\" is not a formula"));
  EXPECT_THAT(problem_with("CU*TCC_A", ""), HasSubstr("is not a formula"));
  EXPECT_THAT(problem_with("\"work\"", "\"works\""), HasSubstr("rule of b must be work or time"));
  EXPECT_THAT(problem_with("\"name\": \"b\"", "\"name\": \"a\""), HasSubstr("a is there twice"));
  EXPECT_THAT(problem_with("\"note\"", "\"nota\""), HasSubstr("\"nota\" is not known"));
  EXPECT_THAT(problem_with("\"slots\"", "\"slot\""), HasSubstr("\"slots\" is missing"));
  EXPECT_THAT(problem_with("\"label\": \"B\", ", ""), HasSubstr("label"));
  EXPECT_THAT(problem_with("\"TCC\": 2", "\"TCC\": 1"), HasSubstr("too many counters of TCC"));
  EXPECT_THAT(problem_with("\"TCC\": 2", "\"TCC\": 0"),
              HasSubstr("slots: \"TCC\" is not a whole number from 1"));
  EXPECT_THAT(problem_with("[[\"TCC_A\"", "[[\"TCC_X\""), HasSubstr("TCC_X is in a set"));
  EXPECT_THAT(problem_with("\"TCC_C\"", "\"TCC_A\""), HasSubstr("TCC_A is there twice"));
  EXPECT_THAT(problem_with("\"Ratio\": [\"TCC_A\"", "\"Ratio\": [\"TCC_Y\""), HasSubstr("TCC_Y"));
  EXPECT_THAT(problem_with("[\"TCC_A/TCC_B\", \"Ratio\"]", "[]"), HasSubstr("a has no formula"));
  EXPECT_THAT(problem_with("\"TCC_OLD\": \"TCC_A\"", "\"TCC_OLD\": \"TCC_Z\""),
              HasSubstr("TCC_OLD is said to be another name of TCC_Z, which is not known"));
  EXPECT_THAT(problem_with("\"TCC_OLD\":", "\"TCC_C\":"),
              HasSubstr("TCC_C is said to be another name, but is among the names"));
  EXPECT_THAT(problem_with("\"tool\"", "\"tools\""), HasSubstr("\"tool\" is missing"));
  EXPECT_THAT(problem_with("\"confirmed\": true", "\"confirmed\": 1"), HasSubstr("small.json"));
  EXPECT_THAT(problem_with("\"derived\"", "\"derived"), HasSubstr("small.json"));
}

}  // namespace
}  // namespace perflab::hal
