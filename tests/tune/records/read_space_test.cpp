// Space files: every form, errors that name the field, T1 files against recorded tuning runs.
#include "tune/records/read_space.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "hal/arch.h"
#include "tune/records/recording.h"

namespace perflab::tune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::filesystem::path kData = std::filesystem::path(PERFLAB_SHARED_DIR) / "data/autotune";

Result<Space> space_of_text(std::string_view text) {
  Result<SpaceFile> file = parse_space(text, "s.json");
  if (!file) return std::unexpected(file.error());
  return Space::list(std::move(file->description));
}

/// All configurations of a file, or its error.
std::vector<std::string> texts_of(std::string_view text) {
  const Result<Space> space = space_of_text(text);
  if (!space) return {space.error().message};
  std::vector<std::string> texts;
  for (ConfigId id = 0; id < space->size(); ++id) texts.push_back(space->text(id));
  return texts;
}

std::string error_of(std::string_view text) {
  const Result<Space> space = space_of_text(text);
  if (space) return "no error";
  EXPECT_EQ(space.error().code, ErrorCode::bad_input);
  return space.error().message;
}

TEST(TuneReadSpace, CompactFormHasRulesDefaultAndDerivedValues) {
  const auto file =
      parse_space(R"({"tune_params": {"M": [16, 32, 16], "N": "[2**i for i in range(2)]",
      "mode": ["a", "b"], "k": [1.5]}, "restrictions": ["M * N < 64 or mode == 'b'"],
      "default": {"mode": "b", "N": 2, "M": 32}, "derived": {"threads": "M * N"}})",
                  "s.json");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->format, SpaceFormat::compact);
  EXPECT_EQ(to_json(file->description).dump(),
            R"({"tune_params":{"M":[16,32],"N":[1,2],"mode":["a","b"],"k":[1.5]},)"
            R"("restrictions":["M * N < 64 or mode == 'b'"],"derived":{"threads":"M * N"},)"
            R"("default":{"M":32,"N":2,"mode":"b","k":1.5}})");
  const auto space = Space::list(file->description);
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_EQ(space->size(), 7U);
  EXPECT_EQ(space->text(space->default_configuration()), "M=32 N=2 mode=b");
  EXPECT_EQ(to_text(space->bindings(space->default_configuration()).back().second), "64");
}

TEST(TuneReadSpace, ListsOfConfigurations) {
  EXPECT_THAT(texts_of(R"([{"M": 64, "N": 1}, {"N": 2, "M": 64}, {"M": 16.5, "N": "x"},
                           {"M": 64, "N": 1.0}])"),
              ElementsAre("M=64 N=1", "M=64 N=2", "M=16.5 N=x"));
  EXPECT_THAT(texts_of(R"({"configurations": [{"M": 1}, {"M": 2}], "restrictions": ["M > 1"],
                           "default": {"M": 2}})"),
              ElementsAre("M=2"));
  EXPECT_THAT(texts_of(R"([{"only": 1}])"), ElementsAre("only=1"));
}

TEST(TuneReadSpace, TritonConfigs) {
  constexpr const char* kConfigs =
      R"([{"kwargs": {"BLOCK_M": 128}, "num_warps": 4, "num_stages": 2, "pre_hook": null},
          {"kwargs": {"BLOCK_M": 64}, "num_warps": 8, "num_stages": 2}])";
  EXPECT_THAT(texts_of(kConfigs), ElementsAre("BLOCK_M=128 num_warps=4", "BLOCK_M=64 num_warps=8"));
  EXPECT_EQ(parse_space(kConfigs, "s")->format, SpaceFormat::triton);
  EXPECT_THAT(texts_of(R"({"key": [], "configs_timings": [[{"kwargs": {"B": 2}, "num_warps": 4,
                           "maxnreg": null}, [0.5, 0.4, 0.6]], [{"kwargs": {"B": 1}, "num_warps": 4,
                           "maxnreg": null}, [0.25, 0.2, 0.3]]]})"),
              ElementsAre("B=2", "B=1"));
  EXPECT_EQ(error_of(R"([{"kwargs": {"B": 2}, "num_warps": 4}, {"kwargs": {}, "num_warps": 4}])"),
            "s.json: configuration 2 has no B, which others have");
  EXPECT_EQ(error_of(R"([{"kwargs": {"B": 2}}, {"num_warps": 4}])"),
            "s.json: configuration 2 has no kwargs");
}

