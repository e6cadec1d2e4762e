// The capture's folder from its first byte to its last name: temporary folder, blobs, documents,
// fsync, marker, rename(2). Blobs are packed in blob_writer.
#include "capture/writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/system/files.h"
#include "base/text/json.h"
#include "capture/blob_writer.h"
#include "capture/documents.h"
#include "capture/spool.h"

namespace perflab::capture {
namespace {

constexpr std::size_t kHashesAtOnce = 1024;

Result<void> flush_to_disk(const std::filesystem::path& path, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) return cannot_write(path, errno);
  const int error = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (error != 0) return cannot_write(path, error);
  return {};
}

Result<void> write_new_file(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const int descriptor = ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
  if (descriptor < 0) return cannot_write(path, errno);
  int error = write_all(descriptor, bytes);
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error != 0) return cannot_write(path, error);
  return {};
}

std::error_code make_folder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directory(path, error);
  return error;
}

/// A folder of its own beside `folder`, readable by whom the umask allows.
Result<std::filesystem::path> make_partial(const std::filesystem::path& folder) {
  std::string name = folder.string() + ".partial-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) return cannot_write(folder, errno);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::chmod(name.c_str(), 0777 & ~mask);
  for (const std::string_view inner : {kImageFolder, kWritesFolder})
    if (const auto error = make_folder(std::filesystem::path(name) / inner)) {
      std::error_code ignored;
      std::filesystem::remove_all(name, ignored);
      return cannot_write(folder, error.value());
    }
  return std::filesystem::path(name);
}

bool before(const MemoryRegion& a, const MemoryRegion& b) {
  const auto key = [](const MemoryRegion& region) {
    return std::tuple(region.origin == Origin::variable, region.base, !region.captured(),
                      region.bytes, region.origin);
  };
  return key(a) < key(b);
}

}  // namespace

struct Writer::State {
  State(std::filesystem::path wanted, std::filesystem::path temporary, const WriterOptions& options)
      : folder(std::move(wanted)),
        partial(std::move(temporary)),
        flush(options.flush),
        blobs(partial, options.zstd_level, options.shared_page_limit),
        page_hashes(partial) {}

  std::filesystem::path folder, partial;
  bool flush;
  bool renamed = false;
  std::optional<Error> failure;  ///< the first one; every later call returns it again
  BlobWriter blobs;
  std::uint32_t blob_count = 0;
  std::vector<MemoryRegion> regions;
  std::set<std::uint64_t> bases;          ///< of the captured ones
  Spool page_hashes;                      ///< PageHash of each page of each pre-image
  std::vector<std::uint64_t> first_hash;  ///< by region: number of its first one

  /// What append() goes to.
  enum class Step : std::uint8_t { none, image, writes };
  Step step = Step::none;
  bool any_writes = false;
  std::size_t region = 0;
  std::uint64_t received = 0;
  std::array<std::byte, kPageBytes> tail{};
  std::vector<PageHash> old_hashes;  ///< of the post-image's next pages
  std::size_t old_used = 0;

  template <class Call>
  auto guarded(Call call) -> decltype(call()) {
    if (failure) return std::unexpected(*failure);
    auto result = call();
    if (!result) failure = result.error();
    return result;
  }

  Result<std::size_t> add_region(MemoryRegion&& wanted);
  Result<void> changed(std::size_t wanted);
  Result<void> append(std::span<const std::byte> bytes);
  Result<Description> finish(Description&& description, std::string_view code_object,
                             std::span<const std::byte> kernarg);
  Result<void> close_step();
  Result<void> add_pages(std::span<const std::byte> bytes);
  Result<void> add_image_page(const std::byte* page, std::vector<PageHash>& fresh);
  Result<void> add_written_page(const std::byte* page, std::uint64_t number);
  Result<PageHash> next_old_hash(std::uint64_t number);
  Result<void> write_file(std::string_view name, std::span<const std::byte> bytes,
                          std::vector<FileRecord>* records);
  Result<std::vector<FileRecord>> write_contents(const Description& description,
                                                 std::string_view code_object,
                                                 std::span<const std::byte> kernarg);
  Result<void> flush_folder() const;
  Result<void> publish(const std::vector<FileRecord>& records);
};

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Writer::Writer(Writer&& other) noexcept = default;

Writer::~Writer() {
  if (!state_ || state_->renamed) return;
  std::error_code ignored;
  std::filesystem::remove_all(state_->partial, ignored);
}

