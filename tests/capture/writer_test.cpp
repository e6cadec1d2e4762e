// Writing a capture and reading it back: contents, write sets, what is stored once, and that an
// unfinished capture never passes as whole.
#include "capture/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <set>

#include "base/temp_folder.h"
#include "capture/documents.h"
#include "capture/written_capture.h"
#include "support/prng.h"

namespace perflab::capture {
namespace {

using test::Pieces;
using test::TempFolder;
using test::WrittenCapture;
using test::WrittenRegion;
using testing::HasSubstr;

constexpr std::size_t kPage = kPageBytes;

std::string random_page(test::Prng& random) {
  std::string page(kPage, '\0');
  for (std::size_t i = 0; i < kPage; i += 8) {
    const std::uint64_t bits = random.next();
    std::memcpy(page.data() + i, &bits, 8);
  }
  return page;
}

/// A page of one of the kinds that the writer tells apart.
std::string some_page(test::Prng& random, const std::vector<std::string>& pool) {
  switch (random.below(4)) {
    case 0:
      return std::string(kPage, '\0');
    case 1:
      return pool[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(pool.size())))];
    case 2:
      return std::string(kPage, static_cast<char>('a' + random.below(20)));
    default:
      return random_page(random);
  }
}

std::vector<std::string> page_pool(test::Prng& random) {
  std::vector<std::string> pool;
  for (int i = 0; i < 5; ++i) pool.push_back(random_page(random));
  return pool;
}

std::string some_bytes(test::Prng& random, const std::vector<std::string>& pool) {
  std::string out;
  const std::int64_t pages = random.below(200);
  while (static_cast<std::int64_t>(out.size()) < pages * static_cast<std::int64_t>(kPage)) {
    const std::string page = some_page(random, pool);
    for (std::int64_t i = random.below(4); i >= 0; --i) out += page;
  }
  if (random.below(2) == 0)
    out += random_page(random).substr(0, static_cast<std::size_t>(random.below(kPage)));
  return out;
}

std::string changed_bytes(test::Prng& random, const std::vector<std::string>& pool,
                          std::string text) {
  for (std::size_t at = 0; at < text.size(); at += kPage) {
    const std::int64_t how = random.below(6);
    const std::size_t here = std::min(kPage, text.size() - at);
    if (how == 0)
      text[at + static_cast<std::size_t>(random.below(static_cast<std::int64_t>(here)))] ^= 1;
    if (how == 1) text.replace(at, here, some_page(random, pool).substr(0, here));
  }
  return text;
}

MemoryRegion region_at(std::uint64_t base) {
  MemoryRegion region;
  region.base = base;
  region.pool_flags = 4;
  region.granule = 4096;
  return region;
}

/// The pages of `after` that differ from `before`, joined.
Pieces differing(const std::string& before, const std::string& after) {
  Pieces pieces;
  for (std::size_t at = 0; at < after.size(); at += kPage) {
    const std::string page = after.substr(at, kPage);
    if (page == before.substr(at, kPage)) continue;
    if (!pieces.empty() && pieces.rbegin()->first + pieces.rbegin()->second.size() == at)
      pieces.rbegin()->second += page;
    else
      pieces[at] = page;
  }
  return pieces;
}

Pieces whole(const std::string& text) {
  return text.empty() ? Pieces{} : Pieces{{0, text}};
}

void expect_same(const Capture& capture, const WrittenCapture& written) {
  const auto& regions = capture.description().regions;
  ASSERT_EQ(regions.size(), written.regions.size());
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const WrittenRegion& one = written.regions[i];
    ASSERT_EQ(regions[i].base, one.region.base);
    EXPECT_EQ(test::image_of(capture, i, Pages::all), whole(one.before));
    const Pieces changed = differing(one.before, one.after.value_or(one.before));
    EXPECT_EQ(test::writes_of(capture, i), changed);
    Pieces old;
    for (const auto& [offset, text] : changed) old[offset] = one.before.substr(offset, text.size());
    EXPECT_EQ(test::image_of(capture, i, Pages::written), old);
    std::uint64_t bytes = 0;
    for (const auto& [offset, text] : test::image_of(capture, i, Pages::not_zero)) {
      EXPECT_EQ(text, one.before.substr(offset, text.size()));
      bytes += (text.size() + kPage - 1) / kPage;
    }
    EXPECT_EQ(bytes, regions[i].image.pages - regions[i].image.zero_pages)
        << "zero pages are left out";
  }
}

