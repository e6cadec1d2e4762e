// The status folder, as the library writes it: open(2) with O_APPEND, mmap(2) with MAP_SHARED.
#include "isolate/protocol/status.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <new>

#include "base/system/files.h"
#include "isolate/protocol/settings.h"

namespace perflab::isolate {
namespace {

std::unexpected<Error> cannot_write(const std::string& path) {
  return fail(ErrorCode::usage, "cannot write " + path + ": " + errno_text(errno));
}

static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              sizeof(std::atomic<std::uint64_t>) == 8);

}  // namespace

Result<std::unique_ptr<StatusLog>> StatusLog::open(const std::string& folder) {
  std::unique_ptr<StatusLog> status(new StatusLog);
  status->folder_ = folder;
  const std::string events = folder + "/" + kEventsFile;
  status->events_ = ::open(events.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (status->events_ < 0) return cannot_write(events);
  const std::string counts = folder + "/" + kCountsPrefix + std::to_string(::getpid());
  const int file = ::open(counts.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return cannot_write(counts);
  constexpr std::size_t kBytes = kMostKernels * sizeof(std::uint64_t);
  void* memory = MAP_FAILED;
  if (::ftruncate(file, kBytes) == 0)
    memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) {
    const auto error = cannot_write(counts);
    ::close(file);
    return error;
  }
  ::close(file);
  status->counters_ = static_cast<std::atomic<std::uint64_t>*>(memory);
  return status;
}

StatusLog::~StatusLog() {
  if (events_ >= 0) ::close(events_);
  if (counters_ != nullptr) ::munmap(counters_, kMostKernels * sizeof(std::uint64_t));
}

void StatusLog::say(std::string_view event, Json more) const {
  Json line = {{"event", std::string(event)}, {"pid", ::getpid()}};
  line.update(more);
  const std::string text =
      line.dump(-1, ' ', false, nlohmann::detail::error_handler_t::replace) + "\n";
  // A line that the disk does not take is missed by the reader, who says so.
  if (::write(events_, text.data(), text.size()) < 0) return;
}

void StatusLog::say_kernel(std::uint32_t slot, std::string_view quoted_name) const {
  std::array<char, 128> head{};
  char* at = head.data();
  char* const end = head.data() + head.size();
  const auto put = [&](std::string_view text) {
    at += text.copy(at, static_cast<std::size_t>(end - at));
  };
  put(R"({"event":"kernel","pid":)");
  at = std::to_chars(at, end, ::getpid()).ptr;
  put(R"(,"slot":)");
  at = std::to_chars(at, end, slot).ptr;
  put(R"(,"name":)");
  const std::string_view tail = "}\n";
  const auto piece = [](const char* data, std::size_t bytes) {
    return iovec{.iov_base = const_cast<char*>(data), .iov_len = bytes};
  };
  const std::array<iovec, 3> pieces = {
      piece(head.data(), static_cast<std::size_t>(at - head.data())),
      piece(quoted_name.data(), quoted_name.size()), piece(tail.data(), tail.size())};
  if (::writev(events_, pieces.data(), static_cast<int>(pieces.size())) < 0) return;
}

bool StatusLog::claim_capture() const {
  const std::string path = folder_ + "/" + kLockFile;
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return false;
  ::close(file);
  return true;
}

}  // namespace perflab::isolate