Result<Writer> Writer::create(std::filesystem::path folder, WriterOptions options) {
  folder = std::filesystem::absolute(folder).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "capture/"
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(folder, ignored)))
    return fail(ErrorCode::usage, fmt::format("{}: exists already", folder.string()),
                "choose another name for the capture, or remove that one");
  PERFLAB_TRY_VOID(make_directories(folder.parent_path()));
  PERFLAB_TRY(std::filesystem::path partial, make_partial(folder));
  return Writer(std::make_unique<State>(std::move(folder), std::move(partial), options));
}

Result<void> Writer::State::close_step() {
  const Step ended = std::exchange(step, Step::none);
  if (ended == Step::none) return {};
  MemoryRegion& current = regions[region];
  if (received != current.bytes)
    return fail(ErrorCode::internal, fmt::format("region {:#x}: {} of {} bytes came", current.base,
                                                 received, current.bytes));
  if (ended == Step::image) {
    PERFLAB_TRY(current.image, blobs.finish({}));
  } else {
    PERFLAB_TRY(current.writes, blobs.finish(current.written));
  }
  return {};
}

Result<std::size_t> Writer::State::add_region(MemoryRegion&& wanted) {
  PERFLAB_TRY_VOID(close_step());
  if (any_writes)
    return fail(ErrorCode::internal, "a pre-image was started after the first post-image");
  if (wanted.captured() && !bases.insert(wanted.base).second)
    return fail(ErrorCode::internal, fmt::format("two regions at {:#x}", wanted.base));
  wanted.image = {};
  wanted.writes = {};
  wanted.written.clear();
  first_hash.push_back(page_hashes.size() / sizeof(PageHash));
  regions.push_back(std::move(wanted));
  region = regions.size() - 1;
  const MemoryRegion& current = regions.back();
  if (current.captured() && current.bytes > 0) {
    step = Step::image;
    received = 0;
    blobs.start(blob_file(kImageFolder, current.base), blob_count++);
  }
  return region;
}

Result<void> Writer::State::changed(std::size_t wanted) {
  PERFLAB_TRY_VOID(close_step());
  if (wanted >= regions.size() || !regions[wanted].captured() || regions[wanted].writes.pages != 0)
    return fail(ErrorCode::internal,
                fmt::format("region {} has no pre-image, or its post-image twice", wanted));
  any_writes = true;
  region = wanted;
  received = 0;
  old_hashes.clear();
  old_used = 0;
  if (regions[region].bytes == 0) return {};
  step = Step::writes;
  blobs.start(blob_file(kWritesFolder, regions[region].base), blob_count++);
  return {};
}

Result<void> Writer::State::append(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  const std::uint64_t size = step == Step::none ? 0 : regions[region].bytes;
  if (received >= size || bytes.size() > size - received ||
      (bytes.size() % kPageBytes != 0 && bytes.size() != size - received))
    return fail(ErrorCode::internal, "bytes came that no region waits for");
  PERFLAB_TRY_VOID(add_pages(bytes));
  received += bytes.size();
  return {};
}

Result<void> Writer::State::add_pages(std::span<const std::byte> bytes) {
  std::vector<PageHash> fresh;
  for (std::uint64_t offset = 0; offset < bytes.size(); offset += kPageBytes) {
    const std::byte* page = bytes.data() + offset;
    if (bytes.size() - offset < kPageBytes) {
      tail = {};
      std::memcpy(tail.data(), page, bytes.size() - offset);
      page = tail.data();
    }
    if (step == Step::image)
      PERFLAB_TRY_VOID(add_image_page(page, fresh));
    else
      PERFLAB_TRY_VOID(add_written_page(page, (received + offset) / kPageBytes));
  }
  PERFLAB_TRY_VOID(blobs.settle());
  return page_hashes.add(std::as_bytes(std::span(fresh)));
}

Result<void> Writer::State::add_image_page(const std::byte* page, std::vector<PageHash>& fresh) {
  const PageHash hash = is_zero_page(page) ? PageHash{} : hash_page(page);
  fresh.push_back(hash);
  if (fresh.size() == kHashesAtOnce) {
    PERFLAB_TRY_VOID(page_hashes.add(std::as_bytes(std::span(fresh))));
    fresh.clear();
  }
  return blobs.add(page, hash);
}

Result<PageHash> Writer::State::next_old_hash(std::uint64_t number) {
  if (old_used == old_hashes.size()) {
    const std::uint64_t left = regions[region].pages() - number;
    old_hashes.resize(std::min<std::uint64_t>(left, kHashesAtOnce));
    old_used = 0;
    PERFLAB_TRY_VOID(page_hashes.read((first_hash[region] + number) * sizeof(PageHash),
                                      std::as_writable_bytes(std::span(old_hashes))));
  }
  return old_hashes[old_used++];
}

