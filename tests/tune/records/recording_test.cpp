// tune/records/recording.h: the recorded spaces of ../shared with the figures that their study
// gives (docs/facts/tuning.md "Recorded spaces"), the other formats as their programs write them,
// what is damaged or hostile, and our own T4 and CSV, which must read back.
#include "tune/records/recording.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>
#include <set>
#include <string>

#include "base/gzipped.h"
#include "base/temp_folder.h"
#include "tune/records/journal.h"
#include "tune/records/sample_rows.h"

namespace perflab::tune {
namespace {

using perflab::test::Prng;
using perflab::test::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

const std::filesystem::path kRecorded =
    std::filesystem::path(PERFLAB_SHARED_DIR) / "data" / "autotune";

Recording parsed(std::string_view text) {
  auto recording = parse_recording(text, "file");
  EXPECT_TRUE(recording.has_value()) << describe(recording.error());
  return recording ? std::move(*recording) : Recording{};
}

std::string refused(std::string_view text) {
  const auto recording = parse_recording(text, "file");
  if (recording) return "no error";
  EXPECT_EQ(recording.error().code, ErrorCode::bad_input);
  EXPECT_THAT(recording.error().message, HasSubstr("file"));
  return recording.error().message;
}

struct Recorded {
  const char* file;
  std::size_t configurations, valid, parameters, repeats;
  double optimum;  ///< ms, as the study rounds it
  bool cut_off = false;
};
// The fixed parameters are in the files too: the study counts those with more than one value.
constexpr std::array<Recorded, 10> kFiles = {{
    {"amd/convolution_milo__MI250X", 4362, 4362, 7, 32, 0.6588},
    {"amd/convolution_milo__W6600", 4362, 4362, 7, 32, 1.728},
    {"amd/dedispersion_milo__MI250X", 11130, 11130, 6, 32, 49.57},
    {"amd/hotspot_milo_PARTIAL__W7800", 2082, 2082, 5, 32, 0.6382, true},
    {"nvidia/convolution_milo__A100", 4362, 4201, 7, 32, 0.5536},
    {"nvidia/convolution_milo__A6000", 4362, 3889, 7, 32, 0.603},
    {"nvidia/gemm_cltune__RTX_3090", 17956, 17956, 10, 32, 5.658},
    {"nvidia/convolution__RTX_2080_Ti", 6768, 5256, 6, 10, 0.9003},
    {"nvidia/convolution__RTX_3090", 6768, 5220, 6, 10, 0.5229},
    {"nvidia/pnpoly__RTX_3090", 4092, 3774, 4, 10, 8.714},
}};

std::size_t varying(const Recording& recording) {
  std::size_t count = 0;
  for (std::size_t p = 0; p < recording.parameters.size(); ++p)
    count += std::ranges::any_of(recording.configurations, [&](const RecordedConfiguration& c) {
      return !same_value(c.values[p], recording.configurations.front().values[p]);
    });
  return count;
}

TEST(RecordedSpaces, HaveTheFiguresOfTheStudy) {
  if (!std::filesystem::exists(kRecorded))
    GTEST_SKIP() << "skipped: " << kRecorded << " is not there";
  for (const Recorded& expected : kFiles) {
    SCOPED_TRACE(expected.file);
    const auto recording = read_recording(kRecorded / fmt::format("{}.json.gz", expected.file));
    ASSERT_TRUE(recording.has_value()) << describe(recording.error());
    EXPECT_EQ(recording->format, "kernel_tuner");
    EXPECT_EQ(recording->unit, "ms");
    EXPECT_EQ(recording->dropped, 0U);
    EXPECT_EQ(recording->cut_off, expected.cut_off);
    EXPECT_EQ(recording->configurations.size(), expected.configurations);
    EXPECT_EQ(varying(*recording), expected.parameters);
    std::size_t valid = 0, odd = 0;  // an EXPECT per row takes most of the time
    double optimum = 1e300;
    // The mean of a PARTIAL file is over the zeros of its pairs too. Times of the A6000 are not
    // quite the means of the repeats beside them.
    const double factor = expected.cut_off ? 2 : 1,
                 tolerance = expected.valid == 3889 ? 0.02 : 1e-9;
    for (const RecordedConfiguration& c : recording->configurations) {
      odd += c.value.has_value() != (c.outcome == Outcome::correct) || !c.compile_ms ||
             c.repeats.size() != (c.value ? expected.repeats : 0U);
      if (!c.value) continue;
      ++valid;
      optimum = std::min(optimum, *c.value);
      const double mean = std::accumulate(c.repeats.begin(), c.repeats.end(), 0.0) /
                          static_cast<double>(c.repeats.size());
      odd += !(std::abs(*c.value * factor / mean - 1) < tolerance);
    }
    EXPECT_EQ(odd, 0U);
    EXPECT_EQ(valid, expected.valid);
    EXPECT_NEAR(optimum / expected.optimum, 1, 1e-3);
  }
}

TEST(RecordedSpaces, T4AndKernelTunerAgree) {
  const auto t4_file = kRecorded / "T1/example_T4_convolution_milo__MI250X.json.gz";
  if (!std::filesystem::exists(t4_file)) GTEST_SKIP() << "skipped: " << t4_file << " is not there";
  const auto t4 = read_recording(t4_file);
  const auto cache = read_recording(kRecorded / "amd/convolution_milo__MI250X.json.gz");
  ASSERT_TRUE(t4.has_value() && cache.has_value());
  EXPECT_EQ(t4->format, "t4");
  EXPECT_EQ(t4->unit, cache->unit);
  EXPECT_EQ(t4->parameters, cache->parameters);
  ASSERT_EQ(t4->configurations.size(), cache->configurations.size());
  for (std::size_t i = 0; i < t4->configurations.size(); ++i) {
    const RecordedConfiguration &a = t4->configurations[i], &b = cache->configurations[i];
    ASSERT_EQ(a.values, b.values);
    ASSERT_EQ(a.outcome, b.outcome);
    ASSERT_EQ(a.value, b.value);
    ASSERT_EQ(a.repeats, b.repeats);
    ASSERT_EQ(a.compile_ms, b.compile_ms);
  }
  const auto space = space_of(*cache);
  ASSERT_TRUE(space.has_value()) << describe(space.error());
  ASSERT_EQ(space->size(), cache->configurations.size());
  std::set<ConfigId> found;
  for (const RecordedConfiguration& c : cache->configurations) {
    std::vector<Binding> named;
    for (std::size_t p = 0; p < c.values.size(); ++p)
      named.emplace_back(cache->parameters[p], c.values[p]);
    const auto id = space->find_values(named);
    ASSERT_TRUE(id.has_value());
    found.insert(*id);
  }
  EXPECT_EQ(found.size(), space->size());
}

constexpr std::string_view kCacheHead =
    R"({"device_name":"MI","kernel_name":"k","tune_params_keys":["a","b"],"cache":{)";

/// A Kernel Tuner cache of these entries.
std::string cache_of(std::initializer_list<std::string_view> entries) {
  std::string text(kCacheHead);
  int number = 0;
  for (const std::string_view entry : entries)
    text += fmt::format("{}\"{}\":{{{}}}", number++ == 0 ? "\n" : ",\n", number, entry);
  return text + "}\n}";
}

TEST(KernelTunerCaches, EveryKindOfRow) {
  const Recording recording = parsed(cache_of({
      R"("a":1,"b":"x","time":2.5,"times":[2,3],"compile_time":7,"benchmark_time":8)",
      R"("b":true,"a":2,"time":"CompilationFailedConfig","times":[1])",
      R"("a":3,"b":1.5,"time":"RuntimeFailedConfig")",
      R"("a":4,"b":1,"__error__":"InvalidConfig")",
      R"("a":5,"b":1,"__error__":"SomeNewError","time":3)",
      R"("a":6,"b":1,"time":4,"times":[[0,8],[0,9]])",
      R"("a":7,"b":1,"time":4,"times":[[0,8],9])",
      R"("a":8,"time":4)",
      R"("a":9,"b":null,"time":4)",
      R"("a":[1],"b":1,"time":4)",
      R"("a":10,"b":1)",
      R"("a":11,"b":1,"time":null)",
  }));
  EXPECT_EQ(recording.format, "kernel_tuner");
  EXPECT_EQ(recording.device, "MI");
  EXPECT_EQ(recording.kernel, "k");
  EXPECT_THAT(recording.parameters, ElementsAre("a", "b"));
  EXPECT_EQ(recording.dropped, 5U);
  const auto& rows = recording.configurations;
  ASSERT_EQ(rows.size(), 7U);
  EXPECT_THAT(rows[0].values, ElementsAre(Value(1L), Value(std::string("x"))));
  EXPECT_THAT(rows[0].value, Optional(2.5));
  EXPECT_THAT(rows[0].repeats, ElementsAre(2, 3));
  EXPECT_THAT(rows[0].compile_ms, Optional(7.0));
  EXPECT_THAT(rows[0].benchmark_ms, Optional(8.0));
  EXPECT_THAT(rows[1].values, ElementsAre(Value(2L), Value(true)));
  EXPECT_EQ(rows[1].outcome, Outcome::compile_failed);
  EXPECT_THAT(rows[1].repeats, IsEmpty());
  EXPECT_EQ(rows[1].compile_ms, std::nullopt);
  EXPECT_EQ(rows[2].outcome, Outcome::run_failed);
  EXPECT_EQ(rows[3].outcome, Outcome::not_launchable);
  EXPECT_EQ(rows[4].outcome, Outcome::run_failed);
  EXPECT_EQ(rows[4].value, std::nullopt);
  EXPECT_THAT(rows[5].repeats, ElementsAre(8, 9));
  EXPECT_THAT(rows[6].repeats, IsEmpty()) << "not all of them are pairs";
}

TEST(KernelTunerCaches, CutOffAnywhereKeepTheirWholeRows) {
  const std::string whole =
      cache_of({R"("a":1,"b":"}{,\"","time":1,"times":[1,[2]])", R"("a":2,"b":{"c":1},"time":2)",
                R"("a":3,"b":1,"time":1e999,"times":[])", R"("a":4,"b":[],"time":NaN)",
                R"("a":5,"b":1,"time":5)"});
  const Recording all = parsed(whole);
  EXPECT_FALSE(all.cut_off);
  EXPECT_EQ(all.dropped, 3U);
  EXPECT_EQ(all.configurations.size(), 2U);
  const std::size_t first_end = whole.find("]]}") + 3;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string cut = whole.substr(0, length);
    if (length < first_end) {
      refused(cut);
      continue;
    }
    const Recording recording = parsed(cut);
    EXPECT_TRUE(recording.cut_off);
    const bool has_last = length >= whole.size() - 3;
    ASSERT_EQ(recording.configurations.size(), has_last ? 2U : 1U) << cut;
  }
}

