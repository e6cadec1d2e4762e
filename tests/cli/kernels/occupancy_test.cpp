// rocm-perf occupancy on the real binary: whole outputs (tests/cli/golden; support/golden.h), the
// document's promises, bad flags.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "cli/program.h"
#include "hal/occupancy_sweep.h"
#include "report/kit/text_table.h"
#include "support/golden.h"

namespace perflab::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// `occupancy` with these words, split at blanks.
Outcome occupancy(const std::string& words, const char* columns = "100") {
  const test::TempFolder folder;
  std::vector<std::string> arguments = {"occupancy"};
  std::istringstream stream(words);
  for (std::string word; stream >> word;) arguments.push_back(word);
  ProcessOptions options;
  options.set_environment = {{"COLUMNS", columns}};
  return rocm_perf(folder.path(), arguments, options);
}

Json answer(const std::string& words) {
  const Outcome outcome = occupancy(words + " --json");
  EXPECT_EQ(outcome.exit_code, 0) << words << "\n" << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return document("occupancy", outcome.out);
}

constexpr const char* kIssue = "--arch gfx942 --vgpr 72 --lds 16384 --block 256";
constexpr const char* kTied =
    "--arch gfx90a --vgpr 100 --agpr 28 --sgpr 100 --lds 12288 --dynamic-lds 4096 --block 256 "
    "--waves-per-eu 2,6 --sweep lds";
constexpr const char* kRange =
    "--arch gfx1100 --vgpr 96 --block 704 --min-block 384 --llvm 20 --lds 25000 --sweep block";

TEST(OccupancyGolden, Text) {
  test::expect_golden("cli/golden/occupancy.issue.txt", occupancy(kIssue).out);
  test::expect_golden("cli/golden/occupancy.tied.80.txt", occupancy(kTied, "80").out);
  test::expect_golden("cli/golden/occupancy.range.120.txt", occupancy(kRange, "120").out);
}

TEST(OccupancyGolden, Json) {
  test::expect_golden("cli/golden/occupancy.issue.json",
                      occupancy(std::string(kIssue) + " --json").out);
  test::expect_fields("cli/golden/occupancy.range", occupancy(std::string(kRange) + " --json").out);
}

TEST(Occupancy, TheIssuesExample) {
  const Json json = answer(kIssue);
  for (const char* model : {"llvm", "hip", "resident"}) {
    const Json& m = json["models"][model];
    EXPECT_EQ(m["waves_per_simd"], 4) << model;
    EXPECT_EQ(m["workgroups_per_cu"], 4) << model;
    EXPECT_THAT(m["limiters"], ElementsAre("lds")) << model;
    EXPECT_EQ(m["next_step"]["changes"][0]["resource"], "lds") << model;
    EXPECT_EQ(m["next_step"]["waves_per_simd"], 5) << model;
  }
  EXPECT_EQ(json["models"]["resident"]["next_step"]["changes"][0]["decrease"], 3584);
  EXPECT_TRUE(json["sweep"].is_null());
}

/// Follows every null of the document to an entry of `missing`.
void expect_nulls_explained(const Json& value, const std::string& path,
                            const std::set<std::string>& explained) {
  // What was not asked for is null without a reason; so are the other platform's models.
  const bool of_other_platform = std::ranges::any_of(hal::kOccupancyModels, [&](auto model) {
    return path.ends_with(fmt::format("models.{}", hal::to_string(model)));
  });
  if (value.is_null() && path != "sweep" && path != "input.waves_per_eu" && !of_other_platform) {
    EXPECT_TRUE(explained.contains(path)) << path;
  }
  if (value.is_object())
    for (const auto& [key, member] : value.items())
      if (key != "missing")
        expect_nulls_explained(member, path.empty() ? key : path + "." + key, explained);
  if (value.is_array())
    for (std::size_t i = 0; i < value.size(); ++i)
      expect_nulls_explained(value[i], fmt::format("{}[{}]", path, i), explained);
}

TEST(OccupancyOfEveryArch, NullsHaveTheirReasons) {
  for (const hal::Arch& arch : hal::archs_of(hal::Platform::amd))
    for (const char* rest :
         {"--vgpr 8 --block 64", "--vgpr 64 --block 1000 --sweep block",
          "--vgpr 200 --sgpr 90 --block 64 --lds 30000 --sweep vgpr", "--vgpr 1 --block 1"}) {
      const Json json = answer("--arch " + arch.gfx + " " + rest);
      std::set<std::string> explained;
      for (const Json& entry : json["missing"]) {
        EXPECT_TRUE(explained.insert(entry["field"]).second) << entry.dump();
        EXPECT_NE(entry["reason"], "");
      }
      expect_nulls_explained(json, "", explained);
    }
}

