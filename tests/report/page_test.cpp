// Pages: what is packed into one comes out again, whatever it says, and nothing of it is HTML.
#include "report/page/page.h"

#include <gmock/gmock.h>

#include "base/version.h"
#include "report/analysis/timeline_document.h"
#include "report/critical_path/dag_document.h"
#include "report/dag_samples.h"
#include "report/kit/document.h"
#include "support/unpacked_page.h"

namespace perflab::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Json timeline() {
  return timeline_document(sample_dag_trace(), sample_timeline());
}

/// The document as a file has it.
std::string file_of(const std::string& name, const Json& document) {
  const Result<std::string> text = render(name, document);
  if (text) return *text;
  ADD_FAILURE() << describe(text.error());
  return {};
}

std::string page_of(const std::vector<PageDocument>& documents) {
  const Result<std::string> page = html_page(documents);
  if (page) return *page;
  ADD_FAILURE() << describe(page.error());
  return {};
}

/// A page of one timeline.
std::string page_of(const Json& document, std::optional<std::string> file = std::nullopt) {
  const std::string text = file_of("timeline", document);
  return page_of({{.name = "timeline", .file = std::move(file), .text = text}});
}

TEST(Page, HoldsItsDocumentsAsTheyWouldBeWritten) {
  const std::string first =
      file_of("dag", dag_document(sample_dag_trace(), sample_dag(), {.full = true}));
  const std::string second = file_of("timeline", timeline());
  const Json page =
      test::unpacked_page(page_of({{.name = "dag", .file = "dag.json", .text = first},
                                   {.name = "timeline", .file = std::nullopt, .text = second}}));
  EXPECT_EQ(page.at("page"), 1);
  EXPECT_EQ(page.at("program"), kProgramVersion);
  const Json& documents = page.at("documents");
  ASSERT_EQ(documents.size(), 2U);
  EXPECT_EQ(documents[0].at("name"), "dag");
  EXPECT_EQ(documents[0].at("file"), "dag.json");
  EXPECT_TRUE(documents[1].at("file").is_null());
  EXPECT_EQ(to_canonical_text(documents[0].at("document")), first);
  EXPECT_EQ(to_canonical_text(documents[1].at("document")), second);
}

TEST(Page, IsOnePageThatLoadsNothing) {
  const std::string page = page_of(timeline());
  EXPECT_TRUE(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"));
  EXPECT_THAT(page, HasSubstr("</html>"));
  EXPECT_THAT(page, Not(HasSubstr("<!--DOCUMENTS-->")));
  EXPECT_THAT(page, Not(HasSubstr("<script src")));
  EXPECT_THAT(page, Not(HasSubstr("<link rel=\"stylesheet\"")));
}

TEST(Page, OfTheSameDocumentsIsTheSameBytes) {
  EXPECT_EQ(page_of(timeline()), page_of(timeline()));
}

TEST(Page, TextOfDocumentsIsNeverPartOfThePage) {
  const std::string hostile =
      "</script><script>alert(1)</script><!--DOCUMENTS-->\u2028\u2029\"'<img onerror=x> \\ \x01";
  Json document = timeline();
  document["lanes"][0]["label"] = hostile;
  document["names"][0] = "latin1 \xE9 and half of \xE2\x82";
  const std::string page = page_of(document, hostile);
  EXPECT_THAT(page, Not(HasSubstr("alert(1)")));
  const Json read = test::unpacked_page(page).at("documents")[0];
  EXPECT_EQ(read.at("document").at("lanes")[0].at("label"), hostile);
  EXPECT_EQ(read.at("file"), hostile);
  EXPECT_EQ(read.at("document").at("names")[0], "latin1 \uFFFD and half of \uFFFD");
}

TEST(Page, EveryLengthOfBase64ComesOutAgain) {
  for (std::size_t length = 0; length < 12; ++length) {
    Json document = timeline();
    document["lanes"][0]["label"] = std::string(length, 'x');
    const Json read = test::unpacked_page(page_of(document));
    EXPECT_EQ(read.at("documents")[0].at("document").at("lanes")[0].at("label"),
              std::string(length, 'x'));
  }
}

TEST(Page, GrowsLittleWithManySlices) {
  Json document = timeline();
  Json slices = Json::array();
  std::int64_t at = 0;
  for (int i = 0; i < 15'000; ++i) {
    const std::int64_t duration = 900 + i * 7919 % 4001;
    slices.push_back(Json::array({at, duration, i % 2, 1 + i % 13, duration, duration / 2}));
    at += duration + i * 31 % 97;
  }
  document["lanes"][0]["slices"] = std::move(slices);
  EXPECT_LT(test::packed_documents(page_of(document)).size(), 500'000U);
}

}  // namespace
}  // namespace perflab::report
