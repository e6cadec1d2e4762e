// rocm-perf dispatch-table as a user runs it: manifests, recordings of several forms, what it
// refuses; and its C++ header, compiled and asked for the choices of the document.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "cli/program.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Milliseconds: the larger M, the larger a tile it wants; large problems want the other layout.
double time_of(double m, double n, int tile, const std::string& layout) {
  const double wanted = m < 500 ? 4 : m < 2000 ? 5 : 6;
  const double layout_cost = (layout == "col") == (m * n > 1e6) ? 0 : 0.2;
  return 1 + 0.5 * std::abs(std::log2(tile) - wanted) + layout_cost;
}

class DispatchTable : public testing::Test {
 protected:
  void SetUp() override {
    std::string problems;
    for (const int m : {256, 1024, 4096})
      for (const int n : {64, 512}) {
        const std::string file = std::to_string(m) + "x" + std::to_string(n) + ".csv";
        std::string table = "BM,LAYOUT,time_ms\n";
        for (const int tile : {16, 32, 64})
          for (const char* const layout : {"row", "col"})
            table += fmt::format("{},{},{}\n", tile, layout, time_of(m, n, tile, layout));
        write("rec/" + file, table);
        problems += fmt::format(R"({}{{"size": {{"M": {}, "N": {}}}, "recording": "{}"}})",
                                problems.empty() ? "" : ",", m, n, file);
        arguments_.push_back(fmt::format("--problem=M={},N={}:rec/{}", m, n, file));
      }
    write("rec/problems.json", R"({"problems": [)" + problems + "]}");
  }
  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string text(const std::string& name) { return test::text_of(folder_ / name); }
  Outcome run(const Words& arguments) {
    return rocm_perf(folder_.path(), joined({"dispatch-table"}, arguments));
  }
  Json json(const Words& arguments) {
    const Outcome outcome = run(joined(arguments, {"--json"}));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return document("dispatch_table", outcome.out);
  }
  /// Compiles a program that asks a header for each problem, and returns its lines. `fields`: as
  /// C++ prints them.
  Words choices(const std::string& header, const std::string& call, const std::string& fields,
                const Json& table) {
    std::string program = "#include <iostream>\n#include \"" + header + "\"\nint main() {\n";
    for (const Json& problem : table["problems"]) {
      std::string sizes;
      for (const auto& [name, size] : problem["size"].items())
        sizes += (sizes.empty() ? "" : ", ") + size.dump();
      program += "  { const auto c = " + call + "(" + sizes + "); std::cout << " + fields +
                 " << '\\n'; }\n";
    }
    write("use.cpp", program + "}\n");
    const Outcome built =
        run_in(folder_.path(), {PERFLAB_CXX_COMPILER, "-std=c++17", "-pedantic-errors", "-Wall",
                                "-Wextra", "-Wconversion", "-Werror", "use.cpp", "-o", "use"});
    EXPECT_EQ(built.exit_code, 0) << built.err << text(header);
    return text_lines(run_in(folder_.path(), {folder_ / "use"}).out);
  }

  test::TempFolder folder_;
  Words arguments_;
  const Words manifest_ = {"--manifest", "rec/problems.json"};
};

TEST_F(DispatchTable, MakesARuleThatLosesNothing) {
  const Json table = json(manifest_);
  EXPECT_EQ(table["sizes"], Json({"M", "N"}));
  EXPECT_EQ(table["parameters"], Json({"BM", "LAYOUT"}));
  EXPECT_EQ(table["objective"], Json({{"maximize", false}, {"unit", "ms"}}));
  EXPECT_EQ(table["configurations"]["worked_for_all"], 6);
  EXPECT_EQ(table["rule"]["leaves"], 4);  // three tiles, and the largest problem's layout
  EXPECT_EQ(table["losses"]["rule"]["mean"], 0);
  EXPECT_GT(table["losses"]["single"]["mean"], 0.2);
  EXPECT_EQ(table["losses"]["unseen"]["known"], 6);
  for (const Json& problem : table["problems"]) {
    EXPECT_EQ(problem["chosen"]["configuration"], problem["best"]["configuration"]);
    EXPECT_EQ(problem["evaluations"], 6);
  }
  EXPECT_EQ(table["environment"]["recordings"][0], "rec/256x64.csv");
}