TEST(CaptureRoundTrip, RandomRegionsComeBack) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    test::Prng random(seed);
    const auto pool = page_pool(random);
    WrittenCapture written;
    written.options.zstd_level = seed % 3 == 0 ? 0 : 1;
    written.options.shared_page_limit = seed % 4 == 0 ? 0 : seed % 4 == 1 ? 16 : 1 << 16;
    written.options.flush = seed == 1;
    written.pages_at_once = static_cast<std::size_t>(1 + random.below(150));
    const std::int64_t count = 1 + random.below(6);
    for (std::int64_t i = 0; i < count; ++i) {
      WrittenRegion one{
          .region = region_at(0x7f0000000000 + static_cast<std::uint64_t>(i) * 0x10000000),
          .before = some_bytes(random, pool),
          .after = {}};
      if (random.below(4) != 0) one.after = changed_bytes(random, pool, one.before);
      written.regions.push_back(std::move(one));
    }
    const TempFolder folder;
    const auto made = test::write_capture(folder / "c", written);
    ASSERT_TRUE(made.has_value()) << describe(made.error());
    const auto capture = Capture::open(folder / "c");
    ASSERT_TRUE(capture.has_value()) << describe(capture.error());
    expect_same(*capture, written);
    const auto verified = capture->verify();
    EXPECT_TRUE(verified.has_value()) << describe(verified.error());
    for (std::size_t i = 0; i < written.regions.size(); ++i) {
      EXPECT_EQ(made->regions[i].written, capture->description().regions[i].written);
      const std::string& before = written.regions[i].before;
      if (before.size() < 2) continue;
      const auto from =
          static_cast<std::uint64_t>(random.below(static_cast<std::int64_t>(before.size())));
      std::string some(
          static_cast<std::size_t>(random.below(static_cast<std::int64_t>(before.size() - from))),
          '?');
      ASSERT_TRUE(capture->read_at(i, from, std::as_writable_bytes(std::span(some))).has_value());
      EXPECT_EQ(some, before.substr(from, some.size()));
    }
  }
}

TEST(CaptureRoundTrip, ALaunchOfCudaComesBackWithoutWhatOnlyAPacketHas) {
  WrittenCapture written;
  Dispatch& dispatch = written.description.dispatch;
  dispatch = {.kernel = "_Z3addPf",
              .demangled = "add(float*)",
              .ordinal = 3,
              .grid = {std::uint64_t{1} << 40, 2, 1},
              .workgroup = {1024, 1, 1},
              .private_segment_bytes = 8,
              .group_segment_bytes = 100'016,
              .static_group_segment_bytes = 16,
              .static_private_segment_bytes = 8,
              .kernarg_bytes = 9,
              .packet = {},
              .cuda = CudaLaunch{.cluster = {2, 1, 1},
                                 .cooperative = true,
                                 .max_dynamic_shared_bytes = 100'000,
                                 .shared_carveout = 50,
                                 .registers = 255,
                                 .parameters = {{0, 8}, {8, 1}}},
              .captured_ns = {}};
  written.description.machine.platform = Platform::cuda;
  written.description.machine.isa = "sm_90";
  written.description.machine.driver_version = "580.159.04";
  MemoryRegion pinned = region_at(0x7f0000200000);
  pinned.origin = Origin::pinned;
  MemoryRegion ordered = region_at(0x302000000);
  ordered.origin = Origin::stream_ordered;
  written.regions = {{ordered, "abc", {}}, {pinned, "abc", {}}};
  const TempFolder folder;
  ASSERT_TRUE(test::write_capture(folder / "c", written).has_value());
  const auto capture = Capture::open(folder / "c");
  ASSERT_TRUE(capture.has_value()) << describe(capture.error());
  EXPECT_EQ(capture->code_object_path(), folder / "c" / "kernel.cubin");
  EXPECT_TRUE(capture->verify().has_value());
  const Description& read = capture->description();
  EXPECT_EQ(read.machine.platform, Platform::cuda);
  EXPECT_EQ(read.machine.driver_version, "580.159.04");
  EXPECT_EQ(read.dispatch.grid, dispatch.grid);
  EXPECT_EQ(read.dispatch.cuda, dispatch.cuda);
  EXPECT_EQ(read.dispatch.static_private_segment_bytes, 8U);
  EXPECT_EQ(read.regions[0].origin, Origin::stream_ordered);
  EXPECT_EQ(read.regions[1].origin, Origin::pinned);
  const Json json = dispatch_json(read);
  for (const char* const field : {"header", "setup", "kernarg_address", "bytes"})
    EXPECT_TRUE(json["packet"][field].is_null()) << field;
  EXPECT_TRUE(json["kernel"]["object"].is_null());

  Json behind = json;
  behind["cuda"]["parameters"][1]["offset"] = 9;
  Description out;
  EXPECT_FALSE(read_dispatch(behind, "d", out).has_value());
  Json old = json;
  old["machine"].erase("platform");
  EXPECT_FALSE(read_dispatch(old, "d", out).has_value()) << "of HIP, which has a packet";
}

