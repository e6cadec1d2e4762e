// The device is opened for the capture's GPU: it may start this process again with a fixed layout
// (session/open_device.h), so nothing else is done before.
#include "replay/session/folder_session.h"

#include <utility>

#include "replay/session/open_device.h"

namespace perflab::replay {

FolderSession::FolderSession(std::unique_ptr<capture::Capture> capture,
                             std::unique_ptr<Device> device, Session session)
    : capture_(std::move(capture)), device_(std::move(device)), session_(std::move(session)) {}

Result<FolderSession> FolderSession::open(const std::filesystem::path& folder,
                                          const SessionOptions& options) {
  PERFLAB_TRY(capture::Capture opened, capture::Capture::open(folder));
  auto capture = std::make_unique<capture::Capture>(std::move(opened));
  PERFLAB_TRY(std::unique_ptr<Device> device, open_device(capture->description()));
  PERFLAB_TRY(Session session, Session::open(*capture, *device, options));
  return FolderSession(std::move(capture), std::move(device), std::move(session));
}

}  // namespace perflab::replay