TEST(KernelTunerCaches, OfDuplicatesTheLastStays) {
  const Recording recording = parsed(cache_of({
      R"("a":1,"b":1,"time":1)",
      R"("a":1,"b":2,"time":2)",
      R"("a":1.0,"b":true,"time":3)",
      R"("a":"1","b":1,"time":4)",
  }));
  std::vector<double> values;
  for (const auto& row : recording.configurations) values.push_back(row.value.value_or(0));
  EXPECT_THAT(values, ElementsAre(2, 3, 4));
  const auto space = space_of(recording);
  ASSERT_TRUE(space.has_value()) << describe(space.error());
  EXPECT_EQ(space->size(), 3U);
}

TEST(Recordings, NumbersThatJsonOr64BitsDoNotHave) {
  const Recording recording = parsed(cache_of({
      R"("a":1,"b":1,"time":NaN)",
      R"("a":2,"b":1,"time":-Infinity)",
      R"("a":3,"b":99999999999999999999,"time":1)",
      R"("a":4,"b":18446744073709551615,"time":1)",
      R"("a":5,"b":1,"time":1e400)",
      R"("a":6,"b":"NaN 1e999","time":1e308)",
      R"("a":7,"b":-9223372036854775808,"time":1.5e-07)",
      R"("a":8,"b":1,"time":12345678901234567890.5)",
  }));
  EXPECT_EQ(recording.dropped, 5U);
  ASSERT_EQ(recording.configurations.size(), 3U);
  EXPECT_EQ(recording.configurations[0].values[1], Value(std::string("NaN 1e999")));
  EXPECT_THAT(recording.configurations[0].value, Optional(1e308));
  EXPECT_THAT(recording.configurations[1].value, Optional(1.5e-07));
  EXPECT_THAT(recording.configurations[2].value, Optional(12345678901234567890.5));
}

