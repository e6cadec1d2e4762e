// Offload bundles: plain and compressed in every version, one after the other, damaged, lying; and
// the bytes that clang-offload-bundler-19 takes out of the same files.
#include "code/files/bundle.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/system/subprocess.h"
#include "base/temp_folder.h"
#include "code/recorded.h"
#include "support/code_writer.h"

namespace perflab::code {
namespace {

using test::compress_bundle;
using test::must_read;
using test::Packing;
using test::recorded;
using testing::HasSubstr;

constexpr std::string_view kHost = "host-x86_64-unknown-linux-gnu-";
constexpr std::string_view kFirst = "hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-";
constexpr std::string_view kSecond = "hipv4-amdgcn-amd-amdhsa--gfx1030";

std::string plain_bundle() {
  return test::write_bundle(
      std::vector<test::WrittenEntry>{{std::string(kHost), ""},
                                      {std::string(kFirst), "the first object"},
                                      {std::string(kSecond), std::string(5000, '2')}});
}

void expect_plain_contents(const Bundle& bundle) {
  ASSERT_EQ(bundle.entries.size(), 3U);
  EXPECT_EQ(bundle.entries[0].id, kHost);
  EXPECT_EQ(bundle.entries[0].target, std::nullopt);
  EXPECT_EQ(bundle.entries[0].bytes, "");
  EXPECT_EQ(to_string(bundle.entries[1].target.value()), "gfx942:sramecc+:xnack-");
  EXPECT_EQ(bundle.entries[1].bytes, "the first object");
  EXPECT_EQ(bundle.entries[2].id, kSecond);
  EXPECT_EQ(bundle.entries[2].bytes, std::string(5000, '2'));
}

std::vector<Bundle> bundles_of(std::string_view bytes) {
  auto bundles = read_bundles(bytes, "file");
  EXPECT_TRUE(bundles.has_value()) << describe(bundles.error());
  return bundles.value_or(std::vector<Bundle>{});
}

std::string bundle_error(std::string_view bytes, std::uint64_t most = kMostUnpackedBytes) {
  const auto bundles = read_bundles(bytes, "file", most);
  if (bundles) return "no error";
  EXPECT_EQ(bundles.error().code, ErrorCode::bad_input);
  return bundles.error().message;
}

template <class T>
std::string with(std::string bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return bytes;
}

TEST(Bundles, PlainOnesAreRead) {
  const std::string bytes = plain_bundle();
  const auto bundles = bundles_of(bytes);
  ASSERT_EQ(bundles.size(), 1U);
  EXPECT_EQ(bundles[0].compression, Compression::none);
  EXPECT_EQ(bundles[0].compressed_version, 0);
  EXPECT_EQ(bundles[0].unpacked, nullptr);
  EXPECT_EQ(bundles[0].size, bytes.size());
  expect_plain_contents(bundles[0]);
  // Views into the bytes, not copies.
  EXPECT_EQ(bundles[0].entries[1].bytes.data(), bytes.data() + bundles[0].entries[1].offset);
}

class CompressedBundles : public testing::TestWithParam<std::tuple<int, Packing>> {};

TEST_P(CompressedBundles, HaveTheContentsOfThePlainOne) {
  const auto [version, packing] = GetParam();
  const std::string bytes = compress_bundle(plain_bundle(), version, packing);
  EXPECT_TRUE(is_bundle(bytes));
  const auto bundles = bundles_of(bytes);
  ASSERT_EQ(bundles.size(), 1U);
  EXPECT_EQ(bundles[0].compression,
            packing == Packing::zlib ? Compression::zlib : Compression::zstd);
  EXPECT_EQ(bundles[0].compressed_version, version);
  EXPECT_EQ(bundles[0].size, bytes.size());
  ASSERT_NE(bundles[0].unpacked, nullptr);
  EXPECT_EQ(*bundles[0].unpacked, plain_bundle());
  expect_plain_contents(bundles[0]);
}

TEST_P(CompressedBundles, AreRefusedWhenCutOffOrLying) {
  const auto [version, packing] = GetParam();
  const std::string plain = plain_bundle();
  const std::string bytes = compress_bundle(plain, version, packing);
  for (std::size_t size = 4; size < bytes.size(); ++size)
    EXPECT_THAT(bundle_error(bytes.substr(0, size)),
                HasSubstr("damaged offload bundle at offset 0"));
  const std::size_t size_at = version == 1 ? 8 : version == 2 ? 12 : 16;
  const auto claim = [&](std::uint64_t size) {
    return version == 3 ? with(bytes, size_at, size)
                        : with(bytes, size_at, static_cast<std::uint32_t>(size));
  };
  EXPECT_THAT(bundle_error(claim(plain.size() - 1)), HasSubstr("unpacks to more than the"));
  EXPECT_THAT(bundle_error(claim(0)), HasSubstr("unpacks to more than the 0 bytes that it claims"));
  EXPECT_THAT(
      bundle_error(claim(plain.size() + 1)),
      HasSubstr(fmt::format("unpacks to {} bytes, not to the {}", plain.size(), plain.size() + 1)));
  EXPECT_THAT(bundle_error(with<std::uint16_t>(bytes, 6, packing == Packing::zlib ? 1 : 0)),
              HasSubstr("its compressed data is damaged"));
  EXPECT_THAT(bundle_error(with<std::uint16_t>(bytes, 6, 2)), HasSubstr("method 2 is not known"));
  EXPECT_THAT(bundle_error(with<std::uint16_t>(bytes, 4, 4)),
              HasSubstr("version 4 of compressed bundles is not known"));
  EXPECT_THAT(bundle_error(compress_bundle("not a bundle", version, packing)),
              HasSubstr("what it unpacks to is not a bundle"));
}

INSTANTIATE_TEST_SUITE_P(All, CompressedBundles,
                         testing::Combine(testing::Values(1, 2, 3),
                                          testing::Values(Packing::zlib, Packing::zstd)));

TEST(Bundles, SeveralInARowAreFound) {
  // Padded to pages, as linkers do; by a few bytes; not at all.
  for (const std::size_t alignment : {4096U, 8U, 1U})
    for (const int version : {0, 1, 2, 3}) {
      std::string bytes;
      std::vector<std::uint64_t> offsets;
      for (int i = 0; i < 4; ++i) {
        bytes.resize((bytes.size() + alignment - 1) / alignment * alignment, '\0');
        offsets.push_back(bytes.size());
        const bool packed = i % 2 == 1 && version != 0;
        bytes += packed ? compress_bundle(plain_bundle(), version, Packing::zstd) : plain_bundle();
      }
      bytes += std::string(100, '\0');
      const auto bundles = bundles_of(bytes);
      ASSERT_EQ(bundles.size(), 4U) << alignment << " " << version;
      for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(bundles[i].offset, offsets[i]);
        expect_plain_contents(bundles[i]);
      }
    }
}

TEST(Bundles, MagicInsideAnObjectIsNoBundle) {
  const std::string bytes = test::write_bundle(
      std::vector<test::WrittenEntry>{{std::string(kSecond), plain_bundle() + "CCOB"}});
  EXPECT_EQ(bundles_of(bytes).size(), 1U);
}

TEST(Bundles, NoneIsNotAnError) {
  EXPECT_TRUE(bundles_of("").empty());
  EXPECT_TRUE(bundles_of(std::string(5000, '\0')).empty());
  EXPECT_TRUE(bundles_of("something else").empty());
  EXPECT_FALSE(is_bundle("CCO"));
}

TEST(Bundles, DamagedTablesAreRefused) {
  const std::string good = plain_bundle();
  const auto all = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THAT(bundle_error(good.substr(0, 30)),
              HasSubstr("at offset 0: it ends within its header"));
  EXPECT_THAT(bundle_error(with(good, 24, all)), HasSubstr("it cannot have 18446744073709551615"));
  EXPECT_THAT(bundle_error(with<std::uint64_t>(good, 24, 300)), HasSubstr("at offset 0:"));
  const std::size_t second = 32 + 24 + kHost.size();
  EXPECT_THAT(bundle_error(with(good, second, all)), HasSubstr("entry 1 lies outside"));
  EXPECT_THAT(bundle_error(with(good, second + 8, all)), HasSubstr("entry 1 lies outside"));
  EXPECT_THAT(bundle_error(with(good, second + 16, all)),
              HasSubstr("the id of entry 1 lies outside"));
  EXPECT_THAT(bundle_error(good.substr(0, good.size() - 1)), HasSubstr("entry 2 lies outside"));
  EXPECT_THAT(bundle_error(std::string(64, '\0') + good.substr(0, 30)), HasSubstr("at offset 64:"));
}

TEST(Bundles, WhoseEntriesShareBytesAreRefused) {
  // A small file must not stand for any amount of work: 20,000 entries, one object.
  constexpr std::uint64_t kHeader = 24 + 8;
  std::string bytes = test::write_bundle(std::vector<test::WrittenEntry>{
      {.id = "hipv4-amdgcn-amd-amdhsa--gfx942", .bytes = std::string(5000, 'x')},
      {.id = "hipv4-amdgcn-amd-amdhsa--gfx90a", .bytes = std::string(5000, 'y')}});
  ASSERT_TRUE(read_bundles(bytes, "f").has_value());
  // The second entry's offset becomes the first one's, and both sizes grow to the file's end.
  const std::uint64_t second = kHeader + 24 + std::strlen("hipv4-amdgcn-amd-amdhsa--gfx942");
  std::uint64_t offset = 0;
  std::memcpy(&offset, bytes.data() + kHeader, sizeof offset);
  const std::uint64_t size = bytes.size() - offset;
  for (const std::uint64_t entry : {kHeader, second}) {
    std::memcpy(bytes.data() + entry, &offset, sizeof offset);
    std::memcpy(bytes.data() + entry + 8, &size, sizeof size);
  }
  const auto shared = read_bundles(bytes, "f");
  ASSERT_FALSE(shared.has_value());
  EXPECT_THAT(shared.error().message, HasSubstr("overlap"));
}

TEST(Bundles, UnpackNoMoreThanAllowed) {
  const std::string plain = test::write_bundle(
      std::vector<test::WrittenEntry>{{std::string(kSecond), std::string(1 << 20, '\0')}});
  for (const Packing packing : {Packing::zlib, Packing::zstd}) {
    const std::string bytes = compress_bundle(plain, 3, packing);
    ASSERT_LT(bytes.size(), 3000U);
    EXPECT_EQ(bundle_error(bytes, plain.size()), "no error");
    EXPECT_THAT(bundle_error(bytes, plain.size() - 1), HasSubstr("is the most that is unpacked"));
    // The limit is for all bundles of a file.
    EXPECT_EQ(bundle_error(bytes + bytes, 2 * plain.size()), "no error");
    EXPECT_THAT(bundle_error(bytes + bytes, 2 * plain.size() - 1),
                HasSubstr(fmt::format("at offset {}: it would unpack", bytes.size())));
    // A claim that fits the limit and is not true takes no memory: 8 GiB here.
    EXPECT_THAT(bundle_error(with(bytes, 16, kMostUnpackedBytes)),
                HasSubstr("not to the 8589934592"));
  }
}

/// What clang-offload-bundler-19 takes out of a file for an entry; missing when it cannot.
std::optional<std::string> unbundled(const std::filesystem::path& tool,
                                     const std::filesystem::path& input, std::string_view id) {
  const test::TempFolder folder;
  const auto output = folder / "out";
  ProcessOptions quiet;
  quiet.standard_output = StreamMode::discard;
  quiet.standard_error = StreamMode::discard;
  const auto result =
      run_program({tool.string(), "--unbundle", "--type=o", fmt::format("--targets={}", id),
                   "--input=" + input.string(), "--output=" + output.string()},
                  quiet);
  if (!result || !result->succeeded()) return std::nullopt;
  return test::text_of(output);
}

void expect_same_as_bundler(const std::filesystem::path& tool, const std::filesystem::path& file,
                            std::size_t& compared) {
  SCOPED_TRACE(file);
  const std::string bytes = must_read(file);
  for (const Bundle& bundle : bundles_of(bytes))
    for (const BundleEntry& entry : bundle.entries) {
      if (!entry.target) continue;
      // It takes an id with or without the stray dash that it writes, by version of the tool.
      auto expected = unbundled(tool, file, entry.id);
      if (!expected && entry.id.ends_with('-'))
        expected = unbundled(tool, file, std::string_view(entry.id).substr(0, entry.id.size() - 1));
      if (!expected) continue;
      ++compared;
      EXPECT_TRUE(*expected == entry.bytes) << entry.id;
    }
}

TEST(Bundles, WrittenOnesAreThoseOfClangsBundler) {
  const auto tool = find_program("clang-offload-bundler-19");
  if (!tool) GTEST_SKIP() << "skipped: no clang-offload-bundler-19";
  const test::TempFolder folder;
  std::size_t compared = 0;
  expect_same_as_bundler(*tool, folder.write("plain", plain_bundle()), compared);
  for (const Packing packing : {Packing::zlib, Packing::zstd})
    for (const int version : {1, 2})  // LLVM 19 does not know version 3
      expect_same_as_bundler(
          *tool, folder.write("packed", compress_bundle(plain_bundle(), version, packing)),
          compared);
  EXPECT_EQ(compared, 10U);

  // And what it writes itself.
  const auto first = folder.write("first", "the first object");
  const auto second = folder.write("second", std::string(5000, '2'));
  const auto host = folder.write("host", "");
  for (const char* packed : {"", "-compress"}) {
    const auto output = folder / "written";
    std::vector<std::string> command{tool->string(),
                                     "--type=o",
                                     fmt::format("--targets={},{},{}", kHost, kFirst, kSecond),
                                     "--input=" + host.string(),
                                     "--input=" + first.string(),
                                     "--input=" + second.string(),
                                     "--output=" + output.string()};
    if (*packed != '\0') command.emplace_back(packed);
    const auto result = run_program(command);
    ASSERT_TRUE(result.has_value() && result->succeeded());
    const std::string bytes = must_read(output);
    const auto bundles = bundles_of(bytes);
    ASSERT_EQ(bundles.size(), 1U);
    EXPECT_EQ(bundles[0].compression != Compression::none, *packed != '\0');
    ASSERT_EQ(bundles[0].entries.size(), 3U);
    EXPECT_EQ(bundles[0].entries[1].bytes, "the first object");
    EXPECT_EQ(bundles[0].entries[2].bytes, std::string(5000, '2'));
  }
}

TEST(Bundles, RecordedOnesAreThoseOfClangsBundler) {
  const auto folder = recorded("fatbin");
  PERFLAB_SKIP_WITHOUT(folder);
  const auto tool = find_program("clang-offload-bundler-19");
  if (!tool) GTEST_SKIP() << "skipped: no clang-offload-bundler-19";
  std::size_t compared = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().extension() == ".hipfb") expect_same_as_bundler(*tool, file.path(), compared);
  EXPECT_GE(compared, 9U);
}

