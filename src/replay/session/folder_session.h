// A capture's folder, ready to be replayed on this machine's GPU.
#pragma once

#include <filesystem>
#include <memory>

#include "capture/capture_reader.h"
#include "replay/device.h"
#include "replay/session/session.h"

namespace perflab::replay {

/// Capture, device and session, which live as long as this does.
class FolderSession {
 public:
  /// Opens the three, one after another. Errors: bad_input (the folder), failures.h.
  static Result<FolderSession> open(const std::filesystem::path& folder,
                                    const SessionOptions& options);

  [[nodiscard]] Session& session() { return session_; }
  [[nodiscard]] const capture::Description& description() const { return capture_->description(); }
  [[nodiscard]] DeviceFacts device() const { return device_->facts(); }

 private:
  FolderSession(std::unique_ptr<capture::Capture> capture, std::unique_ptr<Device> device,
                Session session);

  std::unique_ptr<capture::Capture> capture_;  ///< on the heap: the session points to it
  std::unique_ptr<Device> device_;
  Session session_;  ///< last: it goes first
};

}  // namespace perflab::replay