TEST(Recordings, T4OfOtherPrograms) {
  const Recording recording = parsed(R"({"schema_version":"1.0.0","results":[
    {"configuration":{"a":1},"times":{"compilation_time":5,"benchmark":6,"runtimes":[1,2]},"invalidity":"correct",
     "correctness":1,"measurements":[{"name":"power","value":9,"unit":"W"},{"name":"speed","value":3,"unit":"GB/s"}],
     "objectives":["speed"]},
    {"configuration":{"a":2},"times":{"runtimes":[5,1,2]},"invalidity":"correct","correctness":1},
    {"configuration":{"a":3},"times":{},"invalidity":"correct","correctness":1},
    {"configuration":{"a":4},"times":{},"invalidity":"constraints","correctness":0},
    {"configuration":{"a":5},"times":{},"invalidity":"timeout","measurements":[{"name":"speed","value":"x"}]},
    {"configuration":{"a":6},"times":{},"invalidity":"no such word"},
    {"configuration":{"b":7},"invalidity":"compile"},
    {"configuration":{"a":8,"b":7},"invalidity":"compile"},
    {"configuration":[],"invalidity":"compile"}, 5]})");
  EXPECT_EQ(recording.format, "t4");
  EXPECT_EQ(recording.unit, "GB/s");
  EXPECT_THAT(recording.parameters, ElementsAre("a"));
  EXPECT_EQ(recording.dropped, 6U);
  const auto& rows = recording.configurations;
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_THAT(rows[0].value, Optional(3.0));
  EXPECT_THAT(rows[0].repeats, ElementsAre(1, 2));
  EXPECT_THAT(rows[0].compile_ms, Optional(5.0));
  EXPECT_THAT(rows[0].benchmark_ms, Optional(6.0));
  EXPECT_THAT(rows[1].value, Optional(2.0)) << "the median of the run times";
  EXPECT_EQ(rows[2].outcome, Outcome::not_launchable);
  EXPECT_EQ(rows[3].outcome, Outcome::timed_out);
  // KTT writes numbers as texts, and says who it is.
  const Recording ktt =
      parsed(R"({"metadata":{"autotuner":"KTT","device":"D","timeunit":"microseconds"},"results":[
    {"configuration":{"a":"16","b":"0.500000","c":"x"},"times":{"runtimes":[3]},"invalidity":"correct",
     "measurements":[{"name":"time","value":3,"unit":""}],"objectives":["time"]}]})");
  EXPECT_EQ(ktt.unit, "us");
  EXPECT_EQ(ktt.device, "D");
  EXPECT_THAT(ktt.configurations.front().values,
              ElementsAre(Value(16L), Value(0.5), Value(std::string("x"))));
}

