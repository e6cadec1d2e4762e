// The workshop of commands: with g++ on tiny sources where a compiler matters, with shell scripts
// as sources where only the process does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/system/files.h"
#include "base/temp_folder.h"
#include "base/text/pattern.h"
#include "collect/stand_in_rocprofv3.h"
#include "optimize/command_bench.h"
#include "optimize/workshop/command_outputs.h"
#include "optimize/workshop/workshop.h"
#include "optimize/workshop/workshop_build.h"
#include "replay/sample_capture.h"

namespace perflab::optimize {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using test::TempFolder;
using test::text_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Writes floats that depend on the seed, and prints its time.
constexpr std::string_view kScaleSource = R"(#include "factor.h"
#include <cstdio>
#include <cstdlib>
void scale(float* x, int n) {
  for (int i = 0; i < n; ++i) x[i] = FACTOR;
}
int main(int, char** argv) {
  static float x[1500];
  for (int i = 0; i < 1500; ++i) x[i] = 0.5f + i + atoi(argv[1]);
  scale(x, 1500);
  FILE* const out = fopen(argv[2], "wb");
  fwrite(x, sizeof(float), 1500, out);
  fclose(out);
  printf("time: %d ms\n", 3);
}
)";

std::string scale_with(std::string_view factor) {
  std::string text(kScaleSource);
  text.replace(text.find("FACTOR"), 6, factor);
  return text;
}

TEST(CommandWorkshop, BuildsAndProvesWithACompiler) {
  CommandBench bench(kScaleSource, "scale.cpp");
  const fs::path header =
      bench.folder.write("factor.h", "#define FACTOR x[i] * 3.0f  // beside the user's file\n");
  bench.options.build = "g++ -O1 " + bench.options.source.string() + " -o {build_dir}/app";
  bench.options.run = "{build_dir}/app {seed} {build_dir}/out.bin";
  bench.options.outputs = {"{build_dir}/out.bin"};
  bench.options.output_type = replay::ElementType::f32;
  bench.options.compare.max_ulp = 4;
  bench.options.metric_pattern = "time: ([0-9]+) ms";
  bench.options.metric_unit = "ms";
  bench.options.perturbations = 2;

  const BuildOutcome broken = bench.outcome("broken", scale_with("x[i] * three"));
  EXPECT_FALSE(broken.built.has_value());
  EXPECT_THAT(broken.compiler_text, HasSubstr("was not declared in this scope"));

  EXPECT_TRUE(bench.original().reproducible);
  EXPECT_TRUE(bench.original().code_object.empty());
  EXPECT_THAT(bench.original().hash, testing::StartsWith("sha256:"));
  const Built right = bench.build("right", scale_with("x[i] * 3.0000005f"));
  EXPECT_NE(right.hash, bench.original().hash);
  const Correctness proof = bench.workshop().prove(bench.original(), right).value();
  EXPECT_EQ(failure_of(proof), "") << proof.sentence;
  ASSERT_EQ(proof.checks.size(), 3U);
  EXPECT_EQ(proof.checks[0].name, "output");
  EXPECT_EQ(proof.checks[2].name, "perturbed input 2");
  EXPECT_THAT(proof.checks[0].detail, HasSubstr("within the tolerance"));
  const Json& evidence = proof.checks[2].evidence;
  EXPECT_EQ(evidence["seed"], 3);
  EXPECT_EQ(evidence["files"][0]["elements"], 1500);
  EXPECT_GE(evidence["files"][0]["different"], 1);
  EXPECT_LE(evidence["files"][0]["largest_ulp"], 4);

  const Correctness wrong = bench.prove("wrong", scale_with("i == 1400 ? 0 : x[i] * 3.0f"));
  EXPECT_EQ(failure_of(wrong), "wrong_output");
  EXPECT_EQ(wrong.sentence,
            "{build_dir}/out.bin: 1 of 1500 elements is wrong; the first at byte 5600: 0 instead "
            "of 4204.5");
  ASSERT_EQ(wrong.checks.size(), 1U);
  EXPECT_FALSE(wrong.checks[0].passed);

  bench.prepare(right);
  EXPECT_THAT(bench.timed(right).samples, ElementsAre(3));
  EXPECT_FALSE(fs::exists(right.folder / "out.bin")) << "the output must not stay";
  EXPECT_FALSE(fs::exists(bench.original().folder / "out.bin"));
  EXPECT_EQ(bench.workshop().backend().name(), "command (metric)");
}

constexpr std::string_view kGoodScript = "echo input $1 gives $(($1 * 2)) > $2\n";

