// Steps of a case as processes.
#include "doctor/self_test/run_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "base/text/text.h"

namespace perflab::doctor {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNotHere = 77;  // programs/self_test.h
constexpr std::size_t kMostOutput = std::size_t{1} << 26;
constexpr const char* kModeVariable = "HSA_RESERVE_SVM";

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void end_with(CaseRun& run, TestReason reason, std::string sentence, std::string remedy = {}) {
  run.outcome = reason < kFirstFailure ? TestOutcome::skipped : TestOutcome::failed;
  run.reason = reason;
  run.sentence = std::move(sentence);
  run.remedy = std::move(remedy);
}

/// The last line that is not empty.
std::string_view last_line(std::string_view text) {
  text = trimmed(text);
  return text.substr(text.rfind('\n') + 1);
}

/// What a program said of its end: rocm-perf's error (the remedy stands below it), else the last
/// line.
std::string_view last_words(const ProcessResult& result) {
  constexpr std::string_view kOurs = "\nrocm-perf: ";
  const std::string_view error = result.error.tail;
  if (error.starts_with(kOurs.substr(1))) return error.substr(0, error.find('\n'));
  if (const std::size_t at = error.rfind(kOurs); at != std::string_view::npos)
    return error.substr(at + 1, error.find('\n', at + 1) - at - 1);
  const std::string_view last = last_line(error);
  return last.empty() ? last_line(result.output.tail) : last;
}

/// The first place in the words that was not built.
const std::string* missing_program(const TestCase& test, const Bench& bench) {
  for (const TestStep& step : test.steps)
    for (const std::string& word : step.words)
      for (const auto& [place, problem] : bench.unbuilt)
        if (word.find(fmt::format("<{}>", place)) != std::string::npos) return &problem;
  return nullptr;
}

/// Whether the case may begin; otherwise it is skipped.
bool may_begin(const TestCase& test, const Bench& bench, CaseRun& run) {
  for (const Need need : test.needs) {
    const auto part = std::ranges::find(bench.parts, need, &Part::need);
    if (part == bench.parts.end() || part->state == State::works) continue;
    end_with(run, TestReason::part_missing, fmt::format("{}: {}", part->title, part->problem),
             part->remedy);
    return false;
  }
  if (const std::string* problem = missing_program(test, bench)) {
    end_with(run, TestReason::does_not_compile, *problem);
    return false;
  }
  if (Clock::now() < bench.deadline) return true;
  end_with(run, TestReason::time_budget, "the time for all cases was used up before",
           "--time-budget gives more");
  return false;
}

/// Judges how a program ended that runs without rocm-perf; whether the case goes on.
bool judge_alone(const TestStep& step, const ProcessResult& result, CaseRun& run) {
  if (result.exit_code == kNotHere) {
    constexpr std::string_view kPrefix = "skip: ";
    std::string_view why = last_line(result.output.tail);
    if (why.starts_with(kPrefix)) why.remove_prefix(kPrefix.size());
    end_with(run, TestReason::not_here, std::string(why));
    return false;
  }
  if (result.succeeded()) return true;
  end_with(run, TestReason::fails_alone,
           fmt::format("{} {} without rocm-perf too: {}",
                       std::filesystem::path(run.steps.back().command.front()).filename().string(),
                       describe_end(result), last_words(result)),
           step.name == "alone" ? "see to the HIP runtime first" : "");
  return false;
}

/// Reads the document and judges its fields, then the exit code; whether the case goes on.
bool judge(const TestStep& step, const ProcessResult& result, CaseRun& run) {
  StepRun& done = run.steps.back();
  const bool right_end =
      result.exit_code && std::ranges::find(step.exits, *result.exit_code) != step.exits.end();
  const Result<Json> document = step.document.empty()
                                    ? Result<Json>(Json::object())
                                    : parse_json(result.output.tail, step.document);
  if (document) {
    for (const FieldCheck& check : step.undecided)
      if (holds(check, *document)) {
        end_with(run, TestReason::undecided,
                 fmt::format("{}: {} is {}: the times of this machine do not decide", step.name,
                             check.field, found_text(check, *document)));
        return false;
      }
    for (const FieldCheck& check : step.checks)
      if (!holds(check, *document))
        done.unmet.push_back({.check = check, .found = found_text(check, *document)});
  }
  if (!document && right_end) {
    end_with(run, TestReason::no_document,
             fmt::format("{} printed no {} document", step.name, step.document));
    return false;
  }
  if (document && !done.unmet.empty()) {
    const UnmetCheck& first = done.unmet.front();
    end_with(run, TestReason::wrong_document,
             fmt::format("{}: {} is {}, not {} {}{}", step.name, first.check.field, first.found,
                         to_string(first.check.relation), first.check.value.dump(),
                         right_end ? "" : fmt::format("; {}", last_words(result))));
    return false;
  }
  if (right_end) return true;
  end_with(run, TestReason::wrong_end,
           fmt::format("{} {}, not with code {}: {}", step.name, describe_end(result),
                       fmt::join(step.exits, " or "), last_words(result)));
  return false;
}

ProcessOptions options_for(AddressMode mode, std::chrono::milliseconds room,
                           const std::filesystem::path& folder) {
  ProcessOptions options;
  options.working_directory = folder;
  options.empty_input = true;
  options.standard_output = options.standard_error = StreamMode::capture;
  options.capture_limit = kMostOutput;
  options.timeout = room;
  options.grace = std::chrono::milliseconds{2'000};
  if (mode == AddressMode::reserved)
    options.set_environment = {{kModeVariable, "1"}};
  else
    options.unset_environment = {kModeVariable};
  return options;
}

/// One step; whether the case goes on.
Result<bool> run_step(const TestStep& step, const std::map<std::string, std::string>& places,
                      Clock::time_point case_end, Clock::time_point deadline, CaseRun& run) {
  const auto begin = Clock::now();
  StepRun& done = run.steps.emplace_back();
  done.name = step.name;
  for (const std::string& word : step.words) done.command.push_back(with_places(word, places));
  const auto room =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::min(case_end, deadline) - begin);
  const ProcessOptions options =
      options_for(run.mode, std::max(room, std::chrono::milliseconds{1}), places.at("dir"));
  Result<ProcessResult> result = run_program(done.command, options);
  done.seconds = seconds_since(begin);
  if (!result && result.error().code == ErrorCode::interrupted)
    return std::unexpected(result.error());
  if (!result) {
    end_with(run, step.alone ? TestReason::fails_alone : TestReason::cannot_start,
             result.error().message);
    return false;
  }
  if (result->interrupted) return fail(ErrorCode::interrupted, "interrupted");
  done.exit_code = result->exit_code;
  done.signal = result->signal;
  if (!step.output.empty())
    PERFLAB_TRY_VOID(write_file_atomically(with_places(step.output, places), result->output.tail));
  if (result->timed_out && deadline < case_end) {
    end_with(run, TestReason::time_budget, "the time for all cases was used up meanwhile",
             "--time-budget gives more");
    return false;
  }
  if (step.alone) return judge_alone(step, *result, run);
  if (!result->timed_out) return judge(step, *result, run);
  end_with(run, TestReason::timed_out,
           fmt::format("{} did not end within the time of its case", step.name),
           "--time-budget above 10m gives each case more");
  return false;
}

}  // namespace

