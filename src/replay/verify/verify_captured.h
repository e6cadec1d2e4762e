// The captured code object against its own capture, before others are judged by it.
#pragma once

#include "base/error.h"
#include "replay/session/session.h"
#include "replay/verify/certificate.h"

namespace perflab::replay {

/// verify() of the captured code object (`options.code_object` is empty). Errors: those of
/// verify(), refused (nothing can be proven on this capture: it does not repeat itself, or writes
/// nothing). A certificate with a poison_note: the device is of no use any more; ask again on
/// another one, with Poison::none.
Result<Certificate> verify_captured(Session& session, const VerifyOptions& options);

}  // namespace perflab::replay
