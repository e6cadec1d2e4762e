// Folders that the tests write: what each file becomes in both layouts, what is dropped and
// counted, and what is said about files that are wrong.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "att/att_checks.h"
#include "base/temp_folder.h"
#include "support/att_writer.h"

namespace perflab::att {
namespace {

namespace fs = std::filesystem;
using test::UiOutput;
using test::UiStep;
using test::UiWave;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// One kernel with a load, a wait for it and an end; two waves on SIMD 0 and 2.
UiOutput small_output() {
  UiOutput output{.agent = 77, .dispatch = 12};
  output.code = {{.text = "; _Z1kPf", .source = "k(float*)"},
                 {.text = "s_load_dwordx2 s[0:1], s[4:5], 0x0", .source = "in.h:3 -> a.cpp:7"},
                 {.text = "s_waitcnt lgkmcnt(0)", .source = "a.cpp:8", .code_object = 3},
                 {.text = "s_endpgm", .source = "a.cpp:9"}};
  output.kernels = {{1, "_Z1kPf"}};
  const std::array steps{UiStep{.line = 1, .issue = 4, .stall = 8, .idle = 100},
                         UiStep{.line = 2, .issue = 0, .stall = 400, .idle = 4, .causes = {1}},
                         UiStep{.line = 3}};
  add_ui_wave(output, {.simd = 2, .begin = 1008}, steps);
  add_ui_wave(output, {.begin = 1000}, steps);
  output.counter_names = {"SQ_BUSY_CU_CYCLES"};
  output.clock = {{0, 100, 5000}, {0, 2200, 5100}};
  output.counters = {{.time = 64, .values = {1, 2, 3, 65535}, .cu = 1, .bank = 1}};
  return output;
}

class ReadTrace : public testing::Test {
 protected:
  fs::path write(const UiOutput& output) { return write_ui_output(folder_.path(), output); }
  WholeTrace whole_of(const UiOutput& output) { return read_whole(write(output)); }
  /// The drops of a folder in which some files have other texts.
  Dropped drops_of(std::map<std::string, std::string> replaced) {
    UiOutput output = small_output();
    output.replace = std::move(replaced);
    return whole_of(output).trace.dropped;
  }
  /// The message about such a folder, behind "<folder>/".
  std::string message_of(std::map<std::string, std::string> replaced) {
    UiOutput output = small_output();
    output.replace = std::move(replaced);
    const fs::path folder = write(output);
    const std::string message = error_of(folder).message;
    EXPECT_TRUE(message.starts_with(folder.string() + "/")) << message;
    return message.substr(std::min(message.size(), folder.string().size() + 1));
  }