std::string with_places(std::string_view text, const std::map<std::string, std::string>& places) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('<'), text.size());
    const std::size_t close = text.find('>', open);
    out += text.substr(0, open);
    text.remove_prefix(open);
    if (text.empty()) break;
    const auto place = close == std::string_view::npos
                           ? places.end()
                           : places.find(std::string(text.substr(1, close - open - 1)));
    out += place == places.end() ? "<" : place->second;
    text.remove_prefix(place == places.end() ? 1 : close - open + 1);
  }
  return out;
}

Result<CaseRun> run_case(const TestCase& test, AddressMode mode, const Bench& bench) {
  CaseRun run{.test = &test, .mode = mode};
  if (!may_begin(test, bench, run)) return run;
  std::map<std::string, std::string> places = bench.places;
  const std::filesystem::path folder =
      bench.folder / (test.id + (mode == AddressMode::reserved ? ".reserved" : ""));
  PERFLAB_TRY_VOID(make_directories(folder));
  places["dir"] = folder.string();
  const auto begin = Clock::now();
  const auto limit = std::chrono::duration_cast<Clock::duration>(
      bench.patience * std::chrono::duration<double>(test.limit));
  for (const TestStep& step : test.steps) {
    PERFLAB_TRY(const bool goes_on, run_step(step, places, begin + limit, bench.deadline, run));
    if (!goes_on) break;
  }
  run.seconds = seconds_since(begin);
  return run;
}

}  // namespace perflab::doctor