TEST(TuneReadSpace, Baco) {
  EXPECT_THAT(texts_of(R"({"application_name": "x", "optimization_objectives": ["t"],
      "input_parameters": {"t": {"parameter_type": "ordinal", "values": [2, 4],
                                 "parameter_default": 4, "constraints": ["t < u * 4"]},
                           "u": {"parameter_type": "integer", "values": [0, 1]},
                           "c": {"parameter_type": "categorical", "values": ["x"]}}})"),
              ElementsAre("t=2 u=1"));
  EXPECT_THAT(error_of(R"({"input_parameters": {"p": {"parameter_type": "permutation",
                           "values": [3]}}})"),
              HasSubstr("p is a permutation, which cannot be tuned here"));
  EXPECT_THAT(error_of(R"({"input_parameters": {"p": {"parameter_type": "real",
                           "values": [0, 1]}}})"),
              HasSubstr("p is of the type real"));
}

TEST(TuneReadSpace, T1TypesAndDefaults) {
  const auto space = space_of_text(R"({"ConfigurationSpace": {"TuningParameters": [
      {"Name": "f", "Type": "float", "Values": "[1, 2]", "Default": [2]},
      {"Name": "b", "Type": "bool", "Values": "[0, 1]", "Default": 1},
      {"Name": "s", "Type": "string", "Values": ["p", "q"], "Default": "p"},
      {"Name": "one", "Type": "int", "Values": "[10]", "Default": 1}],
      "Conditions": [{"Parameters": ["b", "f"], "Expression": "b or f > 1.5"}]}})");
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_EQ(space->size(), 6U);
  EXPECT_TRUE(space->description().default_declared);
  EXPECT_EQ(space->text(space->default_configuration()), "f=2.0 b=true s=p");
  EXPECT_THAT(space->description().notes, ::testing::IsEmpty());
}

