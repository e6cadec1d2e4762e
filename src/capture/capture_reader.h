// Reading a capture: everything is taken as hostile (sizes, offsets, page tables, file names), and
// memory stays fixed whatever the footprint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "base/text/progress.h"
#include "capture/model.h"

namespace perflab::capture {

/// Bytes of a region, handed over in ascending order; `offset` from the region's base, a multiple
/// of the page. They are gone when the sink returns, or when it reads from the capture itself.
using PageSink = std::function<Result<void>(std::uint64_t offset, std::span<const std::byte>)>;

/// Which pages a stream hands over.
enum class Pages : std::uint8_t {
  all,
  not_zero,  ///< zero pages are left out: the memory is known to be zero
  written,   ///< those that the dispatch changed
};

/// A whole capture. Cheap to open: blobs are read when they are asked for. Not for several threads
/// at a time.
class Capture {
 public:
  /// Errors (bad_input): no such folder, no marker ("unfinished capture"), another format version
  /// (both named), a document that is damaged, a file that is missing or of another size.
  static Result<Capture> open(const std::filesystem::path& folder);
  Capture(Capture&& other) noexcept;
  Capture& operator=(Capture&& other) noexcept;
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture();

  [[nodiscard]] const std::filesystem::path& folder() const;
  [[nodiscard]] const Description& description() const;
  /// Of the marker, which has the hashes of all files: two captures with the same hash are the
  /// same.
  [[nodiscard]] const std::string& hash() const;
  /// Whether a document's hash of a capture is this one's; those of older versions were XXH3.
  [[nodiscard]] bool has_hash(std::string_view recorded) const;
  [[nodiscard]] std::span<const std::byte> kernarg() const;
  [[nodiscard]] std::span<const std::byte> code_object() const;
  /// Where it lies: kernel.hsaco or kernel.cubin of the folder.
  [[nodiscard]] std::filesystem::path code_object_path() const;

  /// Compares every file with its hash in the marker, and decodes every page. Error (bad_input):
  /// the file is named, and whether it is truncated or altered.
  [[nodiscard]] Result<void> verify(const TellProgress& progress = {}) const;

  /// Compares the files of pages with their hashes in the marker, each once: what is read from then
  /// on is what hash() stands for. Captures of format 1 have none that says so. Error (bad_input).
  [[nodiscard]] Result<void> check_bytes() const;

  /// Streams the pre-image of a region. Errors (bad_input): a damaged blob; what the sink returns.
  [[nodiscard]] Result<void> read(std::size_t region, Pages pages, const PageSink& sink) const;
  /// Streams the changed pages as they were after the dispatch.
  [[nodiscard]] Result<void> read_writes(std::size_t region, const PageSink& sink) const;
  /// Bytes [offset, offset + out.size()) of the pre-image.
  [[nodiscard]] Result<void> read_at(std::size_t region, std::uint64_t offset,
                                     std::span<std::byte> out) const;

 private:
  struct State;
  explicit Capture(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace perflab::capture
