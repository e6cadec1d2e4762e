// What a verification is asked for and what it says: the certificate, with a verdict for each
// region. docs/REPLAY.md says what each verdict means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/progress.h"
#include "replay/elements/element_diff.h"
#include "replay/failures.h"
#include "replay/launch_change.h"
#include "replay/left_memory.h"

namespace perflab::replay {

/// What is overwritten with a pattern before the run, so that a kernel that writes nothing fails.
/// Words of 8 bytes whose pre-image looks like an address of a captured region stay as they are, so
/// that pointer structures can be followed. Buffers are poisoned one after another (all that are
/// behind the 15th at once), so that one of them being an input spoils only its own run.
enum class Poison : std::uint8_t {
  none,
  written,    ///< the elements that the captured dispatch changed
  arguments,  ///< also the other bytes of every buffer that the kernel's arguments point to and may
              ///< write: for a dispatch that wrote what stood there already
};
std::string_view to_string(Poison poison);

/// Where the bytes come from that are compared.
enum class WriteSet : std::uint8_t {
  captured,  ///< the captured dispatch changed them
  poisoned,  ///< it changed nothing; they are what the original writes to poisoned buffers of its
             ///< arguments, whatever stands there
  in_place,  ///< it changed nothing, and what the original writes there depends on what stood there
  nothing,   ///< it changed nothing, and the original wrote nothing to poisoned buffers either
  unknown,   ///< it changed nothing, and nothing was poisoned, or the original failed on that
};
/// "captured", "poisoned", ...
std::string_view to_string(WriteSet write_set);

struct VerifyOptions {
  std::filesystem::path code_object;  ///< empty: the captured one
  LaunchChange launch{};              ///< of the other code object
  /// `written` becomes `arguments` when the captured dispatch changed nothing.
  Poison poison = Poison::written;
  int runs = 3;  ///< of the original, to find bytes that differ between them; at least 1
  DiffOptions compare;
  TellProgress progress = {};
};

/// Bytes of one region that differ between runs of the original.
struct ByteRange {
  std::uint64_t offset = 0, bytes = 0;
};

enum class ProofVerdict : std::uint8_t {
  bitwise,            ///< every compared byte is equal
  within_tolerance,   ///< some differ, all within the tolerance of their type
  differs,            ///< some differ by more
  not_deterministic,  ///< equal or within tolerance where the original itself is repeatable
  proves_nothing,     ///< nothing was written that could be compared
};
std::string_view to_string(ProofVerdict verdict);

/// Ranges that a region of the certificate lists; more are only counted.
inline constexpr std::size_t kMostRanges = 64;

/// One region of the certificate.
struct RegionVerdict {
  std::size_t region = 0;
  std::uint64_t changed_bytes = 0;           ///< that the captured dispatch changed
  std::uint64_t compared_bytes = 0;          ///< those and whatever else was written in this run
  std::uint64_t unexpected_bytes = 0;        ///< written here, but not by the captured dispatch
  bool poisoned = false;                     ///< the next four are known
  std::uint64_t changed_poison_bytes = 0;    ///< that the original wrote, whatever it wrote
  std::uint64_t pure_output_bytes = 0;       ///< rewritten from the poison by the original
  std::uint64_t not_rewritten_bytes = 0;     ///< pure outputs that still hold the poison
  std::uint64_t wrong_on_poison_bytes = 0;   ///< pure outputs that were written, but otherwise
  std::vector<ByteRange> not_deterministic;  ///< whole elements, the first kMostRanges
  std::uint64_t not_deterministic_ranges = 0, not_deterministic_bytes = 0;  ///< in all
  ElementDiff comparison;
  ProofVerdict verdict = ProofVerdict::proves_nothing;
};

struct Certificate {
  std::string kernel, demangled;
  std::string capture_hash;         ///< of the marker
  std::string code_object_hash;     ///< of what ran
  bool original = true;             ///< the captured code object ran
  Poison poison = Poison::written;  ///< what was poisoned: as asked for, or more (VerifyOptions)
  std::string poison_note;          ///< why less was poisoned than asked for; empty: as asked
  WriteSet write_set = WriteSet::captured;
  std::string run_failure;  ///< how the other code object ended where the original did not: its
                            ///< named error; empty: it ran to its end
  std::optional<Failure> failure;  ///< which one that is; missing: it ran to its end, or another
  /// Before each dispatch, of the original and of the other, what earlier ones left.
  Dirtied left_memory;
  bool failed_on_poison = false;  ///< it did so on poisoned outputs, not on the captured memory
  int runs = 0;
  bool reproduces = false;  ///< the original left the captured post-image where it is repeatable
  ProofVerdict verdict = ProofVerdict::proves_nothing;
  std::string sentence;                ///< the verdict in words
  std::vector<RegionVerdict> regions;  ///< those with something to compare
  std::vector<std::string> notes;

  /// 0 for bitwise, within_tolerance and not_deterministic; 1 else.
  [[nodiscard]] int exit_code() const;
};

}  // namespace perflab::replay
