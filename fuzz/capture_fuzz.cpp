// Fuzzes what reads captures. The first byte says what the rest is: 'd' dispatch.json, 'm' the
// marker, 'r' memory_regions.json, 'v' module_variables.json, 'e' edits to a sound blob (three
// bytes each: where, and what), else a blob. Hashes of blobs are put right first. What must hold:
// one error of the kind "bad input" in one line, or a document that is written and read back the
// same, or pages that come in order, all of them, the same ones twice.
#include <unistd.h>
#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/json.h"
#include "capture/blob_reader.h"
#include "capture/documents.h"
#include "capture/forged_blob.h"

namespace {

using namespace perflab;           // NOLINT(google-build-using-namespace): all of it is used
using namespace perflab::capture;  // NOLINT(google-build-using-namespace)

constexpr std::uint64_t kRegionPages = 5000;

void check_error(const Error& error) {
  PERFLAB_CHECK(error.code == ErrorCode::bad_input);
  PERFLAB_CHECK(!error.message.empty() && error.message.find('\n') == std::string::npos);
}

/// As it would be read from the file that it is written to.
Json through_text(const Json& json) {
  auto read = parse_json(to_canonical_text(json), "fuzz");
  PERFLAB_CHECK(read.has_value());
  return std::move(*read);
}

void check_dispatch(const Json& json) {
  Description description, again;
  const auto read = read_dispatch(json, "fuzz", description);
  if (!read) return check_error(read.error());
  const Json written = through_text(dispatch_json(description));
  PERFLAB_CHECK(read_dispatch(written, "fuzz", again).has_value());
  PERFLAB_CHECK(through_text(dispatch_json(again)) == written);
}

void check_regions(const Json& json, bool variables) {
  std::vector<MemoryRegion> regions, again;
  const auto read = read_regions(json, "fuzz", variables, regions);
  if (!read) return check_error(read.error());
  for (const MemoryRegion& region : regions)
    for (const Blob* blob : {&region.image, &region.writes})
      PERFLAB_CHECK(blob->file.find("..") == std::string::npos && !blob->file.starts_with('/'));
  const Json written = through_text(regions_json(regions, variables));
  PERFLAB_CHECK(read_regions(written, "fuzz", variables, again).has_value());
  PERFLAB_CHECK(through_text(regions_json(again, variables)) == written);
}

void check_marker(const Json& json) {
  const auto files = read_marker(json, "fuzz");
  if (!files) return check_error(files.error());
  const auto again = read_marker(through_text(marker_json(*files)), "fuzz");
  PERFLAB_CHECK(again && *again == *files);
}

/// A folder of this process, removed at its end.
struct Folder {
  std::filesystem::path path;
  Folder() {
    const bool in_memory = ::access("/dev/shm", W_OK) == 0;
    std::string pattern = in_memory ? "/dev/shm/perflab-fuzz-XXXXXX" : "/tmp/perflab-fuzz-XXXXXX";
    PERFLAB_CHECK(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

/// The pages of a blob as one hash; 0 for an error.
std::uint64_t pages_of(BlobSet& blobs, const Blob& blob) {
  RunningHash hash;
  std::uint64_t next = 0;
  const auto read =
      blobs.read(blob.number, 0, blob.pages, true,
                 [&](std::uint64_t page, std::span<const std::byte> bytes) -> Result<void> {
                   PERFLAB_CHECK(page == next && bytes.size() % kPageBytes == 0 && !bytes.empty());
                   next += bytes.size() / kPageBytes;
                   hash.add(bytes.data(), bytes.size());
                   return {};
                 });
  if (!read) {
    check_error(read.error());
    return 0;
  }
  PERFLAB_CHECK(next == blob.pages);
  return hash.value();
}

/// `file`: blob number 1, or whatever number it says it has.
void check_blob(std::string file) {
  static const Folder kFolder;
  static const Blob kKnown = [] {
    std::string bytes = test::assembled(test::first_blob());
    const Blob blob = test::sealed(bytes, "first");
    std::ofstream(kFolder.path / "first", std::ios::binary) << bytes;
    return blob;
  }();
  const Blob blob = test::sealed(file, "blob");
  // A run of zeros is as long as its header says: what would take minutes is not asked for.
  if (blob.pages > kRegionPages) return;
  std::ofstream(kFolder.path / "blob", std::ios::binary) << file;
  BlobSet blobs(kFolder.path);
  PERFLAB_CHECK(blobs.add(kKnown, kRegionPages).has_value());
  if (const auto added = blobs.add(blob, kRegionPages); !added) return check_error(added.error());
  const std::uint64_t first = pages_of(blobs, blob);
  PERFLAB_CHECK(pages_of(blobs, blob) == first);
  const auto places = blobs.places(blob.number);
  if (!places) return check_error(places.error());
  for (const PageRun& run : *places)
    PERFLAB_CHECK(run.count > 0 && run.first + run.count <= kRegionPages);
  if (const auto verified = blobs.verify(blob.number); !verified) check_error(verified.error());
}

/// A sound blob, its last frame as it is or compressed, with bytes of header, last frame and tables
/// replaced.
void check_edits(std::string_view edits) {
  std::string last = std::string(kPageBytes, static_cast<char>('A' + 64)) +
                     std::string(kPageBytes, static_cast<char>('A' + 65));
  if (edits.size() % 2 == 0) {
    std::string packed(ZSTD_compressBound(last.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), last.data(), last.size(), 1));
    last = packed;
  }
  const test::ForgedBlob blob = test::forged_blob(last, true);
  std::string file = test::assembled(blob);
  const std::size_t rest = file.size() - kBlobHeaderBytes - kFrameBytes;
  for (; edits.size() >= 3; edits.remove_prefix(3)) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(edits[i]); };
    const std::size_t where =
        (byte(0) | static_cast<std::size_t>(byte(1)) << 8U) % (sizeof(BlobHeader) + rest);
    const std::size_t at = where < sizeof(BlobHeader)
                               ? where
                               : kBlobHeaderBytes + kFrameBytes + where - sizeof(BlobHeader);
    file[at] = edits[2];
  }
  check_blob(std::move(file));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 'e') {
    check_edits(text);
    return 0;
  }
  if (std::string_view("dmrv").find(static_cast<char>(data[0])) == std::string_view::npos) {
    check_blob(std::string(text));
    return 0;
  }
  const auto json = parse_json(text, "fuzz");
  if (!json) return 0;
  if (data[0] == 'd') check_dispatch(*json);
  if (data[0] == 'm') check_marker(*json);
  if (data[0] == 'r' || data[0] == 'v') check_regions(*json, data[0] == 'v');
  return 0;
}
