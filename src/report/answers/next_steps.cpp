// Which command measures what is decided by the name of the source (common.json "feature_source").
#include "report/answers/next_steps.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

#include "base/text/command_line.h"
#include "report/kit/kernel_name.h"

namespace perflab::report {
namespace {

/// What a measurement gives, by its source.
constexpr auto kGives = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"dispatches", "times of its dispatches"},
     {"resources", "registers and LDS from its code"},
     {"critical_path", "the critical path"},
     {"counters", "hardware counters"},
     {"thread_trace", "a trace of its instructions"}});

/// In place of a program that is not known.
constexpr std::string_view kAnyProgram = "./app";

bool in_identifier(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The runs of characters for which `belongs` holds.
template <class Belongs>
std::vector<std::string_view> pieces(std::string_view text, const Belongs& belongs) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < text.size();) {
    if (!belongs(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && belongs(text[end])) ++end;
    out.push_back(text.substr(at, end - at));
    at = end;
  }
  return out;
}

/// As one command line names it; a recorded command lost its quotes, so that some cannot be split.
std::string quoted_program(const std::string& recorded) {
  const auto words = split_command_line(recorded);
  return words ? join_command_line(*words) : std::string();
}

/// The one command that all these processes have; empty: there are several.
std::string common_command(const std::vector<std::string>& commands) {
  const bool same = !commands.empty() && std::ranges::count(commands, commands.front()) ==
                                             static_cast<std::ptrdiff_t>(commands.size());
  return same ? quoted_program(commands.front()) : std::string();
}

void add_commands(const DocumentPlace& processes, std::vector<std::string>& commands) {
  for (std::size_t i = 0; i < processes.size(); ++i)
    commands.push_back(processes[i]["command"].text());
}

/// From analysis.json: files and processes stand by recording.
void add_recordings(const DocumentPlace& analysis, RecordedRun& run,
                    std::vector<std::string>& commands) {
  const DocumentPlace places = analysis["environment"]["recordings"];
  for (std::size_t i = 0; i < places.size(); ++i) {
    add_commands(places[i]["processes"], commands);
    const std::string file = places[i]["file"].text();
    if (!analysis["recordings"][i]["pass"] && std::ranges::find(run.files, file) == run.files.end())
      run.files.push_back(file);
  }
}

}  // namespace

RecordedRun recorded_run(std::span<const NamedDocument> documents) {
  RecordedRun run;
  run.synthetic = static_cast<bool>(DocumentPlace(&documents.front())["synthetic"]);
  std::vector<std::string> commands;
  if (const DocumentPlace analysis = document_of(documents, "analysis")) {
    add_recordings(analysis, run, commands);
  } else if (const DocumentPlace dag = document_of(documents, "dag")) {
    add_commands(dag["environment"]["processes"], commands);
    run.files = dag["environment"]["files"].texts();
  } else if (const DocumentPlace roofline = document_of(documents, "roofline")) {
    run.reader = "roofline";
    run.files = roofline["environment"]["files"].texts();
  }
  if (run.synthetic) return run;
  const std::vector<std::string> profiled =
      document_of(documents, "profile")["environment"]["command"].texts();
  run.program = profiled.empty() ? common_command(commands) : join_command_line(profiled);
  return run;
}

std::string kernel_pattern(const std::string& name, const std::vector<std::string>& all) {
  constexpr std::size_t kShortPattern = 40, kLeastPattern = 3;
  // Whether no other name has it, anywhere or as a whole word.
  const auto alone = [&](std::string_view piece, bool word) {
    return std::ranges::none_of(all, [&](const std::string& other) {
      if (other == name) return false;
      if (!word) return other.find(piece) != std::string::npos;
      const auto words = pieces(other, in_identifier);
      return std::ranges::find(words, piece) != words.end();
    });
  };
  if (const std::string function = kernel_function(name);
      !function.empty() && function.size() <= kShortPattern) {
    if (alone(function, false)) return function;
    if (alone(function, true)) return fmt::format("\\b{}\\b", function);
  }
  // Of a template, with its arguments; of characters that mean themselves in a pattern.
  const std::string instance = kernel_instance(name);
  const bool plain = std::ranges::all_of(instance, [](char c) {
    return in_identifier(c) || std::string_view("<>:, -").find(c) != std::string_view::npos;
  });
  if (plain && instance.size() >= kLeastPattern && instance.size() <= kShortPattern &&
      alone(instance, false))
    return instance;
  // Names of generated kernels are one long word.
  for (const std::string_view piece :
       pieces(name, [](char c) { return c != '_' && in_identifier(c); }))
    if (piece.size() >= kLeastPattern && piece.size() <= kShortPattern && alone(piece, false))
      return std::string(piece);
  return {};
}

namespace {

/// "hardware counters, to tell whether it is latency-bound, under-occupied or one of 2 others".
/// `now`: the verdict as it is.
std::string measuring_reason(const DocumentPlace& next, const std::string& now) {
  constexpr std::size_t kMostNamed = 2;
  const std::string source = next["source"].text();
  const auto* const known = std::ranges::find(
      kGives, std::string_view(source), &std::pair<std::string_view, std::string_view>::first);
  std::string why(known == kGives.end() ? std::string_view(source) : known->second);
  std::vector<std::string> others;
  const DocumentPlace decides = next["decides"];
  for (std::size_t i = 0; i < decides.size(); ++i)
    if (decides[i].text() != now) others.push_back(decides[i].text());
  if (others.empty()) return why + ", to tell whether the verdict stands";
  if (const std::size_t left = others.size(); left > kMostNamed + 1) {
    others.resize(kMostNamed);
    others.push_back(fmt::format("one of {} others", left - kMostNamed));
  }
  const std::string last = others.back();
  others.pop_back();
  return fmt::format("{}, to tell whether it is {}{}{}", why, fmt::join(others, ", "),
                     others.empty() ? "" : " or ", last);
}

}  // namespace

NextStep measuring_step(const DocumentPlace& verdict, const RecordedRun& run, bool counted) {
  const DocumentPlace next = verdict["next"];
  const std::string source = next["source"].text();
  const std::string program = run.program.empty() ? std::string(kAnyProgram) : run.program;
  const std::string why = measuring_reason(next, verdict["verdict"].text());
  if (source == "resources") {
    const auto words = split_command_line(program);
    const std::string binary = words ? words->front() : std::string(kAnyProgram);
    std::vector<std::string> read = {"rocm-perf", run.reader};
    read.insert(read.end(), run.files.begin(), run.files.end());
    read.insert(read.end(), {"--code", binary});
    return {.command = join_command_line(read), .why = why};
  }
  const bool traces = source == "thread_trace";
  const bool counts = source == "counters" || (traces && counted);
  return {.command = fmt::format("rocm-perf profile{}{} -- {}", counts ? " --roofline" : "",
                                 traces ? " --att" : "", program),
          .why = why};
}

}  // namespace perflab::report
