// Verdicts that nobody can be judged by, as errors with what to do.
#include "replay/verify/verify_captured.h"

#include <string>

#include "replay/verify/verify.h"

namespace perflab::replay {
namespace {

/// What to do when a capture proves nothing.
std::string another_dispatch(WriteSet write_set) {
  if (write_set == WriteSet::nothing)
    return "capture a dispatch that writes something (--dispatch), or with arguments that make it "
           "write";
  return "capture its first dispatch (--dispatch 1), before its results are in memory already";
}

}  // namespace

Result<Certificate> verify_captured(Session& session, const VerifyOptions& options) {
  PERFLAB_CHECK(options.code_object.empty());
  PERFLAB_TRY(Certificate certificate, verify(session, options));
  // Asked again without poison, a capture whose write set is not known would still prove nothing.
  if (!certificate.poison_note.empty() && certificate.write_set != WriteSet::unknown)
    return certificate;
  if (certificate.verdict == ProofVerdict::differs)
    return fail(ErrorCode::refused, certificate.sentence,
                "nothing can be proven on this capture: look at it with `rocm-perf capture check`");
  if (certificate.verdict == ProofVerdict::proves_nothing)
    return fail(ErrorCode::refused, certificate.sentence, another_dispatch(certificate.write_set));
  return certificate;
}

}  // namespace perflab::replay
