// Formats of captures: 2, whose hashes are SHA-256, and 1, whose hashes were XXH3 and which is
// still read. What an attacker can do to XXH3 changes no capture of format 2 unseen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>

#include "base/hash.h"
#include "base/temp_folder.h"
#include "base/text/json.h"
#include "capture/blob.h"
#include "capture/documents.h"
#include "capture/written_capture.h"

namespace perflab::capture {
namespace {

namespace fs = std::filesystem;
using test::text_of;
using testing::HasSubstr;
using testing::StartsWith;

void rewrite(const fs::path& path, const std::string& text) {
  fs::remove(path);
  std::ofstream(path, std::ios::binary) << text;
}

std::string header_hash_of(const std::string& blob) {
  BlobHeader header;
  std::memcpy(&header, blob.data(), sizeof(header));
  const std::string digits = hex_text(header.header_hash).substr(2);
  return "xxh3:" + std::string(16 - digits.size(), '0') + digits;
}

/// Replaces strings that are keys of the table, wherever they stand.
void replace_all(Json& json, const std::map<std::string, std::string>& table) {
  if (json.is_string()) {
    const auto found = table.find(json.get<std::string>());
    if (found != table.end()) json = found->second;
  } else if (json.is_structured()) {
    for (Json& part : json) replace_all(part, table);
  }
}

/// Makes a capture what a version with format 1 would have written.
void age(const fs::path& folder) {
  Json marker = *parse_json(text_of(folder / kMarkerFile), "marker");
  std::map<std::string, std::string> old;
  for (const Json& file : marker["files"]) {
    const std::string name = file["name"];
    if (name.ends_with(".json")) continue;
    const std::string bytes = text_of(folder / name);
    old[file["hash"]] = name.contains("region_") ? header_hash_of(bytes) : key_text(bytes);
  }
  const auto aged = [&](Json json) {
    replace_all(json, old);
    json["format"]["major"] = 1;
    return json;
  };
  for (Json& file : marker["files"]) {
    const std::string name = file["name"];
    if (!name.ends_with(".json")) continue;
    const std::string text = to_canonical_text(aged(*parse_json(text_of(folder / name), name)));
    rewrite(folder / name, text);
    file["bytes"] = text.size();
    file["hash"] = key_text(text);
  }
  rewrite(folder / kMarkerFile, to_canonical_text(aged(marker)));
}

class CaptureFormat : public testing::Test {
 protected:
  CaptureFormat() {
    test::WrittenCapture written;
    MemoryRegion region;
    region.base = 0x7f0000000000;
    written.regions = {{region, std::string(9 * kPageBytes, 'a') + std::string(kPageBytes, 'b'),
                        std::string(9 * kPageBytes, 'a') + std::string(kPageBytes, 'c')}};
    const auto made = test::write_capture(capture_, written);
    EXPECT_TRUE(made.has_value()) << (made ? "" : describe(made.error()));
  }

  /// The pre-image and the write set.
  [[nodiscard]] static test::Pieces pages_of(const Capture& capture) {
    test::Pieces pieces;
    EXPECT_TRUE(capture.read(0, Pages::all, test::into(pieces)).has_value());
    return pieces;
  }
  [[nodiscard]] std::string refusal() const {
    const auto opened = Capture::open(capture_);
    if (!opened) return opened.error().message;
    const auto sound = opened->verify();
    return sound ? "" : sound.error().message;
  }