  test::TempFolder folder_;
};

TEST_F(ReadTrace, EverythingHasItsPlace) {
  UiOutput output = small_output();
  output.events = {{.time = 50, .type = 6},
                   {.time = 60, .type = 9},
                   {.time = 70, .type = 10},
                   {.time = 80, .type = 6}};
  output.shader_data = {{.time = 5, .value = -4, .cu = 1, .simd = 2, .slot = 3}};
  output.other_simds = {
      {.begin = 1, .end = 90, .instructions = {{{1, 4, 6}, {5, 2, 6}, {9, 1, 5}}}}};
  output.sources = {{"/src/a.cpp", "int main"}, {"/src/in.h", ""}};
  output.occupancy = {{.engine = 4,
                       .time = 9,
                       .cu = 130,
                       .simd = 1,
                       .slot = 7,
                       .start = true,
                       .kernel = 0,
                       .workgroup = 15}};
  const WholeTrace whole = whole_of(output);
  const ThreadTrace& trace = whole.trace;
  EXPECT_EQ(trace.dropped, Dropped{});
  EXPECT_EQ(trace.name, "ui_output_agent_77_dispatch_12");
  EXPECT_EQ(trace.agent_handle, 77);
  EXPECT_EQ(trace.dispatch_id, 12);
  EXPECT_EQ(trace.version, "3.1.0");
  EXPECT_EQ(trace.gfxip, 9);
  EXPECT_THAT(trace.counter_names, ElementsAre("SQ_BUSY_CU_CYCLES"));
  ASSERT_EQ(trace.code.size(), 4U);
  EXPECT_TRUE(trace.code[0].is_label());
  EXPECT_EQ(trace.code[0].source, "k(float*)");
  EXPECT_EQ(trace.code[1].source, "in.h:3 -> a.cpp:7");
  EXPECT_EQ(trace.code[2].code_object, 3);
  EXPECT_EQ(trace.code[3].vaddr, 4112U);
  const CodeRow& wait = trace.code[2];
  EXPECT_THAT((std::array{wait.line, wait.hits, wait.latency, wait.stall, wait.idle}),
              ElementsAre(2, 2, 800, 800, 8));
  EXPECT_EQ(trace.kernels.at(1), "_Z1kPf");
  EXPECT_THAT(trace.wave_files, ElementsAre("se0_sm0_sl0_wv0.json", "se0_sm2_sl0_wv0.json"));

  ASSERT_EQ(trace.engines.size(), 2U);
  const ShaderEngine& engine = trace.engines[0];
  EXPECT_EQ(engine.packets_lost, 2U);
  EXPECT_EQ(engine.trace_stalls, 1U);
  ASSERT_EQ(engine.occupancy.size(), 4U);
  EXPECT_EQ(engine.occupancy[0].time, 1000);
  EXPECT_TRUE(engine.occupancy[1].start && !engine.occupancy[2].start);
  EXPECT_EQ(engine.clock.at(1).cycles - engine.clock.at(0).cycles, 2100);
  EXPECT_THAT(engine.counters.at(0).values, ElementsAre(1, 2, 3, 65535));
  EXPECT_EQ(engine.counters.at(0).bank, 1);
  EXPECT_EQ(engine.shader_data.at(0).value, -4);
  EXPECT_EQ(engine.shader_data.at(0).slot, 3);
  EXPECT_EQ(engine.other_simds.at(0).instructions, 3);
  EXPECT_EQ(engine.other_simds.at(0).cycles.at(Category::valu), 6);
  EXPECT_EQ(trace.engines[1].number, 4);
  EXPECT_EQ(trace.engines[1].occupancy.at(0).cu, 130);
  EXPECT_EQ(trace.engines[1].occupancy.at(0).workgroup, 15);
  EXPECT_EQ(trace.realtime_hz, 100'000'000);
  EXPECT_EQ(trace.sources.at("/src/a.cpp"), "source_0_a.cpp");
  EXPECT_THAT(trace.states[1].time, ElementsAre(1000, 1008, 1100, 1108));
  EXPECT_THAT(trace.states[1].count, ElementsAre(1, 2, 1, 0));
  EXPECT_TRUE(trace.states[0].time.empty());

  const Wave& wave = whole.waves.at(1);
  EXPECT_EQ(wave.place, (WavePlace{.cu = 1, .simd = 2}));
  EXPECT_EQ(wave.begin, 1008);
  EXPECT_EQ(wave.end, 1008 + 100 + 12 + 4 + 400 + 4);
  ASSERT_EQ(wave.instructions.size(), 3U);
  const WaveInstruction& load = wave.instructions[0];
  EXPECT_THAT((std::array{load.time, load.stall, load.duration, std::int64_t{load.row}}),
              ElementsAre(1108, 8, 12, 1));
  EXPECT_EQ(load.category, Category::smem);
  EXPECT_EQ(wave.instructions[1].category, Category::other_salu);
  EXPECT_EQ(wave.timeline.at(0).state, WaveState::idle);
  EXPECT_EQ(wave.timeline.at(0).duration, 100);
  ASSERT_EQ(wave.links.size(), 1U);
  EXPECT_EQ(wave.links[0].row, 2U);
  EXPECT_THAT(wave.link_targets, ElementsAre(1));
}

TEST_F(ReadTrace, TheOlderLayoutSaysTheSame) {
  UiOutput output = small_output();
  const WholeTrace newer = whole_of(output);
  output.version = "3.0.0";
  const WholeTrace older = whole_of(output);
  EXPECT_EQ(older.trace.version, "3.0.0");
  EXPECT_EQ(older.trace.dropped, Dropped{});
  EXPECT_EQ(older.trace.code, newer.trace.code);
  EXPECT_EQ(older.trace.engines.at(0).occupancy.size(), 4U);
  EXPECT_EQ(older.trace.engines[0].occupancy[0].workgroup, std::nullopt);
  EXPECT_EQ(newer.trace.engines.at(0).occupancy[0].workgroup, 0);
  EXPECT_EQ(sums_over_waves(older), sums_over_waves(newer));
  output.version = "";
  EXPECT_EQ(whole_of(output).trace.version, "");
}

TEST_F(ReadTrace, NullIsAnEmptyList) {
  UiOutput output = small_output();
  output.waves = {UiWave{.begin = 7, .end = 9}};
  output.occupancy_of_waves = false;
  WholeTrace whole = whole_of(output);
  EXPECT_EQ(whole.trace.dropped, Dropped{});
  EXPECT_EQ(whole.waves.at(0).end, 9);
  EXPECT_TRUE(whole.waves[0].instructions.empty() && whole.waves[0].timeline.empty());
  EXPECT_TRUE(whole.trace.engines.at(0).occupancy.empty());
  output.waves.clear();
  output.replace = {{"code.json", R"({"code":null,"version":"3.0.0"})"}};
  whole = whole_of(output);
  EXPECT_EQ(whole.trace.dropped, Dropped{});
  EXPECT_TRUE(whole.waves.empty() && whole.trace.code.empty());
}

TEST_F(ReadTrace, LongerRowsAndFurtherKeysAreFine) {
  const WholeTrace whole = [&] {
    UiOutput output = small_output();
    output.waves.resize(1);
    output.replace = {
        {"code.json", R"({"code":[["v_nop",0,0,"",1,8,1,4,0,0,"more",[1]]],"new":{"a":1}})"},
        {"occupancy.json",
         R"({"0":[[5,1,0,0,1,1,0,0,0,9,0,7,8]],"thread_trace":[[1]],"occupancy_fields":)"
         R"(["time","cu","simd","wave_id","start","kernel_id","a","b","c","workgroup_id"]})"},
        {"se0_sm2_sl0_wv0.json",
         R"({"wave":{"begin":0,"end":9,"cu":3,"instructions":[[1,6,0,4,0,"x"]],)"
         R"("timeline":[[2,9,1]],"waitcnt":[[0,[[0,0,5]],4]],"new":[]}})"}};
    return whole_of(output);
  }();
  EXPECT_EQ(whole.trace.dropped, Dropped{});
  EXPECT_EQ(whole.trace.engines.at(0).occupancy.at(0).workgroup, 9);
  EXPECT_EQ(whole.waves.at(0).place.cu, 3);
  EXPECT_EQ(whole.waves[0].instructions.at(0).row, 0U);
  EXPECT_EQ(whole.waves[0].links.size(), 1U);
}

TEST_F(ReadTrace, MissingFilesAreCounted) {
  UiOutput output = small_output();
  output.shader_data = {{.time = 5}};
  output.leave_out = {"se0_sm0_sl0_wv0.json", "realtime.json", "shaderdata_0_0.json",
                      "wstates2.json"};
  WholeTrace whole = whole_of(output);
  EXPECT_EQ(whole.trace.dropped,
            (Dropped{{"wave file is missing", 1}, {"listed file is missing", 1}}));
  EXPECT_EQ(whole.visited, (std::vector{false, true}));
  EXPECT_EQ(whole.trace.realtime_hz, std::nullopt);

  output = small_output();
  output.leave_out = {"filenames.json", "occupancy.json"};
  whole = whole_of(output);
  EXPECT_EQ(whole.trace.dropped,
            (Dropped{{"filenames.json is missing", 1}, {"occupancy.json is missing", 1}}));
  EXPECT_EQ(whole.visited, (std::vector{true, true})) << "wave files are found by their names";
  EXPECT_EQ(whole.trace.gfxip, std::nullopt);
  EXPECT_EQ(whole.trace.engines.size(), 1U);
}

TEST_F(ReadTrace, TheStatsFileStandsInForTheCode) {
  UiOutput output = small_output();
  output.leave_out = {"code.json"};
  const fs::path folder = write(output);
  WholeTrace whole = read_whole(folder);
  EXPECT_EQ(whole.trace.dropped, (Dropped{{"code.json is missing", 1}}));
  ASSERT_EQ(whole.trace.code.size(), 4U);
  EXPECT_EQ(whole.trace.form, Form::ui_output);
  // The waves' line numbers mean nothing without the code.
  EXPECT_EQ(whole.waves.at(0).instructions.at(0).row, kNoRow);
  EXPECT_EQ(whole.waves[0].timeline.size(), 5U);

  const fs::path stats = folder_ / ("stats_" + whole.trace.name + ".csv");
  const WholeTrace alone = read_whole(stats);
  EXPECT_EQ(alone.trace.form, Form::stats);
  EXPECT_EQ(alone.trace.dispatch_id, 12);
  EXPECT_EQ(alone.trace.code, whole.trace.code);
  EXPECT_TRUE(alone.waves.empty());

  fs::remove(stats);
  whole = read_whole(folder);
  EXPECT_EQ(whole.trace.dropped, (Dropped{{"code.json is missing", 1}}));
  EXPECT_TRUE(whole.trace.code.empty());
  EXPECT_EQ(whole.waves.at(0).timeline.size(), 5U);
}

TEST_F(ReadTrace, StatsRowsInAnyColumnOrder) {
  const auto stats = [&](std::string_view text) {
    return read_whole(folder_.write("stats_ui_output_agent_1_dispatch_2.csv", text)).trace;
  };
  const ThreadTrace trace = stats(
      "Vaddr,CodeObj,\"Instruction\",Source,Hitcount,Latency,Stall,Idle,More\n"
      "64,1,\"v_add_f32 v0, v1, v2\",\"a.cpp:1 -> b.cpp:2\",3,12,4,5,x\n"
      "72,1,v_nop,,3,12,13,5,x\n80,1,v_nop,,-3,12,0,5,x\n88,1,v_nop,,3,many,0,5,x\n");
  EXPECT_EQ(trace.dropped, (Dropped{{"row of the stats file cannot be", 3}}));
  ASSERT_EQ(trace.code.size(), 1U);
  EXPECT_EQ(trace.code[0], (CodeRow{.text = "v_add_f32 v0, v1, v2",
                                    .line = -1,
                                    .source = "a.cpp:1 -> b.cpp:2",
                                    .code_object = 1,
                                    .vaddr = 64,
                                    .hits = 3,
                                    .latency = 12,
                                    .stall = 4,
                                    .idle = 5}));
  EXPECT_EQ(stats("CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source\n").code.size(),
            0U);
  EXPECT_THAT(error_of(folder_.write("stats_ui_output_x.csv", "CodeObj,Vaddr\n1,2\n")).message,
              HasSubstr("is not a stats file of a thread trace: it has no column Instruction"));
}

/// Line numbers that repeat, are far apart, or stand for nothing.
TEST_F(ReadTrace, LinesAreLookedUpByTheirNumber) {
  const auto rows_of = [&](UiOutput output, const std::vector<std::int64_t>& lines) {
    UiWave wave{.begin = 0, .end = 1000};
    for (const std::int64_t line : lines)
      wave.instructions.push_back({.category = 6, .duration = 4, .line = line});
    output.waves = {wave};
    const WholeTrace whole = whole_of(output);
    EXPECT_EQ(whole.trace.dropped, Dropped{});
    std::vector<RowIndex> rows;
    for (const WaveInstruction& i : whole.waves.at(0).instructions) rows.push_back(i.row);
    return rows;
  };
  UiOutput output;
  output.code = {{.text = "v_nop", .line = 5},
                 {.text = "v_mov", .line = 5},
                 {.text = "v_add", .line = 900'000},
                 {.text = "v_sub", .line = 2}};
  EXPECT_THAT(rows_of(output, {5, 900'000, 2, 0, 3, -1, INT64_MAX}),
              ElementsAre(0, 2, 3, kNoRow, kNoRow, kNoRow, kNoRow));
  // Line 0 is an address that was not known, unless its row was executed.
  output.code = {{.text = "; label"}, {.text = "v_nop"}};
  EXPECT_THAT(rows_of(output, {0, 1}), ElementsAre(kNoRow, 1));
  output.code = {{.text = "v_nop"}, {.text = "v_mov"}};
  EXPECT_THAT(rows_of(output, {0, 1}), ElementsAre(0, 1));
  output.code[0].sums = test::UiSums{};
  EXPECT_THAT(rows_of(output, {0, 1}), ElementsAre(kNoRow, 1));
}

TEST_F(ReadTrace, UnknownCategoriesAreKeptAsUnknown) {
  UiOutput output = small_output();
  UiWave wave{.begin = 0, .end = 100};
  for (const int category : {0, 12, 13, -1, 300})
    wave.instructions.push_back({.category = category, .duration = 4, .line = 1});
  wave.timeline = {{.state = 4, .duration = 10}};
  output.waves = {wave};
  const WholeTrace whole = whole_of(output);
  std::vector<Category> categories;
  for (const WaveInstruction& i : whole.waves.at(0).instructions) categories.push_back(i.category);
  EXPECT_THAT(categories, ElementsAre(Category::none, Category::bvh, Category::unknown,
                                      Category::unknown, Category::unknown));
}

std::string wave_text(std::string_view inside) {
  return fmt::format(R"({{"wave":{{"begin":10,"end":100,"cu":1,{}}}}})", inside);
}

TEST_F(ReadTrace, RowsThatCannotBeAreDroppedAndCounted) {
  const std::string wave = "se0_sm0_sl0_wv0.json";
  const auto instructions = [&](std::string_view rows) {
    return drops_of({{wave, wave_text(fmt::format("\"instructions\":[{}]", rows))}});
  };
  const auto drop = [](const char* reason, std::uint64_t count) {
    return Dropped{{reason, count}};
  };
  // Before the wave, behind it, negative, stall above the duration, too short, of other types,
  // beyond 64 bits, longer than any wave: one good row between them stays.
  EXPECT_EQ(
      instructions("[9,6,0,4,1],[101,6,0,4,1],[20,6,-1,4,1],[20,6,0,-4,1],[20,6,5,4,1],"
                   "[20,6,0,4],[20,6,0,4,1],[20,6,0,4.5,1],[20,\"6\",0,4,1],7,null,"
                   "[20,6,0,99999999999999999999,1],[20,6,0,1e999,1],[20,6,0,2000000000000,1]"),
      drop("instruction of a wave cannot be", 13));
  EXPECT_EQ(drops_of({{wave, wave_text(R"("timeline":[[5,1],[-1,1],[2,-1],[2],[2,9],"x"])")}}),
            drop("timeline entry of a wave cannot be", 5));
  EXPECT_EQ(drops_of({{wave, wave_text(R"("waitcnt":[[2,[[1,0]]],[2,null],[2],[],3,[2,4],)"
                                       R"([2,[[]]],[2,[["1",0]]],["2",[]]])")}}),
            drop("waitcnt entry of a wave cannot be", 7));
  for (const char* times :
       {R"("begin":100,"end":10)", R"("begin":-5,"end":10)", R"("end":10)",
        R"("begin":0,"end":18446744073709551615)", R"("begin":0,"end":2000000000000)"})
    EXPECT_EQ(drops_of({{wave, fmt::format(R"({{"wave":{{{}}}}})", times)}}),
              drop("wave has no times that can be", 1));
  EXPECT_EQ(
      drops_of({{"code.json", R"({"code":[["a",0,0,"",1,8,1,4,0,0],["a",0,1,"",1,8,-1,4,0,0],)"
                              R"(["a",0,2,"",1,8,1,-4,0,0],["a",0,3,"",1,8,1,4,5,0],)"
                              R"(["a",0,4,"",1,8,1,4,0,-1],[7,0,5,"",1,8,1,4,0,0],)"
                              R"(["a",0,6,"",1,8,1,4,0],["a",0,-7,"",1,8,1,4,0,0],)"
                              R"(["a",0,8,"",1,-8,1,4,0,0],{},[null],)"
                              R"(["a",0,8,"",1,8,1,4000000000000000000,0,0]]})"}}),
      drop("row of code.json cannot be", 11));
  EXPECT_EQ(
      drops_of({{"occupancy.json",
                 R"({"0":[[5,1,0,0,1,1],[-5,1,0,0,1,1],[5,-1,0,0,1,1],[5,1,0,0,2,1],)"
                 R"([5,1,0,0,1],[5,1,70000,0,1,1],3,[5,1,0,0,1,-1]],"dispatches":{"1":5,"x":"y"},)"
                 R"("events":{"0":[{"kind":"event","type":"6"},5,{"kind":"dispatch"}]}})"}}),
      (Dropped{{"row of occupancy.json cannot be", 7},
               {"dispatch name of occupancy.json cannot be", 2},
               {"event of occupancy.json cannot be", 2}}));
  EXPECT_EQ(drops_of({{"realtime.json", R"({"SE0":[[1,2],[1],[-1,2],[1,-2],"x"],"SEx":[[1]]})"}}),
            drop("pair of realtime.json cannot be", 4));
  EXPECT_EQ(drops_of({{"wstates2.json", R"({"time":[1,5,4,-1,9,10],"state":[1,2,3,4,-5]})"}}),
            drop("step of a wstates file cannot be", 4));
  EXPECT_EQ(
      drops_of({{"se0_perfcounter.json",
                 R"({"data":[[1,1,1,1,1,0,0],[1,1,-1,1,1,0,0],[1,1,1,1,1,0],[-1,1,1,1,1,0,0]]})"}}),
      drop("row of a perfcounter file cannot be", 3));
  EXPECT_EQ(
      drops_of({{"shaderdata_0_0.json", R"({"records":[[1,2,3,0,0],[1,2,3,0],[1,2,-3,0,0]]})"}}),
      drop("row of a shaderdata file cannot be", 2));
  EXPECT_EQ(drops_of({{"other_simd_se0_0.json",
                       R"({"begin_time":1,"end_time":9,"instructions":[[1,2,3],[1,-2,3],[1,2]]})"},
                      {"other_simd_se0_1.json", R"({"begin_time":10,"end_time":9})"}}),
            drop("row of an other_simd file cannot be", 3));
  EXPECT_EQ(drops_of({{"snapshots.json", R"({"/":{"a":"source_0_a","b":"../b","c":5}})"}}),
            (Dropped{{"entry of snapshots.json cannot be", 1},
                     {"file name leads out of the folder", 1}}));
}

TEST_F(ReadTrace, NamesThatLeadAwayAreRefused) {
  const Dropped dropped = drops_of(
      {{"filenames.json",
        R"({"wave_filenames":{"0":{"0":{"0":{"0":["../x.json",0,1],"1":["/etc/passwd",0,1],)"
        R"("2":["..",0,1],"3":["",0,1],"4":["a\u0000",0,1],"5":["se0_sm0_sl0_wv0.json",0,1],)"
        R"("6":["se0_sm0_sl0_wv0.json",0,1],"7":[5],"8":7,"x":["se0_sm2_sl0_wv0.json",0,1],)"
        R"("9":null},"-1":{},"1":5}}}})"}});
  EXPECT_EQ(dropped, (Dropped{{"file name leads out of the folder", 5},
                              {"wave file is listed twice", 1},
                              {"wave file is not in filenames.json", 1},
                              {"entry of filenames.json cannot be", 5}}));
}

TEST_F(ReadTrace, FilesThatAreWrongAreErrors) {
  const std::string wave = "se0_sm0_sl0_wv0.json";
  EXPECT_EQ(message_of({{wave, "{"}}), wave + ": is not JSON, or only a part of it");
  EXPECT_EQ(message_of({{wave, ""}}), wave + ": is empty");
  EXPECT_EQ(message_of({{wave, "[]"}}), wave + ": is JSON, but not an object as in thread traces");
  EXPECT_EQ(message_of({{wave, "{\"a\":\"\xff\"}"}}),
            wave + ": is not JSON: it holds bytes that are not UTF-8");
  EXPECT_EQ(message_of({{wave, "{\"a"}}), wave + ": is not JSON: it ends inside a text");
  EXPECT_EQ(message_of({{wave, "{\"a\":0x1}"}}),
            wave + ": is not JSON: a number in it is malformed");
  EXPECT_EQ(message_of({{wave, std::string(3000, '[') + std::string(3000, ']')}}),
            wave + ": is nested too deeply");
  EXPECT_EQ(message_of({{wave, "{}"}}), wave + ": has no \"wave\" object");
  EXPECT_EQ(message_of({{wave, R"({"wave":[]})"}}), wave + ": \"wave\" is not an object");
  EXPECT_EQ(message_of({{wave, wave_text("\"instructions\":{}")}}),
            wave + ": \"instructions\" is not a list");
  EXPECT_EQ(message_of({{"code.json", R"({"code":{}})"}}), "code.json: \"code\" is not a list");
  EXPECT_EQ(message_of({{"filenames.json", R"({"wave_filenames":[]})"}}),
            "filenames.json: \"wave_filenames\" is not an object");
  EXPECT_EQ(message_of({{"occupancy.json", R"({"3":{}})"}}), "occupancy.json: \"3\" is not a list");
  EXPECT_EQ(message_of({{"realtime.json", "nonsense"}}),
            "realtime.json: is not JSON, or only a part of it");
  // Of several files it is the first wave's, whatever thread finds its own first.
  EXPECT_EQ(message_of({{wave, "{"}, {"se0_sm2_sl0_wv0.json", ""}}),
            wave + ": is not JSON, or only a part of it");
}

TEST_F(ReadTrace, AFolderOfNothingIsAnError) {
  const fs::path folder = folder_ / "ui_output_agent_1_dispatch_1";
  fs::create_directory(folder);
  EXPECT_THAT(error_of(folder).message, HasSubstr("holds no thread trace"));
  fs::create_directory(folder / "code.json");
  EXPECT_THAT(error_of(folder).message, HasSubstr("code.json: is not a file"));
}

TEST_F(ReadTrace, AFileTooLargeForTheParserIsOneError) {
  const fs::path folder = write(small_output());
  fs::resize_file(folder / "se0_sm0_sl0_wv0.json", std::uint64_t{5} << 30);  // takes no room
  const Error error = error_of(folder);
  EXPECT_THAT(error.message,
              HasSubstr("wv0.json: is larger than 4 GiB, the most that can be read"));
  EXPECT_FALSE(error.remedy.empty());
}

TEST_F(ReadTrace, AMillionRowsOfCode) {
  constexpr std::int64_t kRows = 1'000'000;
  std::string text = R"({"code":[)";
  for (std::int64_t i = 0; i < kRows; ++i)
    text += fmt::format("{}[\"v_nop\",0,{},\"\",1,{},1,4,0,0]", i == 0 ? "" : ",", i, 8 * i);
  UiOutput output = small_output();
  output.replace = {{"code.json", text + "]}"},
                    {"se0_sm0_sl0_wv0.json",
                     wave_text(fmt::format("\"instructions\":[[10,6,0,4,{}]]", kRows - 1))}};
  const WholeTrace whole = whole_of(output);
  EXPECT_EQ(std::ssize(whole.trace.code), kRows);
  EXPECT_EQ(whole.waves.at(0).instructions.at(0).row, kRows - 1);
  EXPECT_EQ(whole.trace.dropped, Dropped{});
}

}  // namespace
}  // namespace perflab::att
