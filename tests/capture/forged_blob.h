// Blobs whose hashes are right and whose numbers need not be: for tests and fuzzing of the checks
// behind the hashes.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "capture/blob.h"
#include "capture/documents.h"

namespace perflab::test {

/// A blob in parts.
struct ForgedBlob {
  capture::BlobHeader header;
  std::string frames;  ///< their bytes, one behind the other
  std::vector<capture::FrameEntry> frame_table;
  std::vector<capture::RunEntry> runs;
  std::vector<capture::PageRun> places;
};

template <class Entry>
std::string bytes_of(const std::vector<Entry>& entries) {
  return {reinterpret_cast<const char*>(entries.data()), entries.size() * sizeof(Entry)};
}

/// The file; counts and hashes of the header are left as they are.
inline std::string assembled(const ForgedBlob& blob) {
  std::string file(reinterpret_cast<const char*>(&blob.header), sizeof(blob.header));
  file.resize(capture::kBlobHeaderBytes, '\0');
  return file + blob.frames + bytes_of(blob.frame_table) + bytes_of(blob.runs) +
         bytes_of(blob.places);
}

/// Puts the right hashes of tables and header into a file (if it has them at all) and describes it
/// as its region's document would.
inline capture::Blob sealed(std::string& file, std::string name) {
  using namespace capture;
  BlobHeader header;
  std::memcpy(&header, file.data(), std::min(file.size(), sizeof(header)));
  Blob blob{.number = header.number,
            .file = std::move(name),
            .pages = header.pages,
            .zero_pages = 0,
            .shared_pages = 0,
            .stored_pages = header.stored_pages,
            .file_bytes = file.size(),
            .hash = {}};
  if (header.tables_offset < file.size() && file.size() >= sizeof(header)) {
    RunningHash hash;
    hash.add(file.data() + header.tables_offset, file.size() - header.tables_offset);
    header.tables_hash = hash.value();
    header.header_hash = header_hash(header);
    std::memcpy(file.data(), &header, sizeof(header));
    // What the runs say, as far as they can be believed.
    const std::uint64_t frames =
        header.stored_pages / kFramePages + (header.stored_pages % kFramePages != 0);
    const std::uint64_t room = (file.size() - header.tables_offset) / sizeof(FrameEntry);
    if (frames <= room) {
      const std::uint64_t at = header.tables_offset + frames * sizeof(FrameEntry);
      const std::uint64_t count = std::min((file.size() - at) / sizeof(RunEntry), header.runs);
      for (std::uint64_t i = 0; i < count; ++i) {
        RunEntry run, next;
        std::memcpy(&run, file.data() + at + i * sizeof(run), sizeof(run));
        std::uint64_t end = header.pages;
        if (i + 1 < count) {
          std::memcpy(&next, file.data() + at + (i + 1) * sizeof(run), sizeof(run));
          end = first_of(next);
        }
        if (kind_of(run) == RunKind::zero) blob.zero_pages += end - first_of(run);
        if (kind_of(run) == RunKind::shared) blob.shared_pages += end - first_of(run);
      }
    }
  }
  blob.hash = "xxh3:" + [&] {
    std::string digits = hex_text(header.header_hash).substr(2);
    return std::string(16 - digits.size(), '0') + digits;
  }();
  return blob;
}

/// A sound blob number 0: three pages, of 'x', 'y' and 'z'.
inline ForgedBlob first_blob() {
  using namespace capture;
  ForgedBlob blob;
  std::vector<PageHash> hashes;
  for (const char letter : {'x', 'y', 'z'}) {
    const std::string page(kPageBytes, letter);
    blob.frames += page;
    hashes.push_back(hash_page(reinterpret_cast<const std::byte*>(page.data())));
  }
  blob.frame_table = {{.offset = kBlobHeaderBytes,
                       .bytes = 3 * kPageBytes,
                       .packing = Packing::raw,
                       .hash = hash_of(hashes.data(), 3)}};
  blob.runs = {pack_run(0, RunKind::stored, {})};
  blob.header.pages = blob.header.stored_pages = 3;
  blob.header.runs = 1;
  blob.header.tables_offset = kBlobHeaderBytes + blob.frames.size();
  return blob;
}

/// A sound blob number 1 of 70 + 6 pages: 66 stored in two frames (one raw, the other with its
/// stored bytes given), zeros, and pages shared with itself and blob 0. `places` make it a
/// post-image.
inline ForgedBlob forged_blob(const std::string& last_frame_packed, bool places) {
  using namespace capture;
  ForgedBlob blob;
  std::vector<PageHash> hashes;
  for (std::size_t i = 0; i < 66; ++i) {
    std::string page(kPageBytes, static_cast<char>('A' + i));
    if (i < kFramePages) blob.frames += page;
    hashes.push_back(hash_page(reinterpret_cast<const std::byte*>(page.data())));
  }
  const std::uint64_t second = kBlobHeaderBytes + blob.frames.size();
  blob.frames += last_frame_packed;
  blob.frame_table = {
      {.offset = kBlobHeaderBytes,
       .bytes = kFrameBytes,
       .packing = Packing::raw,
       .hash = hash_of(hashes.data(), kFramePages)},
      {.offset = second,
       .bytes = static_cast<std::uint32_t>(last_frame_packed.size()),
       .packing = last_frame_packed.size() == 2 * kPageBytes ? Packing::raw : Packing::zstd,
       .hash = hash_of(hashes.data() + kFramePages, 2)}};
  blob.runs = {pack_run(0, RunKind::stored, {.blob = 1, .index = 0}),
               pack_run(60, RunKind::zero, {}),
               pack_run(64, RunKind::shared, {.blob = 1, .index = 3}),
               pack_run(68, RunKind::shared, {.blob = 0, .index = 1}),
               pack_run(70, RunKind::stored, {.blob = 1, .index = 60})};
  if (places) blob.places = {{.first = 0, .count = 50}, {.first = 60, .count = 26}};
  blob.header.number = 1;
  blob.header.pages = 76;
  blob.header.stored_pages = 66;
  blob.header.runs = blob.runs.size();
  blob.header.places = blob.places.size();
  blob.header.tables_offset = kBlobHeaderBytes + blob.frames.size();
  return blob;
}

}  // namespace perflab::test
