// What candidates print where the metric is looked for, what their timed runs have to compute, and
// the files of a build that has been run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/system/files.h"
#include "base/text/pattern.h"
#include "optimize/command_bench.h"
#include "optimize/workshop/command_prints.h"
#include "optimize/workshop/workshop_build.h"
#include "tune/evaluate/metric.h"

namespace perflab::optimize {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

/// A program whose kernel prints a line for each launch, as device code can, between the times that
/// its host prints.
constexpr std::string_view kPrintingProgram = R"(echo $(($1 * 2)) > $2
echo hello from the kernel; echo time: 5.25 ms
echo hello from the kernel; echo time: 5.5 ms
)";

/// The same with something instead of the kernel's own line.
std::string printing(const std::string& first, const std::string& second) {
  return "echo $(($1 * 2)) > $2\n" + first + "; echo time: 4.25 ms\n" + second +
         "; echo time: 4 ms\n";
}

void take_times(CommandWorkshopOptions& options) {
  options.metric_pattern = "^time: ([0-9.]+)";
  options.metric_unit = "ms";
}

TEST(MetricOfCommands, AProofCountsTheLinesWithTheMetric) {
  CommandBench bench(kPrintingProgram);
  take_times(bench.options);
  const std::string hello = "echo hello from the kernel";
  int number = 0;
  const auto reason = [&](const std::string& text) {
    const Correctness proof = bench.prove("candidate" + std::to_string(++number), text);
    return failure_of(proof) + ": " + proof.sentence;
  };
  EXPECT_EQ(reason(printing(hello, hello)), ": runs with 4 inputs passed");
  EXPECT_EQ(reason(printing(hello, hello + "; echo time: 0.001 ms")),
            "wrong_output: the metric pattern is found 3 times in what it prints, and 2 times in "
            "what the original prints");
  EXPECT_THAT(reason(printing(hello, hello + "; echo time: 0.001 ms >&2")),
              HasSubstr("wrong_output: the metric pattern is found 3 times"));
  EXPECT_THAT(reason(printing(hello, hello + "; [ $1 -lt 3 ] || echo time: 0.001 ms")),
              StartsWith("wrong_on_perturbed_input: the metric pattern is found 3 times"));
  // The kernel's number, and the host's behind it in the same line.
  EXPECT_EQ(reason(printing(hello, hello + "; printf 'time: 0.001 '")),
            "wrong_output: the metric is in 'time: <number> time: 4 ms' on stdout, and the "
            "original prints 'time: <number> ms'");
  // The kernel's line, and the host's made to be another one.
  EXPECT_EQ(reason(printing(hello, hello + "; echo time: 0.001 ms; printf x")),
            "wrong_output: it prints 5 lines to stdout, where the metric is, and the original "
            "prints 4");
  EXPECT_EQ(reason(printing("echo time: 0.001 ms; printf x", hello)),
            "wrong_output: the metric is in line 1 of stdout, and in line 2 of the original's");
  EXPECT_THAT(reason("echo $(($1 * 2)) > $2\necho hello; echo; echo; echo time: 0.001"),
              HasSubstr("is found 1 time in what it prints"));
}

TEST(MetricOfCommands, ATimedRunHasToPrintAsManyLines) {
  for (const bool files : {true, false}) {
    CommandBench bench(kPrintingProgram);
    take_times(bench.options);
    if (!files) bench.options.outputs = {};
    // Honest as often as it is proven: four inputs.
    const std::string late = "[ $(wc -l < $count) -lt 5 ] || echo time: 0.001 ms";
    const Built cheat = bench.build(
        "cheat", "count=$2.count; echo >> $count\n" +
                     printing("echo hello from the kernel", "echo hello from the kernel; " + late));
    EXPECT_EQ(failure_of(bench.workshop().prove(bench.original(), cheat).value()), "");
    bench.prepare(cheat);
    const measure::Measured timed = bench.timed(cheat);
    EXPECT_EQ(timed.failure,
              "a timed run is wrong: the metric pattern is found 3 times in what it prints, and 2 "
              "times in what the original prints");
    EXPECT_THAT(timed.samples, IsEmpty());
    EXPECT_EQ(bench.timed(bench.original()).failure, "");
  }
}