TEST(CaptureRoundTrip, TheDescriptionComesBack) {
  WrittenCapture written;
  Dispatch& dispatch = written.description.dispatch;
  dispatch = {.kernel = "_Z3addPf",
              .demangled = "add(float*)",
              .ordinal = 3,
              .grid = {4096, 2, 1},
              .workgroup = {256, 1, 1},
              .header = 0x1502,
              .setup = 2,
              .private_segment_bytes = 272,
              .group_segment_bytes = 1024,
              .static_group_segment_bytes = 16,
              .static_private_segment_bytes = 8,
              .kernarg_bytes = 280,
              .kernarg_align = 8,
              .dynamic_callstack = true,
              .kernel_object = 0x7f1234567840,
              .kernarg_address = 0x7fffffffff00,
              .had_completion_signal = true,
              .packet = "0215",
              .captured_ns = 12345};
  written.description.machine = {.isa = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-",
                                 .agent_name = "gfx942",
                                 .product_name = "MI300X",
                                 .compute_units = 304,
                                 .gpu_index = 1,
                                 .gpu_count = 8,
                                 .runtime_version = "1.21",
                                 .rocm_version = "",
                                 .address_mode = "mmap"};
  written.description.limits = {"two queues were left running"};
  MemoryRegion vmem = region_at(0x7f0000200000);
  vmem.origin = Origin::vmem;
  vmem.reservation_base = 0x7f0000000000;
  vmem.reservation_bytes = 1 << 30;
  vmem.recommended_granule = 2 << 20;
  MemoryRegion locked = region_at(0x55550000);
  locked.origin = Origin::locked;
  locked.bytes = 8192;
  locked.on_gpu = false;
  locked.not_captured = "it is host memory";
  MemoryRegion variable = region_at(0x1000);
  variable.origin = Origin::variable;
  variable.symbol = "table";
  variable.code_object_hash = "xxh3:0";
  // Out of order: finish() sorts, variables last.
  written.regions = {{variable, "abc", {}}, {vmem, std::string(5000, 'x'), {}}, {locked, "", {}}};
  const TempFolder folder;
  ASSERT_TRUE(test::write_capture(folder / "deep/inside/c", written).has_value());
  const auto capture = Capture::open(folder / "deep/inside/c/");
  ASSERT_TRUE(capture.has_value()) << describe(capture.error());
  const Description& read = capture->description();
  EXPECT_EQ(read.dispatch.kernel, dispatch.kernel);
  EXPECT_EQ(read.dispatch.demangled, dispatch.demangled);
  EXPECT_EQ(read.dispatch.ordinal, 3U);
  EXPECT_EQ(read.dispatch.grid, dispatch.grid);
  EXPECT_EQ(read.dispatch.workgroup, dispatch.workgroup);
  EXPECT_EQ(
      std::tuple(read.dispatch.header, read.dispatch.setup, read.dispatch.private_segment_bytes,
                 read.dispatch.group_segment_bytes, read.dispatch.static_group_segment_bytes,
                 read.dispatch.static_private_segment_bytes, read.dispatch.kernarg_bytes,
                 read.dispatch.kernarg_align, read.dispatch.dynamic_callstack),
      std::tuple(0x1502, 2, 272U, 1024U, 16U, 8U, 280U, 8U, true));
  EXPECT_EQ(std::tuple(read.dispatch.kernel_object, read.dispatch.kernarg_address,
                       read.dispatch.had_completion_signal, read.dispatch.packet,
                       read.dispatch.captured_ns),
            std::tuple(dispatch.kernel_object, dispatch.kernarg_address, true, "0215", 12345U));
  const Machine& machine = read.machine;
  EXPECT_EQ(std::tuple(machine.isa, machine.agent_name, machine.product_name, machine.compute_units,
                       machine.gpu_index, machine.gpu_count, machine.runtime_version,
                       machine.rocm_version, machine.address_mode),
            std::tuple(written.description.machine.isa, "gfx942", "MI300X", 304U, 1U, 8U, "1.21",
                       "", "mmap"));
  EXPECT_EQ(read.limits, written.description.limits);
  EXPECT_EQ(capture->code_object().size(), 4U);
  EXPECT_EQ(capture->kernarg().size(), 9U);
  ASSERT_EQ(read.regions.size(), 3U);
  EXPECT_EQ(read.regions[0].origin, Origin::locked);
  EXPECT_EQ(std::pair(read.regions[0].bytes, read.regions[0].on_gpu),
            std::pair(std::uint64_t{8192}, false));
  EXPECT_EQ(read.regions[1].reservation_base, vmem.reservation_base);
  EXPECT_EQ(read.regions[1].recommended_granule, 2U << 20);
  EXPECT_EQ(read.regions[2].symbol, "table");
  EXPECT_EQ(test::image_of(*capture, 2, Pages::all), whole("abc"))
      << "numbers follow the sorted order";
  const auto refused = capture->read(0, Pages::all, [](auto...) -> Result<void> { return {}; });
  EXPECT_THAT(refused.error().message,
              HasSubstr("0x55550000 were not captured: it is host memory"));
}

