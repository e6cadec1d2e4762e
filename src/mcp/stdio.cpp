// Reading and writing lines on descriptors, with poll(2), so that an end of any side is seen.
#include "mcp/stdio.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>

#include "base/system/broken_pipe.h"
#include "base/system/files.h"
#include "base/system/interrupt.h"

namespace perflab::mcp {
namespace {

/// How long a client that has ended its side may leave an answer unread.
constexpr int kPatienceMilliseconds = 1000;

/// Writes a line whole. False: nobody reads it any more, or Ctrl-C came while the reader did not.
/// `ended`: the client's side has.
bool write_line(int descriptor, std::string line, const std::atomic<bool>& ended) {
  const BrokenPipeGuard guard;
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    std::array<pollfd, 2> waits{pollfd{descriptor, POLLOUT, 0},
                                pollfd{interrupt_descriptor(), POLLIN, 0}};
    const int ready = ::poll(waits.data(), waits.size(), kPatienceMilliseconds);
    if (ready < 0 && errno != EINTR) return false;
    if (waits[0].revents == 0) {
      if (interrupted() || (ready == 0 && ended)) return false;
      continue;
    }
    // Little enough for a pipe to take at once: more would wait in write(), deaf to Ctrl-C.
    const ssize_t written =
        ::write(descriptor, rest.data(), std::min<std::size_t>(rest.size(), PIPE_BUF));
    if (written < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

enum class Waited { input, ended, interrupted };

/// Waits for something to read, an end of the reader, or Ctrl-C.
Waited wait_for_input(const ServeOptions& options) {
  while (true) {
    if (interrupted()) return Waited::interrupted;
    std::array<pollfd, 3> waits{pollfd{options.input, POLLIN, 0}, pollfd{options.output, 0, 0},
                                pollfd{interrupt_descriptor(), POLLIN, 0}};
    if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) return Waited::ended;
    if (interrupted()) return Waited::interrupted;
    if ((waits[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return Waited::ended;
    if (waits[0].revents != 0) return Waited::input;
  }
}

/// Hands the client's lines to the service until one side ends.
Result<void> read_messages(const ServeOptions& options, Service& service,
                           const std::atomic<bool>& deaf) {
  LineSplitter splitter(kMostMessageBytes);
  std::vector<char> buffer(std::size_t{1} << 16);
  while (!deaf) {
    const Waited waited = wait_for_input(options);
    if (waited == Waited::interrupted)
      return fail(ErrorCode::interrupted, "the server was interrupted");
    if (waited == Waited::ended) break;
    const ssize_t got = ::read(options.input, buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0)
      return fail(ErrorCode::bad_input,
                  fmt::format("the client's messages cannot be read: {}", errno_text(errno)));
    if (got == 0) break;
    for (const std::string& line : splitter.feed({buffer.data(), static_cast<std::size_t>(got)}))
      service.receive(line);
  }
  return {};
}

}  // namespace

std::vector<std::string> LineSplitter::feed(std::string_view bytes) {
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    const std::size_t room = most_bytes_ + 1 - std::min(unfinished_.size(), most_bytes_ + 1);
    unfinished_ += part.substr(0, room);
    if (end == std::string_view::npos) break;
    lines.push_back(std::move(unfinished_));
    unfinished_.clear();
    bytes.remove_prefix(end + 1);
  }
  return lines;
}

Result<void> serve(const ServeOptions& options, Offer offer, Runner runner) {
  const InterruptScope interrupts;
  std::atomic<bool> deaf = false, ended = false;
  Service service(std::move(offer), options.most_bytes, std::move(runner),
                  [&](const Json& message) {
                    if (!deaf && !write_line(options.output, to_line(message), ended)) deaf = true;
                  });
  Result<void> result = read_messages(options, service, deaf);
  ended = true;
  return result;
}

}  // namespace perflab::mcp
