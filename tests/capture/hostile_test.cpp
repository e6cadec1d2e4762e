// Captures that were made to harm: blobs with right hashes and wrong numbers, documents that point
// out of the folder, decompression bombs, too many regions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <functional>

#include "base/hash.h"
#include "base/temp_folder.h"
#include "base/text/json.h"
#include "capture/blob_reader.h"
#include "capture/forged_blob.h"
#include "capture/written_capture.h"
#include "support/prng.h"

namespace perflab::capture {
namespace {

using test::ForgedBlob;
using test::TempFolder;
using testing::HasSubstr;

std::string compressed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

std::string last_pages() {
  return std::string(kPageBytes, static_cast<char>('A' + 64)) +
         std::string(kPageBytes, static_cast<char>('A' + 65));
}

constexpr std::uint64_t kRegionPages = 100;

/// Blob 0 has three stored pages; the forged one is number 1.
class BlobHostile : public testing::Test {
 protected:
  BlobHostile() {
    std::string file = test::assembled(test::first_blob());
    first_ = test::sealed(file, "first.bin");
    (void)folder_.write("first.bin", file);
  }

  /// All pages that are read, then all frames: "" or the error.
  std::string error_of(std::string file, const std::function<void(Blob&)>& change = {}) {
    Blob blob = test::sealed(file, "second.bin");
    if (change) change(blob);
    std::filesystem::remove(folder_ / "second.bin");
    (void)folder_.write("second.bin", file);
    BlobSet blobs(folder_.path());
    EXPECT_TRUE(blobs.add(first_, kRegionPages).has_value());
    EXPECT_TRUE(blobs.add(blob, kRegionPages).has_value());
    text_.clear();
    const auto failed = [&](const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::bad_input);
      EXPECT_THAT(error.message, HasSubstr(folder_.path().string()));
      return error.message;
    };
    const auto read =
        blobs.read(1, 0, blob.pages, true,
                   [&](std::uint64_t, std::span<const std::byte> bytes) -> Result<void> {
                     for (std::size_t i = 0; i < bytes.size(); i += kPageBytes)
                       text_ += static_cast<char>(bytes[i]);
                     return {};
                   });
    if (!read) return failed(read.error());
    if (const auto places = blobs.places(1); !places) return failed(places.error());
    if (const auto verified = blobs.verify(1); !verified) return failed(verified.error());
    return "";
  }
  std::string error_of(const ForgedBlob& blob) { return error_of(test::assembled(blob)); }