TEST_F(DispatchTable, SaysTheAnswerOnAPage) {
  const Outcome page = run(manifest_);
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_LE(lines(page.out), 40);
  EXPECT_THAT(page.out, AllOf(HasSubstr("if M < 512: BM=16 LAYOUT=row\n"), HasSubstr("else if "),
                              HasSubstr("this rule"), HasSubstr("one configuration for all"),
                              HasSubstr("each left out: rules"),
                              HasSubstr("The rest: --details rule|problems; --json; --out DIR\n")));
  EXPECT_THAT(run(joined(manifest_, {"--leaves", "1"})).out,
              AllOf(HasSubstr("One configuration for all sizes"), HasSubstr("always: BM="),
                    HasSubstr("Where the rule loses most"), HasSubstr("a larger --leaves")));
  EXPECT_THAT(
      run(joined(manifest_, {"--details", "rule"})).out,
      AllOf(HasSubstr("if M < 512"), HasSubstr("What it loses"), Not(HasSubstr("measured"))));
  EXPECT_THAT(run(joined(manifest_, {"--details"})).out,
              AllOf(HasSubstr("if M < 512"), HasSubstr("measured"), HasSubstr("M=4096 N=512")));
  const Outcome brief = run(joined(manifest_, {"--json", "--brief"}));
  EXPECT_EQ(document("summary", brief.out)["made_from"], Json({"dispatch_table"}));
  EXPECT_LE(brief.out.size(), 8192U);
}

TEST_F(DispatchTable, IsTheSameInAnyOrderAndInFiles) {
  const Outcome first = run(joined(arguments_, {"--json"}));
  EXPECT_EQ(first.out, run(joined(manifest_, {"--json", "--out", "o"})).out);
  std::ranges::reverse(arguments_);
  EXPECT_EQ(first.out, run(joined(arguments_, {"--json"})).out);
  EXPECT_THAT(names_in(folder_ / "o"), ElementsAre("dispatch_table.json", "summary.json"));
  EXPECT_EQ(text("o/dispatch_table.json"), first.out);
}

TEST_F(DispatchTable, HasAsManyLeavesAsAllowed) {
  double before = 1e300;
  for (const int leaves : {1, 2, 3, 4, 6}) {
    const Json table = json(joined(manifest_, {"--leaves", std::to_string(leaves)}));
    EXPECT_LE(table["rule"]["leaves"], std::min(leaves, 4));
    const double loss = table["losses"]["rule"]["mean"];
    EXPECT_LE(loss, before);
    before = loss;
    EXPECT_EQ(table["options"], Json({{"leaves", leaves}, {"loss", 0}}));
  }
  EXPECT_EQ(before, 0);
  const Json loose = json(joined(manifest_, {"--loss", "20%"}));
  EXPECT_EQ(loose["rule"]["leaves"], 2);
  EXPECT_EQ(loose["rule"]["within_loss"], true);
  EXPECT_EQ(loose["options"], Json({{"leaves", nullptr}, {"loss", 0.2}}));
  EXPECT_EQ(json(joined(manifest_, {"--loss", "1%", "--leaves", "2"}))["rule"]["within_loss"],
            false);
}