TEST(Bundles, RecordedOnesUnpackToTheSameBytes) {
  const auto folder = recorded("fatbin");
  PERFLAB_SKIP_WITHOUT(folder);
  const std::string plain = must_read(folder / "bundle_3targets_plain.hipfb");
  const struct {
    const char* name;
    int version;
    Compression compression;
  } files[] = {{"bundle_3targets_ccob_v1_handmade.hipfb", 1, Compression::zstd},
               {"bundle_3targets_ccob_v2.hipfb", 2, Compression::zstd},
               {"bundle_3targets_ccob_v2_zlib_handmade.hipfb", 2, Compression::zlib},
               {"bundle_3targets_ccob_v3_handmade.hipfb", 3, Compression::zstd}};
  for (const auto& file : files) {
    SCOPED_TRACE(file.name);
    const std::string bytes = must_read(folder / file.name);
    const auto bundles = bundles_of(bytes);
    ASSERT_EQ(bundles.size(), 1U);
    EXPECT_EQ(bundles[0].compressed_version, file.version);
    EXPECT_EQ(bundles[0].compression, file.compression);
    ASSERT_NE(bundles[0].unpacked, nullptr);
    EXPECT_TRUE(*bundles[0].unpacked == plain);
  }
}

}  // namespace
}  // namespace perflab::code