TEST(OccupancyOfEveryArch, NullsHaveTheirReasonsOnNvidia) {
  for (const hal::Arch& arch : hal::archs_of(hal::Platform::nvidia))
    for (const char* rest : {"--vgpr 8 --block 64", "--vgpr 64 --block 992 --sweep block",
                             "--vgpr 200 --block 64 --lds 30000 --sweep vgpr",
                             "--vgpr 16 --block 64 --lds 1024 --dynamic-lds 50000 --sweep lds"}) {
      const Json json = answer("--arch " + arch.gfx + " " + rest);
      EXPECT_EQ(json["platform"], "nvidia");
      for (const char* model : {"llvm", "hip", "resident"})
        EXPECT_TRUE(json["models"][model].is_null()) << model;
      EXPECT_GT(json["models"]["cuda"]["workgroups_per_cu"].get<int>(), 0);
      std::set<std::string> explained;
      for (const Json& entry : json["missing"])
        EXPECT_TRUE(explained.insert(entry["field"]).second) << entry.dump();
      expect_nulls_explained(json, "", explained);
    }
}

TEST(Occupancy, OfNvidiaIsInItsWords) {
  const Outcome outcome = occupancy("--arch sm_90a --vgpr 96 --lds 2048 --block 256 --sweep vgpr");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* words : {"sm_90 (Hopper), warps of 32", "96 per thread", "1024 reserved",
                            "warps/SM", "blocks/SM", "16 of 64", "registers", "Sweep of registers"})
    EXPECT_THAT(outcome.out, HasSubstr(words));
  for (const char* words : {"wave", "VGPR", "LDS", "work-group", "SIMD", "AGPR", "clang"})
    EXPECT_THAT(outcome.out, testing::Not(HasSubstr(words)));
}

TEST(Occupancy, OptionsAboutAmdAreRefusedForNvidia) {
  for (const char* option : {"--agpr 4", "--sgpr 8", "--min-block 32", "--cu-mode", "--wgp-mode",
                             "--waves-per-eu 2", "--llvm 20"}) {
    const Outcome outcome = occupancy(std::string("--arch sm_90 --vgpr 32 --block 64 ") + option);
    EXPECT_EQ(outcome.exit_code, 2) << option;
    EXPECT_THAT(outcome.err, HasSubstr("is about AMD's GPUs: sm_90 has no such thing"));
  }
  EXPECT_EQ(occupancy("--arch sm_90 --vgpr 32 --block 64 --wave 32").exit_code, 0);
}

TEST(OccupancyOfEveryArch, UnconfirmedNumbersAreNamedWhereTheyAreUsed) {
  for (const hal::Arch& arch : hal::all_archs()) {
    const std::string words = "--arch " + arch.gfx + " --vgpr 32 --block 256";
    EXPECT_EQ(answer(words)["unconfirmed"], Json(arch.unconfirmed_of_occupancy()));
    for (const std::string& field : arch.unconfirmed_of_occupancy())
      EXPECT_THAT(occupancy(words).out, HasSubstr("unconfirmed " + field));
  }
}

TEST(Occupancy, FlagsReachTheModels) {
  const std::string rdna = "--arch gfx1100 --vgpr 100 --lds 24576 --block 128 ";
  EXPECT_EQ(answer(rdna)["models"]["llvm"]["waves_per_simd"], 5);
  EXPECT_EQ(answer(rdna + "--wgp-mode")["models"]["llvm"]["waves_per_simd"], 5);
  EXPECT_EQ(answer(rdna + "--cu-mode")["models"]["llvm"]["waves_per_simd"], 4);
  EXPECT_EQ(answer(rdna + "--wave 64")["input"]["wave_size"], 64);
  const std::string cdna = "--arch gfx942 --vgpr 32 --block 768 ";
  EXPECT_EQ(answer(cdna)["models"]["llvm"]["waves_per_simd"], 6);
  EXPECT_EQ(answer(cdna + "--min-block 1")["models"]["llvm"]["waves_per_simd"], 6);
  EXPECT_EQ(answer(cdna + "--min-block 1 --llvm 20")["models"]["llvm"]["waves_per_simd"], 8);
  EXPECT_EQ(answer(cdna + "--waves-per-eu 3,4")["models"]["llvm"]["waves_per_simd"], 4);
  EXPECT_EQ(answer(cdna + "--waves-per-eu 3")["input"]["waves_per_eu"]["hi"], 8);
  EXPECT_EQ(answer(cdna + "--agpr 100")["models"]["resident"]["waves_per_simd"], 3)
      << "one work-group of twelve waves";
  EXPECT_EQ(answer(cdna + "--sgpr 102")["models"]["llvm"]["waves_per_simd"], 6);
  EXPECT_EQ(answer(cdna + "--dynamic-lds 40000")["models"]["hip"]["workgroups_per_cu"], 1);
  EXPECT_EQ(answer("--arch gfx942:sramecc+:xnack- --vgpr 8 --block 64")["architecture"], "gfx942");
}

