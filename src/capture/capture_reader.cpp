// The folder of a capture as a whole: marker, documents and the small files are compared with each
// other when it is opened; pages come from blob_reader.
#include "capture/capture_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "base/hash.h"
#include "base/system/files.h"
#include "base/text/json.h"
#include "capture/blob_reader.h"
#include "capture/documents.h"
#include "capture/remedies.h"

namespace perflab::capture {
namespace {

constexpr std::uint64_t kMostDocumentBytes = std::uint64_t{1} << 27,
                        kMostKernargBytes = std::uint64_t{1} << 20,
                        kMostCodeObjectBytes = std::uint64_t{1} << 32;

/// Files of the folder, by name, as the marker lists them.
using Records = std::map<std::string, FileRecord, std::less<>>;

Result<Records> read_records(const std::filesystem::path& folder, std::string& marker_text) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored))
    return fail(ErrorCode::bad_input, fmt::format("{}: there is no such folder", folder.string()));
  const std::filesystem::path marker = folder / kMarkerFile;
  if (!std::filesystem::exists(std::filesystem::symlink_status(marker, ignored))) {
    const bool begun = std::filesystem::exists(folder / kImageFolder, ignored);
    return fail(ErrorCode::bad_input,
                fmt::format("{}: is {}: {} is missing", folder.string(),
                            begun ? "an unfinished capture" : "not a capture", kMarkerFile),
                begun ? kTakeAgain : "give the folder that rocm-perf isolate --out wrote");
  }
  PERFLAB_TRY(const std::string text, read_file(marker, kMostDocumentBytes));
  marker_text = text;
  PERFLAB_TRY(const Json json, parse_json(text, marker.string()));
  PERFLAB_TRY(auto files, read_marker(json, marker.string()));
  Records records;
  for (FileRecord& file : files) {
    std::string name = file.name;
    records.emplace(std::move(name), std::move(file));
  }
  return records;
}

/// A file that is read whole, compared with the marker.
Result<std::string> read_listed(const std::filesystem::path& folder, std::string_view name,
                                const Records& records, std::uint64_t most_bytes) {
  const std::filesystem::path path = folder / name;
  const auto record = records.find(name);
  if (record == records.end())
    return fail(ErrorCode::bad_input,
                fmt::format("{}: {} is not listed", (folder / kMarkerFile).string(), name),
                kTakeAgain);
  PERFLAB_TRY(std::string bytes, read_file(path, most_bytes));
  if (bytes.size() < record->second.bytes)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: is truncated: it has {} of {} bytes", path.string(), bytes.size(),
                            record->second.bytes),
                kTakeAgain);
  if (bytes.size() != record->second.bytes || !is_hash_of(record->second.hash, bytes))
    return fail(
        ErrorCode::bad_input,
        fmt::format("{}: is altered: its contents are not those that were written", path.string()),
        kTakeAgain);
  return bytes;
}

Result<Json> read_document(const std::filesystem::path& folder, std::string_view name,
                           const Records& records) {
  PERFLAB_TRY(const std::string text, read_listed(folder, name, records, kMostDocumentBytes));
  return parse_json(text, (folder / name).string());
}

/// A blob must be listed with the size and hash that its region's document has.
Result<void> check_listed(const std::filesystem::path& folder, const Blob& blob,
                          const Records& records) {
  const auto record = records.find(blob.file);
  const FileRecord expected{.name = blob.file, .bytes = blob.file_bytes, .hash = blob.hash};
  if (record == records.end() || record->second != expected)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: {} is not listed as its region's document says",
                            (folder / kMarkerFile).string(), blob.file),
                kTakeAgain);
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(folder / blob.file, error);
  if (error)
    return fail(ErrorCode::bad_input, fmt::format("{}: cannot be read: {}",
                                                  (folder / blob.file).string(), error.message()));
  if (size != blob.file_bytes)
    return fail(
        ErrorCode::bad_input,
        fmt::format("{}: is {}: it has {} bytes and should have {}", (folder / blob.file).string(),
                    size < blob.file_bytes ? "truncated" : "altered", size, blob.file_bytes),
        kTakeAgain);
  return {};
}

}  // namespace

struct Capture::State {
  explicit State(std::filesystem::path path) : folder(std::move(path)), blobs(folder) {}

  std::filesystem::path folder;
  Description description;
  Records records;
  std::string marker, hash, kernarg, code_object;
  BlobSet blobs;