TEST_F(DispatchTable, ItsHeaderChoosesAsTheDocument) {
  const Json table = json(joined(manifest_, {"--header", "gemm-table.h", "--out", "o"}));
  EXPECT_EQ(table["environment"]["header"], "gemm-table.h");
  const Words chosen =
      choices("gemm-table.h", "gemm_table::choose", "c.BM << ' ' << c.LAYOUT", table);
  ASSERT_EQ(chosen.size(), table["problems"].size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const Json& configuration = table["problems"][i]["chosen"]["configuration"];
    EXPECT_EQ(chosen[i], fmt::format("{} {}", configuration["BM"].get<int>(),
                                     configuration["LAYOUT"].get<std::string>()));
  }
  EXPECT_THAT(text("gemm-table.h"),
              AllOf(HasSubstr("Written by rocm-perf"), HasSubstr("\"rec/4096x512.csv\""),
                    HasSubstr("long long BM;"), HasSubstr("const char* LAYOUT;"),
                    HasSubstr("this table: 0.0 %")));
  // The same again, over what is there.
  const std::string before = text("gemm-table.h");
  EXPECT_EQ(run(joined(manifest_, {"--header", "gemm-table.h"})).exit_code, 0);
  EXPECT_EQ(text("gemm-table.h"), before);
  EXPECT_THAT(run(joined(manifest_, {"--header", "gemm-table.h"})).out,
              HasSubstr("include gemm-table.h and call choose()"));
}

TEST_F(DispatchTable, ItsHeaderTakesAnyNamesAndValues) {
  // A name of C++, one with blanks, one that begins with a digit; texts that are hard to write;
  // numbers of two kinds; a size that nothing asks about.
  write("a.csv",
        "int,block x,2d,_Q,on,time\n-9223372036854775808,1,\"a\"\"\\?é\",0.5,true,1\n"
        "7,2.5,row,2,false,5\n");
  write("b.csv",
        "int,block x,2d,_Q,on,time\n-9223372036854775808,1,\"a\"\"\\?é\",0.5,true,5\n"
        "7,2.5,row,2,false,1\n");
  const Json table =
      json({"--problem=class=1,b=7:a.csv", "--problem=class=100,b=7:b.csv", "--header", "2.h"});
  EXPECT_THAT(
      choices("2.h", "p_2::choose",
              "c.int_ << ' ' << c.block_x << ' ' << c.p_2d << ' ' << c.p_Q << ' ' << c.on", table),
      ElementsAre("-9223372036854775808 1 a\"\\?é 0.5 1", "7 2.5 row 2 0"));
  EXPECT_THAT(text("2.h"), HasSubstr("double block_x;  // \"block x\"\n"));

  write("a.csv", "a-b,a.b,time\n1,2,3\n");
  const Outcome same = run({"--problem=M=1:a.csv", "--problem=M=2:a.csv", "--header", "same.h"});
  EXPECT_EQ(same.exit_code, 3);
  EXPECT_THAT(same.err, HasSubstr("'a-b' and 'a.b' would both be called a_b"));
  EXPECT_FALSE(fs::exists(folder_ / "same.h"));
  EXPECT_EQ(run({"--problem=M=1:a.csv", "--problem=M=2:a.csv"}).exit_code, 0);
}

TEST_F(DispatchTable, ReadsWhatASearchLeftAndItsDirection) {
  for (const std::string name : {"256x64", "4096x512"}) {
    const Outcome searched =
        rocm_perf(folder_.path(), {"autotune", "--simulate", "rec/" + name + ".csv", "--maximize",
                                   "--effort", "full", "--journal", name + ".jsonl", "--quiet"});
    ASSERT_EQ(searched.exit_code, 0) << searched.err;
  }
  const Words problems = {"--problem=M=256:256x64.jsonl", "--problem=M=4096:4096x512.jsonl"};
  const Json table = json(problems);
  EXPECT_EQ(table["objective"]["maximize"], true);
  EXPECT_EQ(table["problems"][0]["format"], "journal");
  EXPECT_EQ(table["problems"][0]["best"]["configuration"], Json({{"BM", 64}, {"LAYOUT", "col"}}));
  EXPECT_EQ(table["problems"][1]["best"]["configuration"], Json({{"BM", 16}, {"LAYOUT", "row"}}));
  EXPECT_EQ(json(joined(problems, {"--maximize"}))["objective"]["maximize"], true);
  EXPECT_THAT(run(problems).out, HasSubstr("larger values are better"));
}