/// docs/models/occupancy.md "The llvm model has two rules"; steps 1 to 4 of docs/facts/hardware.md
/// "LLVM's occupancy". gfx942: waves of 64, 4 SIMDs with 8 slots each, 16 barriers.
TEST(OccupancyOfARange, GoesByTheRuleOfThatLlvm) {
  struct RangeCase {
    const char* sizes;
    int up_to_19, from_20;
  };
  const std::vector<RangeCase> cases = {
      // 2 groups of 12 waves fill 24 of 32 slots; 32 groups of one wave fill them all.
      {"--min-block 1 --block 768", 6, 8},
      // 2 groups of 11 waves fill 22; 3 groups of 10 waves fill 30, which counts as full.
      {"--min-block 640 --block 704", 6, 8},
      // 3 groups of 9 waves fill 27; 4 groups of 7 waves grow to 8 waves each.
      {"--min-block 448 --block 576", 7, 8},
      // 2 groups either way: the larger ones fill more.
      {"--min-block 704 --block 768", 6, 6},
      // One size: no range.
      {"--block 704", 6, 6},
  };
  for (const RangeCase& one : cases) {
    const std::string words = fmt::format("--arch gfx942 --vgpr 4 {}", one.sizes);
    const auto expect = [&](const std::string& rule, const char* name, int waves) {
      const Json json = answer(words + rule);
      EXPECT_EQ(json["input"]["llvm_rule"], name) << words << rule;
      EXPECT_EQ(json["models"]["llvm"]["waves_per_simd"], waves) << words << rule;
    };
    expect(" --llvm 19", "19", one.up_to_19);
    expect(" --llvm 20", "20", one.from_20);
    expect("", "19", one.up_to_19);
  }
}

TEST(Occupancy, SweepsWholeRangesAndMarksTheKernel) {
  for (const char* sweep : {"vgpr", "lds", "block"}) {
    const Json steps = answer(std::string(kIssue) + " --sweep " + sweep)["sweep"];
    int current = 0;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      EXPECT_EQ(steps[i]["resource"], sweep);
      if (i > 0) {
        EXPECT_EQ(steps[i]["from"], steps[i - 1]["to"].get<int>() + 1);
      }
      if (steps[i]["current"].get<bool>()) ++current;
    }
    EXPECT_EQ(current, 1);
  }
}

TEST(Occupancy, TextFitsTheWidthAndMarksOneStep) {
  for (const char* columns : {"80", "120"})
    for (const std::string words : {kTied, kRange})
      for (const char* sweep : {"vgpr", "lds", "block"}) {
        const Outcome outcome =
            occupancy(words.substr(0, words.find("--sweep")) + "--sweep " + sweep, columns);
        std::istringstream text(outcome.out);
        int marked = 0;
        for (std::string line; std::getline(text, line);) {
          EXPECT_LE(report::display_width(line), std::stoul(columns)) << line;
          if (line.starts_with("  >") || line.find(" > ") == 2) ++marked;
        }
        EXPECT_EQ(marked, 1) << outcome.out;
      }
}

TEST(Occupancy, AnAttributeThatLlvmIgnoresIsSaid) {
  const std::string words = "--arch gfx942 --vgpr 8 --sgpr 8 --block 1024 --waves-per-eu ";
  const std::pair<const char*, const char*> ignored[] = {
      {"3,4",
       "LLVM ignores amdgpu_waves_per_eu(3, 4): work-groups of 1024 work-items imply at least 4 "
       "waves per SIMD"},
      {"4,9", "LLVM ignores amdgpu_waves_per_eu(4, 9): gfx942 has at most 8 waves per SIMD"},
      {"9", "LLVM ignores amdgpu_waves_per_eu(9): gfx942 has at most 8 waves per SIMD"}};
  for (const auto& [bounds, sentence] : ignored) {
    EXPECT_THAT(answer(words + bounds)["assumptions"], ElementsAre(sentence));
    EXPECT_THAT(occupancy(words + bounds).out, HasSubstr(std::string("assumed     ") + sentence));
  }
  for (const char* honoured : {"4", "4,6", "8,8"})
    EXPECT_EQ(answer(words + honoured)["assumptions"], Json::array()) << honoured;
}

TEST(Occupancy, SameWordsSameBytes) {
  const std::string words = std::string(kRange) + " --json";
  EXPECT_EQ(occupancy(words).out, occupancy(words).out);
}

