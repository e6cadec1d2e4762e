// Completion scripts, run by the shells that they are for: bash always, zsh and fish where they are
// installed. A shell's own part (readline, zle) is replaced by functions that print what they are
// asked for.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cli/help_text.h"
#include "cli/program/completion_script.h"

namespace perflab::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAreArray;

using Words = std::vector<std::string>;

/// A folder with the script of a shell, and what that shell makes of it.
class Completion {
 public:
  explicit Completion(std::string shell) : shell_(std::move(shell)) {
    use(rocm_perf(folder_.path(), {"completion", shell_}).out);
  }

  /// Takes another script.
  void use(const std::string& text) { script_ = folder_.write("script", text); }

  [[nodiscard]] const test::TempFolder& folder() const { return folder_; }

  /// Runs lines of the shell that have the script as $1 (fish: $argv[1]) and the words behind it.
  [[nodiscard]] Words run(const std::string& lines, const Words& words) const {
    Words argv = {shell_};
    if (shell_ == "bash") argv.insert(argv.end(), {"--norc", "--noprofile", "-c", lines, "bash"});
    if (shell_ == "zsh") argv.insert(argv.end(), {"-f", "-c", lines, "zsh"});
    if (shell_ == "fish") argv.insert(argv.end(), {"--no-config", "-c", lines});
    argv.push_back(script_.string());
    argv.insert(argv.end(), words.begin(), words.end());
    ProcessOptions options;
    options.working_directory = folder_.path();
    options.standard_output = options.standard_error = StreamMode::capture;
    options.capture_limit = std::size_t{1} << 20;
    options.empty_input = true;
    options.timeout = std::chrono::minutes(1);
    options.set_environment = {{"HOME", folder_.path().string()}, {"TERM", "dumb"}};
    const auto result = run_program(argv, options);
    if (!result) {
      ADD_FAILURE() << result.error().message;
      return {};
    }
    EXPECT_EQ(result->error.tail, "");
    return text_lines(result->output.tail);
  }

 private:
  std::string shell_;
  test::TempFolder folder_;
  std::filesystem::path script_;
};

