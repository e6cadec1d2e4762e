// A capture brought back to life on a device: memory placed at its old addresses, contents
// restored, code object loaded. What full-vm times and verify compares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "capture/capture_reader.h"
#include "replay/device.h"
#include "replay/launch_change.h"
#include "replay/session/restored.h"

namespace perflab::replay {

struct SessionOptions {
  /// Another code object with a kernel of the same symbol; empty: the captured one.
  std::filesystem::path code_object{};
  Nanos time_limit{60'000'000'000};  ///< of one dispatch
  /// Goes on when lint() finds an error; the findings become notes.
  bool ignore_findings = false;
};

/// One capture on one device. Regions are numbered as in the capture's description; addresses of
/// variables are those of the code object loaded here.
class Session {
 public:
  /// Checks findings, ISA and metadata (argument layout of another code object) before anything is
  /// loaded, places every range, restores all contents, then loads the code object. `capture` and
  /// `device` have to outlive the session. Errors: failures.h.
  static Result<Session> open(const capture::Capture& capture, Device& device,
                              const SessionOptions& options);
  Session(Session&& other) noexcept;
  Session& operator=(Session&&) = delete;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// Loads another code object (empty: the captured one) without touching the memory; run()
  /// launches it with this change.
  Result<void> load(const std::filesystem::path& code_object, const LaunchChange& change = {});
  /// Whether the captured code object is loaded.
  [[nodiscard]] bool runs_original() const;

  /// Brings back the pre-image of everything.
  Result<Restored> restore_all();
  /// Brings back the pre-image of the write set: the captured one and what learn_writes() added.
  Result<Restored> restore_writes();
  /// Compares all memory with the pre-image and adds the pages that differ and are not in the write
  /// set: for a code object that may write elsewhere than the captured one. Returns how many.
  Result<std::uint64_t> learn_writes();

  /// One dispatch with the captured packet and the change of load(); its GPU time. Before it, and
  /// outside of that time, what earlier launches left in LDS, registers and scratch is dirtied
  /// (Device::dirty). Static LDS and scratch are those of the loaded code object, dynamic LDS the
  /// captured packet's.
  Result<Nanos> run();
  /// SessionOptions::time_limit of the dispatches to come.
  void set_time_limit(Nanos limit);

  /// Where a region lies now; missing when its contents were not captured, or when the code object
  /// has no such variable.
  [[nodiscard]] std::optional<std::uint64_t> address(std::size_t region) const;
  Result<void> read(std::size_t region, std::uint64_t offset, std::span<std::byte> out);
  Result<void> write(std::size_t region, std::uint64_t offset, std::span<const std::byte> bytes);

  /// Room on the device beside the captured memory, for copies of what is written often; missing:
  /// there is none. Freed with the device.
  Result<std::optional<std::uint64_t>> allocate(std::uint64_t bytes);
  /// Copies within the device: between addresses of regions and such room.
  Result<void> copy(std::span<const CopyRun> runs);

  /// What was dirtied before every dispatch so far, with the most scratch of them.
  [[nodiscard]] const Dirtied& left_memory() const;
  [[nodiscard]] const capture::Capture& capture() const;
  [[nodiscard]] const Device& device() const;
  /// What could not be brought back as it was, a sentence each.
  [[nodiscard]] const std::vector<std::string>& notes() const;

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace perflab::replay