  TempFolder folder_;
  Blob first_;
  std::string text_;  ///< first byte of each page that was read
};

TEST_F(BlobHostile, SoundBlobsAreRead) {
  std::string expected;
  for (int i = 0; i < 60; ++i) expected += static_cast<char>('A' + i);
  expected += std::string(4, '\0') + "DEFG" + "yz";
  for (int i = 60; i < 66; ++i) expected += static_cast<char>('A' + i);
  for (const std::string& packed : {last_pages(), compressed(last_pages())}) {
    EXPECT_EQ(error_of(test::forged_blob(packed, true)), "");
    EXPECT_EQ(text_, expected);
  }
}

TEST_F(BlobHostile, WrongNumbersAreErrors) {
  const auto changed = [&](const std::function<void(ForgedBlob&)>& change) {
    ForgedBlob blob = test::forged_blob(compressed(last_pages()), true);
    change(blob);
    return error_of(blob);
  };
  using B = ForgedBlob;
  const std::vector<std::pair<const char*, std::function<void(ForgedBlob&)>>> changes = {
      {"magic", [](B& b) { b.header.magic ^= 1; }},
      {"version", [](B& b) { b.header.version = 2; }},
      {"page size", [](B& b) { b.header.page = 8192; }},
      {"frame size", [](B& b) { b.header.pages_of_a_frame = 1 << 30; }},
      {"tables before the header's end", [](B& b) { b.header.tables_offset = 100; }},
      {"tables outside", [](B& b) { b.header.tables_offset = UINT64_MAX - 10; }},
      {"stored pages that overflow", [](B& b) { b.header.stored_pages = UINT64_MAX; }},
      {"runs that overflow", [](B& b) { b.header.runs = UINT64_MAX / 16 + 1; }},
      {"places that overflow", [](B& b) { b.header.places = UINT64_MAX; }},
      {"more runs", [](B& b) { ++b.header.runs; }},
      {"fewer places", [](B& b) { --b.header.places; }},
      {"pages beyond the runs", [](B& b) { b.header.pages = 200; }},
      {"pages below the runs", [](B& b) { b.header.pages = 30; }},
      {"no pages", [](B& b) { b.header.pages = 0; }},
      {"frame elsewhere", [](B& b) { b.frame_table[0].offset = 0; }},
      {"frame far away", [](B& b) { b.frame_table[1].offset = UINT64_MAX - 5; }},
      {"large frame", [](B& b) { b.frame_table[1].bytes = UINT32_MAX; }},
      {"empty frame", [](B& b) { b.frame_table[1].bytes = 0; }},
      {"unknown packing", [](B& b) { b.frame_table[1].packing = static_cast<Packing>(7); }},
      {"raw frame of another size", [](B& b) { b.frame_table[1].packing = Packing::raw; }},
      {"frame hash", [](B& b) { b.frame_table[0].hash ^= 1; }},
      {"first run not at 0", [](B& b) { b.runs[0].first_and_kind += 1; }},
      {"runs not ascending", [](B& b) { std::swap(b.runs[1], b.runs[2]); }},
      {"two runs at once", [](B& b) { b.runs[2] = b.runs[1]; }},
      {"a run behind the end", [](B& b) { b.runs[4].first_and_kind += 1000; }},
      {"unknown kind", [](B& b) { b.runs[1].first_and_kind |= std::uint64_t{9} << kKindShift; }},
      {"stored run not next", [](B& b) { b.runs[4].target += 1; }},
      {"stored in another blob", [](B& b) { b.runs[0].target = 0; }},
      {"shared with itself",
       [](B& b) { b.runs[2] = pack_run(64, RunKind::shared, {.blob = 1, .index = 58}); }},
      {"shared forwards",
       [](B& b) { b.runs[2] = pack_run(64, RunKind::shared, {.blob = 1, .index = 62}); }},
      {"shared with no blob",
       [](B& b) { b.runs[3] = pack_run(68, RunKind::shared, {.blob = 7, .index = 0}); }},
      {"shared behind a blob's end",
       [](B& b) { b.runs[3] = pack_run(68, RunKind::shared, {.blob = 0, .index = 2}); }},
      {"shared far away", [](B& b) { b.runs[3].target = UINT64_MAX >> 24U; }},
      {"empty place", [](B& b) { b.places[0].count = 0; }},
      {"places that overlap", [](B& b) { b.places[1].first = 49; }},
      {"places that touch", [](B& b) { b.places[1].first = 50; }},
      {"places behind the region", [](B& b) { b.places[1].first = 75; }},
      {"places that overflow", [](B& b) { b.places[1].first = UINT64_MAX; }},
      {"places of another count", [](B& b) { b.places[1].count = 25; }}};
  for (const auto& [name, change] : changes) EXPECT_NE(changed(change), "") << name;
  EXPECT_THAT(changed([](B& b) { b.header.version = 2; }), HasSubstr("it is of version 2"));
  EXPECT_THAT(changed([](B& b) { b.frame_table[0].hash ^= 1; }),
              HasSubstr("frame 0 does not hold what was written"));
}

TEST_F(BlobHostile, DocumentsThatCountOtherwiseAreErrors) {
  const std::string file = test::assembled(test::forged_blob(last_pages(), true));
  EXPECT_EQ(error_of(file, [](Blob&) {}), "");
  EXPECT_NE(error_of(file, [](Blob& b) { b.zero_pages = 3; }), "");
  EXPECT_NE(error_of(file,
                     [](Blob& b) {
                       b.shared_pages = 5;
                       b.zero_pages = 5;
                     }),
            "");
  EXPECT_NE(error_of(file, [](Blob& b) { b.pages = 75; }), "");
  EXPECT_NE(error_of(file, [](Blob& b) { b.stored_pages = 65; }), "");
  EXPECT_NE(error_of(file, [](Blob& b) { b.hash = "xxh3:0000000000000000"; }), "");
  EXPECT_THAT(error_of(file, [](Blob& b) { b.file_bytes += 1; }), HasSubstr("truncated"));
  EXPECT_THAT(error_of(file, [](Blob& b) { b.file_bytes -= 1; }), HasSubstr("altered"));
  EXPECT_THAT(error_of(file.substr(0, 50)), HasSubstr("no room for a header"));
  BlobSet blobs(folder_.path());
  ASSERT_TRUE(blobs.add(first_, 3).has_value());
  EXPECT_FALSE(blobs.add(first_, 3).has_value()) << "a number is taken once";
}

TEST_F(BlobHostile, FramesThatUnpackToSomethingElseAreErrors) {
  // A bomb: small, and a gibibyte when unpacked.
  const std::string bomb = compressed(std::string(1 << 20, 'b'));
  EXPECT_THAT(error_of(test::forged_blob(bomb, false)), HasSubstr("cannot be decompressed"));
  EXPECT_THAT(error_of(test::forged_blob(compressed("short"), false)),
              HasSubstr("cannot be decompressed"));
  EXPECT_THAT(error_of(test::forged_blob("no frame at all", false)),
              HasSubstr("cannot be decompressed"));
  EXPECT_THAT(error_of(test::forged_blob(compressed(std::string(2 * kPageBytes, 'q')), false)),
              HasSubstr("does not hold what was written"));
}

TEST_F(BlobHostile, RandomNumbersInTheTablesDoNoHarm) {
  test::Prng random(17);
  const std::string sound = test::assembled(test::forged_blob(compressed(last_pages()), true));
  const std::size_t tables =
      sound.size() - (2 * sizeof(FrameEntry) + 5 * sizeof(RunEntry) + 2 * sizeof(PageRun));
  std::size_t refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string file = sound;
    for (std::int64_t edits = random.below(3); edits >= 0; --edits) {
      const bool header = random.below(4) == 0;
      const std::size_t at =
          header ? 20 + static_cast<std::size_t>(random.below(60))
                 : tables + static_cast<std::size_t>(
                                random.below(static_cast<std::int64_t>(file.size() - tables)));
      file[at] = static_cast<char>(random.below(2) == 0 ? random.below(256) : file[at] + 1);
    }
    refused += !error_of(std::move(file)).empty();
  }
  EXPECT_GT(refused, 1500U);
}