TEST(CaptureRoundTrip, EqualAndZeroPagesCostNothing) {
  test::Prng random(7);
  const std::string page = random_page(random), other = random_page(random);
  WrittenCapture written;
  const std::string before = page + std::string(kPage, '\0') + page + page;
  written.regions = {{region_at(0x1000000), before, page + page + page + std::string(kPage, '\0')},
                     {region_at(0x2000000), page + other + page, other + other + page},
                     {region_at(0x3000000), std::string(9 * kPage, '\0'), {}}};
  const TempFolder folder;
  const auto made = test::write_capture(folder / "c", written);
  ASSERT_TRUE(made.has_value());
  const auto kinds = [](const Blob& blob) {
    return std::tuple(blob.zero_pages, blob.shared_pages, blob.stored_pages);
  };
  using Kinds = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
  EXPECT_EQ(kinds(made->regions[0].image), Kinds(1, 2, 1));
  EXPECT_EQ(kinds(made->regions[0].writes), Kinds(1, 1, 0)) << "stored with the pre-image";
  EXPECT_EQ(kinds(made->regions[1].image), Kinds(0, 2, 1)) << "shared across regions";
  EXPECT_EQ(kinds(made->regions[1].writes), Kinds(0, 1, 0));
  EXPECT_EQ(kinds(made->regions[2].image), Kinds(9, 0, 0));
  EXPECT_EQ(made->regions[2].image.file, "") << "zeros need no file";
  const auto capture = Capture::open(folder / "c");
  ASSERT_TRUE(capture.has_value()) << describe(capture.error());
  expect_same(*capture, written);
}

TEST(CaptureRoundTrip, WhatCompressesIsCompressedAndWhatDoesNotIsNot) {
  test::Prng random(3);
  std::string numbers, noise;
  for (std::uint32_t i = 0; i < 256 * kPage / 4; ++i) {
    const std::uint32_t slow = i / 8;
    numbers.append(reinterpret_cast<const char*>(&slow), 4);
  }
  for (int i = 0; i < 256; ++i) noise += random_page(random);
  WrittenCapture written;
  written.regions = {{region_at(0x1000000), numbers, {}}, {region_at(0x2000000), noise, {}}};
  const TempFolder folder;
  const auto made = test::write_capture(folder / "c", written);
  ASSERT_TRUE(made.has_value());
  EXPECT_LT(made->regions[0].image.file_bytes, numbers.size() / 2);
  EXPECT_LT(made->regions[1].image.file_bytes, noise.size() + 3 * kPage);
  written.options.zstd_level = 0;
  const auto plain = test::write_capture(folder / "plain", written);
  ASSERT_TRUE(plain.has_value());
  EXPECT_GT(plain->regions[0].image.file_bytes, numbers.size());
}