TEST(MetricOfCommands, WhatTheOriginalDoesNotRepeatIsNotAskedOfCandidates) {
  const std::string runs = "echo $(($1 * 2)) > $2; echo >> $2.count; n=$(wc -l < $2.count)\n";
  CommandBench times(runs + "for i in $(seq $n); do echo time: $i ms; done\n");
  take_times(times.options);
  const Correctness any = times.prove("any", runs + "echo time: 5 ms\n");
  EXPECT_EQ(failure_of(any), "") << any.sentence;
  EXPECT_THAT(
      any.checks[0].detail,
      HasSubstr("; how often the metric pattern is found is not compared: 1 time in one run "
                "of the original, 2 times in another"));

  // Other figures on the line, of other widths: the words around them are compared.
  CommandBench figures(runs + "echo \"time: 5 ms,   1$n.5e-0$n GB/s\"\n");
  take_times(figures.options);
  EXPECT_EQ(failure_of(figures.prove("right", runs + "echo 'time: 4 ms, 22222 GB/s'\n")), "");
  EXPECT_THAT(figures.prove("wrong", runs + "echo 'time: 4 ms, 2 GB'\n").sentence,
              HasSubstr("the metric is in 'time: <number> ms, 2 GB' on stdout"));

  // They depend on the time, also where two runs of the original happen to agree.
  CommandBench rates("echo $(($1 * 2)) > $2; echo 'time: 5 ms, 812 GB/s'\n");
  take_times(rates.options);
  EXPECT_EQ(
      failure_of(rates.prove("rate", "echo $(($1 * 2)) > $2; echo 'time: 4 ms, 1015 GB/s'\n")), "");

  CommandBench words(runs + "w=a; [ $((n % 2)) = 0 ] || w=b; echo time: 5 ms $w\n");
  take_times(words.options);
  const Correctness other = words.prove("other", runs + "echo time: 5 ms whatever\n");
  EXPECT_EQ(failure_of(other), "") << other.sentence;
  EXPECT_THAT(other.checks[0].detail, HasSubstr("the text around the metric is not compared"));
  EXPECT_THAT(words.prove("more", runs + "echo time: 5 ms a; echo time: 5 ms b\n").sentence,
              HasSubstr("is found 2 times"));

  CommandBench places(runs + "[ $((n % 2)) = 0 ] || echo progress; echo time: 5 ms\n");
  take_times(places.options);
  const Correctness elsewhere = places.prove("elsewhere", runs + "echo; echo; echo time: 5 ms\n");
  EXPECT_EQ(failure_of(elsewhere), "") << elsewhere.sentence;
  EXPECT_THAT(elsewhere.checks[0].detail, HasSubstr("where the metric is found is not compared"));
}