TEST(Recordings, KttOutput) {
  const Recording recording =
      parsed(R"({"Metadata":{"Device":"RTX","TimeUnit":"Microseconds"},"Results":[
    {"KernelName":"k","Status":"Ok","TotalDuration":12.5,"Configuration":[{"Name":"a","Value":1,"ValueType":"Int"},{"Name":"b","Value":0.5}]},
    {"KernelName":"k","Status":"ComputationFailed","TotalDuration":0,"Configuration":[{"Name":"b","Value":1},{"Name":"a","Value":2}]},
    {"KernelName":"k","Status":"ValidationFailed","TotalDuration":3,"Configuration":[{"Name":"a","Value":3},{"Name":"b","Value":1}]},
    {"KernelName":"k","Status":"DeviceLimitsExceeded","Configuration":[{"Name":"a","Value":4},{"Name":"b","Value":1}]},
    {"KernelName":"k","Status":"CompilationFailed","Configuration":[{"Name":"a","Value":5},{"Name":"b","Value":1}]},
    {"KernelName":"k","Status":"Perhaps","Configuration":[{"Name":"a","Value":6},{"Name":"b","Value":1}]},
    {"KernelName":"k","Status":"Ok","Configuration":[{"Name":"a","Value":7},{"Name":"b","Value":1}]},
    {"KernelName":"k","Status":"Ok","TotalDuration":1,"Configuration":[{"Name":"a","Value":8},{"Name":"a","Value":1}]},
    {"KernelName":"k","Status":"Ok","TotalDuration":1,"Configuration":[{"Name":"a"},{"Name":"b","Value":1}]}]})");
  EXPECT_EQ(recording.format, "ktt");
  EXPECT_EQ(recording.unit, "us");
  EXPECT_EQ(recording.device, "RTX");
  EXPECT_EQ(recording.kernel, "k");
  EXPECT_EQ(recording.dropped, 4U);
  const auto& rows = recording.configurations;
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_THAT(rows[0].values, ElementsAre(Value(1L), Value(0.5)));
  EXPECT_THAT(rows[0].value, Optional(12.5));
  EXPECT_THAT(rows[1].values, ElementsAre(Value(2L), Value(1L)));
  EXPECT_EQ(rows[1].outcome, Outcome::run_failed);
  EXPECT_EQ(rows[2].outcome, Outcome::wrong);
  EXPECT_EQ(rows[3].outcome, Outcome::not_launchable);
  EXPECT_EQ(rows[4].outcome, Outcome::compile_failed);
}