constexpr const char* kBashCall = R"sh(source "$1"; shift
  offers="(files)"
  compopt() { [[ "$*" != *"+o default"* ]] || offers="(nothing)"; }
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) kept=$IFS
  _rocm_perf || echo "failed"
  [[ $IFS == "$kept" ]] || echo "IFS is another"
  ((${#COMPREPLY[@]})) && printf '%s\n' "${COMPREPLY[@]}" || echo "$offers"
)sh";

/// What bash offers at the last word: replies, "(files)" where readline completes file names, or
/// "(nothing)" where that is switched off.
Words bash_offers(const Words& words) {
  static const Completion kCompletion("bash");
  Words all = {"rocm-perf"};
  all.insert(all.end(), words.begin(), words.end());
  return kCompletion.run(kBashCall, all);
}

const Words kFiles = {"(files)"};
const Words kNothing = {"(nothing)"};

TEST(CompletionBash, OffersEveryCommandAndOptionOfTheHelpAndNoOther) {
  const test::TempFolder folder;
  const auto commands = help_of_all_commands(folder.path());
  ASSERT_GT(commands.size(), 15U);
  for (const HelpOfCommand& command : commands) {
    Words words = command.words;
    words.emplace_back("-");
    const Words options = names_of(help_section(command.help, "Options"));
    EXPECT_THAT(bash_offers(words), UnorderedElementsAreArray(options))
        << testing::PrintToString(words);
    if (command.below.empty()) continue;
    words.back() = "";
    EXPECT_THAT(bash_offers(words), UnorderedElementsAreArray(command.below));
  }
}

TEST(CompletionBash, OffersWhatBeginsAsTheWordDoes) {
  EXPECT_THAT(bash_offers({"comp"}), ElementsAre("compare", "completion"));
  EXPECT_THAT(bash_offers({"replay", "v"}), ElementsAre("verify"));
  EXPECT_THAT(bash_offers({"analyze", "--wh"}), ElementsAre("--what-if"));
  EXPECT_THAT(bash_offers({"--vers"}), ElementsAre("--version"));
  EXPECT_EQ(bash_offers({"nonsense"}), kNothing);
  EXPECT_EQ(bash_offers({"analyze", "--nonsense"}), kNothing);
}

TEST(CompletionBash, OffersTheChoicesOfAnOptionInEveryForm) {
  const Words objectives = {"gpu", "metric", "time", "wall"};
  const auto autotune = [](Words words) {
    words.insert(words.begin(), "autotune");
    return bash_offers(words);
  };
  EXPECT_EQ(autotune({"--objective", ""}), objectives);
  EXPECT_THAT(autotune({"--objective", "m"}), ElementsAre("metric"));
  // bash splits at "=", which is in COMP_WORDBREAKS unless somebody took it out.
  EXPECT_EQ(autotune({"--objective", "="}), objectives);
  EXPECT_THAT(autotune({"--objective", "=", "w"}), ElementsAre("wall"));
  EXPECT_THAT(autotune({"--objective=w"}), ElementsAre("--objective=wall"));
  EXPECT_EQ(autotune({"--objective", "x"}), kNothing);
  EXPECT_THAT(bash_offers({"replay", "verify", "--poison", "arg"}), ElementsAre("arguments"));
  EXPECT_THAT(bash_offers({"completion", "f"}), ElementsAre("fish"));
  EXPECT_EQ(bash_offers({"completion", "fish", ""}), kNothing);
  EXPECT_THAT(bash_offers({"schema", "thr"}), ElementsAre("thread_trace"));
  EXPECT_THAT(bash_offers({"doctor", "prof"}), ElementsAre("profile"));
  EXPECT_THAT(bash_offers({"doctor", "profile", "rep"}), ElementsAre("replay", "report"));
}

TEST(CompletionBash, LeavesFilesToReadlineAndOffersNoneForNumbers) {
  EXPECT_EQ(bash_offers({"analyze", ""}), kFiles);
  EXPECT_EQ(bash_offers({"analyze", "a.db", "b"}), kFiles);
  EXPECT_EQ(bash_offers({"analyze", "--code", ""}), kFiles);
  EXPECT_EQ(bash_offers({"analyze", "--code", "="}), kFiles);
  EXPECT_EQ(bash_offers({"analyze", "--code", "=", "a"}), kFiles);
  EXPECT_EQ(bash_offers({"replay", "verify", "--capture-dir", "c"}), kFiles);
  EXPECT_EQ(bash_offers({"profile", "--runs", ""}), kNothing);
  EXPECT_EQ(bash_offers({"schema", "profile", ""}), kNothing);
}

TEST(CompletionBash, KnowsWhichWordsAreValues) {
  EXPECT_THAT(bash_offers({"autotune", "--objective", "gpu", "--effort", "q"}),
              ElementsAre("quick"));
  EXPECT_THAT(bash_offers({"optimize", "--json", "--provider", "="}),
              ElementsAre("openai", "anthropic"));
  // A value with signs that split words, and one that looks like a command.
  EXPECT_THAT(bash_offers({"optimize", "--proposer", "exec", ":", "./agent", "--provi"}),
              ElementsAre("--provider"));
  EXPECT_EQ(bash_offers({"optimize", "--proposer", "exec", ":", "./a"}), kFiles);
  EXPECT_EQ(bash_offers({"optimize", "--proposer", "exec", ":"}), kFiles);
  EXPECT_THAT(bash_offers({"autotune", "--slurm-arg", "=", "--gres", "=", "gpu", ":", "1", "--ob"}),
              ElementsAre("--objective"));
  EXPECT_THAT(bash_offers({"analyze", "replay", "--wh"}), ElementsAre("--what-if"));
}

TEST(CompletionBash, OffersProgramsAndFilesBehindDashes) {
  Completion completion("bash");
  std::filesystem::create_directory(completion.folder() / "bin");
  std::filesystem::rename(completion.folder().script("perflab_some_app", "true"),
                          completion.folder() / "bin/perflab_some_app");
  const std::string program = completion.folder() / "bin/perflab_some_app";
  const auto offers = [&](const Words& words) {
    return completion.run(
        "PATH=$PWD/bin:$PATH; source \"$1\"; shift; COMP_WORDS=(\"$@\") "
        "COMP_CWORD=$(($# - 1)); compopt() { echo '(nothing)'; }; _rocm_perf; "
        "printf '%s\\n' \"${COMPREPLY[@]}\"",
        words);
  };
  EXPECT_THAT(offers({"rocm-perf", "profile", "--json", "--", "perflab_some"}),
              ElementsAre("perflab_some_app"));
  // The program's own words and paths: readline's file names.
  EXPECT_EQ(bash_offers({"profile", "--", "app", "--jso"}), kFiles);
  EXPECT_EQ(bash_offers({"profile", "--", "bin/a"}), kFiles);
  EXPECT_EQ(bash_offers({"isolate", "--kernel", "k", "--", "./a"}), kFiles);
  EXPECT_EQ(bash_offers({"analyze", "a.db", "--", ""}), kNothing);
}

TEST(CompletionBash, NamesWithAnySignComeAsOneWordAndRunNothing) {
  CLI::App app("A program", "lab");
  std::string value;
  const Words choices = {"a b", "it's", "$(touch ran)", "`touch ran`", "*", "\\", "x;touch ran"};
  app.add_subcommand("do", "Do it")->add_option("--what", value)->check(CLI::IsMember(choices));
  Completion completion("bash");
  completion.use(completion_script(app, Shell::bash));
  // What is inserted is read by bash again: it has to be the choice, as one word.
  const Words read = completion.run(
      "source \"$1\"; shift; COMP_WORDS=(\"$@\") COMP_CWORD=3; _rocm_perf; "
      "for reply in \"${COMPREPLY[@]}\"; do eval \"set -- $reply\"; echo \"$#:$1\"; done",
      {"lab", "do", "--what", ""});
  Words expected;
  for (const std::string& choice : choices) expected.push_back("1:" + choice);
  EXPECT_EQ(read, expected);
  EXPECT_FALSE(std::filesystem::exists(completion.folder() / "ran"));
}

TEST(CompletionBash, IsRegisteredForBothNamesOfTheProgram) {
  const Completion completion("bash");
  EXPECT_THAT(completion.run("source \"$1\"; complete -p rocm-perf rocm-perf-lab", {}),
              ElementsAre("complete -o bashdefault -o default -F _rocm_perf rocm-perf",
                          "complete -o bashdefault -o default -F _rocm_perf rocm-perf-lab"));
}

constexpr const char* kZshCall = R"sh(
  compdef() { : }
  _describe() { local item; for item in "${(@P)argv[-1]}"; do print -r -- "${item%%:*}"; done }
  _files() { print "(files)" }
  _message() { print "($1)" }
  _normal() { print -r -- "(program) $CURRENT $words" }
  compadd() { shift; print -rl -- "$@" }
  compset() { print -r -- "(strips) $3" }
  source $1; shift
  words=(rocm-perf "$@") CURRENT=$(($# + 1))
  _rocm-perf || true
)sh";

/// What zsh offers at the last word: names, "(files)", "(number)", "(program) ..." or nothing.
Words zsh_offers(const Words& words) {
  static const Completion kCompletion("zsh");
  return kCompletion.run(kZshCall, words);
}

TEST(CompletionZsh, OffersWhatTheHelpHas) {
  if (!find_program("zsh")) GTEST_SKIP() << "zsh is not installed";
  const test::TempFolder folder;
  for (const HelpOfCommand& command : help_of_all_commands(folder.path())) {
    Words words = command.words;
    words.emplace_back("-");
    EXPECT_THAT(zsh_offers(words),
                UnorderedElementsAreArray(names_of(help_section(command.help, "Options"))));
    words.back() = "";
    if (command.below.empty()) continue;
    EXPECT_THAT(zsh_offers(words), UnorderedElementsAreArray(command.below));
  }
}

TEST(CompletionZsh, OffersChoicesFilesAndPrograms) {
  if (!find_program("zsh")) GTEST_SKIP() << "zsh is not installed";
  EXPECT_THAT(zsh_offers({"autotune", "--objective", ""}), ElementsAre("gpu", "metric", "wall"));
  EXPECT_THAT(zsh_offers({"autotune", "--objective=w"}),
              ElementsAre("(strips) *=", "gpu", "metric", "wall"));
  EXPECT_THAT(zsh_offers({"completion", ""}), ElementsAre("bash", "fish", "zsh"));
  EXPECT_THAT(zsh_offers({"replay", "verify", "--poison", ""}),
              ElementsAre("none", "written", "arguments"));
  EXPECT_EQ(zsh_offers({"analyze", ""}), kFiles);
  EXPECT_EQ(zsh_offers({"analyze", "--code", ""}), kFiles);
  EXPECT_THAT(zsh_offers({"profile", "--runs", ""}), ElementsAre("(number)"));
  EXPECT_THAT(zsh_offers({"profile", "--json", "--", "app", "x"}),
              ElementsAre("(program) 2 app x"));
  EXPECT_THAT(zsh_offers({"analyze", "--", ""}), ElementsAre());
}

/// What fish offers at the end of a line, without descriptions.
Words fish_offers(const std::string& line) {
  static const Completion kCompletion("fish");
  Words offers = kCompletion.run("source $argv[1]; complete -C $argv[2]", {line});
  for (std::string& offer : offers) offer.erase(std::min(offer.find('\t'), offer.size()));
  return offers;
}

TEST(CompletionFish, OffersWhatTheHelpHas) {
  if (!find_program("fish")) GTEST_SKIP() << "fish is not installed";
  const test::TempFolder folder;
  for (const HelpOfCommand& command : help_of_all_commands(folder.path())) {
    const std::string line = fmt::format("rocm-perf {} ", fmt::join(command.words, " "));
    // Behind one dash it offers short names too, behind two the long ones alone.
    Words expected = names_of(help_section(command.help, "Options"));
    std::erase_if(expected, [](const std::string& name) { return !name.starts_with("--"); });
    EXPECT_THAT(fish_offers(line + "--"), UnorderedElementsAreArray(expected)) << line;
    if (command.below.empty()) continue;
    EXPECT_THAT(fish_offers(line), UnorderedElementsAreArray(command.below)) << line;
  }
}

TEST(CompletionFish, OffersChoicesFilesAndPrograms) {
  if (!find_program("fish")) GTEST_SKIP() << "fish is not installed";
  EXPECT_THAT(fish_offers("rocm-perf autotune --objective "),
              UnorderedElementsAreArray({"gpu", "metric", "wall"}));
  EXPECT_THAT(fish_offers("rocm-perf autotune --objective=w"), ElementsAre("--objective=wall"));
  EXPECT_THAT(fish_offers("rocm-perf completion "),
              UnorderedElementsAreArray({"bash", "fish", "zsh"}));
  EXPECT_THAT(fish_offers("rocm-perf analyze scr"), ElementsAre("script"));
  EXPECT_THAT(fish_offers("rocm-perf analyze --code scr"), ElementsAre("script"));
  EXPECT_THAT(fish_offers("rocm-perf profile --runs scr"), ElementsAre());
  EXPECT_THAT(fish_offers("rocm-perf profile -- env"), Contains("env"));
  EXPECT_THAT(fish_offers("rocm-perf profile -- env --js"), Not(Contains("--json")));
  EXPECT_THAT(fish_offers("rocm-perf-lab repla"), ElementsAre("replay"));
}

TEST(Completion, OfAnUnknownShellIsRefusedAndAFileIsWrittenOnDemand) {
  const test::TempFolder folder;
  const Outcome unknown = rocm_perf(folder.path(), {"completion", "tcsh"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(unknown.out, "");
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const Outcome written = rocm_perf(folder.path(), {"completion", shell, "--out", shell});
    EXPECT_EQ(written.exit_code, 0);
    EXPECT_EQ(written.out, "");
    EXPECT_EQ(test::text_of(folder / shell), rocm_perf(folder.path(), {"completion", shell}).out);
  }
  EXPECT_THAT(test::text_of(folder / "zsh"), StartsWith("#compdef rocm-perf rocm-perf-lab\n"));
  EXPECT_EQ(rocm_perf(folder.path(), {"completion", "bash", "--out", "no/place"}).exit_code, 2);
}

}  // namespace
}  // namespace perflab::cli
