// Certificates put together by hand.
#pragma once

#include "report/replay/certificate_document.h"

namespace perflab::report {

/// A candidate that is right in one buffer, wrong in another and wrote into a variable.
CertificateData wrong_candidate();

/// An original that repeats itself, without poison and tolerance.
CertificateData plain_original();

}  // namespace perflab::report