TEST_F(DispatchTable, NeverChoosesWhatFailedThere) {
  write("a.csv", "c,time,status\n1,1,correct\n2,2,correct\n");
  write("b.csv", "c,time,status\n1,,runtime\n2,2,correct\n");
  const Json table = json({"--problem=M=1:a.csv", "--problem=M=2:b.csv", "--loss", "1000%"});
  EXPECT_EQ(table["rule"]["leaves"], 1);
  EXPECT_EQ(table["rule"]["nodes"][0]["configuration"], Json({{"c", 2}}));
  EXPECT_EQ(table["problems"][1]["unseen"]["state"], "failed");
  EXPECT_EQ(table["problems"][1]["unseen"]["loss"], nullptr);
  EXPECT_EQ(table["losses"]["unseen"]["failed"], 1);
  EXPECT_THAT(table["warnings"].dump(), HasSubstr("chose fails for 1"));
  // Nothing is common to all: said, and no configuration is made up.
  write("b.csv", "c,time\n3,2\n");
  const Outcome page = run({"--problem=M=1:a.csv", "--problem=M=2:b.csv", "--leaves", "1"});
  EXPECT_EQ(page.exit_code, 0);
  EXPECT_THAT(page.out, HasSubstr("for 1 of 2 problems the rule has no configuration"));
}

TEST_F(DispatchTable, RefusesWhatMakesNoTable) {
  write("other.csv", "BN,LAYOUT,time_ms\n1,row,1\n");
  write("none.csv", "BM,LAYOUT,time_ms,status\n16,row,,runtime\n");
  write("bad.json", R"({"problems": [{"size": {"M": -1}, "recording": "a"}]})");
  const std::string good = "--problem=M=1,N=1:rec/256x64.csv";
  struct Case {
    Words arguments;
    int exit_code;
    const char* says;
  };
  for (const Case& one : std::vector<Case>{
           {{}, 2, "needs problems"},
           {{good}, 3, "there is 1 tuned problem"},
           {{"--problem", "M=1"}, 2, "no recording behind its sizes"},
           {{"--problem", "M=x:rec/256x64.csv"}, 2, "is not a number above 0"},
           {{good, "--problem=M=2,N=1:no.csv"}, 3, "no.csv"},
           {{good, "--problem=M=2:rec/256x512.csv"}, 3, "do not have the same sizes"},
           {{good, "--problem=M=1,N=1:rec/256x512.csv"}, 3, "are of the same problem, M=1, N=1"},
           {{good, "--problem=M=2,N=1:other.csv"},
            3,
            "rec/256x64.csv and other.csv do not have the same parameters: only one of them has "
            "BM, BN"},
           {{good, "--problem=M=2,N=1:none.csv"}, 3, "none.csv: no configuration worked"},
           {{"--manifest", "bad.json"}, 3, "bad.json: problems[0].size: \"M\""},
           {{"--manifest", "no.json"}, 3, "no.json"},
           {joined(manifest_, {"--leaves", "0"}), 2, "--leaves"},
           {joined(manifest_, {"--loss", "-1"}), 2, "must be a share"},
           {joined(manifest_, {"--details", "nothing"}), 2, "nothing"},
           {joined(manifest_, {"--header", "rec/256x64.csv"}), 2, "this is an input"},
           {joined(manifest_, {"--header", "no/table.h"}), 2, "there is no folder"},
           {joined(manifest_, {"--header", "o/summary.json", "--out", "o"}), 2, "--out puts"}}) {
    const Outcome outcome = run(one.arguments);
    EXPECT_EQ(outcome.exit_code, one.exit_code) << one.says;
    EXPECT_THAT(outcome.err, HasSubstr(one.says));
    EXPECT_THAT(outcome.out, IsEmpty());
  }
  EXPECT_THAT(text("rec/256x64.csv"), HasSubstr("BM,LAYOUT,time_ms"));
}

}  // namespace
}  // namespace perflab::cli
