// Runs are tune's run_step(); elements are compared by replay::ElementDiffer, a page at a time.
#include "optimize/workshop/command_outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/system/files.h"
#include "capture/model.h"
#include "tune/evaluate/process_step.h"

namespace perflab::optimize {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> bytes_in(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string plural(std::uint64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

/// Every element of two files of one size. The comparer leaves out what is everywhere as it was
/// before: nothing was, so "before" is the complement of what is expected.
replay::ElementDiff compare_files(std::string_view expected, std::string_view found,
                                  const OutputRule& rule) {
  replay::ElementDiffer comparer(rule.type, rule.type ? "given" : "", rule.compare);
  std::array<std::byte, capture::kPageBytes> before{};
  for (std::size_t at = 0; at < expected.size(); at += before.size()) {
    const auto page = bytes_in(expected.substr(at, before.size()));
    std::ranges::transform(page, before.begin(), [](std::byte one) { return ~one; });
    comparer.feed({.offset = at,
                   .before = std::span(before).first(page.size()),
                   .expected = page,
                   .found = bytes_in(found.substr(at, page.size())),
                   .excluded = nullptr});
  }
  return comparer.result();
}

Json evidence_of(const replay::ElementDiff& compared, std::size_t bytes, const std::string& name) {
  Json json;
  json["file"] = name;
  json["bytes"] = bytes;
  json["type"] = or_null(compared.type);
  json["elements"] = compared.elements;
  json["different"] = compared.different;
  json["beyond_tolerance"] = compared.beyond_tolerance;
  json["largest_ulp"] = or_null(compared.largest_ulp);
  json["largest_relative"] = or_null(compared.largest_relative);
  json["largest_absolute"] = or_null(compared.largest_absolute);
  return json;
}

/// One file; the sentence is empty while it counts as equal.
std::string compare_one_file(const OutputFile& file, std::string_view expected,
                             std::string_view found, const OutputRule& rule, Json& evidence) {
  if (expected.size() != found.size()) {
    Json json;
    json["file"] = file.name;
    json["bytes"] = expected.size();
    json["bytes_found"] = found.size();
    evidence.push_back(std::move(json));
    return fmt::format("{} has {} bytes, and the original writes {}", file.name, found.size(),
                       expected.size());
  }
  const replay::ElementDiff compared = compare_files(expected, found, rule);
  evidence.push_back(evidence_of(compared, expected.size(), file.name));
  if (compared.beyond_tolerance == 0) return {};
  const replay::ElementDiff::Example& first = compared.examples.front();
  return fmt::format("{}: {} of {} {}; the first at byte {}: {} instead of {}", file.name,
                     compared.beyond_tolerance,
                     plural(compared.elements, compared.type ? "element" : "byte"),
                     compared.beyond_tolerance == 1 ? "is wrong" : "are wrong", first.offset,
                     first.found, first.expected);
}

OutputComparison compare_all_files(const std::vector<OutputFile>& outputs,
                                   const RunOutputs& expected, const RunOutputs& found,
                                   const OutputRule& rule) {
  OutputComparison out{.equal = true, .sentence = {}, .evidence = {}};
  Json files = Json::array();
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < outputs.size() && out.equal; ++i) {
    out.sentence = compare_one_file(outputs[i], expected.files[i], found.files[i], rule, files);
    out.equal = out.sentence.empty();
    bytes += expected.files[i].size();
  }
  if (out.equal) {
    std::uint64_t different = 0;
    for (const Json& file : files) different += file["different"].get<std::uint64_t>();
    out.sentence = fmt::format("{} in {} {}", plural(bytes, "byte"), plural(outputs.size(), "file"),
                               different == 0 ? "are equal"
                                              : fmt::format("agree: {} within the tolerance",
                                                            plural(different, "element")));
  }
  out.evidence["files"] = std::move(files);
  return out;
}

OutputComparison compare_text(std::string_view expected, std::string_view found) {
  OutputComparison out{.equal = expected == found, .sentence = {}, .evidence = {}};
  out.evidence["bytes"] = expected.size();
  if (out.equal) {
    out.sentence = fmt::format("{} of stdout are equal", plural(expected.size(), "byte"));
    return out;
  }
  const auto differ = std::ranges::mismatch(expected, found);
  const auto offset = static_cast<std::size_t>(differ.in1 - expected.begin());
  out.evidence["first_difference"] = offset;
  const std::size_t line =
      1 + static_cast<std::size_t>(std::ranges::count(expected.substr(0, offset), '\n'));
  const auto line_at = [&](std::string_view text) -> std::string {
    const std::size_t newline = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
    const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
    if (begin >= text.size()) return "nothing";
    return fmt::format("'{}'", tune::one_line(text.substr(
                                   begin, std::min(text.find('\n', begin), begin + 80) - begin)));
  };
  out.sentence = fmt::format("line {} of stdout is {}, and the original prints {}", line,
                             line_at(found), line_at(expected));
  return out;
}

}  // namespace

Result<void> remove_outputs(const std::vector<OutputFile>& outputs) {
  for (const OutputFile& output : outputs) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(output.path, error);
    if (!fs::exists(status)) continue;
    if (!fs::is_regular_file(status) && !fs::is_symlink(status))
      return fail(ErrorCode::usage, fmt::format("{} is given as an output, but it is not a file",
                                                output.path.string()));
    if (!fs::remove(output.path, error) && error)
      return fail(ErrorCode::usage, fmt::format("{}: cannot be removed before a run: {}",
                                                output.path.string(), error.message()));
  }
  return {};
}

RunEnd collect_outputs(const std::vector<OutputFile>& outputs, Printed printed) {
  RunEnd end;
  if (printed.too_much) {
    end.reason = Reason::wrong_output;
    end.sentence = fmt::format("the run printed more than {} MiB, which is not compared",
                               kMostComparedText >> 20U);
    return end;
  }
  for (const OutputFile& output : outputs) {
    Result<std::string> bytes = read_file(output.path);
    if (!bytes) {
      std::error_code ignored;
      end.reason = Reason::not_rewritten;
      end.sentence = fs::exists(output.path, ignored)
                         ? bytes.error().message
                         : fmt::format("the run did not write {}", output.name);
      return end;
    }
    end.outputs.files.push_back(*std::move(bytes));
  }
  end.outputs.text = std::move(printed.text);
  end.metric = std::move(printed.metric);
  return end;
}

Result<RunEnd> run_command(const CommandRun& run) {
  PERFLAB_TRY_VOID(remove_outputs(run.outputs));
  RunPrints prints(run.metric, run.outputs.empty());
  PERFLAB_TRY(
      const tune::StepEnd step,
      tune::run_step(
          run.command,
          {.environment = run.environment,
           .limit_seconds = std::chrono::duration<double>(run.time_limit).count(),
           .on_stream = [&](int stream, std::string_view bytes) { prints.feed(stream, bytes); },
           .confinement = run.confinement}));
  if (step.succeeded) return collect_outputs(run.outputs, prints.take());
  RunEnd end;
  end.reason = step.timed_out ? Reason::timed_out : Reason::faulted;
  end.sentence = "the run " + step.detail;
  return end;
}

OutputComparison compare_outputs(const std::vector<OutputFile>& outputs, const RunOutputs& expected,
                                 const RunOutputs& found, const OutputRule& rule) {
  PERFLAB_CHECK(expected.files.size() == outputs.size() && found.files.size() == outputs.size());
  return outputs.empty() ? compare_text(expected.text, found.text)
                         : compare_all_files(outputs, expected, found, rule);
}

}  // namespace perflab::optimize