Result<void> Writer::State::add_written_page(const std::byte* page, std::uint64_t number) {
  PERFLAB_TRY(const PageHash old, next_old_hash(number));
  const PageHash hash = is_zero_page(page) ? PageHash{} : hash_page(page);
  if (hash == old) return {};
  std::vector<PageRun>& written = regions[region].written;
  if (!written.empty() && written.back().first + written.back().count == number)
    ++written.back().count;
  else
    written.push_back({.first = number, .count = 1});
  return blobs.add(page, hash);
}

Result<void> Writer::State::write_file(std::string_view name, std::span<const std::byte> bytes,
                                       std::vector<FileRecord>* records) {
  PERFLAB_TRY_VOID(write_new_file(partial / name, bytes));
  if (records != nullptr)
    records->push_back(
        {.name = std::string(name),
         .bytes = bytes.size(),
         .hash = content_hash_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()})});
  return {};
}

Result<std::vector<FileRecord>> Writer::State::write_contents(const Description& description,
                                                              std::string_view code_object,
                                                              std::span<const std::byte> kernarg) {
  std::vector<FileRecord> records;
  const auto document = [&](std::string_view name, const Json& json) {
    const std::string text = to_canonical_text(json);
    return write_file(name, std::as_bytes(std::span(text)), &records);
  };
  PERFLAB_TRY_VOID(document(kDispatchFile, dispatch_json(description)));
  PERFLAB_TRY_VOID(document(kRegionsFile, regions_json(description.regions, false)));
  PERFLAB_TRY_VOID(document(kVariablesFile, regions_json(description.regions, true)));
  PERFLAB_TRY_VOID(write_file(kKernargFile, kernarg, &records));
  PERFLAB_TRY_VOID(write_file(code_object_file(description.machine.platform),
                              std::as_bytes(std::span(code_object)), &records));
  for (const MemoryRegion& one : description.regions)
    for (const Blob* blob : {&one.image, &one.writes})
      if (!blob->file.empty())
        records.push_back({.name = blob->file, .bytes = blob->file_bytes, .hash = blob->hash});
  return records;
}

/// The marker, and the names of all files.
Result<void> Writer::State::flush_folder() const {
  PERFLAB_TRY_VOID(flush_to_disk(partial / kMarkerFile, O_RDONLY));
  for (const std::filesystem::path& inner :
       {partial / kImageFolder, partial / kWritesFolder, partial})
    PERFLAB_TRY_VOID(flush_to_disk(inner, O_RDONLY | O_DIRECTORY));
  return {};
}

Result<void> Writer::State::publish(const std::vector<FileRecord>& records) {
  if (flush)
    for (const FileRecord& record : records)
      PERFLAB_TRY_VOID(flush_to_disk(partial / record.name, O_RDONLY));
  const std::string text = to_canonical_text(marker_json(records));
  PERFLAB_TRY_VOID(write_file(kMarkerFile, std::as_bytes(std::span(text)), nullptr));
  if (flush) PERFLAB_TRY_VOID(flush_folder());
  if (::renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, folder.c_str(), RENAME_NOREPLACE) != 0) {
    // File systems without that flag: an existing folder that is not empty is refused all the same.
    if (errno != EINVAL || ::rename(partial.c_str(), folder.c_str()) != 0)
      return cannot_write(folder, errno);
  }
  renamed = true;
  return flush ? flush_to_disk(folder.parent_path(), O_RDONLY | O_DIRECTORY) : Result<void>{};
}

Result<Description> Writer::State::finish(Description&& description, std::string_view code_object,
                                          std::span<const std::byte> kernarg) {
  PERFLAB_TRY_VOID(close_step());
  std::ranges::stable_sort(regions, before);
  description.regions = std::move(regions);
  description.code_object_bytes = code_object.size();
  description.code_object_hash = content_hash_text(code_object);
  description.kernarg_hash =
      content_hash_text({reinterpret_cast<const char*>(kernarg.data()), kernarg.size()});
  PERFLAB_TRY(const auto records, write_contents(description, code_object, kernarg));
  PERFLAB_TRY_VOID(publish(records));
  return std::move(description);
}

Result<std::size_t> Writer::add_region(MemoryRegion region) {
  return state_->guarded([&] { return state_->add_region(std::move(region)); });
}

Result<void> Writer::append(std::span<const std::byte> bytes) {
  return state_->guarded([&] { return state_->append(bytes); });
}

Result<void> Writer::changed(std::size_t region) {
  return state_->guarded([&] { return state_->changed(region); });
}

Result<Description> Writer::finish(Description description, std::string_view code_object,
                                   std::span<const std::byte> kernarg) {
  return state_->guarded(
      [&] { return state_->finish(std::move(description), code_object, kernarg); });
}

}  // namespace perflab::capture
