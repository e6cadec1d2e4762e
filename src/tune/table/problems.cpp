#include "tune/table/problems.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/json.h"
#include "base/text/json_fields.h"
#include "base/text/numbers.h"

namespace perflab::tune {
namespace {

using Size = std::pair<std::string, double>;

constexpr const char* kProblemForm = "--problem M=1024,N=512:recording.json";
constexpr const char* kManifestForm =
    R"({"problems": [{"size": {"M": 1024, "N": 512}, "recording": "a.jsonl"}, ...]})";

std::vector<std::string> names_of(const NamedProblem& problem) {
  std::vector<std::string> names;
  for (const auto& [name, value] : problem.size) names.push_back(name);
  return names;
}

}  // namespace

Result<NamedProblem> parse_problem(std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::usage, fmt::format("--problem '{}': {}", text, why), kProblemForm);
  };
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon + 1 == text.size())
    return refuse("there is no recording behind its sizes");
  NamedProblem problem{.size = {}, .recording = std::string(text.substr(colon + 1))};
  std::string_view rest = text.substr(0, colon);
  for (bool more = true; more;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view one = rest.substr(0, comma);
    more = comma < rest.size();
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos || equals == 0)
      return refuse("its sizes are not of the form NAME=NUMBER");
    const auto value = finite_number(one.substr(equals + 1));
    if (!value || *value < kLeastSize || *value > kMostSize)
      return refuse(fmt::format("'{}' is not a number above 0", one.substr(equals + 1)));
    const std::string name(one.substr(0, equals));
    if (std::ranges::find(problem.size, name, &Size::first) != problem.size.end())
      return refuse(fmt::format("{} is there twice", name));
    problem.size.emplace_back(name, *value);
  }
  return problem;
}

Result<std::vector<NamedProblem>> parse_problems(std::string_view text, std::string_view what) {
  PERFLAB_TRY(const Json root, parse_json(text, what));
  std::vector<NamedProblem> problems;
  JsonFields fields(root, what);
  fields.each("problems", [&](JsonFields& item) {
    NamedProblem& problem = problems.emplace_back();
    JsonFields size = item.object("size");
    for (const std::string& name : size.names())
      size.read(name, problem.size.emplace_back(name, 0).second, kLeastSize, kMostSize);
    if (item.good() && (problem.size.empty() ||
                        std::ranges::find(problem.size, "", &Size::first) != problem.size.end()))
      item.wrong("size", "has to name sizes");
    item.read("recording", problem.recording);
    if (item.good() && problem.recording.empty()) item.wrong("recording", "names no file");
    item.refuse_unknown();
  });
  fields.refuse_unknown();
  PERFLAB_TRY_VOID(fields.result(kManifestForm));
  return problems;
}

Result<SortedProblems> sort_problems(std::vector<NamedProblem> problems) {
  if (problems.size() < kLeastProblems || problems.size() > kMostProblems)
    return fail(ErrorCode::bad_input,
                fmt::format("there {} {} tuned problem{}: a table is of {} to {}",
                            problems.size() == 1 ? "is" : "are", problems.size(),
                            problems.size() == 1 ? "" : "s", kLeastProblems, kMostProblems),
                kProblemForm);
  SortedProblems out{.sizes = names_of(problems.front()), .problems = {}};
  std::vector<std::string> known = out.sizes;
  std::ranges::sort(known);
  for (NamedProblem& problem : problems) {
    std::vector<std::string> names = names_of(problem);
    if (names == out.sizes) continue;
    std::ranges::sort(names);
    if (names != known)
      return fail(ErrorCode::bad_input,
                  fmt::format("{} ({}) and {} ({}) do not have the same sizes",
                              problems.front().recording.string(), size_text(problems.front().size),
                              problem.recording.string(), size_text(problem.size)),
                  "give every problem the same names");
    out.sizes = known;
  }
  for (NamedProblem& problem : problems)
    std::ranges::sort(problem.size, {}, [&](const auto& one) {
      return std::ranges::find(out.sizes, one.first) - out.sizes.begin();
    });
  std::ranges::sort(problems, {}, &NamedProblem::size);
  const auto same = std::ranges::adjacent_find(problems, {}, &NamedProblem::size);
  if (same != problems.end()) {
    const auto [first, second] = std::minmax(same->recording, (same + 1)->recording);
    return fail(ErrorCode::bad_input,
                fmt::format("{} and {} are of the same problem, {}", first.string(),
                            second.string(), size_text(same->size)),
                "name one of them, or the size in which they differ");
  }
  out.problems = std::move(problems);
  return out;
}

std::string size_text(const std::vector<std::pair<std::string, double>>& size) {
  std::string text;
  for (const auto& [name, value] : size)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  return text;
}

}  // namespace perflab::tune