  test::TempFolder folder_;
  fs::path capture_ = folder_ / "c";
};

TEST_F(CaptureFormat, HashesOfTwoAreSha256) {
  const auto capture = Capture::open(capture_);
  ASSERT_TRUE(capture.has_value()) << describe(capture.error());
  EXPECT_EQ(capture->hash(), content_hash_text(text_of(capture_ / kMarkerFile)));
  EXPECT_THAT(capture->hash(), StartsWith("sha256:"));
  EXPECT_THAT(capture->description().code_object_hash, StartsWith("sha256:"));
  EXPECT_THAT(capture->description().regions[0].image.hash, StartsWith("sha256:"));
  EXPECT_EQ(text_of(capture_ / kMarkerFile).find("xxh3"), std::string::npos);
  EXPECT_TRUE(capture->has_hash(capture->hash()));
  EXPECT_FALSE(capture->has_hash(content_hash_text("other")));
}

TEST_F(CaptureFormat, OneIsReadAndChecked) {
  const auto as_written = Capture::open(capture_);
  ASSERT_TRUE(as_written.has_value());
  const test::Pieces pages = pages_of(*as_written);
  age(capture_);
  const auto capture = Capture::open(capture_);
  ASSERT_TRUE(capture.has_value()) << describe(capture.error());
  EXPECT_EQ(pages_of(*capture), pages);
  EXPECT_TRUE(capture->verify().has_value());
  EXPECT_TRUE(capture->check_bytes().has_value());
  EXPECT_THAT(capture->description().code_object_hash, StartsWith("xxh3:"));
  // Documents of that time have the hash of its marker in the old form.
  EXPECT_TRUE(capture->has_hash(key_text(text_of(capture_ / kMarkerFile))));
  EXPECT_FALSE(capture->has_hash(key_text("other")));

  std::string code = text_of(capture_ / code_object_file(Platform::hip));
  code[0] ^= 1;
  rewrite(capture_ / code_object_file(Platform::hip), code);
  EXPECT_THAT(refusal(), HasSubstr("is altered"));
}

TEST_F(CaptureFormat, OneWithAnotherPageIsRefused) {
  age(capture_);
  const fs::path file = capture_ / blob_file(kImageFolder, 0x7f0000000000);
  std::string blob = text_of(file);
  blob[kBlobHeaderBytes] ^= 1;
  rewrite(file, blob);
  EXPECT_NE(refusal(), "");
}

TEST_F(CaptureFormat, APageThatKeepsItsXxh3IsRefused) {
  // Whoever finds a page with the hash of another needs to change nothing else. Finding one is not
  // ours to do: the tables and the header are given the hashes of the page that was put there.
  const fs::path file = capture_ / blob_file(kImageFolder, 0x7f0000000000);
  std::string blob = text_of(file);
  BlobHeader header;
  std::memcpy(&header, blob.data(), sizeof(header));
  FrameEntry frame;
  std::memcpy(&frame, blob.data() + header.tables_offset, sizeof(frame));
  ASSERT_EQ(header.stored_pages, 2U);
  std::string pages = std::string(kPageBytes, 'A') + std::string(kPageBytes, 'b');
  ASSERT_EQ(frame.packing, Packing::zstd);
  pages.resize(frame.bytes, '\0');  // no frame of zstd at all, but as long as it was
  blob.replace(frame.offset, frame.bytes, pages);
  RunningHash tables;
  tables.add(blob.data() + header.tables_offset, blob.size() - header.tables_offset);
  header.tables_hash = tables.value();
  header.header_hash = header_hash(header);
  std::memcpy(blob.data(), &header, sizeof(header));
  rewrite(file, blob);
  const auto capture = Capture::open(capture_);
  ASSERT_TRUE(capture.has_value()) << describe(capture.error());
  const auto bytes = capture->check_bytes();
  ASSERT_FALSE(bytes.has_value());
  EXPECT_THAT(bytes.error().message, HasSubstr("its bytes are not those that were written"));
}

TEST_F(CaptureFormat, OthersAreRefusedWithBothNumbers) {
  for (const int major : {0, 3}) {
    Json marker = *parse_json(text_of(capture_ / kMarkerFile), "marker");
    marker["format"]["major"] = major;
    rewrite(capture_ / kMarkerFile, to_canonical_text(marker));
    EXPECT_THAT(refusal(), HasSubstr("a capture of format " + std::to_string(major) +
                                     ".1, and this program reads 1.x to 2.x"));
  }
}

}  // namespace
}  // namespace perflab::capture
