// Damaged captures: every byte of a small one flipped, every file cut off, removed or made longer.
// What must hold: an error of the kind "bad input" that names a file, or the same contents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/hash.h"
#include "base/sizes.h"
#include "base/temp_folder.h"
#include "base/text/json.h"
#include "capture/blob.h"
#include "capture/documents.h"
#include "capture/written_capture.h"
#include "support/prng.h"

namespace perflab::capture {
namespace {

using test::TempFolder;
using testing::HasSubstr;

/// Pages of every kind in both blobs of two regions, a compressed frame and a raw one.
test::WrittenCapture damage_sample() {
  test::Prng random(11);
  std::string noise(3 * kPageBytes, '\0');
  for (char& byte : noise) byte = static_cast<char>(random.next());
  const std::string zeros(2 * kPageBytes, '\0'), text(3 * kPageBytes + 100, 't');
  std::string other = noise + zeros + noise.substr(0, kPageBytes);
  other[kPageBytes] ^= 1;
  test::WrittenCapture written;
  MemoryRegion first, second, variable, locked;
  first.base = 0x7f0000000000;
  second.base = 0x7f0000100000;
  locked.base = 0x7f0000200000;
  locked.bytes = 64;
  locked.not_captured = "host memory";
  variable.base = 0x7f0000300000;
  variable.origin = Origin::variable;
  variable.symbol = "v";
  written.regions = {{first, noise + zeros + noise.substr(0, kPageBytes), other},
                     {second, text, std::string(text.size(), 'u')},
                     {locked, "", {}},
                     {variable, "12345678", "87654321"}};
  return written;
}

/// All that a capture holds, as one text; missing when there is an error, which must be sound.
std::optional<std::string> contents_of(const std::filesystem::path& folder) {
  const auto sound = [&](const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::bad_input) << error.message;
    EXPECT_THAT(error.message, HasSubstr(folder.string()));
    return std::nullopt;
  };
  const auto capture = Capture::open(folder);
  if (!capture) return sound(capture.error());
  std::string out = to_canonical_text(dispatch_json(capture->description()));
  const auto sink = [&](std::uint64_t offset, std::span<const std::byte> bytes) -> Result<void> {
    out += std::to_string(offset) + ":";
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return {};
  };
  const auto& regions = capture->description().regions;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    out += to_canonical_text(regions_json({regions[i]}, regions[i].origin == Origin::variable));
    if (!regions[i].captured()) continue;
    if (auto read = capture->read(i, Pages::all, sink); !read) return sound(read.error());
    if (auto read = capture->read(i, Pages::written, sink); !read) return sound(read.error());
    if (auto read = capture->read_writes(i, sink); !read) return sound(read.error());
  }
  for (const auto& bytes : {capture->kernarg(), capture->code_object()})
    out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (auto verified = capture->verify(); !verified) return sound(verified.error());
  return out;
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  return files;
}

void put(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::remove(path);  // some file systems flush a file that is written anew
  std::ofstream(path, std::ios::binary) << text;
}

class CaptureDamage : public testing::Test {
 protected:
  CaptureDamage() {
    const auto made = test::write_capture(folder_ / "c", damage_sample());
    EXPECT_TRUE(made.has_value()) << (made ? "" : describe(made.error()));
    const auto undamaged = contents_of(folder_ / "c");
    EXPECT_TRUE(undamaged.has_value());
    contents_ = undamaged.value_or("");
    files_ = files_in(folder_ / "c");
    EXPECT_EQ(files_.size(), 12U) << "6 documents, 3 pre-images and 3 write sets";
  }

  TempFolder folder_;
  std::string contents_;
  std::vector<std::filesystem::path> files_;
};

/// Changes one byte where it stands.
void put_byte(const std::filesystem::path& path, std::size_t at, char byte) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(byte);
}

