// The document and the page of a certificate: from figures put together by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/document_checks.h"
#include "report/kit/document.h"
#include "report/kit/text_table.h"
#include "report/replay/certificate_document.h"
#include "report/replay/certificate_text.h"

namespace perflab::report {
namespace {

using replay::ElementType;
using testing::HasSubstr;

/// A candidate that is right in one buffer, wrong in another and wrote into a variable.
CertificateData wrong_candidate() {
  CertificateData data;
  data.description.machine.isa = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-";
  data.description.dispatch.ordinal = 3;
  data.description.regions.resize(3);
  data.description.regions[0].base = 0x7f0000200000;
  data.description.regions[1].base = 0x7f0000400000;
  data.description.regions[2].origin = capture::Origin::variable;
  data.description.regions[2].symbol = "table";
  data.device.agent_name = "gfx942";
  data.device.isa = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-";
  data.device.runtime_version = "1.21";
  data.capture_folder = "capture";
  data.options.code_object = "faster.hsaco";
  data.options.compare.max_ulp = 4;
  replay::Certificate& certificate = data.certificate;
  certificate.kernel = "_Z1kPf";
  certificate.demangled = "k(float*)";
  certificate.capture_hash = "xxh3:0123456789abcdef";
  certificate.code_object_hash = "xxh3:fedcba9876543210";
  certificate.original = false;
  certificate.reproduces = true;
  certificate.runs = 3;
  certificate.verdict = replay::ProofVerdict::differs;
  certificate.sentence =
      "The other code object does not compute the same: 2 of 1024 elements differ.";
  certificate.notes = {"1 of 4 regions were not captured"};
  replay::RegionVerdict right;
  right.changed_bytes = right.compared_bytes = right.pure_output_bytes = 4096;
  right.changed_poison_bytes = 4096;
  right.poisoned = true;
  right.verdict = replay::ProofVerdict::bitwise;
  right.comparison.type = ElementType::f32;
  right.comparison.type_from = "given";
  right.comparison.elements = 1024;
  replay::RegionVerdict wrong = right;
  wrong.region = 1;
  wrong.verdict = replay::ProofVerdict::differs;
  wrong.not_rewritten_bytes = 8;
  wrong.not_deterministic = {{.offset = 64, .bytes = 4}, {.offset = 128, .bytes = 8}};
  wrong.not_deterministic_bytes = 12;
  wrong.not_deterministic_ranges = 2;
  wrong.comparison.different = 5;
  wrong.comparison.beyond_tolerance = 2;
  wrong.comparison.nan_found = 1;
  wrong.comparison.largest_ulp = UINT64_MAX;
  wrong.comparison.largest_relative = 0.5;
  wrong.comparison.largest_absolute = 1e-7;
  wrong.comparison.ulp = {{.upto = "1", .elements = 3}, {.upto = "1048576", .elements = 1}};
  wrong.comparison.relative = {{.upto = "1e-7", .elements = 3}, {.upto = "1e0", .elements = 1}};
  wrong.comparison.absolute = {{.upto = "1e-7", .elements = 4}};
  wrong.comparison.examples = {{.offset = 16, .expected = "1", .found = "nan"},
                               {.offset = 20, .expected = "2", .found = "3"}};
  replay::RegionVerdict stray;
  stray.region = 2;
  stray.unexpected_bytes = stray.compared_bytes = 2;
  stray.verdict = replay::ProofVerdict::differs;
  stray.comparison.elements = stray.comparison.different = stray.comparison.beyond_tolerance = 2;
  stray.comparison.examples = {{.offset = 1, .expected = "0x00", .found = "0x07"}};
  certificate.regions = {right, wrong, stray};
  return data;
}

/// An original that repeats itself, without poison and tolerance.
CertificateData plain_original() {
  CertificateData data = wrong_candidate();
  data.options = {};
  data.options.poison = replay::Poison::none;
  data.certificate.poison = replay::Poison::none;
  data.certificate.original = true;
  data.certificate.notes.clear();
  data.certificate.regions.resize(1);
  data.certificate.regions[0].poisoned = false;
  data.certificate.verdict = replay::ProofVerdict::bitwise;
  data.certificate.sentence = "This capture reproduces itself, bitwise, over 3 runs.";
  data.device.rocm_version = "7.0";
  data.device.product_name = "AMD Instinct MI300X";
  return data;
}

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
