// Nothing is printed before everything is written: what stdout says is in the files.
#include "cli/kit/present.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

#include "base/text/progress.h"
#include "report/critical_path/dag_document.h"
#include "report/kit/document.h"
#include "report/summary/summary.h"

namespace perflab::cli {

void apply(const Outputs& outputs, analyze::AnalyzeOptions& options) {
  const bool page = outputs.html.file.has_value();
  options.timeline = options.keep_trace_detail = page || !outputs.folder.empty();
  if (page) options.critical_path.keep_nodes_up_to = report::kMostPageNodes;
}

namespace {

/// The documents that are written or shown, each rendered once.
Result<std::vector<report::RenderedDocument>> rendered(const Outputs& outputs,
                                                       std::vector<Document> documents) {
  const LongWork work("writing documents", LongWork::mostly_short(outputs.quiet));
  if (outputs.folder.empty() && !outputs.html && !(outputs.json && outputs.all))
    documents.resize(outputs.json ? 1 : 0);
  return report::render_all(std::move(documents));
}

std::vector<std::string_view> section_names(const std::vector<Section>& sections) {
  std::vector<std::string_view> names;
  for (const Section& section : sections) names.push_back(section.name);
  return names;
}

/// All documents as the members of one object.
std::string in_one_object(const std::vector<report::RenderedDocument>& documents) {
  std::string text;
  for (const report::RenderedDocument& one : documents)
    text += fmt::format("{}\"{}\": {}", text.empty() ? "{" : ",", one.name, one.text);
  return text + "}\n";
}

/// The sections that were asked for. Error (usage): there is none of that name.
Result<std::vector<Section>> asked_sections(const Outputs& outputs,
                                            const std::vector<Section>& sections) {
  PERFLAB_TRY_VOID(check_details(outputs, section_names(sections)));
  if (outputs.details == kAllSections) return sections;
  std::vector<Section> asked;
  for (const Section& section : sections)
    if (section.name == outputs.details) asked.push_back(section);
  return asked;
}

/// How the rest is had.
std::string more_text(const Outputs& outputs, const std::vector<Section>& sections) {
  std::string text =
      fmt::format("{}{}--details {}", outputs.again, outputs.again.empty() ? "" : " ",
                  fmt::join(section_names(sections), "|"));
  text += "; --json";
  if (outputs.takes_folder && outputs.folder.empty()) text += "; --out DIR";
  if (outputs.takes_page && !outputs.html) text += "; --html FILE";
  return text;
}

}  // namespace

void add_answer_options(CLI::App& command, Outputs& outputs, const std::string& document) {
  command.add_flag("--json", outputs.json, fmt::format("Print {}.json and nothing else", document));
  CLI::Option* const brief =
      command.add_flag("--brief", outputs.brief,
                       "With --json: print the answer as a document of at most 8 KB, summary.json");
  command
      .add_flag("--all-documents", outputs.all, "With --json: print all documents in one object")
      ->group("");
  command
      .add_option("--details", outputs.details,
                  "Print all figures, not the answer on one page; or those of one SECTION")
      ->excludes(brief);
}

void add_all_option(CLI::App& command, bool& all, Outputs& outputs) {
  command.add_flag_callback(
      "--all",
      [&all, &outputs] {
        all = true;
        if (outputs.details.empty()) outputs.details = kAllSections;
      },
      "Every row of a table: --details without a limit");
}

Result<void> check_details(const Outputs& outputs, std::span<const std::string_view> sections) {
  if (outputs.details.empty() || outputs.details == kAllSections ||
      std::ranges::find(sections, outputs.details) != sections.end())
    return {};
  return fail(ErrorCode::usage,
              fmt::format("--details {}: there is no such section here", outputs.details),
              fmt::format("one of: {}, {}", fmt::join(sections, ", "), kAllSections));
}

void offer_sections(CLI::App& command, const std::vector<std::string>& names) {
  std::vector<std::string> known = names;
  known.emplace_back(kAllSections);
  command.get_option("--details")->check(CLI::IsMember(known));
}

void complete_details(std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    if (words[i] != "--details") continue;
    const std::string_view next = i + 1 < words.size() ? std::string_view(words[i + 1]) : "";
    if (next != kAllSections && std::ranges::find(kSectionNames, next) == kSectionNames.end())
      words[i] = fmt::format("--details={}", kAllSections);
  }
}

Result<void> present_answer(const Outputs& outputs, std::vector<Document> documents,
                            const std::vector<Section>& sections) {
  PERFLAB_TRY(const std::vector<Section> asked, asked_sections(outputs, sections));
  const bool printed = !outputs.json && !outputs.quiet && asked.empty();
  Json summary;
  if (printed || outputs.brief || !outputs.folder.empty()) {
    summary = report::summary_document(documents);
    documents.insert(outputs.brief ? documents.begin() : documents.end(),
                     {std::string(report::kSummary), summary});
  }
  return present(outputs, std::move(documents), [&] {
    if (asked.empty())
      return report::summary_text(summary, terminal_style(), more_text(outputs, sections));
    std::string text;
    for (const Section& section : asked) text += section.text();
    return text;
  });
}

Result<void> present(const Outputs& outputs, std::vector<Document> documents,
                     const std::function<std::string()>& text) {
  PERFLAB_TRY(const auto written, rendered(outputs, std::move(documents)));
  if (!outputs.folder.empty()) {
    PERFLAB_TRY_VOID(write_documents(outputs.folder, written));
    if (outputs.whole_recording)
      PERFLAB_TRY_VOID(remove_stale_documents(outputs.folder, written, outputs.quiet));
  }
  PERFLAB_TRY_VOID(write_html_file(outputs.html, written, outputs.folder, outputs.quiet));
  if (outputs.json) return print(outputs.all ? in_one_object(written) : written.front().text);
  if (outputs.quiet) return {};
  PERFLAB_TRY_VOID(print(text()));
  if (outputs.folder.empty()) return {};
  std::string names;
  for (const report::RenderedDocument& document : written)
    names += fmt::format("{}{}.json", names.empty() ? "" : ", ", document.name);
  fmt::print(stderr, "\ndocuments in {}: {}\n", outputs.folder, names);
  return {};
}

}  // namespace perflab::cli
