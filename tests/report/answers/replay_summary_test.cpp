// The answers about captures and replays: the verdict, what was looked for, and the next command
// of the chain.
#include <gmock/gmock.h>

#include "report/summary/command_documents.h"
#include "report/summary/summary.h"

namespace perflab::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// The page at 100 columns.
std::string answer_page(const std::string& name) {
  return summary_text(summary_document(std::vector<NamedDocument>{command_document(name)}), {}, "");
}

TEST(CertificateSummary, SaysWhetherItIsProvenAndWhatDiffersMost) {
  EXPECT_THAT(
      answer_page("wrong"),
      AllOf(StartsWith("warning: 1 of 4 regions"), HasSubstr("Proof (exit code 1)\n  k(float*)\n"),
            HasSubstr("3 runs of the original; outputs poisoned; tolerance: 4 ULP"),
            HasSubstr("Cheats\n"), HasSubstr("8 B of outputs not written"),
            HasSubstr("table: 2 B written beside the outputs"),
            HasSubstr("  rocm-perf replay verify capture --hsaco faster.hsaco --details "
                      "regions\n")));
  const std::string proven = answer_page("proven");
  EXPECT_THAT(proven, AllOf(HasSubstr("Proof (exit code 0)\n"), HasSubstr("Cheats\n  none: "),
                            HasSubstr("Is it faster\n  not known: verify takes no times"),
                            HasSubstr("  rocm-perf replay full-vm capture --hsaco faster.hsaco "
                                      "--iterations 100 --out new\n"),
                            HasSubstr("  rocm-perf compare base/replay.json new/replay.json\n")));
  EXPECT_THAT(answer_page("original"),
              AllOf(Not(HasSubstr("Cheats")), Not(HasSubstr("Is it faster")),
                    HasSubstr("  rocm-perf replay full-vm capture --iterations 100\n")));
  EXPECT_THAT(answer_page("nothing"),
              AllOf(HasSubstr("Proof (exit code 1)\n"),
                    HasSubstr("  rocm-perf replay verify capture --poison arguments\n")));
}

TEST(ReplaySummary, HasTheTimesAndSaysThatNothingIsProven) {
  EXPECT_THAT(
      answer_page("replayed"),
      AllOf(
          HasSubstr("Replayed\n  softmax(float*)\n  4 dispatches on gfx942 (AMD Instinct MI300X), "
                    "the captured code; 12 kB restored before"),
          HasSubstr("  median 11.25 us, 10 us to 18 us, CV "),
          HasSubstr("  10.40 us when it was captured; the replay's median is 1.082 times that\n"),
          HasSubstr("  3 pages were written here and not by the captured dispatch\n"),
          HasSubstr("  not known: full-vm compares no memory; replay verify does\n"),
          HasSubstr("  rocm-perf replay full-vm 'my capture' --iterations 100\n"),
          HasSubstr("  rocm-perf replay verify 'my capture'\n"),
          HasSubstr("a signal could not be restored")));
  EXPECT_THAT(answer_page("other_code"),
              AllOf(HasSubstr("another code object"), Not(HasSubstr("times that")),
                    HasSubstr("  rocm-perf replay verify 'my capture' --hsaco faster.hsaco\n"),
                    HasSubstr("  rocm-perf compare base/replay.json new/replay.json\n")));
}

TEST(ReservationSummary, NamesTheRangesThatAreTaken) {
  EXPECT_THAT(answer_page("reserved"),
              AllOf(StartsWith("Verdict (exit code 0)\n  exact: 3 ranges, "),
                    HasSubstr("  rocm-perf replay full-vm capture\n")));
  EXPECT_THAT(
      answer_page("relocated"),
      AllOf(StartsWith("Verdict (exit code 2)\n  relocated: 9 ranges, "),
            HasSubstr("libstdc++.so.6"), HasSubstr("nobody known; it went to 0x7e0000000000"),
            HasSubstr("  … and 3 more: --details ranges\n"), HasSubstr("HSA_RESERVE_SVM=1")));
}

TEST(IsolateSummary, SaysWhatWasCapturedOrWhatCouldBe) {
  EXPECT_THAT(answer_page("captured"),
              AllOf(HasSubstr("one queue could not be watched"), HasSubstr("Captured\n  k1()\n"),
                    HasSubstr("  dispatch 3 on amdgcn-amd-amdhsa--gfx942"), HasSubstr("2.50 us"),
                    HasSubstr("  rocm-perf capture check /tmp/capture\n")));
  // Of the kernels that there were, the one with the most dispatches.
  EXPECT_THAT(answer_page("unmatched"),
              AllOf(StartsWith("Not captured\n  no dispatch number"),
                    HasSubstr("        17  k7()\n"), HasSubstr("… and 3 more"),
                    HasSubstr("  rocm-perf isolate --kernel 'k7\\(\\)' -- ./app --size '4 K'\n")));
  EXPECT_THAT(answer_page("beyond"),
              HasSubstr("  rocm-perf isolate --kernel k7 -- ./app --size '4 K'\n"));
}

}  // namespace
}  // namespace perflab::report
