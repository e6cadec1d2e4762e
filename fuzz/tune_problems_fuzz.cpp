// Fuzzes how problems of a dispatch table are named: a manifest, or ('=' first) an argument of
// --problem. What must hold: one error of the right kind, or problems whose sizes are positive and
// have names, no two of one problem the same, in one order whatever order they came in.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "tune/table/problems.h"

namespace {

using perflab::ErrorCode;
using namespace perflab::tune;  // NOLINT(google-build-using-namespace): all of it is used

void check_problem(const NamedProblem& problem) {
  PERFLAB_CHECK(!problem.size.empty() && !problem.recording.empty());
  std::set<std::string> names;
  for (const auto& [name, value] : problem.size) {
    PERFLAB_CHECK(!name.empty() && names.insert(name).second);
    PERFLAB_CHECK(value >= kLeastSize && value <= kMostSize);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.starts_with('=')) {
    const auto problem = parse_problem(input.substr(1));
    PERFLAB_CHECK(problem || problem.error().code == ErrorCode::usage);
    if (problem) check_problem(*problem);
    return 0;
  }
  auto problems = parse_problems(input, "manifest");
  PERFLAB_CHECK(problems || problems.error().code == ErrorCode::bad_input);
  if (!problems) return 0;
  for (const NamedProblem& problem : *problems) check_problem(problem);
  const auto sorted = sort_problems(*problems);
  std::ranges::reverse(*problems);
  const auto again = sort_problems(*problems);
  PERFLAB_CHECK(sorted.has_value() == again.has_value());
  if (!sorted) {
    PERFLAB_CHECK(sorted.error().code == ErrorCode::bad_input);
    return 0;
  }
  PERFLAB_CHECK(sorted->sizes == again->sizes);
  for (std::size_t i = 0; i < sorted->problems.size(); ++i)
    PERFLAB_CHECK(sorted->problems[i].size == again->problems[i].size &&
                  sorted->problems[i].recording == again->problems[i].recording);
  return 0;
}
