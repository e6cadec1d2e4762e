// The document and the page of a certificate: from figures put together by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/certificate_samples.h"
#include "report/document_checks.h"
#include "report/kit/document.h"
#include "report/kit/text_table.h"
#include "report/replay/certificate_document.h"
#include "report/replay/certificate_text.h"

namespace perflab::report {
namespace {

using testing::HasSubstr;

TEST(CertificateDocument, IsValidAndExplainsWhatIsMissing) {
  for (const CertificateData& data : {wrong_candidate(), plain_original()}) {
    const Json document = certificate_document(data);
    const auto text = render("certificate", document);
    ASSERT_TRUE(text) << text.error().message;
    const Json schema = schema_of("certificate");
    expect_schema_order(schema, schema, document, "");
    expect_nulls_explained(document);
    expect_entries_are_true(document, "");
  }
}

TEST(CertificateDocument, HasTheFiguresOfTheCertificate) {
  const Json document = certificate_document(wrong_candidate());
  EXPECT_EQ(document["verdict"], "differs");
  EXPECT_EQ(document["capture"]["dispatch"], 3);
  EXPECT_EQ(document["code_object"]["captured"], false);
  EXPECT_EQ(document["method"]["max_ulp"], 4);
  EXPECT_EQ(document["method"]["max_relative"], nullptr);
  EXPECT_EQ(document["write_set"], "captured");
  EXPECT_EQ(document["regions"][0]["changed_poison_bytes"], 4096);
  EXPECT_EQ(document["regions"][2]["changed_poison_bytes"], nullptr);
  const Json& wrong = document["regions"][1];
  EXPECT_EQ(wrong["base"], "0x7f0000400000");
  EXPECT_EQ(wrong["type"], "f32");
  EXPECT_EQ(wrong["not_rewritten_bytes"], 8);
  EXPECT_EQ(wrong["largest"]["ulp"], UINT64_MAX);
  EXPECT_EQ(wrong["histograms"]["ulp"][1]["upto"], "1048576");
  EXPECT_EQ(wrong["examples"][0]["found"], "nan");
  EXPECT_EQ(wrong["not_deterministic"]["first"][1]["offset"], 128);
  // Never 0 for what was not looked at.
  EXPECT_EQ(document["regions"][2]["pure_output_bytes"], nullptr);
  EXPECT_EQ(document["regions"][2]["symbol"], "table");
  EXPECT_EQ(certificate_document(plain_original())["regions"][0]["not_rewritten_bytes"], nullptr);
}

TEST(CertificateText, SaysWhereTheOutputsAreKnownFrom) {
  CertificateData data = plain_original();
  EXPECT_THAT(certificate_text(data, {}), testing::Not(HasSubstr("outputs")));
  for (const auto& [write_set, words] :
       {std::pair{replay::WriteSet::poisoned, "running the original on poisoned arguments"},
        std::pair{replay::WriteSet::in_place, "depend on what was there"},
        std::pair{replay::WriteSet::nothing, "not even on poisoned memory"},
        std::pair{replay::WriteSet::unknown, "the captured dispatch changed nothing"}}) {
    data.certificate.write_set = write_set;
    EXPECT_THAT(certificate_text(data, {}), HasSubstr(words));
    EXPECT_EQ(certificate_document(data)["write_set"], to_string(write_set));
  }
}

TEST(CertificateText, SaysTheVerdictTheRegionsAndTheExamples) {
  const std::string text = certificate_text(wrong_candidate(), {});
  EXPECT_EQ(text.find("k(float*)\nThe other code object does not compute the same"), 0U);
  EXPECT_THAT(text, HasSubstr("tolerance  4 ULP"));
  EXPECT_THAT(text, HasSubstr("+0x10      1 expected, nan found"));
  EXPECT_THAT(text, HasSubstr("ULP        up to 1: 3, up to 1048576: 1"));
  EXPECT_THAT(text, HasSubstr("0x40+4, 0x80+8"));
  EXPECT_THAT(text, HasSubstr("8 of 4096 bytes of outputs still poisoned"));
  EXPECT_THAT(text, HasSubstr("1 of 4 regions were not captured"));
  const std::string plain = certificate_text(plain_original(), {});
  EXPECT_THAT(plain, HasSubstr("This capture reproduces itself, bitwise, over 3 runs."));
  EXPECT_THAT(plain, HasSubstr("tolerance  none"));
}

TEST(CertificateText, FitsTheWidth) {
  for (const std::size_t width : {100U, 120U}) {
    const std::string text = certificate_text(wrong_candidate(), {.width = width});
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      EXPECT_LE(display_width(text.substr(at, end - at)), width) << text.substr(at, end - at);
      at = end + 1;
    }
  }
}

}  // namespace
}  // namespace perflab::report
