// Damage of every kind to every kind of file: cut off at any byte, any byte changed, sizes and
// offsets replaced by what hurts. 270,000 mutations, the same on every run; each either parses or
// is one line of bad input, under AddressSanitizer in the dev preset.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/sizes.h"
#include "code/recorded.h"
#include "support/code_checks.h"
#include "support/code_samples.h"
#include "support/prng.h"

namespace perflab::test {
namespace {

constexpr std::int64_t kMutations = 200'000;
constexpr std::int64_t kParts = 3;         // tests that share them, so that they run side by side
constexpr std::size_t kMostPlaces = 4096;  // bytes of a file that are cut at and changed

/// Reads a damaged file; whether it could be read.
using Reader = bool (*)(std::string_view bytes);

/// Runs a reader on a copy with exactly its bytes around it, and counts.
class Damage {
 public:
  explicit Damage(Reader reader) : reader_(reader) {}

  void check(std::string_view bytes) {
    const auto exact = std::make_unique<char[]>(bytes.size());
    std::ranges::copy(bytes, exact.get());
    ++mutations_;
    survivors_ += reader_({exact.get(), bytes.size()}) ? 1 : 0;
  }

  /// Cut off before every byte (in large files, before one of every few).
  void truncations(std::string_view bytes, std::size_t places, Prng& random) {
    for_places(bytes.size(), places, random,
               [&](std::size_t size) { check(bytes.substr(0, size)); });
  }

  /// Every byte (or one of every few) changed in four ways.
  void flips(std::string bytes, std::size_t places, Prng& random) {
    for_places(bytes.size(), places, random, [&](std::size_t at) {
      const char before = bytes[at];
      for (const int change : {0x01, 0x80, 0xff, 0x10}) {
        bytes[at] = static_cast<char>(before ^ change);
        check(bytes);
      }
      bytes[at] = before;
    });
  }

  /// One to four fields of 1 to 8 bytes replaced: by a number near a size of the file, a limit of
  /// its type, or anything.
  void edits(const std::string& bytes, std::int64_t count, Prng& random) {
    for (std::int64_t i = 0; i < count; ++i) {
      std::string edited = bytes;
      for (std::int64_t field = random.below(4); field >= 0; --field) edit(edited, random);
      if (random.below(8) == 0)
        edited.resize(
            static_cast<std::size_t>(random.below(static_cast<std::int64_t>(edited.size()) + 64)));
      check(edited);
    }
  }

  [[nodiscard]] std::int64_t mutations() const { return mutations_; }
  [[nodiscard]] std::int64_t survivors() const { return survivors_; }

 private:
  static void for_places(std::size_t size, std::size_t most, Prng& random, const auto& visit) {
    const std::size_t stride = (size + most - 1) / most;
    for (std::size_t at = 0; at < size; at += stride)
      visit(std::min(size - 1, at + random.next() % stride));
  }

  static void edit(std::string& bytes, Prng& random) {
    const std::uint64_t size = bytes.size();
    const std::size_t width = std::size_t{1} << static_cast<unsigned>(random.below(4));
    // Headers and tables are at the ends of these formats.
    std::uint64_t at = random.next() % size;
    if (random.below(2) == 0) at %= 256;
    if (random.below(4) == 0) at = size - 1 - random.next() % std::min<std::uint64_t>(size, 600);
    const std::uint64_t values[] = {size,        size - at,
                                    size - 1,    size + 1,
                                    0,           1,
                                    ~at,         ~std::uint64_t{0},
                                    ~size + 1,   std::uint64_t{1} << 63,
                                    0x7fffffff,  0xffffffff,
                                    0x100000000, random.next(),
                                    at,          random.next() % (size + 1)};
    const std::uint64_t value = values[random.below(std::size(values))];
    if (at < size)
      std::memcpy(bytes.data() + at, &value, std::min<std::uint64_t>(width, size - at));
  }

  Reader reader_;
  std::int64_t mutations_ = 0;
  std::int64_t survivors_ = 0;
};

/// Damages the samples in every way, with edits up to `least` mutations in all.
void damage_all(const std::vector<CodeSample>& samples, Reader reader, std::int64_t least,
                std::size_t places, std::uint64_t seed) {
  Damage damage(reader);
  Prng random(seed);
  for (const CodeSample& sample : samples) {
    damage.truncations(sample.bytes, places, random);
    damage.flips(sample.bytes, places, random);
  }
  const std::int64_t left = std::max<std::int64_t>(least - damage.mutations(), 1000);
  for (const CodeSample& sample : samples)
    damage.edits(sample.bytes, left / static_cast<std::int64_t>(samples.size()) + 1, random);
  EXPECT_GE(damage.mutations(), least);
  // Damage that is never noticed, or is always, would be a test of nothing.
  EXPECT_GT(damage.survivors(), damage.mutations() / 100);
  EXPECT_LT(damage.survivors(), damage.mutations() * 99 / 100);
  fmt::print("{} mutations of {} files, {} of them still read\n", damage.mutations(),
             samples.size(), damage.survivors());
}

constexpr std::int64_t kShare = kMutations / kParts + 1;

bool read_container(std::string_view bytes) {
  return check_container(std::string(bytes));
}
bool read_cubin_file(std::string_view bytes) {
  return check_cubin_file(std::string(bytes));
}

TEST(Hostile, CodeObjects) {
  damage_all(code_object_samples(), check_code_object, kShare, kMostPlaces, 1);
}

TEST(Hostile, Bundles) {
  damage_all(bundle_samples(), read_container, kShare, kMostPlaces, 2);
}

TEST(Hostile, HostFiles) {
  damage_all(host_file_samples(), read_container, kShare, kMostPlaces, 3);
}

TEST(Hostile, Cubins) {
  damage_all(cubin_samples(), check_cubin, kShare / 2, kMostPlaces, 5);
}

TEST(Hostile, CubinFiles) {
  damage_all(cubin_file_samples(), read_cubin_file, kShare / 2, kMostPlaces, 6);
}

class HostileRecorded : public testing::TestWithParam<const char*> {};

TEST_P(HostileRecorded, Files) {
  const auto folder = recorded(GetParam());
  PERFLAB_SKIP_WITHOUT(folder);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().extension() != ".md" &&
        entry.path().extension() != ".json")
      files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<CodeSample> samples;
  for (const auto& file : files) samples.push_back({file.filename().string(), must_read(file)});
  damage_all(samples, read_container, test::size_of_test(10'000, 4'000),
             test::size_of_test<std::size_t>(256, 90), 4);
}

INSTANTIATE_TEST_SUITE_P(All, HostileRecorded, testing::Values("codeobjects", "fatbin"),
                         [](const auto& folder) { return std::string(folder.param); });

}  // namespace
}  // namespace perflab::test
