// How fast a capture is written beside the plain write() of the same incompressible bytes, both
// with fsync at the end: bench_capture_write FOLDER [MIB] [ROUNDS]. The bar: at least 70 % of it.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "capture/writer.h"
#include "support/prng.h"

namespace {

using namespace perflab;

constexpr std::size_t kChunk = std::size_t{64} << 20, kStep = std::size_t{4} << 20;

/// Bytes that no compressor and no table of pages makes smaller.
class Noise {
 public:
  Noise() : words_(kChunk / sizeof(std::uint64_t)) {
    test::Prng random(1);
    for (std::uint64_t& word : words_) word = random.next();
  }
  /// The next chunk; every page differs from all before.
  std::span<const std::byte> next() {
    for (std::size_t i = 0; i < words_.size(); i += 512) words_[i] = ++count_;
    return std::as_bytes(std::span(words_));
  }

 private:
  std::vector<std::uint64_t> words_;
  std::uint64_t count_ = 0;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double plain(const std::filesystem::path& path, Noise& noise, std::size_t chunks) {
  const auto start = std::chrono::steady_clock::now();
  const int descriptor = ::open(path.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666);
  PERFLAB_CHECK(descriptor >= 0);
  for (std::size_t i = 0; i < chunks; ++i) {
    const auto bytes = noise.next();
    for (std::size_t at = 0; at < kChunk; at += kStep)
      PERFLAB_CHECK(::write(descriptor, bytes.data() + at, kStep) == static_cast<ssize_t>(kStep));
  }
  PERFLAB_CHECK(::fsync(descriptor) == 0 && ::close(descriptor) == 0);
  const double seconds = seconds_since(start);
  std::filesystem::remove(path);
  return seconds;
}

double captured(const std::filesystem::path& folder, Noise& noise, std::size_t chunks) {
  const auto start = std::chrono::steady_clock::now();
  {
    auto writer = capture::Writer::create(folder);
    capture::MemoryRegion region;
    region.base = 0x7f0000000000;
    region.bytes = chunks * kChunk;
    PERFLAB_CHECK(writer.has_value() && writer->add_region(region).has_value());
    for (std::size_t i = 0; i < chunks; ++i) {
      const auto bytes = noise.next();
      for (std::size_t at = 0; at < kChunk; at += kStep)
        PERFLAB_CHECK(writer->append(bytes.subspan(at, kStep)).has_value());
    }
    const auto made = writer->finish({}, "code", {});
    PERFLAB_CHECK(made.has_value() &&
                  made->regions[0].image.stored_pages == region.bytes / capture::kPageBytes);
  }
  const double seconds = seconds_since(start);
  std::filesystem::remove_all(folder);
  return seconds;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "bench_capture_write FOLDER [MIB, default 1024] [ROUNDS, default 5]\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const std::size_t chunks =
      std::max<std::size_t>(1, (argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1024) >> 6U);
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  Noise noise;
  std::vector<double> plain_seconds, captured_seconds, ratios;
  const double bytes = static_cast<double>(chunks * kChunk);
  for (int round = 0; round < rounds; ++round) {
    plain_seconds.push_back(plain(folder / "bench_plain.bin", noise, chunks));
    captured_seconds.push_back(captured(folder / "bench_capture", noise, chunks));
    ratios.push_back(plain_seconds.back() / captured_seconds.back());
    fmt::print("round {}: write() {:.0f} MB/s, capture {:.0f} MB/s, {:.1f} %\n", round + 1,
               bytes / plain_seconds.back() / 1e6, bytes / captured_seconds.back() / 1e6,
               100 * ratios.back());
  }
  fmt::print("median: write() {:.0f} MB/s, capture {:.0f} MB/s, ratio {:.1f} %\n",
             bytes / median(plain_seconds) / 1e6, bytes / median(captured_seconds) / 1e6,
             100 * median(ratios));
  return 0;
}
