// Captures that tests write from texts, and what can be read back of one.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capture/capture_reader.h"
#include "capture/writer.h"

namespace perflab::test {

/// A region with its bytes before the dispatch and, where given, after it.
struct WrittenRegion {
  capture::MemoryRegion region;  ///< bytes are those of `before`, unless it was not captured
  std::string before;
  std::optional<std::string> after;
};

struct WrittenCapture {
  capture::Description description;
  std::vector<WrittenRegion> regions;
  std::string code_object = "code", kernarg = "arguments";
  capture::WriterOptions options{.zstd_level = 1, .shared_page_limit = 1 << 20, .flush = false};
  std::size_t pages_at_once = 37;
};

inline Result<void> append_text(capture::Writer& writer, const std::string& text,
                                std::size_t pages_at_once) {
  const auto bytes = std::as_bytes(std::span(text));
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t size = std::min(pages_at_once * capture::kPageBytes, bytes.size() - at);
    PERFLAB_TRY_VOID(writer.append(bytes.subspan(at, size)));
    at += size;
  }
  return {};
}

/// Everything up to finish().
inline Result<void> write_regions(capture::Writer& writer, const WrittenCapture& capture) {
  std::vector<std::size_t> numbers;
  for (const WrittenRegion& one : capture.regions) {
    capture::MemoryRegion region = one.region;
    if (region.captured()) region.bytes = one.before.size();
    PERFLAB_TRY(numbers.emplace_back(), writer.add_region(region));
    if (region.captured()) PERFLAB_TRY_VOID(append_text(writer, one.before, capture.pages_at_once));
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!capture.regions[i].after) continue;
    PERFLAB_TRY_VOID(writer.changed(numbers[i]));
    PERFLAB_TRY_VOID(append_text(writer, *capture.regions[i].after, capture.pages_at_once));
  }
  return {};
}

inline Result<capture::Description> write_capture(const std::filesystem::path& folder,
                                                  const WrittenCapture& capture) {
  PERFLAB_TRY(capture::Writer writer, capture::Writer::create(folder, capture.options));
  PERFLAB_TRY_VOID(write_regions(writer, capture));
  return writer.finish(capture.description, capture.code_object,
                       std::as_bytes(std::span(capture.kernarg)));
}

/// What a stream of pages put together: bytes by offset, neighbours joined.
using Pieces = std::map<std::uint64_t, std::string>;

inline capture::PageSink into(Pieces& pieces) {
  return [&pieces](std::uint64_t offset, std::span<const std::byte> bytes) -> Result<void> {
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!pieces.empty() && pieces.rbegin()->first + pieces.rbegin()->second.size() == offset)
      pieces.rbegin()->second += text;
    else
      EXPECT_TRUE(pieces.empty() || offset > pieces.rbegin()->first) << "not in ascending order";
    if (pieces.empty() || pieces.rbegin()->first + pieces.rbegin()->second.size() < offset + 1)
      pieces[offset] = text;
    return {};
  };
}

inline Pieces image_of(const capture::Capture& capture, std::size_t region, capture::Pages pages) {
  Pieces pieces;
  const auto read = capture.read(region, pages, into(pieces));
  EXPECT_TRUE(read.has_value()) << (read ? "" : describe(read.error()));
  return pieces;
}

inline Pieces writes_of(const capture::Capture& capture, std::size_t region) {
  Pieces pieces;
  const auto read = capture.read_writes(region, into(pieces));
  EXPECT_TRUE(read.has_value()) << (read ? "" : describe(read.error()));
  return pieces;
}

}  // namespace perflab::test