/// Opens a capture whose document `name` was changed, with its hash put right.
class CaptureHostile : public testing::Test {
 protected:
  CaptureHostile() {
    test::WrittenCapture written;
    MemoryRegion region;
    region.base = 0x1000000;
    written.regions.push_back({region, std::string(9000, 'a'), std::string(9000, 'b')});
    region.base = 0x2000000;
    written.regions.push_back({region, std::string(kPageBytes, 'c'), {}});
    EXPECT_TRUE(test::write_capture(folder_ / "c", written).has_value());
  }

  std::string error_of(std::string_view name, const std::function<void(Json&)>& change) {
    const auto path = folder_ / "c" / name;
    const std::string before = test::text_of(path);
    const auto marker_path = folder_ / "c" / kMarkerFile;
    const std::string marker_before = test::text_of(marker_path);
    Json json = Json::parse(before);
    change(json);
    const std::string after = to_canonical_text(json);
    (void)folder_.write("c/" + std::string(name), after);
    if (name != kMarkerFile) {
      Json marker = Json::parse(marker_before);
      for (Json& file : marker["files"])
        if (file["name"] == name) {
          file["bytes"] = after.size();
          file["hash"] = content_hash_text(after);
        }
      (void)folder_.write("c/capture_complete.json", to_canonical_text(marker));
    }
    const auto capture = Capture::open(folder_ / "c");
    (void)folder_.write("c/" + std::string(name), before);
    (void)folder_.write("c/capture_complete.json", marker_before);
    if (capture) return "";
    EXPECT_EQ(capture.error().code, ErrorCode::bad_input);
    return capture.error().message;
  }