TEST_F(CaptureDamage, FlippedBytesNeverPass) {
  constexpr std::size_t stride = test::size_of_test<std::size_t>(1, 3);
  std::size_t flips = 0, passed = 0;
  for (const auto& file : files_) {
    const std::string text = test::text_of(file);
    // Every byte of documents, headers and tables; of the padding and of plain pages a few.
    const bool blob = file.extension() == ".bin" && text.size() > kPageBytes;
    for (std::size_t at = 0; at < text.size(); at += stride) {
      if (blob && at >= sizeof(BlobHeader) && at < text.size() - 200 && at % 509 != 0) continue;
      put_byte(file, at, static_cast<char>(text[at] ^ (1 << (at % 8))));
      const auto contents = contents_of(folder_ / "c");
      put_byte(file, at, text[at]);
      ++flips;
      if (!contents) continue;
      EXPECT_EQ(*contents, contents_) << file << " byte " << at;
      passed += file.filename() != kMarkerFile;  // there the minor version may be a later one
    }
  }
  EXPECT_GT(flips, 5000U / stride);
  EXPECT_LE(passed, 4U) << "a zstd frame has a bit that means nothing";
}

TEST_F(CaptureDamage, TruncatedAndLongerFilesAreNamed) {
  for (const auto& file : files_) {
    const std::string text = test::text_of(file);
    std::set<std::size_t> lengths{0, 1, text.size() / 2, text.size() - 1};
    for (const std::size_t length : {std::size_t{79}, std::size_t{4095}, std::size_t{4096},
                                     text.size() - 16, text.size() - 24})
      if (length < text.size()) lengths.insert(length);
    // JSON without its last line break is JSON.
    if (file.filename() == kMarkerFile) lengths.erase(text.size() - 1);
    for (const std::size_t length : lengths) {
      put(file, text.substr(0, length));
      const auto capture = Capture::open(folder_ / "c");
      ASSERT_FALSE(capture.has_value()) << file << " at " << length;
      EXPECT_EQ(capture.error().code, ErrorCode::bad_input);
      EXPECT_THAT(capture.error().message, HasSubstr(file.string()));
      const bool marker = file.filename() == kMarkerFile;
      EXPECT_TRUE(marker || capture.error().message.contains("truncated"))
          << capture.error().message;
    }
    if (file.filename() != kMarkerFile) {  // white space behind JSON is JSON
      put(file, text + " ");
      EXPECT_EQ(contents_of(folder_ / "c"), std::nullopt);
    }
    std::filesystem::remove(file);
    EXPECT_EQ(contents_of(folder_ / "c"), std::nullopt) << file;
    std::filesystem::create_directory(file);
    EXPECT_EQ(contents_of(folder_ / "c"), std::nullopt) << file;
    std::filesystem::remove(file);
    put(file, text);
  }
  EXPECT_EQ(contents_of(folder_ / "c"), contents_);
}

TEST_F(CaptureDamage, WhatIsNoCaptureIsToldApart) {
  const auto message = [&](const char* name) {
    const auto capture = Capture::open(folder_ / name);
    EXPECT_FALSE(capture.has_value());
    return capture ? "" : capture.error().message;
  };
  EXPECT_THAT(message("nowhere"), HasSubstr("there is no such folder"));
  std::filesystem::create_directory(folder_ / "empty");
  EXPECT_THAT(message("empty"), HasSubstr("is not a capture"));
  const std::string marker = test::text_of(folder_ / "c/capture_complete.json");
  std::string newer = marker;
  newer.replace(newer.find("\"major\": 2"), 10, "\"major\": 3");
  put(folder_ / "c/capture_complete.json", newer);
  EXPECT_THAT(message("c"),
              HasSubstr("a capture of format 3.1, and this program reads 1.x to 2.x"));
  std::filesystem::remove(folder_ / "c/capture_complete.json");
  EXPECT_THAT(message("c"), HasSubstr("is an unfinished capture"));
}

}  // namespace
}  // namespace perflab::capture