TEST(MetricOfCommands, LinesAreCutWhereTheScannerCutsThem) {
  const Pattern pattern = tune::compile_metric_pattern("^time: ([0-9]+)").value();
  const auto both = [&](const std::vector<std::pair<int, std::string>>& pieces) {
    tune::MetricScanner scanner(pattern);
    RunPrints prints(&pattern, true);
    for (const auto& [stream, bytes] : pieces) {
      scanner.feed(stream, bytes);
      prints.feed(stream, bytes);
    }
    const Printed printed = prints.take();
    EXPECT_EQ(printed.metric.matches, scanner.finish().samples.size());
    return printed;
  };
  const Printed split = both({{1, "a\nti"}, {2, "time: 7\n"}, {1, "me: 5 ms"}, {1, "\n\nti"}});
  EXPECT_EQ(split.metric.matches, 2U);
  EXPECT_EQ(split.text, "a\n\nti");
  const MetricLines::Stream& out = split.metric.streams[0];
  EXPECT_EQ(out.lines, 4U);
  ASSERT_EQ(out.metric.size(), 1U);
  EXPECT_EQ(out.metric[0].number, 2U);
  EXPECT_EQ(out.metric[0].text, "time: <number> ms");
  EXPECT_EQ(split.metric.streams[1].metric[0].text, "time: <number>");
  // The scanner begins anew within a line without end: so does the count.
  const Printed endless = both({{1, std::string(70'000, 'x')}, {1, "time: 1\n"}});
  EXPECT_EQ(endless.metric.matches, 1U);
  EXPECT_EQ(endless.metric.streams[0].lines, 1U);
  EXPECT_EQ(both({{1, "time: 1\ntime: 2"}, {1, "2\n"}}).metric.streams[0].metric[1].number, 2U);
}

TEST(TimedCommands, NothingIsTimedBeforeItIsKnownWhatItHasToCompute) {
  CommandBench bench("echo $(($1 * 2)) > $2\n");
  const auto unknown = bench.workshop().backend().measure(bench.original().variant);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().code, ErrorCode::internal);
  bench.prepare(bench.original());
  EXPECT_EQ(bench.timed(bench.original()).samples.size(), 1U);
}

TEST(TimedCommands, ALaterProcessComparesWithoutAProofOfItsOwn) {
  CommandBench bench("echo $(($1 * 2)) > $2\n");
  bench.options.perturbations = 2;
  const std::string wrong_for_one = "n=$(($1 * 2)); [ $1 != 2 ] || n=0; echo $n > $2\n";
  (void)bench.build("cheat", wrong_for_one);
  bench.begin_again();
  const Built cheat = bench.build("cheat", wrong_for_one);
  bench.prepare(cheat);
  EXPECT_EQ(bench.timed(cheat).failure, "");
  EXPECT_THAT(bench.timed(cheat).failure,
              HasSubstr("a timed run is wrong: {build_dir}/out: 1 of 2 bytes is wrong"));
  EXPECT_EQ(bench.timed(cheat).failure, "");
  for (int number = 0; number < 4; ++number) {
    const measure::Measured original = bench.timed(bench.original());
    EXPECT_EQ(original.failure, "");
    EXPECT_EQ(original.samples.size(), 1U);
  }
  // The turns begin anew.
  EXPECT_EQ(bench.timed(cheat).failure, "");
  bench.prepare(cheat);
  EXPECT_EQ(bench.timed(cheat).failure, "");
  EXPECT_NE(bench.timed(cheat).failure, "");
}

TEST(TimedCommands, ALaterProcessRemovesNothingOfTheUsers) {
  CommandBench bench("echo 1 > $2\n");
  const fs::path kept = bench.folder / "precious";
  bench.options.run = "sh {build_dir}/app {seed} " + kept.string();
  bench.options.outputs = {kept.string()};
  const Built same = bench.build("same", "echo 1 > $2\n");
  bench.prepare(same);
  EXPECT_FALSE(fs::exists(kept));
  (void)bench.folder.write("precious", "data");
  const auto again = bench.workshop().prepare_timing(bench.original(), bench.original(), same);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, ErrorCode::usage);
  bench.begin_again();
  const auto later = bench.workshop().prepare_timing(bench.original(), bench.original(), same);
  ASSERT_FALSE(later.has_value());
  EXPECT_THAT(describe(later.error()), HasSubstr("precious exists already"));
  EXPECT_EQ(test::text_of(kept), "data");
}

TEST(FilesOfABuild, OutputsThatABuildMakesAreNoneOfThem) {
  CommandBench bench("echo $1 > $2\n");
  bench.options.build =
      "sh -c 'cp \"$1\" \"$2\"/app; sh \"$1\" 1 \"$2\"/out' sh {source} {build_dir}";
  const Built& built = bench.original();
  ASSERT_EQ(built.files.size(), 1U);
  EXPECT_EQ(built.files.front().first, "app");
  EXPECT_EQ(failure_of(bench.workshop().prove(built, built).value()), "");
  EXPECT_EQ(changed_file(built), "");
}

TEST(FilesOfABuild, EveryChangeIsSeen) {
  CommandBench bench("echo 1 > $2\n");
  bench.options.build =
      "sh -c 'cp \"$1\" \"$2\"/app; mkdir \"$2\"/d; echo data > \"$2\"/d/part; "
      "ln -s part \"$2\"/d/link' sh {source} {build_dir}";
  const Built& built = bench.original();
  ASSERT_EQ(built.files.size(), 3U);
  const fs::path app = built.folder / "app", part = built.folder / "d/part",
                 link = built.folder / "d/link";
  EXPECT_EQ(changed_file(built), "");
  ASSERT_TRUE(write_file_atomically(built.folder / "app.log", "new beside them"));
  EXPECT_EQ(changed_file(built), "");
  ASSERT_TRUE(write_file_atomically(part, "DATA\n"));
  EXPECT_EQ(changed_file(built), part.string());
  ASSERT_TRUE(write_file_atomically(part, "data\n"));
  EXPECT_EQ(changed_file(built), "");
  fs::remove(app);
  EXPECT_EQ(changed_file(built), app.string());
  // The same bytes, but of a file that stands elsewhere.
  fs::create_symlink(bench.options.source, app);
  EXPECT_EQ(changed_file(built), app.string());
  fs::remove(app);
  fs::create_directory(app);
  EXPECT_EQ(changed_file(built), app.string());
  fs::remove(app);
  fs::copy_file(bench.options.source, app);
  EXPECT_EQ(changed_file(built), "");
  fs::remove(link);
  fs::create_symlink("../app", link);
  EXPECT_EQ(changed_file(built), link.string());
  // A file with the words of the link in it.
  fs::remove(link);
  ASSERT_TRUE(write_file_atomically(link, "part"));
  EXPECT_EQ(changed_file(built), link.string());
  fs::remove(link);
  fs::create_symlink("part", link);
  EXPECT_EQ(changed_file(built), "");
}

// --- each check by itself ----------------------------------------------------------------------

/// What a proof and a timed run say of a script; the bench has to be there for one script only.
std::string said_of(CommandBench& bench, std::string_view script) {
  const Built built = bench.build("cheat", script);
  const auto proof = bench.workshop().prove(bench.original(), built);
  EXPECT_TRUE(proof) << describe(proof.error());
  if (proof->reason) return failure_of(*proof) + ": " + proof->checks.back().name;
  bench.prepare(built);
  const measure::Measured measured = bench.timed(built);
  return measured.failure.empty() ? "passed" : "timed";
}

constexpr std::string_view kAloneOriginal =
    "echo input $1 gives $(($1 * 2)) > $2\necho 7 > $2.more\n";

TEST(ChecksAlone, OnlyOtherSeedsShowWhoKnowsTheFirst) {
  for (const bool with : {true, false}) {
    CommandBench bench(kAloneOriginal);
    bench.options.perturbations = with ? 1 : 0;
    EXPECT_EQ(said_of(bench, "echo input $1 gives 2 > $2\n"),
              with ? "wrong_on_perturbed_input: perturbed input 1" : "passed");
  }
}

TEST(ChecksAlone, OnlyTheUsersCheckSeesWhatNoOutputHas) {
  for (const bool with : {true, false}) {
    CommandBench bench(kAloneOriginal);
    if (with) bench.options.check = "grep -q 7 {build_dir}/out.more";
    EXPECT_EQ(said_of(bench, "echo input $1 gives $(($1 * 2)) > $2\necho 8 > $2.more\n"),
              with ? "check_failed: check" : "passed");
  }
}

TEST(ChecksAlone, OnlyTheLinesWithTheMetricShowWhoPrintsOne) {
  for (const bool with : {true, false}) {
    CommandBench bench(kPrintingProgram);
    if (with) take_times(bench.options);
    EXPECT_EQ(said_of(bench, printing("echo hello from the kernel",
                                      "echo hello from the kernel; echo time: 0.001 ms")),
              with ? "wrong_output: output" : "passed");
  }
}

TEST(ChecksAlone, OnlyTimedRunsShowWhoIsWrongLater) {
  CommandBench bench(kAloneOriginal);
  bench.options.perturbations = 0;
  const std::string counts = "echo >> $2.count; n=$(($1 * 2))\n";
  const std::string late = "[ $(wc -l < $2.count) -lt 2 ] || n=0\n";
  EXPECT_EQ(said_of(bench, counts + late + "echo input $1 gives $n > $2\n"), "timed");
  EXPECT_EQ(said_of(bench, counts + "echo input $1 gives $n > $2\n"), "passed");
}

TEST(ChecksAlone, OnlyTheEndShowsWhoDoesNotEndWell) {
  CommandBench bench(kAloneOriginal);
  bench.options.time_limit = std::chrono::milliseconds(3'000);
  const std::string right = "echo input $1 gives $(($1 * 2)) > $2; ";
  EXPECT_EQ(said_of(bench, right + "exit 3\n"), "faulted: output");
  EXPECT_EQ(said_of(bench, right + "sleep 60\n"), "timed_out: output");
  EXPECT_EQ(said_of(bench, right + "exit 0\n"), "passed");
}

}  // namespace
}  // namespace perflab::optimize
