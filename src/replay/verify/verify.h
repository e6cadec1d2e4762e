// `replay verify`: does the capture reproduce itself, or does another code object compute the same?
#pragma once

#include "base/error.h"
#include "replay/session/session.h"
#include "replay/verify/certificate.h"

namespace perflab::replay {

/// Verifies. The session holds the pre-image, as after open(), and holds it again afterwards
/// (unless a dispatch failed: the device is of no use then) with the captured code object loaded.
///  1. `runs` dispatches of the original: what they leave must be the captured post-image, bit by
///     bit and nowhere else; bytes that differ between the runs are not deterministic and count no
///     further, unless a tolerance is given that they keep to.
///  2. One dispatch of the other code object, compared with the post-image.
///  3. When the captured dispatch changed nothing, the buffers of its arguments are poisoned,
///     unless nothing is to be (Poison::none): what the original writes there is compared.
///  4. With poison: elements that the original brings to their value in the post-image, whatever
///     stood there, are pure outputs; the other code object has to do the same.
/// Errors: failures.h; a fault or hang of the original; interrupted (Ctrl-C between dispatches).
Result<Certificate> verify(Session& session, const VerifyOptions& options);

}  // namespace perflab::replay
