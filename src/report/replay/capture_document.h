// The document `capture`: what is in a capture and, from a check, whether it is whole and what will
// not survive into another process. Schema: schemas/capture.schema.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/text/json.h"
#include "capture/capture_reader.h"
#include "hal/terms.h"
#include "replay/lint.h"

namespace perflab::report {

/// What a check found.
struct CaptureCheck {
  std::string problem;                    ///< of a file; empty: the capture is whole
  std::vector<replay::Finding> findings;  ///< none are looked for when there is a problem
};

/// Whether this machine has the GPU that a replay needs.
struct ReplayHere {
  std::string problem;            ///< why not; empty: it has
  std::vector<std::string> gpus;  ///< ISAs, by number
};

/// Everything that the document and the text are made from.
struct CaptureData {
  const capture::Capture* capture = nullptr;
  std::string folder;                 ///< as the user named it
  std::optional<CaptureCheck> check;  ///< missing: only described
  std::optional<ReplayHere> here{};   ///< missing: not looked at
};

/// Sums over the regions of a capture.
struct CaptureTotals {
  std::uint64_t bytes = 0;       ///< of the captured regions
  std::size_t not_captured = 0;  ///< regions
  std::uint64_t zero_pages = 0, shared_pages = 0, stored_pages = 0;
  std::uint64_t changed_pages = 0;
  std::uint64_t file_bytes = 0;  ///< of blobs, code object and kernel arguments
};
CaptureTotals totals_of(const capture::Capture& capture);

/// "coarse-grained", "fine-grained, kernarg", ...; empty: of no pool.
std::string pool_kind(std::uint32_t pool_flags);

/// Why a replay would not be the captured dispatch: the damage, or the first finding of severity
/// error. Empty: it would.
std::string replay_problem(const CaptureCheck& check);

/// Findings as documents have them.
Json findings_json(const std::vector<replay::Finding>& findings);

/// The words of a capture's platform.
constexpr const hal::Terms& terms_of(capture::Platform platform) {
  return hal::terms(platform == capture::Platform::cuda ? hal::Platform::nvidia
                                                        : hal::Platform::amd);
}

Json capture_document(const CaptureData& data);

}  // namespace perflab::report