TEST(Recordings, TritonCaches) {
  const Recording recording = parsed(R"({"key":["1024"],"configs_timings":[
    [{"kwargs":{"BLOCK":64},"num_warps":4,"num_ctas":1,"num_stages":3,"maxnreg":null,"pre_hook":null,"ir_override":null},[0.5,0.4,0.6]],
    [{"kwargs":{"BLOCK":128},"num_warps":8,"num_ctas":1,"num_stages":2,"maxnreg":null,"pre_hook":null},[Infinity,Infinity,Infinity]],
    [{"kwargs":{"BLOCK":256},"num_warps":8,"num_ctas":1,"num_stages":2},0.25],
    [{"kwargs":{"BLOCK":512},"num_warps":8,"num_ctas":1,"num_stages":2},[]],
    [{"kwargs":{"BLOCK":512},"num_warps":8,"num_ctas":1,"num_stages":2}],
    [{"num_warps":8},[1,1,1]]]})");
  EXPECT_EQ(recording.format, "triton");
  EXPECT_EQ(recording.unit, "ms");
  EXPECT_THAT(recording.parameters, ElementsAre("BLOCK", "num_warps", "num_stages", "num_ctas"));
  EXPECT_EQ(recording.dropped, 3U);
  ASSERT_EQ(recording.configurations.size(), 3U);
  EXPECT_THAT(recording.configurations[0].value, Optional(0.5));
  EXPECT_EQ(recording.configurations[1].outcome, Outcome::run_failed);
  EXPECT_THAT(recording.configurations[2].value, Optional(0.25));
}