  TempFolder folder_;
};

TEST_F(CaptureHostile, NamesDoNotLeaveTheFolder) {
  (void)folder_.write("secret", "secret");
  for (const char* name : {"../secret", "/etc/passwd", "memory/../../secret", "memory/region_1.bin",
                           "", "writes/region_1000000.bin"})
    EXPECT_NE(error_of("memory_regions.json",
                       [&](Json& json) { json["regions"][0]["image"]["file"] = name; }),
              "")
        << name;
  const auto blob = folder_ / "c/memory/region_1000000.bin";
  std::filesystem::rename(blob, folder_ / "elsewhere.bin");
  std::filesystem::create_symlink(folder_ / "elsewhere.bin", blob);
  const auto capture = Capture::open(folder_ / "c");
  ASSERT_TRUE(capture.has_value()) << "blobs of pre-images are looked at when they are read";
  EXPECT_FALSE(capture->verify().has_value()) << "links are not followed";
}

TEST_F(CaptureHostile, DocumentsAreCheckedFieldByField) {
  const auto region = [&](const std::function<void(Json&)>& change) {
    return error_of("memory_regions.json", [&](Json& json) { change(json["regions"][0]); });
  };
  EXPECT_EQ(region([](Json&) {}), "");
  using J = Json;
  const std::vector<std::pair<const char*, std::function<void(Json&)>>> changes = {
      {"base", [](J& j) { j["base"] = "0x1000000000000000000"; }},
      {"base", [](J& j) { j["base"] = "1000"; }},
      {"base", [](J& j) { j["base"] = "0x"; }},
      {"base", [](J& j) { j["base"] = "0x-5"; }},
      {"base", [](J& j) { j["base"] = 5; }},
      {"base", [](J& j) { j["base"] = "0xffffffffffffffff"; }},
      {"file", [](J& j) { j["base"] = "0x1000001"; }},
      {"base",
       [](J& j) {
         j["base"] = "0x3000000";
         j["image"] = nullptr;
         j["writes"] = nullptr;
         j["bytes"] = 0;
       }},
      {"bytes", [](J& j) { j["bytes"] = -1; }},
      {"bytes", [](J& j) { j["bytes"] = 1.5; }},
      {"bytes", [](J& j) { j["bytes"] = std::uint64_t{1} << 60; }},
      {"image", [](J& j) { j["bytes"] = 100000; }},
      {"image", [](J& j) { j["image"] = nullptr; }},
      {"image", [](J& j) { j["image"] = "x"; }},
      {"not_captured", [](J& j) { j["not_captured"] = "why"; }},
      {"origin", [](J& j) { j["origin"] = "somewhere"; }},
      {"origin",
       [](J& j) {
         j["origin"] = "variable";
         j["symbol"] = "s";
         j["code_object_hash"] = "h";
       }},
      {"reservation", [](J& j) { j["origin"] = "vmem"; }},
      {"on_gpu", [](J& j) { j.erase("on_gpu"); }},
      {"agent_index", [](J& j) { j["agent_index"] = std::uint64_t{1} << 32; }},
      {"number", [](J& j) { j["image"]["number"] = 1 << 24; }},
      {"number", [](J& j) { j["image"]["number"] = 1; }},
      {"pages", [](J& j) { j["image"]["zero_pages"] = 1; }},
      {"pages", [](J& j) { j["image"]["pages"] = UINT64_MAX; }},
      {"pages", [](J& j) { j["writes"]["zero_pages"] = std::uint64_t{1} << 40; }},
      {"writes",
       [](J& j) {
         j["writes"]["file"] = nullptr;
         j["writes"]["hash"] = nullptr;
         j["writes"]["file_bytes"] = 0;
         j["writes"]["zero_pages"] = j["writes"]["pages"];
         j["writes"]["stored_pages"] = j["writes"]["shared_pages"] = 0;
       }},
      {"listed", [](J& j) { j["image"]["hash"] = "xxh3:0"; }},
      {"listed", [](J& j) { j["image"]["file_bytes"] = 1; }}};
  for (const auto& [name, change] : changes)
    EXPECT_THAT(region(change), HasSubstr(name)) << "error of another kind than " << name;
  EXPECT_THAT(error_of("memory_regions.json", [](J& j) { j["regions"][1] = j["regions"][0]; }),
              HasSubstr("\"base\" is that of the region before it"));
  EXPECT_THAT(
      error_of("memory_regions.json", [](J& j) { std::swap(j["regions"][0], j["regions"][1]); }),
      HasSubstr("below"));
  EXPECT_THAT(error_of("memory_regions.json", [](J& j) { j["regions"].erase(1); }),
              HasSubstr("lists files that no region has"));
  EXPECT_THAT(error_of("memory_regions.json", [](J& j) { j["regions"] = 5; }),
              HasSubstr("is not a list"));
  EXPECT_THAT(error_of("memory_regions.json", [](J& j) { j["regions"][0] = 5; }),
              HasSubstr("is not an object"));
}