TEST(TuneReadSpace, ErrorsNameFileAndField) {
  const std::vector<std::pair<const char*, const char*>> cases{
      {"{", "s.json"},
      {"{}", "s.json: no known form of a search space"},
      {"7", "no known form"},
      {"[]", "a list without configurations"},
      {"[1]", "configuration 1 is number, where an object belongs"},
      {"[{}]", "the first configuration has no parameters"},
      {R"([{"a": 1}, {"b": 1}])", "configuration 2 has no a, which others have"},
      {R"([{"a": 1}, {"a": 1, "b": 1}])", "configuration 2 has a b, which others have not"},
      {R"([{"a": null}])", "a of configuration 1: null where a number"},
      {R"({"tune_params": {}})", "tune_params has no parameters"},
      {R"({"tune_params": {"a": [1]}, "restriction": []})",
       "\"restriction\" is not known here; known are tune_params, restrictions, default, derived"},
      {R"({"tune_params": {"a": []}})", "a has no values"},
      {R"({"tune_params": {"a": "[]"}})", "a has no values"},
      {R"({"tune_params": {"a": 5}})", "values of a: number where a list belongs"},
      {R"({"tune_params": {"a": [[1]]}})", "values of a: array where a number"},
      {R"({"tune_params": {"a": "[1"}})", "values of a: \"[1\": no \"]\""},
      {R"x({"tune_params": {"a": "range(10**12)"}})x", "more than 65535 values"},
      {R"x({"tune_params": {"a": "range(70000)"}})x", "more than 65535 values"},
      {R"({"tune_params": {"a": [18446744073709551615]}})", "values of a:"},
      {R"({"tune_params": {"a": [1e999]}})", "s.json"},
      {R"({"tune_params": {"a": [NaN]}})", "s.json"},
      {R"({"tune_params": {"": [1]}})", "\"\" is not a name"},
      {R"({"tune_params": {"a b": [1]}})", "\"a b\" is not a name"},
      {R"({"tune_params": {"{a}": [1]}})", "\"{a}\" is not a name"},
      {R"({"tune_params": {"build_dir": [1]}})", "a parameter called build_dir"},
      {R"({"tune_params": {"a": [1]}, "derived": {"build_dir": "1"}})", "called build_dir"},
      {R"({"tune_params": {"a": [1]}, "derived": {"d": 1}})", "the derived value d is number"},
      {R"({"tune_params": {"a": [1]}, "derived": {"d": "e"}})", "s.json: derived value d: \"e\""},
      {R"({"tune_params": {"a": [1]}, "restrictions": "a"})",
       "restrictions is string, where array"},
      {R"({"tune_params": {"a": [1]}, "restrictions": [1]})", "restrictions has number"},
      {R"({"tune_params": {"a": [1, 2]}, "default": {}})", "the default has no a"},
      {R"({"tune_params": {"a": [1, 2]}, "default": {"a": 3}})", "none of its values"},
      {R"({"tune_params": {"a": [1, 2]}, "default": {"b": 1}})",
       "names b, which is not a parameter"},
      {R"({"tune_params": {"a": [1, 2]}, "default": {"a": 1}, "restrictions": ["a > 1"]})",
       "s.json: the default configuration is forbidden by \"a > 1\""},
      {R"({"ConfigurationSpace": {}})", "TuningParameters has no parameters"},
      {R"({"ConfigurationSpace": {"TuningParameters": [{"Values": "[1]"}]}})", "has no Name"},
      {R"({"ConfigurationSpace": {"TuningParameters": [{"Name": "a"}]}})", "a has no Values"},
      {R"({"input_parameters": {"a": {"parameter_type": "integer", "values": [1]}}})",
       "values of a are not its first and last whole number"},
      {R"({"input_parameters": {"a": 5}})", "a is not an object"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_THAT(error_of(text), HasSubstr(expected)) << text;
  EXPECT_THAT(error_of(R"({"tune_params": {"a": [)" + std::string(100'000, '[')),
              HasSubstr("s.json"));
}

TEST(TuneReadSpace, DeviceLimitsAreThoseOfTheArchitecture) {
  const hal::Arch* const arch = hal::find_arch("gfx942");
  ASSERT_NE(arch, nullptr);
  auto file = parse_space(R"({"tune_params": {"block_size_x": [32, 1024], "block_size_y": [1, 2],
      "num_warps": [4, 32], "threads": ["auto"], "lds_bytes": [1, 1000000]},
      "derived": {"threads_per_block": "block_size_x * block_size_y"}})",
                          "s.json");
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_TRUE(add_device_limits(file->description, "gfx942"));
  EXPECT_THAT(
      file->description.device_limits,
      ElementsAre(
          fmt::format("threads_per_block <= {}", arch->max_workgroup_size),
          fmt::format("block_size_x * block_size_y <= {}", arch->max_workgroup_size),
          fmt::format("num_warps * {} <= {}", arch->default_wave_size, arch->max_workgroup_size),
          fmt::format("lds_bytes <= {}", arch->lds_max_per_workgroup)));
  const auto space = Space::list(file->description);
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_EQ(space->size(), 3U);  // 3 of 4 blocks, 4 warps, 1 byte
  EXPECT_TRUE(space->counts().removed[0].device_limit);
  EXPECT_THAT(space->counts().removed[3].rule, HasSubstr("LDS bytes of a work-group of gfx942"));
  EXPECT_THAT(add_device_limits(file->description, "gfx1").error().message, HasSubstr("gfx1"));
}

/// A T1 file and a recording of the whole space that it describes.
struct RecordedPair {
  const char* space;
  const char* recording;
  std::size_t size;
  double product;
};

TEST(TuneReadSpaceRecorded, T1ConditionsGiveExactlyTheRecordedConfigurations) {
  if (!std::filesystem::exists(kData)) GTEST_SKIP() << "skipped: " << kData << " is not there";
  const std::vector<RecordedPair> pairs{
      {"convolution_milo", "amd/convolution_milo__MI250X", 4362, 10240},
      {"convolution_milo", "nvidia/convolution_milo__A100", 4362, 10240},
      {"dedispersion_milo", "amd/dedispersion_milo__MI250X", 11130, 22272},
      {"dedispersion_milo", "nvidia/dedispersion_milo__A100", 11130, 22272},
      {"convolution", "nvidia/convolution__RTX_3090", 6768, 16896},
      {"pnpoly", "nvidia/pnpoly__RTX_3090", 4092, 4092},
  };
  for (const RecordedPair& pair : pairs) {
    const auto file = read_space(kData / "T1" / (std::string(pair.space) + ".json"));
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->format, SpaceFormat::t1);
    const auto space = Space::list(file->description);
    ASSERT_TRUE(space) << space.error().message;
    EXPECT_EQ(space->size(), pair.size) << pair.space;
    EXPECT_EQ(space->counts().product, pair.product) << pair.space;
    double removed = 0;
    for (const Removed& each : space->counts().removed) removed += each.combinations;
    EXPECT_EQ(pair.product, static_cast<double>(space->size()) + removed);

    const auto recording = read_recording(kData / (std::string(pair.recording) + ".json.gz"));
    ASSERT_TRUE(recording) << recording.error().message;
    std::set<ConfigId> found;
    for (const RecordedConfiguration& each : recording->configurations) {
      std::vector<Binding> values;
      for (std::size_t i = 0; i < each.values.size(); ++i)
        values.emplace_back(recording->parameters[i], each.values[i]);
      const std::optional<ConfigId> id = space->find_values(values);
      ASSERT_TRUE(id) << pair.recording << " has one that the conditions forbid";
      found.insert(*id);
    }
    EXPECT_EQ(found.size(), space->size()) << pair.recording;
  }
}

TEST(TuneReadSpaceRecorded, LargeT1SpacesAreListedWithExactCounts) {
  if (!std::filesystem::exists(kData)) GTEST_SKIP() << "skipped: " << kData << " is not there";
  const auto hotspot = read_space(kData / "T1/hotspot_milo.json");
  ASSERT_TRUE(hotspot) << hotspot.error().message;
  const auto space = Space::list(hotspot->description);
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_EQ(space->size(), 82'984U);
  std::vector<double> removed;
  for (const Removed& each : space->counts().removed) removed.push_back(each.combinations);
  // The rules in their order of testing: 2, 1, 3, 4 (counted by three nested loops in Python).
  EXPECT_THAT(removed, ElementsAre(81'000, 3'241'200, 696'600, 338'216));
  // The default of the file is none: 1 % 2 is not 0. max_tfactor is 10, whatever it says.
  EXPECT_THAT(space->description().notes, ElementsAre(HasSubstr("is forbidden by \"temporal")));

  const auto gemm = read_space(kData / "T1/gemm_milo.json");
  ASSERT_TRUE(gemm) << gemm.error().message;
  EXPECT_EQ(Space::list(gemm->description)->size(), 116'928U);

  // Its own conditions forbid the default of this one.
  const auto dedispersion = read_space(kData / "T1/dedispersion_milo.json");
  const auto listed = Space::list(dedispersion->description);
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_FALSE(listed->description().default_declared);
  EXPECT_THAT(listed->description().notes, ElementsAre(HasSubstr("tile_size_x > 1 or")));
}

}  // namespace
}  // namespace perflab::tune