  Result<void> open_blobs();
  Result<const MemoryRegion*> captured_region(std::size_t region) const;
  /// Pages [first, first + count) of a pre-image.
  Result<void> read_pages(const MemoryRegion& region, std::uint64_t first, std::uint64_t count,
                          bool with_zero, const PageSink& sink);
  /// Hands pages on as bytes, without what lies behind the region's end.
  static Result<void> hand_on(const MemoryRegion& region, std::uint64_t page,
                              std::span<const std::byte> bytes, const PageSink& sink);
};

Capture::Capture(std::unique_ptr<State> state) : state_(std::move(state)) {}
Capture::Capture(Capture&& other) noexcept = default;
Capture& Capture::operator=(Capture&& other) noexcept = default;
Capture::~Capture() = default;

const std::filesystem::path& Capture::folder() const {
  return state_->folder;
}
const Description& Capture::description() const {
  return state_->description;
}
const std::string& Capture::hash() const {
  return state_->hash;
}
bool Capture::has_hash(std::string_view recorded) const {
  return is_hash_of(recorded, state_->marker);
}
std::span<const std::byte> Capture::kernarg() const {
  return std::as_bytes(std::span(state_->kernarg));
}
std::filesystem::path Capture::code_object_path() const {
  return state_->folder / code_object_file(state_->description.machine.platform);
}
std::span<const std::byte> Capture::code_object() const {
  return std::as_bytes(std::span(state_->code_object));
}

Result<void> Capture::State::open_blobs() {
  std::size_t listed = 5;  // documents, kernarg, code object
  for (MemoryRegion& region : description.regions) {
    for (const Blob* blob : {&region.image, &region.writes}) {
      if (blob->file.empty()) continue;
      ++listed;
      PERFLAB_TRY_VOID(check_listed(folder, *blob, records));
      PERFLAB_TRY_VOID(blobs.add(*blob, region.pages()));
    }
  }
  if (listed != records.size())
    return fail(ErrorCode::bad_input,
                fmt::format("{}: lists files that no region has", (folder / kMarkerFile).string()),
                kTakeAgain);
  for (MemoryRegion& region : description.regions) {
    if (region.writes.pages == 0) continue;
    PERFLAB_TRY(region.written, blobs.places(region.writes.number));
    if (region.written.empty())
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: is damaged: it does not say which pages it holds",
                              (folder / region.writes.file).string()),
                  kTakeAgain);
  }
  return {};
}

Result<Capture> Capture::open(const std::filesystem::path& folder) {
  auto state = std::make_unique<State>(folder);
  PERFLAB_TRY(state->records, read_records(folder, state->marker));
  state->hash = content_hash_text(state->marker);
  const Records& records = state->records;
  Description& description = state->description;
  PERFLAB_TRY(const Json dispatch, read_document(folder, kDispatchFile, records));
  PERFLAB_TRY_VOID(read_dispatch(dispatch, (folder / kDispatchFile).string(), description));
  for (const std::string_view name : {kRegionsFile, kVariablesFile}) {
    PERFLAB_TRY(const Json regions, read_document(folder, name, records));
    PERFLAB_TRY_VOID(read_regions(regions, (folder / name).string(), name == kVariablesFile,
                                  description.regions));
  }
  PERFLAB_TRY(state->kernarg, read_listed(folder, kKernargFile, records, kMostKernargBytes));
  const std::string_view code_file = code_object_file(description.machine.platform);
  PERFLAB_TRY(state->code_object, read_listed(folder, code_file, records, kMostCodeObjectBytes));
  if (description.kernarg_hash != records.find(kKernargFile)->second.hash ||
      description.code_object_hash != records.find(code_file)->second.hash ||
      description.code_object_bytes != state->code_object.size())
    return fail(ErrorCode::bad_input,
                fmt::format("{}: is of other kernel arguments or another code object",
                            (folder / kDispatchFile).string()),
                kTakeAgain);
  PERFLAB_TRY_VOID(state->open_blobs());
  return Capture(std::move(state));
}