TEST(Recordings, ForeignTables) {
  const Recording recording = parsed(
      "BLOCK_M,\"layout, order\",Time_ms,GFLOP/s,status\n16,\"a,\"\"b\"\"\",0.5,100,\n32,True,,0,\n"
      "64,0.5,nan,0,timeout\n128,x,CompilationFailedConfig,0,\n256,x,oops,0,\n,x,1,1,\n16,\"a,"
      "\"\"b\"\"\",0.25,7,correct\n");
  EXPECT_EQ(recording.format, "csv");
  EXPECT_EQ(recording.unit, "ms");
  EXPECT_THAT(recording.parameters, ElementsAre("BLOCK_M", "layout, order"));
  EXPECT_EQ(recording.dropped, 2U);
  const auto& rows = recording.configurations;
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_THAT(rows[0].values, ElementsAre(Value(32L), Value(true)));
  EXPECT_EQ(rows[0].outcome, Outcome::run_failed);
  EXPECT_EQ(rows[1].outcome, Outcome::timed_out);
  EXPECT_EQ(rows[2].outcome, Outcome::compile_failed);
  EXPECT_THAT(rows[3].values, ElementsAre(Value(16L), Value(std::string("a,\"b\""))));
  EXPECT_THAT(rows[3].value, Optional(0.25));
  // The value can come first.
  const Recording first = parsed("runtime (us),a,b\r\n3,1,2\r\n");
  EXPECT_THAT(first.parameters, ElementsAre("a", "b"));
  EXPECT_EQ(first.unit, "us");
  EXPECT_THAT(refused("a,b\n1,2\n"), HasSubstr("value, time or runtime"));
  EXPECT_THAT(refused("time\n1\n"), HasSubstr("parameters"));
  EXPECT_THAT(refused("a,time\n1\n"), HasSubstr("line 2"));
  EXPECT_THAT(refused("a,a,time\n1,2,3\n"), HasSubstr("same name"));
}