TEST(CommandWorkshop, NamesWhatIsWrongWithACandidate) {
  CommandBench bench(kGoodScript);
  bench.options.time_limit = milliseconds(8'000);
  int number = 0;
  const auto reason = [&](std::string_view text) {
    const Correctness proof = bench.prove("candidate" + std::to_string(++number), text);
    EXPECT_EQ(proof.checks.empty() || !proof.checks.back().passed, proof.reason.has_value());
    return failure_of(proof) + ": " + proof.sentence;
  };
  EXPECT_EQ(reason("n=$(($1 + $1)); echo input $1 gives $n > $2"), ": runs with 4 inputs passed");
  EXPECT_THAT(reason("echo input $1 gives 3 > $2"),
              HasSubstr("wrong_output: {build_dir}/out: 1 of 16 bytes is wrong; the first at byte "
                        "14: 0x33 instead of 0x32"));
  EXPECT_THAT(reason("echo input $1 gives 2 > $2"), HasSubstr("wrong_on_perturbed_input: "));
  EXPECT_THAT(reason("echo input $1 > $2"),
              HasSubstr("wrong_output: {build_dir}/out has 8 bytes, and the original writes 16"));
  EXPECT_EQ(reason(":"), "not_rewritten: the run did not write {build_dir}/out");
  EXPECT_THAT(reason("sleep 600"), HasSubstr("timed_out: the run was stopped after 8 s"));
  EXPECT_THAT(reason("kill -SEGV $$"), HasSubstr("faulted: the run was killed by SIGSEGV"));
  EXPECT_THAT(reason("echo error: no memory; exit 2"),
              HasSubstr("faulted: the run exited with code 2: error: no memory"));
  // Looks for what the original left, in its folder and in its own.
  EXPECT_EQ(reason("cat ../*/out */*/out > $2 2>/dev/null; d=$(dirname $2); "
                   "cat $d/../original/out > $2 2>/dev/null; [ -s $2 ] || rm $2; true"),
            "not_rewritten: the run did not write {build_dir}/out");
}

TEST(CommandWorkshop, EveryTimedRunHasToComputeTheSame) {
  CommandBench bench(kGoodScript);
  // Right as often as it is proven, then lazy.
  const Built lazy = bench.build("lazy", R"(count="$2.count"; echo >> $count
[ $(wc -l < $count) -gt 4 ] || echo input $1 gives $(($1 * 2)) > $2
)");
  EXPECT_EQ(failure_of(bench.workshop().prove(bench.original(), lazy).value()), "");
  bench.prepare(lazy);
  EXPECT_EQ(bench.timed(bench.original()).samples.size(), 1U);
  const measure::Measured timed = bench.timed(lazy);
  EXPECT_EQ(timed.failure, "a timed run is wrong: the run did not write {build_dir}/out");
  EXPECT_THAT(timed.samples, IsEmpty());
  EXPECT_FALSE(fs::exists(bench.original().folder / "out"));
}

TEST(CommandWorkshop, ComparesWhatIsPrintedWithoutTheLinesWithTimes) {
  CommandBench bench("echo sum $1; date +'took %N ns'; echo done\n");
  bench.options.outputs = {};
  bench.options.metric_pattern = "took ([0-9]+) ns";
  const Correctness right = bench.prove("right", "echo sum $1; echo took 12 ns; echo done\n");
  EXPECT_EQ(failure_of(right), "") << right.sentence;
  EXPECT_EQ(right.checks[0].detail, "11 bytes of stdout are equal");
  const Correctness wrong = bench.prove("wrong", "echo sum $1; echo took 1 ns; echo \"d\tne\"\n");
  EXPECT_EQ(failure_of(wrong), "wrong_output");
  EXPECT_EQ(wrong.sentence, "line 2 of stdout is 'd ne', and the original prints 'done'");
  EXPECT_THAT(bench.prove("short", "echo sum $1\n").sentence,
              HasSubstr("line 2 of stdout is nothing, and the original prints 'done'"));
  // Timed runs are compared, too.
  const Built lazy =
      bench.build("lazy",
                  "echo >> $2; [ $(wc -l < $2) -gt 4 ] || echo sum $1; echo took 1 ns; "
                  "[ $(wc -l < $2) -gt 4 ] || echo done\n");
  EXPECT_EQ(failure_of(bench.workshop().prove(bench.original(), lazy).value()), "");
  bench.prepare(lazy);
  EXPECT_THAT(bench.timed(lazy).failure,
              HasSubstr("a timed run is wrong: line 1 of stdout is nothing"));
}

TEST(CommandWorkshop, ProvesNothingWithoutOutputOrCheck) {
  CommandBench bench("echo took 5 ns\n");
  bench.options.outputs = {};
  bench.options.metric_pattern = "took ([0-9]+) ns";
  EXPECT_EQ(failure_of(bench.prove("same", "echo took 4 ns\n")), "proves_nothing");
}

TEST(CommandWorkshop, AnOriginalThatDoesNotRepeatItselfIsRefused) {
  CommandBench file("od -N8 -An -tx8 /dev/urandom > $2\n");
  EXPECT_THAT(file.error(ErrorCode::refused),
              testing::AllOf(HasSubstr("two runs of the original differ with seed 1"),
                             HasSubstr("--max-ulp")));
  CommandBench printed("od -N8 -An -tx8 /dev/urandom\n");
  printed.options.outputs = {};
  EXPECT_THAT(printed.error(ErrorCode::refused), HasSubstr("--check of your own"));
  CommandBench failing("exit 7\n");
  EXPECT_THAT(failing.error(ErrorCode::target_failed),
              HasSubstr("the original itself fails with seed 1: the run exited with code 7"));
  CommandBench silent(":\n");
  EXPECT_THAT(silent.error(ErrorCode::target_failed), HasSubstr("did not write {build_dir}/out"));
}

TEST(CommandWorkshop, TheUsersCheckDecides) {
  CommandBench bench("od -N8 -An -tx8 /dev/urandom; echo $1 > $2\n");
  bench.options.outputs = {};
  bench.options.check = "grep -q ^{seed}$ {build_dir}/out";
  const Correctness right = bench.prove("right", "echo never mind; echo $1 > $2\n");
  EXPECT_EQ(failure_of(right), "") << right.sentence;
  EXPECT_THAT(right.checks[0].detail, HasSubstr("not compared"));
  EXPECT_EQ(right.checks[1].name, "check");
  EXPECT_EQ(right.checks.back().name, "timed outputs");
  EXPECT_TRUE(right.checks.back().passed);
  EXPECT_EQ(right.checks.back().detail,
            "not compared: the original prints something else each time");
  const Correctness wrong = bench.prove("wrong", "echo 1 > $2\n");
  EXPECT_EQ(failure_of(wrong), "check_failed");
  EXPECT_THAT(wrong.sentence, HasSubstr("the check exited with code 1"));

  CommandBench refused(kGoodScript);
  refused.options.check = "false";
  EXPECT_THAT(refused.error(ErrorCode::refused), HasSubstr("the original does not pass --check"));
}

TEST(CommandWorkshop, SaysWhatOtherInputsAreWorth) {
  CommandBench without("echo same > $2\n");
  without.options.run = "sh {build_dir}/app 1 {build_dir}/out";
  const Correctness one = without.prove("same", "echo same > $2\n");
  ASSERT_EQ(one.checks.size(), 2U);
  EXPECT_THAT(one.checks[1].detail, HasSubstr("--run has no {seed}"));
  EXPECT_EQ(one.sentence, "the run with one input passed");
  CommandBench ignored("echo same > $2\n");
  const Correctness four = ignored.prove("same", "echo same > $2\n");
  ASSERT_EQ(four.checks.size(), 4U);
  EXPECT_THAT(four.checks[3].detail, HasSubstr("this proves nothing more"));
}

TEST(CommandWorkshop, TellsABuildThatDoesNotRepeatItself) {
  CommandBench bench(kGoodScript);
  bench.options.build =
      "sh -c 'cp \"$1\" \"$2\"/app; mkdir \"$2\"/d; od -N8 -An -tx8 /dev/urandom > \"$2\"/d/stamp' "
      "sh {source} {build_dir}";
  EXPECT_FALSE(bench.original().reproducible);
  const Built again = bench.build("again", kGoodScript);
  EXPECT_NE(again.hash, bench.original().hash);
}

TEST(CommandWorkshop, ABuildThatHangsOrLeavesNothingHasFailed) {
  CommandBench bench(kGoodScript);
  bench.options.time_limit = milliseconds(8'000);
  bench.options.build = "sh -c 'echo compiling; sh \"$1\" \"$2\"' sh {source} {build_dir}";
  const BuildOutcome hung = bench.outcome("hung", "sleep 600");
  EXPECT_FALSE(hung.built.has_value());
  EXPECT_THAT(hung.compiler_text,
              testing::AllOf(HasSubstr("compiling\n"), HasSubstr("the build was stopped after")));
  EXPECT_THAT(bench.outcome("nothing", ":").compiler_text, HasSubstr("left no file"));
  const BuildOutcome once = bench.outcome("once", "mkdir $1/../seen && touch $1/app");
  EXPECT_FALSE(once.built.has_value()) << "the second build fails";
  EXPECT_THAT(once.compiler_text, HasSubstr("the build exited with code 1"));
  const BuildOutcome loud =
      bench.outcome("loud", "yes 'note: a long line of words' | head -5000; echo last >&2; exit 1");
  EXPECT_LE(loud.compiler_text.size(), kMostCompilerText);
  EXPECT_THAT(loud.compiler_text, testing::StartsWith("note: "));
  EXPECT_FALSE(fs::exists(bench.folder / "work/once.first"));
}

TEST(CommandWorkshop, WithoutABuildTheRunTakesTheSource) {
  CommandBench bench(kGoodScript);
  bench.options.build = "";
  bench.options.run = "sh " + bench.options.source.string() + " {seed} {build_dir}/out";
  EXPECT_EQ(failure_of(bench.prove("same", kGoodScript)), "");
  EXPECT_EQ(failure_of(bench.prove("other", "echo > $2")), "wrong_output");
  EXPECT_TRUE(bench.original().reproducible);
  EXPECT_THAT(bench.original().variant.command[1], HasSubstr("work/original.sh"));
  EXPECT_THAT(bench.original().variant.environment[0].second,
              testing::StartsWith(bench.folder.path().string()));
}

TEST(CommandWorkshop, RefusesCommandsThatWouldProveSomethingElse) {
  CommandBench bench(kGoodScript);
  const auto with = [&](auto change) {
    CommandBench other(kGoodScript);
    change(other.options);
    return other.refusal();
  };
  EXPECT_THAT(with([](auto& o) { o.build = "make {build_dir}"; }), HasSubstr("names neither"));
  EXPECT_THAT(with([](auto& o) { o.build = "cp {source} /tmp/app"; }),
              HasSubstr("overwrite each other"));
  EXPECT_THAT(with([](auto& o) { o.run = "/tmp/app"; }), HasSubstr("--run has no {build_dir}"));
  EXPECT_THAT(with([](auto& o) {
                o.build = "";
                o.run = "./app {build_dir}";
              }),
              HasSubstr("there is no --build"));
  EXPECT_THAT(with([](auto& o) { o.run = "{build_dir}/app {sed}"; }),
              testing::AllOf(HasSubstr("--run: "), HasSubstr("seed")));
  EXPECT_THAT(with([](auto& o) { o.compare.max_ulp = 1; }), HasSubstr("--type"));
  EXPECT_THAT(with([](auto& o) { o.metric_pattern = "("; }), HasSubstr("("));
  bench.options.build = "no-such-compiler-here {source} -o {build_dir}/app";
  EXPECT_EQ(open_command_workshop(bench.options).error().code, ErrorCode::missing_tool);
}

TEST(CommandWorkshop, NeverRemovesWhatIsTheUsers) {
  CommandBench bench("echo hi > $2\n");
  const fs::path kept = bench.folder.write("precious", "data");
  bench.options.run = "sh {build_dir}/app {seed} " + kept.string();
  bench.options.outputs = {kept.string()};
  EXPECT_THAT(bench.error(ErrorCode::usage), HasSubstr("precious exists already"));
  EXPECT_EQ(text_of(kept), "data");
  const auto inside = bench.workshop().build(bench.options.source, bench.folder.path());
  ASSERT_FALSE(inside.has_value());
  EXPECT_EQ(inside.error().code, ErrorCode::usage);
  EXPECT_EQ(text_of(kept), "data");
}

TEST(CommandWorkshop, TimesTheNamedKernelUnderRocprofv3) {
  CommandBench bench(kGoodScript);
  const test::StandInRocprofv3 stand_in(bench.folder / "log");
  bench.options.rocprofv3 = true;
  bench.options.kernel = "ns::k";
  const Json objective = bench.workshop().identity()["objective"];
  EXPECT_EQ(objective["backend"], "rocprofv3");
  EXPECT_EQ(objective["unit"], "ns");
  const Pattern pattern = Pattern::compile(objective["kernel_pattern"].get<std::string>()).value();
  for (const char* const name : {"ns::k", "void ns::k<float>(float*)", "ns::k(int)"})
    EXPECT_TRUE(pattern.found_in(name)) << name;
  for (const char* const name : {"ns::k2(int)", "my::ns::k(int)", "ns::k::run()", "xns::k(int)"})
    EXPECT_FALSE(pattern.found_in(name)) << name;
  EXPECT_EQ(bench.prove("same", kGoodScript).checks.size(), 4U) << "its file is compared";
  // What is printed is the profiler's, too.
  CommandBench prints("echo sum $1\n");
  prints.options.rocprofv3 = true;
  prints.options.outputs = {};
  const Correctness proof = prints.prove("same", "echo sum $1\n");
  EXPECT_EQ(failure_of(proof), "");
  EXPECT_EQ(proof.checks.back().name, "timed outputs");
  EXPECT_THAT(proof.checks.back().detail, HasSubstr("not compared: rocprofv3 prints to the same"));
}

TEST(CommandWorkshop, SaysWhatItIs) {
  CommandBench bench(kGoodScript);
  bench.options.build = "cp " + bench.options.source.string() + " {build_dir}/app";
  const Json identity = bench.workshop().identity();
  EXPECT_EQ(identity["kind"], "command");
  EXPECT_EQ(identity["build"], "cp '{source}' '{build_dir}/app'");
  EXPECT_EQ(identity["seeds"], Json({1, 2, 3, 4}));
  EXPECT_EQ(identity["objective"]["backend"], "command (wall time)");
  EXPECT_EQ(identity["check"], nullptr);
  EXPECT_THAT(identity["build_program_hash"].get<std::string>(), testing::StartsWith("sha256:"));
  CommandBench other(kGoodScript);
  other.options.build = "cp " + other.options.source.string() + " {build_dir}/app";
  EXPECT_EQ(other.workshop().identity(), identity) << "no path of this run in it";
}

/// A build that leaves device code: its "source" is the code object.
TEST(CommandWorkshop, GuardsTheCodeObjectsOfABuild) {
  const auto object = [](std::string_view kernel, std::uint32_t kernarg_bytes) {
    return test::one_kernel_object(kernel, {{0, 8, "global_buffer"}, {8, 4, "by_value"}},
                                   kernarg_bytes, "code");
  };
  const std::string right = object("_ZN2ns4axpyEPfi", 12);
  const auto guards_of = [&](const std::string& kernel, const std::string& candidate) {
    CommandBench bench(right, "kernel.hip");
    bench.options.build = "cp {source} {build_dir}/kernel";
    bench.options.run = "true {build_dir}";
    bench.options.kernel = kernel;
    const Built built = bench.build("candidate", candidate);
    EXPECT_EQ(bench.original().code_object, bench.original().folder / "kernel");
    return bench.workshop().check_object(bench.original(), built);
  };
  const auto same = guards_of("ns::axpy", right);
  ASSERT_TRUE(same.has_value()) << describe(same.error());
  EXPECT_FALSE(same->results.empty());
  EXPECT_EQ(first_failure(same->results), nullptr);
  const auto other = guards_of("ns::axpy", object("_ZN2ns4axpyEPfi", 16));
  ASSERT_TRUE(other.has_value()) << describe(other.error());
  ASSERT_NE(first_failure(other->results), nullptr);
  EXPECT_EQ(first_failure(other->results)->reason, Reason::kernarg_changed);
  EXPECT_THAT(first_failure(other->results)->detail, testing::StartsWith("_ZN2ns4axpyEPfi: "));
  EXPECT_THAT(guards_of("ns::gemm", right).error().message, HasSubstr("no kernel ns::gemm"));
  EXPECT_EQ(first_failure(guards_of("ns::axpy", "text").value().results)->reason,
            Reason::other_code_changed);
  const auto unnamed = guards_of("", right);
  ASSERT_TRUE(unnamed.has_value());
  EXPECT_THAT(unnamed->results[0].detail, HasSubstr("not checked"));
}

TEST(CommandOutputs, BytesThatNoPageHoldsAreCompared) {
  const std::vector<OutputFile> outputs{{.name = "a", .path = "/a"}, {.name = "b", .path = "/b"}};
  RunOutputs expected, found;
  expected.files = {std::string(4096, 'x'), std::string(4099, '\xcb')};
  found = expected;
  EXPECT_TRUE(compare_outputs(outputs, expected, found, {}).equal);
  EXPECT_EQ(compare_outputs(outputs, expected, found, {}).sentence,
            "8195 bytes in 2 files are equal");
  for (const std::size_t at : {0U, 4095U, 4096U, 4098U}) {
    found = expected;
    found.files[1][at] = 'y';
    for (const auto type : {std::optional<replay::ElementType>(), {replay::ElementType::f64}}) {
      const OutputComparison compared =
          compare_outputs(outputs, expected, found, {.type = type, .compare = {}});
      EXPECT_FALSE(compared.equal);
      EXPECT_THAT(compared.sentence, HasSubstr("b: 1 of "));
    }
  }
}

}  // namespace
}  // namespace perflab::optimize
