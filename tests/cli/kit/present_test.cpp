// Where documents and text go.
#include "cli/kit/present.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/temp_folder.h"
#include "report/code/occupancy_document.h"
#include "report/kit/document.h"
#include "report/replay/reservation_document.h"

namespace perflab::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Valid ones: nothing else is written.
std::vector<Document> two_documents() {
  const auto occupancy = report::occupancy_data(
      *hal::find_arch("gfx942"), {.kernel = {.workgroup_size = 256, .vgprs = 64}}, std::nullopt);
  if (!occupancy) {
    ADD_FAILURE() << describe(occupancy.error());
    return {};
  }
  report::ReservationData reservation;
  reservation.report.through = "hsa";
  reservation.report.granule = 4096;
  return {{"occupancy", report::occupancy_document(*occupancy)},
          {"reservation", report::reservation_document(reservation)}};
}

/// What a call printed.
struct Printed {
  std::string out, err;
  int texts = 0;  ///< times that the text was asked for
  bool done = false;
};

Printed present_one(const Outputs& outputs) {
  Printed printed;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const std::vector<Document> documents = two_documents();
  const auto text = [&] {
    ++printed.texts;
    return std::string("the text\n");
  };
  printed.done = present(outputs, documents, text).has_value();
  printed.out = testing::internal::GetCapturedStdout();
  printed.err = testing::internal::GetCapturedStderr();
  return printed;
}

TEST(Present, TextAloneWithoutAFolder) {
  const Printed printed = present_one({});
  EXPECT_TRUE(printed.done);
  EXPECT_EQ(printed.out, "the text\n");
  EXPECT_EQ(printed.err, "");
}

TEST(Present, AFolderGetsEveryDocumentAndStderrTheirNames) {
  const test::TempFolder folder;
  const std::string out = (folder / "out").string();
  const Printed printed = present_one({.folder = out});
  EXPECT_EQ(printed.out, "the text\n");
  EXPECT_EQ(printed.err, "\ndocuments in " + out + ": occupancy.json, reservation.json\n");
  EXPECT_THAT(test::text_of(folder / "out/occupancy.json"), StartsWith("{"));
  EXPECT_THAT(test::text_of(folder / "out/reservation.json"), HasSubstr("\"ranges\": []"));
}

TEST(Present, JsonIsTheFirstDocumentAndNothingElse) {
  const test::TempFolder folder;
  const Printed printed = present_one({.folder = (folder / "out").string(), .json = true});
  EXPECT_EQ(printed.out, test::text_of(folder / "out/occupancy.json"));
  EXPECT_THAT(printed.out, HasSubstr("\"document\": \"occupancy\""));
  EXPECT_EQ(printed.err, "");
  EXPECT_EQ(printed.texts, 0);
}

TEST(Present, QuietSaysNothing) {
  const test::TempFolder folder;
  const Printed printed = present_one({.folder = (folder / "out").string(), .quiet = true});
  EXPECT_TRUE(printed.done);
  EXPECT_EQ(printed.out + printed.err, "");
  EXPECT_TRUE(std::filesystem::exists(folder / "out/reservation.json"));
}

TEST(Present, NothingIsPrintedWhenAFileCannotBeWritten) {
  const test::TempFolder folder;
  const Printed printed = present_one({.folder = folder.write("file", "").string()});
  EXPECT_FALSE(printed.done);
  EXPECT_EQ(printed.out, "");
}

TEST(Present, WhatTheAnalysisKeeps) {
  const auto kept = [](const Outputs& outputs) {
    analyze::AnalyzeOptions options;
    apply(outputs, options);
    return options;
  };
  EXPECT_FALSE(kept({}).timeline);
  EXPECT_FALSE(kept({.json = true}).keep_trace_detail);
  const analyze::AnalyzeOptions documents = kept({.folder = "out"});
  EXPECT_TRUE(documents.timeline && documents.keep_trace_detail);
  EXPECT_EQ(documents.critical_path.keep_nodes_up_to, 0U);
  const analyze::AnalyzeOptions page = kept({.html = {.file = "page.html"}});
  EXPECT_TRUE(page.timeline && page.keep_trace_detail);
  EXPECT_GT(page.critical_path.keep_nodes_up_to, 0U);
}

/// The words of a command line, separated by blanks, after complete_details.
std::string completed(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; in >> word;) words.push_back(word);
  complete_details(words);
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

TEST(Details, TakeTheNextWordOnlyWhenItIsASection) {
  EXPECT_EQ(completed("analyze a.db --details"), "analyze a.db --details=all");
  EXPECT_EQ(completed("analyze --details a.db"), "analyze --details=all a.db");
  EXPECT_EQ(completed("analyze --details --json a.db"), "analyze --details=all --json a.db");
  EXPECT_EQ(completed("analyze --details ./roofline"), "analyze --details=all ./roofline");
  for (const char* same :
       {"analyze --details roofline a.db", "analyze --details all", "analyze --details=roof a.db",
        "analyze a.db", "profile -- app --details", ""})
    EXPECT_EQ(completed(same), same);
  EXPECT_EQ(completed("profile --details -- app --details"),
            "profile --details=all -- app --details");
  for (const std::string_view section : kSectionNames) {
    const std::string line = "x --details " + std::string(section);
    EXPECT_EQ(completed(line), line);
  }
}

TEST(Details, HaveNamesInOrder) {
  EXPECT_TRUE(std::ranges::is_sorted(kSectionNames));
  EXPECT_EQ(std::ranges::count(kSectionNames, kAllSections), 0);
}

}  // namespace
}  // namespace perflab::cli