TEST(Recordings, HostileTexts) {
  for (const std::string_view text :
       {"",
        " \n",
        "{",
        "[",
        "null",
        "{}",
        "[]",
        "{\"cache\":{}}",
        "{\"cache\":5}",
        "hello",
        "{\"tune_params_keys\":[\"a\"],\"cache\":{}}",
        "{\"tune_params_keys\":[\"a\"],\"cache\":[]}",
        "{\"tune_params_keys\":[1],\"cache\":{}}",
        "{\"results\":[]}",
        "{\"results\":{}}",
        "{\"results\":[{\"configuration\":{},\"invalidity\":\"compile\"}]}",
        "{\"Results\":5}",
        "{\"configs_timings\":[[]]}",
        "\x1f\x8b",
        "\xff\xfe{",
        "{\"a\": \"\xff\"}",
        "{\"tune_params_keys\":[\"a\",\"a\"],\"cache\":{\"1\":{\"a\":1,\"time\":1}}}"})
    refused(text);
  EXPECT_THAT(refused(cache_of({})), HasSubstr("no configuration"));
  EXPECT_THAT(refused(cache_of({R"("a":1)"})), HasSubstr("1 dropped"));
  EXPECT_THAT(refused("{}"), HasSubstr("not a recording"));
  refused(std::string(100'000, '['));
  // Many columns are refused before they cost time.
  std::string header, row, names, object;
  for (int i = 0; i < 20'000; ++i) {
    header += fmt::format("p{},", i);
    row += "1,";
    names += fmt::format("{}\"p{}\"", i == 0 ? "" : ",", i);
    object += fmt::format("\"p{}\":1,", i);
  }
  EXPECT_THAT(refused(header + "time\n" + row + "1\n"), HasSubstr("1,000 parameters"));
  EXPECT_THAT(refused("{\"tune_params_keys\":[" + names + "],\"cache\":{\"1\":{" + object +
                      "\"time\":1}}}"),
              HasSubstr("1,000 parameters"));
  object.pop_back();
  EXPECT_THAT(
      refused("{\"results\":[{\"configuration\":{" + object + "},\"invalidity\":\"compile\"}]}"),
      HasSubstr("1,000 parameters"));
}

TEST(Recordings, GzipFiles) {
  const TempFolder folder;
  const std::string text = cache_of({R"("a":1,"b":1,"time":1)"});
  EXPECT_TRUE(read_recording(folder.write("cache.json.gz", gzipped(text))).has_value());
}

/// What a recording keeps of our rows.
void expect_rows(const Recording& recording, const std::vector<ResultRow>& rows) {
  EXPECT_EQ(recording.dropped, 0U);
  ASSERT_EQ(recording.configurations.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RecordedConfiguration& read = recording.configurations[i];
    const Evaluation& written = rows[i].evaluation;
    ASSERT_EQ(recording.parameters.size(), rows[i].configuration.size());
    for (std::size_t p = 0; p < recording.parameters.size(); ++p) {
      EXPECT_EQ(recording.parameters[p], rows[i].configuration[p].first);
      EXPECT_EQ(read.values[p], rows[i].configuration[p].second);
    }
    EXPECT_EQ(read.outcome, written.outcome);
    EXPECT_EQ(read.value, written.value);
    EXPECT_EQ(read.repeats, written.samples);
    EXPECT_EQ(read.compile_ms, written.build_seconds * 1e3);
    EXPECT_EQ(read.benchmark_ms, written.run_seconds * 1e3);
  }
}

TEST(Results, T4AndCsvReadBack) {
  Prng prng(17);
  bool has_unit = false;
  for (int i = 0; i < 150; ++i) {
    const std::vector<ResultRow> rows = test::any_rows(prng);
    const std::string_view unit = i % 2 == 0 ? "GB/s" : "furlongs, \"square\"";
    const Recording t4 = parsed(to_t4(rows, "speed", unit));
    EXPECT_EQ(t4.format, "t4");
    expect_rows(t4, rows);
    const Recording csv = parsed(to_csv(rows, "speed, \"max\"", unit));
    EXPECT_EQ(csv.format, "csv");
    EXPECT_EQ(csv.unit, unit);
    expect_rows(csv, rows);
    has_unit = has_unit || t4.unit == unit;
    if (testing::Test::HasFailure()) FAIL() << to_csv(rows, "speed", unit);
  }
  EXPECT_TRUE(has_unit);
}

TEST(Results, T4IsWhatItsSchemaSays) {
  std::vector<ResultRow> rows;
  for (int i = 0; i < 6; ++i) {
    Evaluation evaluation =
        i == 0 ? test::correct(1500, {1000, 2000}) : test::failed(static_cast<Outcome>(i));
    evaluation.build_seconds = 2;
    evaluation.run_seconds = 3;
    rows.push_back({{{"a", static_cast<std::int64_t>(i)}}, evaluation});
  }
  const auto t4 = parse_json(to_t4(rows, "gpu_time", "ns"), "t4");
  ASSERT_TRUE(t4.has_value());
  EXPECT_EQ((*t4)["schema_version"], "1.0.0");
  std::vector<std::string> invalidity;
  for (const Json& result : (*t4)["results"]) {
    for (const char* key : {"configuration", "times", "invalidity", "correctness"})
      EXPECT_TRUE(result.contains(key)) << key;
    for (const char* key : {"compilation_time", "framework", "search_algorithm", "validation"})
      EXPECT_TRUE(result["times"][key].is_number()) << key;
    EXPECT_TRUE(result["times"]["runtimes"].is_array());
    EXPECT_TRUE(result["correctness"].is_number());
    EXPECT_EQ(result["objectives"], Json::array({"gpu_time"}));
    invalidity.push_back(result["invalidity"].get<std::string>());
  }
  EXPECT_THAT(invalidity, ElementsAre("correct", "compile", "runtime", "timeout", "correctness",
                                      "constraints"));
  const Json& first = (*t4)["results"][0];
  EXPECT_EQ(first["times"]["compilation"], 2000.0);
  EXPECT_NEAR(first["times"]["runtimes"][1].get<double>(), 0.002, 1e-15) << "in ms";
  EXPECT_EQ(first["measurements"][0],
            (Json{{"name", "gpu_time"}, {"value", 1500.0}, {"unit", "ns"}}));
}

TEST(Results, CsvHasAColumnPerParameter) {
  std::vector<ResultRow> rows = {
      {{{"a", 1L}, {"b", std::string("x,\"y\"")}}, test::correct(0.1, {0.1, 0.25})},
      {{{"a", std::string("16")}, {"b", false}}, test::failed(Outcome::timed_out, "5 s")}};
  rows[0].evaluation.run_seconds = 2;
  EXPECT_EQ(to_csv(rows, "wall_time", "s"),
            "a,b,value,unit,objective,outcome,cv,unstable,samples,warm_up,build_seconds,"
            "run_seconds,detail\n"
            "1,\"x,\"\"y\"\"\",0.1,s,wall_time,correct,,false,0.1;0.25,,0,2,\n"
            "'16',false,,s,wall_time,timeout,,false,,,0,0,5 s\n");
}

TEST(Results, CsvDoesNotBeginAsJsonDoes) {
  for (const char* name : {"[", "{x", " [1]", "\xEF\xBB\xBF{", "\xBB[", "\xBF{"}) {
    const std::vector<ResultRow> rows = {{{{name, 1L}}, test::correct(0.5, {0.5})}};
    const auto read = parse_recording(to_csv(rows, "x", "W"), "csv");
    ASSERT_TRUE(read) << describe(read.error());
    EXPECT_EQ(read->parameters, std::vector<std::string>{name});
  }
}

TEST(Results, JournalsAreRecordings) {
  const TempFolder folder;
  Prng prng(4);
  const std::vector<ResultRow> rows = test::any_rows(prng);
  {
    JournalKey key;
    key.gpu = "gfx942";
    auto journal = Journal::open(folder / "j", key, false);
    ASSERT_TRUE(journal.has_value());
    for (const ResultRow& row : rows)
      ASSERT_TRUE(journal->append({row.configuration, "search", "", row.evaluation}).has_value());
    Evaluation final = rows.front().evaluation;
    final.build_seconds = 1e9;
    ASSERT_TRUE(journal->append({rows.front().configuration, "final 1", "", final}).has_value());
  }
  const auto recording = read_recording(folder / "j");
  ASSERT_TRUE(recording.has_value()) << describe(recording.error());
  EXPECT_EQ(recording->format, "journal");
  EXPECT_EQ(recording->device, "gfx942");
  EXPECT_FALSE(recording->cut_off);
  expect_rows(*recording, rows);
}

TEST(RecordedSpaceOf, OrdersValues) {
  const Recording recording = parsed("a,b,time\n8,z,1\n1,y,2\n0.5,3,3\nx,2.5,4\nfalse,y,5\n");
  const auto space = space_of(recording);
  ASSERT_TRUE(space.has_value()) << describe(space.error());
  EXPECT_EQ(space->size(), 5U);
  const auto texts = [&](std::size_t parameter) {
    std::vector<std::string> list;
    for (const Value& value : space->parameters()[parameter].values) list.push_back(to_text(value));
    return list;
  };
  EXPECT_THAT(texts(0), ElementsAre("false", "0.5", "1", "8", "x"));
  EXPECT_THAT(texts(1), ElementsAre("2.5", "3", "z", "y"));
  std::string many = "a,time\n";
  for (int i = 0; i < 65'536; ++i) many += fmt::format("{},1\n", i);
  const auto refused_space = space_of(parsed(many));
  ASSERT_FALSE(refused_space.has_value());
  EXPECT_THAT(refused_space.error().message, HasSubstr("more than 65,535 values of a"));
}

}  // namespace
}  // namespace perflab::tune