TEST(CaptureRoundTrip, ASparseGibibyteNeedsNeitherMemoryNorDisk) {
  rusage usage_before{}, usage_after{};
  ::getrusage(RUSAGE_SELF, &usage_before);
  const TempFolder folder;
  auto writer = Writer::create(folder / "c");
  ASSERT_TRUE(writer.has_value());
  MemoryRegion region = region_at(0x7f0000000000);
  region.bytes = std::uint64_t{1} << 30;
  ASSERT_TRUE(writer->add_region(region).has_value());
  std::vector<std::byte> chunk(std::size_t{4} << 20);
  for (const bool after : {false, true}) {
    const bool started = !after || writer->changed(0).has_value();
    ASSERT_TRUE(started);
    for (std::size_t i = 0; i < 256; ++i) {
      chunk[i * kPage] = std::byte(after && i == 200 ? 99 : 1);  // one page of each chunk
      ASSERT_TRUE(writer->append(chunk).has_value());
      chunk[i * kPage] = std::byte{0};
    }
  }
  const auto made = writer->finish({}, "code", {});
  ASSERT_TRUE(made.has_value()) << describe(made.error());
  EXPECT_EQ(made->regions[0].image.stored_pages, 1U) << "one page in 256 places";
  EXPECT_EQ(made->regions[0].written,
            (std::vector<PageRun>{{.first = 200 * 1024 + 200, .count = 1}}));
  EXPECT_LT(made->regions[0].image.file_bytes, 64U << 10);
  const auto capture = Capture::open(folder / "c");
  ASSERT_TRUE(capture.has_value()) << describe(capture.error());
  std::uint64_t bytes = 0, sum = 0;
  ASSERT_TRUE(
      capture
          ->read(0, Pages::all,
                 [&](std::uint64_t offset, std::span<const std::byte> piece) -> Result<void> {
                   EXPECT_EQ(offset, bytes);
                   bytes += piece.size();
                   for (std::size_t i = 0; i < piece.size(); i += kPage)
                     sum += std::to_integer<unsigned>(piece[i]);
                   return {};
                 })
          .has_value());
  EXPECT_EQ(bytes, region.bytes);
  EXPECT_EQ(sum, 256U);
  ::getrusage(RUSAGE_SELF, &usage_after);
  EXPECT_LT(usage_after.ru_maxrss - usage_before.ru_maxrss, 100 << 10) << "KiB";
}

TEST(CaptureRoundTrip, ThreeHundredRegions) {
  WrittenCapture written;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const std::string before = "region " + std::to_string(i) + std::string(i % 7 * 1000, 'x');
    std::string after = before;
    if (i % 3 == 0) after[0] = 'R';
    written.regions.push_back({region_at(0x10000000 + i * 0x100000), before, after});
  }
  const TempFolder folder;
  ASSERT_TRUE(test::write_capture(folder / "c", written).has_value());
  const auto capture = Capture::open(folder / "c");
  ASSERT_TRUE(capture.has_value()) << describe(capture.error());
  expect_same(*capture, written);  // also more files than are kept open
  EXPECT_TRUE(capture->verify().has_value());
}

WrittenCapture small_capture() {
  WrittenCapture written;
  written.regions = {{region_at(0x1000000), std::string(100000, 'a'), std::string(100000, 'b')}};
  return written;
}

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

TEST(CaptureUnfinished, TheDestructorRemovesIt) {
  const TempFolder folder;
  {
    auto writer = Writer::create(folder / "c");
    ASSERT_TRUE(writer.has_value());
    ASSERT_TRUE(test::write_regions(*writer, small_capture()).has_value());
    EXPECT_EQ(names_in(folder.path()).size(), 1U);
    EXPECT_FALSE(std::filesystem::exists(folder / "c"));
  }
  EXPECT_EQ(names_in(folder.path()), std::set<std::string>{});
}

