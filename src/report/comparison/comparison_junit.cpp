// JUnit XML of a comparison. Nothing in it depends on the clock: the usual attributes "time" and
// "timestamp" are left out.
#include "report/comparison/comparison_junit.h"

#include <fmt/format.h>

#include "report/comparison/comparison_text.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

using stats::SpeedVerdict;

struct JunitCounts {
  std::size_t tests = 0, failures = 0, skipped = 0;
};

/// What cannot fail, and what could not be decided, is no test that passed: it is skipped.
std::string junit_case(const std::string& name, const stats::Comparison& found, bool regression,
                       bool gated, const compare::ComparisonResult& result,
                       const compare::CompareOptions& options, JunitCounts& counts) {
  const bool undecided = found.verdict == SpeedVerdict::undecided;
  const std::string words = xml_text(comparison_words(found, result));
  std::string out =
      fmt::format("    <testcase classname=\"rocm-perf.compare\" name=\"{}\">\n", xml_text(name));
  ++counts.tests;
  if (regression || (gated && undecided && options.fail_undecided)) {
    ++counts.failures;
    out += fmt::format("      <failure type=\"{}\" message=\"{}\"/>\n",
                       regression ? "regression" : "undecided", words);
  } else if (undecided || !gated) {
    ++counts.skipped;
    out += fmt::format("      <skipped message=\"{}{}\"/>\n", words,
                       gated ? "" : " (below --min-share: it cannot fail)");
  } else {
    out += fmt::format("      <system-out>{}</system-out>\n", words);
  }
  return out + "    </testcase>\n";
}

/// " (12.5 % of its time)"; nothing where that is not known.
std::string unpaired_share(const std::optional<double>& share) {
  return share ? fmt::format(" ({} of its time)", percent(*share)) : "";
}

std::string unpaired_words(const std::vector<compare::UnpairedKernel>& kernels,
                           std::string_view side) {
  std::string out;
  for (const compare::UnpairedKernel& kernel : kernels)
    out += xml_text(fmt::format("only in {}: {}{}", side, compared_name(kernel.name),
                                unpaired_share(kernel.share))) +
           "\n";
  return out;
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  const std::string clean = printable(text);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    switch (clean[i]) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&apos;";
        break;
      default:
        if (const std::string_view three = std::string_view(clean).substr(i, 3);
            three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF") {
          out += '?';
          i += 2;
        } else {
          out += clean[i];
        }
    }
  }
  return out;
}

std::string comparison_junit(const compare::ComparisonResult& result,
                             const compare::CompareOptions& options) {
  JunitCounts counts;
  std::string cases;
  for (const compare::KernelComparison& kernel : result.kernels)
    cases += junit_case(compared_name(kernel.name), kernel.comparison, kernel.regression,
                        kernel.gated, result, options, counts);
  if (result.total && result.total->tested)
    cases += junit_case("total of a run", result.total->comparison, result.total->regression, true,
                        result, options, counts);
  std::string talk = xml_text(gate_sentence(result, options)) + "\n";
  talk += unpaired_words(result.only_a, "A") + unpaired_words(result.only_b, "B");
  for (const std::string& warning : result.warnings) talk += xml_text("warning: " + warning) + "\n";
  const std::string numbers =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\"", counts.tests,
                  counts.failures, counts.skipped);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites {0}>\n"
      "  <testsuite name=\"rocm-perf compare\" {0}>\n"
      "{1}"
      "    <system-out>{2}</system-out>\n"
      "  </testsuite>\n"
      "</testsuites>\n",
      numbers, cases, talk);
}

}  // namespace perflab::report