TEST_F(CaptureHostile, DispatchAndMarkerAreCheckedToo) {
  const auto dispatch = [&](const std::function<void(Json&)>& change) {
    return error_of("dispatch.json", change);
  };
  using J = Json;
  EXPECT_THAT(dispatch([](J& j) { j = J::array(); }), HasSubstr("is not an object"));
  EXPECT_THAT(dispatch([](J& j) { j.erase("machine"); }), HasSubstr("\"machine\""));
  EXPECT_THAT(dispatch([](J& j) { j["packet"]["grid"] = {1, 2}; }),
              HasSubstr("\"grid\" is not a list of 3"));
  EXPECT_THAT(dispatch([](J& j) { j["packet"]["grid"][1] = "x"; }), HasSubstr("\"grid\""));
  EXPECT_THAT(dispatch([](J& j) { j["packet"]["header"] = 70000; }), HasSubstr("\"header\""));
  EXPECT_THAT(dispatch([](J& j) { j["captured_ns"] = "soon"; }), HasSubstr("\"captured_ns\""));
  EXPECT_THAT(dispatch([](J& j) { j["limits"] = {1}; }), HasSubstr("\"limits\""));
  EXPECT_THAT(dispatch([](J& j) { j["kernel"]["name"] = nullptr; }),
              HasSubstr("\"name\" is not a string"));
  EXPECT_THAT(dispatch([](J& j) { j["kernarg_hash"] = "xxh3:1"; }),
              HasSubstr("other kernel arguments"));
  EXPECT_THAT(dispatch([](J& j) { j["code_object"]["bytes"] = 1; }),
              HasSubstr("another code object"));
  EXPECT_THAT(dispatch([](J& j) { j["format"]["name"] = "zip"; }), HasSubstr("something else"));
  const auto marker = [&](const std::function<void(Json&)>& change) {
    return error_of("capture_complete.json", change);
  };
  EXPECT_THAT(marker([](J& j) { j["files"].push_back(j["files"][0]); }), HasSubstr("listed twice"));
  EXPECT_THAT(
      marker([](J& j) { j["files"].push_back({{"name", "x"}, {"bytes", 1}, {"hash", "h"}}); }),
      HasSubstr("no region has"));
  EXPECT_THAT(marker([](J& j) { j["files"].erase(0); }), HasSubstr("dispatch.json is not listed"));
  EXPECT_THAT(marker([](J& j) { j["files"] = "many"; }), HasSubstr("is not a list"));
  EXPECT_THAT(marker([](J& j) { j["format"]["minor"] = 7; }), "")
      << "a later minor version is read";
}

}  // namespace
}  // namespace perflab::capture
