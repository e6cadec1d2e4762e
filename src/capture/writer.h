// Writing a capture: streamed in fixed memory, zero pages left out, equal pages stored once, zstd.
// Everything goes to a folder of a temporary name; finish() writes the marker and renames it, so
// that no half capture ever passes as whole. Used inside the captured process: no logging, no
// threads that outlive a call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "capture/model.h"

namespace perflab::capture {

struct WriterOptions {
  int zstd_level = 1;  ///< 0: stored as they are
  /// Most distinct pages remembered for sharing (24 bytes each); more pages are stored again.
  std::size_t shared_page_limit = std::size_t{1} << 20;
  /// Everything is on the disk before the marker is, and that before finish() returns. Off, a crash
  /// of the machine may leave a capture that is found to be damaged when it is opened.
  bool flush = true;
};

/// Writes one capture. Calls come in this order: add_region() with append() for each region, then
/// changed() with append() for each, then finish(). Any error ends the capture: the destructor
/// removes what was written.
class Writer {
 public:
  /// Starts beside `folder` under a temporary name. Errors (usage): the folder exists already, or
  /// the place cannot be written.
  static Result<Writer> create(std::filesystem::path folder, WriterOptions options = {});
  Writer(Writer&& other) noexcept;
  Writer(const Writer&) = delete;
  Writer& operator=(Writer&&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer();

  /// Starts the pre-image of a region; its blobs and written pages are filled in by the writer.
  /// With `not_captured` set no bytes are expected. Returns its number.
  Result<std::size_t> add_region(MemoryRegion region);
  /// The next bytes of the region or post-image that was started last; whole pages, except at the
  /// region's end. Errors (usage): the disk is full, ...
  Result<void> append(std::span<const std::byte> bytes);
  /// Starts the post-image of a region: what follows is compared with the pre-image page by page
  /// (128-bit hashes, read back from disk), and the changed pages are kept.
  Result<void> changed(std::size_t region);
  /// Writes code object, kernargs and documents, flushes everything, writes the marker with the
  /// hash of every file, and renames the folder. `description.regions` is ignored: the writer knows
  /// them.
  Result<Description> finish(Description description, std::string_view code_object,
                             std::span<const std::byte> kernarg);

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace perflab::capture