Result<void> Capture::verify(const TellProgress& progress) const {
  for (const auto& [name, most] :
       {std::pair(kDispatchFile, kMostDocumentBytes), std::pair(kRegionsFile, kMostDocumentBytes),
        std::pair(kVariablesFile, kMostDocumentBytes), std::pair(kKernargFile, kMostKernargBytes),
        std::pair(code_object_file(state_->description.machine.platform), kMostCodeObjectBytes)})
    PERFLAB_TRY_VOID(read_listed(state_->folder, name, state_->records, most));
  double bytes = 0, done = 0;
  for (const MemoryRegion& region : state_->description.regions)
    bytes += static_cast<double>(region.bytes);
  for (const MemoryRegion& region : state_->description.regions) {
    if (progress) progress("checking the capture", done / bytes);
    for (const Blob* blob : {&region.image, &region.writes})
      if (!blob->file.empty()) PERFLAB_TRY_VOID(state_->blobs.verify(blob->number));
    done += static_cast<double>(region.bytes);
  }
  return check_bytes();
}

Result<void> Capture::check_bytes() const {
  std::vector<std::uint32_t> numbers;
  for (const MemoryRegion& region : state_->description.regions)
    for (const Blob* blob : {&region.image, &region.writes})
      if (!blob->file.empty()) numbers.push_back(blob->number);
  return state_->blobs.check_bytes(numbers);
}

Result<const MemoryRegion*> Capture::State::captured_region(std::size_t region) const {
  PERFLAB_CHECK(region < description.regions.size());
  const MemoryRegion& found = description.regions[region];
  if (!found.captured())
    return fail(ErrorCode::bad_input,
                fmt::format("{}: the contents of the region at {:#x} were not captured: {}",
                            folder.string(), found.base, found.not_captured));
  return &found;
}

Result<void> Capture::State::hand_on(const MemoryRegion& region, std::uint64_t page,
                                     std::span<const std::byte> bytes, const PageSink& sink) {
  const std::uint64_t offset = page * kPageBytes;
  return sink(offset, bytes.first(std::min<std::uint64_t>(bytes.size(), region.bytes - offset)));
}

Result<void> Capture::State::read_pages(const MemoryRegion& region, std::uint64_t first,
                                        std::uint64_t count, bool with_zero, const PageSink& sink) {
  const auto give = [&](std::uint64_t page, std::span<const std::byte> bytes) {
    return hand_on(region, page, bytes, sink);
  };
  if (!region.image.file.empty())
    return blobs.read(region.image.number, first, count, with_zero, give);
  if (with_zero) return give_zeros(first, count, give);
  return {};
}

Result<void> Capture::read(std::size_t region, Pages pages, const PageSink& sink) const {
  PERFLAB_TRY(const MemoryRegion* const found, state_->captured_region(region));
  if (pages != Pages::written)
    return state_->read_pages(*found, 0, found->pages(), pages == Pages::all, sink);
  for (const PageRun& run : found->written)
    PERFLAB_TRY_VOID(state_->read_pages(*found, run.first, run.count, true, sink));
  return {};
}

Result<void> Capture::read_writes(std::size_t region, const PageSink& sink) const {
  PERFLAB_TRY(const MemoryRegion* const found, state_->captured_region(region));
  std::uint64_t in_blob = 0;
  for (const PageRun& run : found->written) {
    PERFLAB_TRY_VOID(state_->blobs.read(found->writes.number, in_blob, run.count, true,
                                        [&](std::uint64_t page, std::span<const std::byte> bytes) {
                                          return State::hand_on(
                                              *found, run.first + (page - in_blob), bytes, sink);
                                        }));
    in_blob += run.count;
  }
  return {};
}

Result<void> Capture::read_at(std::size_t region, std::uint64_t offset,
                              std::span<std::byte> out) const {
  PERFLAB_TRY(const MemoryRegion* const found, state_->captured_region(region));
  if (out.empty()) return {};
  PERFLAB_CHECK(offset <= found->bytes && out.size() <= found->bytes - offset);
  const std::uint64_t end = offset + out.size(), first = offset / kPageBytes;
  const std::uint64_t count = (end - 1) / kPageBytes - first + 1;
  return state_->read_pages(
      *found, first, count, true,
      [&](std::uint64_t at, std::span<const std::byte> bytes) -> Result<void> {
        const std::uint64_t from = std::max(at, offset);
        const std::uint64_t to = std::min<std::uint64_t>(at + bytes.size(), end);
        if (from < to)
          std::memcpy(out.data() + (from - offset), bytes.data() + (from - at), to - from);
        return {};
      });
}

}  // namespace perflab::capture