TEST(CaptureUnfinished, AKilledProcessLeavesNothingThatPasses) {
  const TempFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    auto writer = Writer::create(folder / "c");
    if (writer && test::write_regions(*writer, small_capture())) ::kill(::getpid(), SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto names = names_in(folder.path());
  ASSERT_EQ(names.size(), 1U);
  EXPECT_THAT(*names.begin(), testing::StartsWith("c.partial-"));
  const auto half = Capture::open(folder / *names.begin());
  ASSERT_FALSE(half.has_value());
  EXPECT_EQ(half.error().code, ErrorCode::bad_input);
  EXPECT_THAT(half.error().message, HasSubstr("unfinished capture"));
  EXPECT_TRUE(test::write_capture(folder / "c", small_capture()).has_value()) << "the name is free";
  EXPECT_TRUE(Capture::open(folder / "c").has_value());
}

TEST(CaptureUnfinished, AFullDiskIsAnErrorAndLeavesNothing) {
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  test::Prng random(5);
  WrittenCapture written = small_capture();
  for (int i = 0; i < 300; ++i) written.regions[0].before += random_page(random);
  written.regions[0].after.reset();
  const TempFolder folder;
  // The limit hits at another place each time: blobs, their tables, documents, the marker.
  std::size_t failures = 0;
  for (const rlim_t limit :
       std::vector<rlim_t>{0, 600, 1500, 4096, 5000, 300000, 1200000, 1240000}) {
    const rlimit small{.rlim_cur = limit, .rlim_max = old.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const auto made = test::write_capture(folder / "c", written);
    ::setrlimit(RLIMIT_FSIZE, &old);
    ASSERT_FALSE(made.has_value()) << limit;
    EXPECT_EQ(made.error().code, ErrorCode::usage);
    EXPECT_THAT(made.error().message, HasSubstr("cannot be written: file too large"));
    EXPECT_NE(made.error().remedy, "");
    EXPECT_EQ(names_in(folder.path()), std::set<std::string>{}) << limit;
    ++failures;
  }
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(failures, 8U);
  EXPECT_TRUE(test::write_capture(folder / "c", written).has_value());
}

TEST(CaptureUnfinished, WrongCallsAndPlacesAreErrors) {
  const TempFolder folder;
  ASSERT_TRUE(test::write_capture(folder / "c", small_capture()).has_value());
  const auto again = Writer::create(folder / "c");
  EXPECT_EQ(again.error().code, ErrorCode::usage);
  EXPECT_THAT(again.error().message, HasSubstr("exists already"));
  (void)folder.write("file", "");
  EXPECT_EQ(Writer::create(folder / "file/c").error().code, ErrorCode::usage);

  const auto failing = [&](auto&& calls) {
    auto writer = Writer::create(folder / "d");
    Result<void> result = calls(*writer);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::internal) << result.error().message;
    EXPECT_FALSE(writer->finish({}, "", {}).has_value()) << "an error ends the capture";
  };
  MemoryRegion region = region_at(0x1000);
  region.bytes = 2 * kPage;
  const std::vector<std::byte> pages(3 * kPage);
  const auto append = [&](Writer& writer, std::size_t bytes) {
    return writer.append(std::span(pages).first(bytes));
  };
  failing([&](Writer& writer) { return append(writer, 1); });
  failing([&](Writer& writer) {
    (void)writer.add_region(region);
    return append(writer, 100);
  });
  failing([&](Writer& writer) {
    (void)writer.add_region(region);
    return append(writer, 3 * kPage);
  });
  failing([&](Writer& writer) -> Result<void> {
    (void)writer.add_region(region);
    (void)append(writer, kPage);
    PERFLAB_TRY_VOID(writer.changed(0));  // a page is missing
    return {};
  });
  failing([&](Writer& writer) {
    (void)writer.add_region(region);
    (void)append(writer, 2 * kPage);
    return writer.changed(1);
  });
  failing([&](Writer& writer) -> Result<void> {
    (void)writer.add_region(region);
    (void)append(writer, 2 * kPage);
    PERFLAB_TRY([[maybe_unused]] auto number, writer.add_region(region));  // the same place twice
    return {};
  });
  EXPECT_EQ(names_in(folder.path()), (std::set<std::string>{"c", "file"}));
}

}  // namespace
}  // namespace perflab::capture
