// Where documents and text go.
#include "cli/kit/present.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace perflab::cli