TEST(Occupancy, WrongFlagsAreExit2WithOneSentence) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"--arch gfx942 --block 256", "--vgpr is required"},
      {"--vgpr 8 --block 64", "--arch is required"},
      {"--arch gfx942 --vgpr 8", "--block is required"},
      {"--arch gfx942 --vgpr 8 --block x", "--block"},
      {"--arch gfx942 --vgpr 8 --block 0", "0 work-items cannot be launched"},
      {"--arch gfx942 --vgpr 8 --block 2048", "more than the 1024 of gfx942"},
      {"--arch gfx942 --vgpr 300 --block 64", "300 VGPRs"},
      {"--arch gfx942 --vgpr -1 --block 64", "-1 VGPRs"},
      {"--arch gfx942 --vgpr 99999999999999999999 --block 64", "99999999999999999999 is not a"},
      {"--arch gfx942 --vgpr 9999999999999999999 --block 64", "9999999999999999999 is not a"},
      {"--arch gfx942 --vgpr 9223372036854775807 --block 64", "9223372036854775807 VGPRs"},
      {"--arch gfx942 --vgpr 8 --block 9999999999999999999", "9999999999999999999 is not a"},
      {"--arch gfx942 --vgpr 8 --block 64 --sgpr -9999999999999999999", "-9999999999999999999 is"},
      {"--arch gfx942 --vgpr 8 --block 64 --agpr 257", "257 AGPRs"},
      {"--arch gfx1100 --vgpr 8 --block 64 --agpr 1", "1 AGPRs"},
      {"--arch gfx942 --vgpr 8 --block 64 --sgpr 200", "200 SGPRs"},
      {"--arch gfx942 --vgpr 8 --block 64 --sgpr 109",
       "109 SGPRs per wave is not possible on gfx942 (at most 108)"},
      {"--arch gfx1100 --vgpr 8 --block 64 --sgpr 107", "(at most 106)"},
      {"--arch gfx942 --vgpr 8 --block 64 --sgpr -1", "-1 SGPRs"},
      {"--arch gfx942:bogus --vgpr 8 --block 64", "--arch gfx942:bogus: bogus is not sramecc or"},
      {"--arch gfx942:xnack+: --vgpr 8 --block 64", "the empty feature is not"},
      {"--arch gfx942 --vgpr 8 --block 64 --lds 65537", "65536 bytes"},
      {"--arch gfx942 --vgpr 8 --block 64 --lds 65536 --dynamic-lds 1", "1 bytes dynamic"},
      {"--arch gfx942 --vgpr 200 --block 1024", "does not fit the register files"},
      {"--arch gfx942 --vgpr 8 --block 64 --wave 32", "gfx942 has no waves of 32"},
      {"--arch gfx942 --vgpr 8 --block 64 --wgp-mode", "gfx942 has no WGP mode"},
      {"--arch gfx1100 --vgpr 8 --block 64 --wgp-mode --cu-mode", "excludes"},
      {"--arch gfx942 --vgpr 8 --block 64 --min-block 65", "65 to 64 work-items"},
      {"--arch gfx942 --vgpr 8 --block 64 --min-block 0", "0 to 64 work-items"},
      {"--arch gfx942 --vgpr 8 --block 64 --waves-per-eu 2,", "LO or LO,HI"},
      {"--arch gfx942 --vgpr 8 --block 64 --waves-per-eu a", "LO or LO,HI"},
      {"--arch gfx942 --vgpr 8 --block 64 --waves-per-eu 0", "LO must be at least 1"},
      {"--arch gfx942 --vgpr 8 --block 64 --waves-per-eu -1,4", "LO must be at least 1"},
      {"--arch gfx942 --vgpr 8 --block 64 --waves-per-eu 4,3", "and HI at least LO"},
      {"--arch gfx942 --vgpr 8 --block 64 --waves-per-eu 1,2,3", "LO or LO,HI"},
      {"--arch gfx942 --vgpr 8 --block 64 --llvm 18", "--llvm"},
      {"--arch gfx942 --vgpr 8 --block 64 --sweep sgpr", "--sweep"},
      {"--arch gfx9999 --vgpr 8 --block 64", "unknown architecture gfx9999"},
      {"--arch gfx94 --vgpr 8 --block 64", "known are: "}};
  for (const auto& [words, sentence] : wrong) {
    const Outcome outcome = occupancy(words);
    EXPECT_EQ(outcome.exit_code, 2) << words;
    EXPECT_EQ(outcome.out, "") << words;
    EXPECT_THAT(outcome.err, HasSubstr(sentence)) << words;
  }
}

}  // namespace
}  // namespace perflab::cli
