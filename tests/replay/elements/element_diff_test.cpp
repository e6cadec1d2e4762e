// Element types, their exact values and distances, finding a type, and the comparison piece by
// piece. Reference values: IEEE 754, the OCP FP8 specification and its fnuz variant, by hand.
#include "replay/elements/element_diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/enum_names.h"
#include "base/temp_folder.h"
#include "replay/sample_capture.h"
#include "support/prng.h"

namespace perflab::replay {
namespace {

using test::bytes_of_values;
using test::Prng;
using enum ElementType;

constexpr float kFloatInfinity = std::numeric_limits<float>::infinity();
const float kFloatNan = std::bit_cast<float>(0x7fc00000U);

/// One element with one of 16 random bits each: code points of small types, values of large ones.
std::uint64_t load_element(const std::vector<std::byte>& bytes, std::size_t at, std::size_t size) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + at, size);
  return bits;
}

TEST(ElementType, NamesSizesAndUnknownNames) {
  for (std::size_t i = 0; i < kElementTypes; ++i) {
    const auto type = static_cast<ElementType>(i);
    EXPECT_EQ(from_name<ElementType>(to_string(type)), type);
    // The number in the name is the number of bits.
    std::string name(to_string(type));
    name.erase(0, name.find_first_of("0123456789"));
    EXPECT_EQ(bytes_of(type), std::stoul(name) / 8) << to_string(type);
    EXPECT_EQ(is_float(type), to_string(type).find('f') != std::string_view::npos);
  }
  EXPECT_EQ(from_name<ElementType>("f31"), std::nullopt);
}

TEST(ElementType, ValuesAreExact) {
  const auto value = [](ElementType type, std::uint64_t bits) {
    const FloatValue decoded = decode_float(type, bits);
    EXPECT_EQ(decoded.what, FloatClass::finite) << to_string(type) << ' ' << bits;
    return decoded.value;
  };
  EXPECT_EQ(value(f16, 0x3c00), 1);
  EXPECT_EQ(value(f16, 0xc500), -5);
  EXPECT_EQ(value(f16, 0x7bff), 65504);
  EXPECT_EQ(value(f16, 0x0001), std::ldexp(1, -24));
  EXPECT_EQ(value(f16, 0x03ff), std::ldexp(1023, -24));
  EXPECT_EQ(value(bf16, 0x3f80), 1);
  EXPECT_EQ(value(bf16, 0x4049), 3.140625);
  EXPECT_EQ(value(bf16, 0x0001), std::ldexp(1, -133));
  EXPECT_EQ(value(f8_e4m3, 0x38), 1);
  EXPECT_EQ(value(f8_e4m3, 0x7e), 448);
  EXPECT_EQ(value(f8_e4m3, 0x81), -std::ldexp(1, -9));
  EXPECT_EQ(value(f8_e5m2, 0x3c), 1);
  EXPECT_EQ(value(f8_e5m2, 0x7b), 57344);
  EXPECT_EQ(value(f8_e5m2, 0x01), std::ldexp(1, -16));
  EXPECT_EQ(value(f8_e4m3fnuz, 0x40), 1);
  EXPECT_EQ(value(f8_e4m3fnuz, 0x7f), 240);
  EXPECT_EQ(value(f8_e4m3fnuz, 0x01), std::ldexp(1, -10));
  EXPECT_EQ(value(f8_e5m2fnuz, 0x40), 1);
  EXPECT_EQ(value(f8_e5m2fnuz, 0x7f), 57344);
  EXPECT_EQ(value(f8_e5m2fnuz, 0x01), std::ldexp(1, -17));
  Prng random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t bits = random.next();
    const auto single = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const auto decoded = decode_float(f32, bits & 0xffffffffU);
    if (std::isfinite(single)) {
      EXPECT_EQ(decoded.value, static_cast<double>(single));
    }
    EXPECT_EQ(decoded.what == FloatClass::nan, std::isnan(single));
    const auto large = std::bit_cast<double>(bits);
    if (std::isfinite(large)) {
      EXPECT_EQ(decode_float(f64, bits).value, large);
    }
  }
}

TEST(ElementType, EverySmallCodePointIsClassedAndOrdered) {
  struct Kind {
    ElementType type;
    std::uint64_t nans, infinities;
  };
  for (const auto& [type, nans, infinities] :
       {Kind{f16, 2046, 2}, Kind{bf16, 254, 2}, Kind{f8_e4m3, 2, 0}, Kind{f8_e5m2, 6, 2},
        Kind{f8_e4m3fnuz, 1, 0}, Kind{f8_e5m2fnuz, 1, 0}}) {
    std::uint64_t nan_count = 0, infinite_count = 0;
    std::map<std::int64_t, double> values;
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << (8 * bytes_of(type)); ++bits) {
      const FloatValue value = decode_float(type, bits);
      nan_count += value.what == FloatClass::nan;
      infinite_count += value.what == FloatClass::infinite;
      if (value.what == FloatClass::finite) values.emplace(value.place, value.value);
    }
    EXPECT_EQ(nan_count, nans) << to_string(type);
    EXPECT_EQ(infinite_count, infinities) << to_string(type);
    // Neighbours in place are neighbours in value.
    for (auto at = std::next(values.begin()); at != values.end(); ++at) {
      ASSERT_EQ(at->first, std::prev(at)->first + 1) << to_string(type);
      ASSERT_GT(at->second, std::prev(at)->second) << to_string(type);
    }
  }
}

TEST(ElementType, TextsReadBack) {
  EXPECT_EQ(element_text(f32, std::bit_cast<std::uint32_t>(0.1F)), "0.1");
  EXPECT_EQ(element_text(f64, std::bit_cast<std::uint64_t>(0.1)), "0.1");
  EXPECT_EQ(element_text(f16, 0x3c01), "1.0009766");
  EXPECT_EQ(element_text(f32, 0xff800000), "-inf");
  EXPECT_EQ(element_text(f8_e4m3fnuz, 0x80), "nan");
  EXPECT_EQ(element_text(i8, 0xff), "-1");
  EXPECT_EQ(element_text(i64, UINT64_MAX), "-1");
  EXPECT_EQ(element_text(u64, UINT64_MAX), "18446744073709551615");
}

TEST(ElementType, NamesOfSourcesAreKnown) {
  EXPECT_EQ(type_of_name("float"), f32);
  EXPECT_EQ(type_of_name("float const"), f32);
  EXPECT_EQ(type_of_name("const volatile double"), f64);
  EXPECT_EQ(type_of_name("float4"), f32);
  EXPECT_EQ(type_of_name("HIP_vector_type<unsigned int, 4u>"), u32);
  EXPECT_EQ(type_of_name("__half2"), f16);
  EXPECT_EQ(type_of_name("__hip_bfloat16"), bf16);
  EXPECT_EQ(type_of_name("__hip_bfloat162"), bf16);
  EXPECT_EQ(type_of_name("__hip_fp8_e4m3_fnuz"), f8_e4m3fnuz);
  EXPECT_EQ(type_of_name("uint16_t"), u16);
  EXPECT_EQ(type_of_name("int64_t"), i64);
  EXPECT_EQ(type_of_name("unsigned long long"), u64);
  EXPECT_EQ(type_of_name("Particle"), std::nullopt);
  EXPECT_EQ(type_of_name("inter_t"), std::nullopt);
  EXPECT_EQ(type_of_name(""), std::nullopt);
  EXPECT_EQ(type_of_name("7"), std::nullopt);
}

// ---- pointers among the arguments

test::SampleCapture two_buffers(std::string demangled, std::string kernel = "k") {
  test::SampleCapture sample = test::inplace_sample(64);
  sample.add(test::kSampleBase + 0x10000, std::vector<std::byte>(256), std::vector<std::byte>(256));
  sample.kernarg.clear();
  sample.push<std::uint64_t>(test::kSampleBase);
  sample.push<std::uint64_t>(test::kSampleBase + 0x10000 + 16);
  sample.push<std::uint64_t>(64);
  sample.code_object = test::one_kernel_object(kernel,
                                               {{0, 8, "global_buffer"},
                                                {8, 8, "global_buffer"},
                                                {16, 8, "by_value"},
                                                {24, 4, "hidden_block_count_x"}},
                                               24);
  sample.description.dispatch.kernel = std::move(kernel);
  sample.description.dispatch.demangled = std::move(demangled);
  return sample;
}

TEST(PointerArguments, TypesAndConstnessComeFromTheSignature) {
  const test::TempFolder folder;
  const auto capture = two_buffers(
                           "void ns::k<float, (bool)1>(ns::pair<int, float> const*, __half*, "
                           "unsigned long)")
                           .write(folder.path() / "c");
  ASSERT_TRUE(capture);
  const auto arguments = pointer_arguments(*capture);
  ASSERT_TRUE(arguments);
  ASSERT_EQ(arguments->size(), 2U);
  EXPECT_FALSE(arguments->at(0).writable);
  EXPECT_EQ(arguments->at(0).pointee, std::nullopt);
  EXPECT_TRUE(arguments->at(1).writable);
  EXPECT_EQ(arguments->at(1).address, test::kSampleBase + 0x10010);
  EXPECT_EQ(type_from_arguments(capture->description(), *arguments, 1), f16);
  EXPECT_EQ(type_from_arguments(capture->description(), *arguments, 0), std::nullopt);
}

TEST(PointerArguments, AMangledNameIsEnoughAndAForeignSignatureIsNot) {
  const test::TempFolder folder;
  const auto mangled = two_buffers("", "_Z1kPKfPfm").write(folder.path() / "a");
  ASSERT_TRUE(mangled);
  const auto arguments = pointer_arguments(*mangled);
  ASSERT_TRUE(arguments);
  EXPECT_FALSE(arguments->at(0).writable);
  EXPECT_TRUE(arguments->at(1).writable);
  EXPECT_EQ(arguments->at(1).pointee, f32);
  // One parameter too many: nothing is taken from it.
  const auto other = two_buffers("k(float const*, float*, long, int)").write(folder.path() / "b");
  ASSERT_TRUE(other);
  const auto unknown = pointer_arguments(*other);
  ASSERT_TRUE(unknown);
  EXPECT_TRUE(unknown->at(0).writable);
  EXPECT_EQ(unknown->at(0).pointee, std::nullopt);
}

TEST(PointerArguments, StructuresAndKernelsWithoutMetadataAreSearchedForAddresses) {
  const test::TempFolder folder;
  test::SampleCapture sample = two_buffers("");
  sample.code_object = test::one_kernel_object("k", {{0, 24, "by_value"}}, 24);
  const auto by_value = sample.write(folder.path() / "a");
  ASSERT_TRUE(by_value);
  EXPECT_EQ(pointer_arguments(*by_value)->size(), 2U);
  sample.code_object = test::one_kernel_object("k", {}, 24);
  const auto without = sample.write(folder.path() / "b");
  ASSERT_TRUE(without);
  const auto arguments = pointer_arguments(*without);
  ASSERT_EQ(arguments->size(), 2U);
  EXPECT_EQ(region_at(without->description(), arguments->at(1).address), 1U);
  EXPECT_EQ(region_at(without->description(), test::kSampleBase + 256), std::nullopt);
}

// ---- types from the data

/// About normally distributed, mean 0.
double roughly_normal(Prng& random) {
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(random.next() >> 11U) * 0x1p-53;
  return sum - 6;
}

/// The bits of the value nearest to zero from it: truncation is all that a test needs.
std::uint64_t narrow(ElementType type, double value) {
  if (type == f64) return std::bit_cast<std::uint64_t>(value);
  const auto single = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (type == f32) return single;
  if (type == bf16) return single >> 16U;
  // f16, normal values only.
  const std::uint32_t exponent = (single >> 23U & 0xffU) - 127 + 15;
  if (exponent == 0 || exponent > 30) return 0;
  return (single >> 16U & 0x8000U) | exponent << 10U | (single >> 13U & 0x3ffU);
}

template <class F>
std::optional<ElementType> guess_of(std::size_t element_bytes, std::size_t count, F&& bits) {
  std::vector<std::byte> bytes(element_bytes * count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto element = static_cast<std::uint64_t>(bits());
    std::memcpy(bytes.data() + i * element_bytes, &element, element_bytes);
  }
  TypeGuess guess;
  guess.add(bytes);
  return guess.type();
}

TEST(TypeGuess, RandomDataOfEveryFloatTypeIsFound) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Prng random(seed);
    const auto unit = [&] { return static_cast<double>(random.next() >> 11U) * 0x1p-53; };
    for (const ElementType type : {f16, bf16, f32, f64}) {
      const std::size_t size = bytes_of(type);
      const auto found = [&](auto&& value) {
        return guess_of(size, 4096, [&] { return narrow(type, value()); });
      };
      EXPECT_EQ(found([&] { return roughly_normal(random); }), type) << seed;
      EXPECT_EQ(found([&] { return unit(); }), type) << seed;
      EXPECT_EQ(found([&] { return unit() * 100 - 20; }), type) << seed;
      // Half of them zero, as behind a ReLU.
      EXPECT_EQ(found([&] { return std::max(0.0, roughly_normal(random)); }), type) << seed;
    }
    // Pairs of unlike size, as structures have them.
    for (const ElementType type : {f16, bf16, f32}) {
      bool second = false;
      const auto pairs = [&] {
        second = !second;
        return narrow(type, roughly_normal(random) * (second ? 40 : 0.01));
      };
      EXPECT_EQ(guess_of(bytes_of(type), 4096, pairs), type) << seed;
    }
    for (const ElementType type : {f32, f64}) {
      double next = 0;
      EXPECT_EQ(guess_of(bytes_of(type), 2048, [&] { return narrow(type, next += 3); }), type);
    }
  }
}

TEST(TypeGuess, IntegersAreFoundWhenSmallAndNeverTakenForFloats) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Prng random(seed);
    EXPECT_EQ(guess_of(4, 4096, [&] { return random.next() % 50'000; }), i32);
    EXPECT_EQ(guess_of(4, 4096, [&] { return random.next() % 2000 - 1000; }), i32);
    EXPECT_EQ(guess_of(8, 4096, [&] { return random.next() % 1'000'000; }), i64);
    // Addresses.
    EXPECT_EQ(guess_of(8, 4096, [&] { return 0x7f0000000000 + random.next() % (1U << 30U) * 8; }),
              i64);
    for (const std::size_t size : {1U, 2U, 4U, 8U})
      EXPECT_EQ(guess_of(size, 8192, [&] { return random.next(); }), std::nullopt) << size;
    // Text, 16-bit sound, 8-bit floats: no type rather than a wrong one.
    EXPECT_EQ(guess_of(1, 8192, [&] { return 'a' + random.next() % 26; }), std::nullopt);
    EXPECT_EQ(guess_of(1, 8192, [&] { return 0x30 + random.next() % 16; }), std::nullopt);
    EXPECT_EQ(guess_of(2, 8192,
                       [&] {
                         return static_cast<std::uint64_t>(
                             static_cast<std::int64_t>(roughly_normal(random) * 4000));
                       }),
              std::nullopt);
  }
}

TEST(TypeGuess, TooLittleOrTooUniformDataIsNotDecided) {
  Prng random(1);
  EXPECT_EQ(guess_of(4, 126, [&] { return narrow(f32, roughly_normal(random)); }), std::nullopt);
  EXPECT_EQ(guess_of(4, 128, [&] { return narrow(f32, roughly_normal(random)); }), f32);
  EXPECT_EQ(guess_of(4, 4096, [] { return 0; }), std::nullopt);
  // 1.0 in f16 is 2^-7 in bf16.
  EXPECT_EQ(guess_of(2, 4096, [] { return 0x3c00; }), std::nullopt);
}

// ---- comparison

template <class T>
ElementDiffer compared(ElementType type, const std::vector<T>& expected,
                       const std::vector<T>& found, DiffOptions options = {}) {
  ElementDiffer comparer(type, "given", options);
  // Before, every byte was another one.
  std::vector<std::byte> before = bytes_of_values(expected);
  for (std::byte& one : before) one = ~one;
  comparer.feed({.offset = 4096,
                 .before = before,
                 .expected = bytes_of_values(expected),
                 .found = bytes_of_values(found),
                 .excluded = nullptr});
  return comparer;
}

std::vector<std::string> buckets(const std::vector<Bucket>& all) {
  std::vector<std::string> out;
  for (const Bucket& bucket : all)
    out.push_back(bucket.upto + ":" + std::to_string(bucket.elements));
  return out;
}

TEST(Compare, DistancesAndHistogramsOfFloats) {
  const float one = 1;
  const auto up = [&](std::uint32_t steps) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(one) + steps);
  };
  const float denormal = std::numeric_limits<float>::denorm_min();
  const ElementDiff found =
      compared<float>(f32, {1, 1, 1, 1, 1, 1, 1, denormal, 0.0F, 8},
                      {1, up(1), up(2), up(3), up(4), up(5), up(9), -denormal, -0.0F, 9})
          .result();
  EXPECT_EQ(found.elements, 10U);
  EXPECT_EQ(found.different, 9U);
  EXPECT_EQ(found.beyond_tolerance, 9U);
  EXPECT_THAT(buckets(found.ulp),
              testing::ElementsAre("0:1", "1:1", "2:2", "4:2", "8:1", "16:1", "1048576:1"));
  EXPECT_EQ(found.largest_ulp, 1048576U);
  // 1/8 relative and 1 absolute, exactly: buckets include their bound.
  EXPECT_EQ(found.largest_absolute, 1.0);
  EXPECT_EQ(buckets(found.absolute).back(), "1e0:1");
  // From denormal to -denormal is twice its size; of an expected zero there is no share.
  EXPECT_EQ(found.largest_relative, 2.0);
  EXPECT_THAT(buckets(found.relative), testing::ElementsAre("1e-6:5", "1e-5:1", "1e0:1", "1e1:1"));
  EXPECT_EQ(found.absolute.front().upto, "0");
  ASSERT_EQ(found.examples.size(), 5U);
  EXPECT_EQ(found.examples[0].offset, 4100U);
  EXPECT_EQ(found.examples[0].expected, "1");
  EXPECT_EQ(found.examples[0].found, "1.0000001");
}

TEST(Compare, TolerancesAreInclusiveAndAnyOneIsEnough) {
  const std::vector<double> expected{100, 100, 0, -100};
  const std::vector<double> found{100.5, 101, 0.25, -100.5};
  const auto beyond = [&](DiffOptions options) {
    return compared<double>(f64, expected, found, options).result().beyond_tolerance;
  };
  EXPECT_EQ(beyond({}), 4U);
  EXPECT_EQ(beyond({.max_absolute = 0.5}), 1U);
  EXPECT_EQ(beyond({.max_absolute = 1}), 0U);
  EXPECT_EQ(beyond({.max_relative = 0.005}), 2U);
  EXPECT_EQ(beyond({.max_relative = 0.01}), 1U);
  EXPECT_EQ(beyond({.max_relative = 0.0078125, .max_absolute = 0.25}), 0U);
  const std::uint64_t near =
      (std::bit_cast<std::uint64_t>(100.5) - std::bit_cast<std::uint64_t>(100.0));
  EXPECT_EQ(beyond({.max_ulp = near}), 2U);
  EXPECT_EQ(beyond({.max_ulp = near - 1}), 4U);
  // What is within is still counted as different.
  EXPECT_EQ(compared<double>(f64, expected, found, {.max_absolute = 9}).result().different, 4U);
}

TEST(Compare, NanAndInfinityHaveRulesOfTheirOwn) {
  const float other_nan = std::bit_cast<float>(0xffc00001U);
  const std::vector<float> expected{kFloatNan, kFloatNan, 1, kFloatInfinity, kFloatInfinity, 3e38F};
  const std::vector<float> found{other_nan, 1, kFloatNan, -kFloatInfinity, 3e38F, kFloatInfinity};
  const DiffOptions loose{.max_ulp = UINT64_MAX, .max_absolute = 1e300};
  const ElementDiff with = compared<float>(f32, expected, found, loose).result();
  EXPECT_EQ(with.beyond_tolerance, 5U);
  EXPECT_EQ(with.different, 6U);
  EXPECT_EQ(with.nan_expected, 2U);
  EXPECT_EQ(with.nan_found, 2U);
  EXPECT_EQ(with.infinity_mismatches, 3U);
  EXPECT_EQ(with.largest_ulp, std::nullopt);
  DiffOptions strict = loose;
  strict.nan_equal = false;
  EXPECT_EQ(compared<float>(f32, expected, found, strict).result().beyond_tolerance, 6U);
  // Equal bits are equal under any policy.
  EXPECT_EQ(compared<float>(f32, {kFloatNan}, {kFloatNan}, strict).result().different, 0U);
}

TEST(Compare, HugeDistancesStayFinite) {
  const double most = std::numeric_limits<double>::max();
  const ElementDiff found = compared<double>(f64, {most, 5e-324, -most}, {-most, 1, most}).result();
  EXPECT_EQ(found.largest_absolute, most);
  EXPECT_EQ(found.largest_relative, most);
  EXPECT_EQ(found.absolute.back().upto, "1e309");
  EXPECT_EQ(found.largest_ulp, 2 * std::bit_cast<std::uint64_t>(most));
}

TEST(Compare, IntegersAreBitwiseWithTheirDistance) {
  const DiffOptions loose{.max_ulp = 1000, .max_absolute = 1000};
  const auto check = [&](const ElementDiff& found, double distance) {
    EXPECT_EQ(found.beyond_tolerance, 1U);
    EXPECT_EQ(found.largest_absolute, distance);
    EXPECT_EQ(found.largest_ulp, std::nullopt);
    EXPECT_EQ(found.largest_relative, std::nullopt);
  };
  check(compared<std::int32_t>(i32, {-1}, {1}, loose).result(), 2);
  check(compared<std::uint32_t>(u32, {0xffffffff}, {1}, loose).result(), 4294967294.0);
  check(compared<std::int8_t>(i8, {-128}, {127}, loose).result(), 255);
  check(compared<std::int64_t>(i64, {INT64_MIN}, {INT64_MAX}, loose).result(),
        18446744073709551615.0);
  check(compared<std::uint16_t>(u16, {7}, {17}, loose).result(), 10);
}

TEST(Compare, WithoutATypeBytesAreElements) {
  ElementDiffer comparer(std::nullopt, "", {.max_absolute = 100});
  const auto before = bytes_of_values<std::uint8_t>({0, 0, 0, 9}),
             expected = bytes_of_values<std::uint8_t>({1, 2, 0, 9}),
             found = bytes_of_values<std::uint8_t>({1, 3, 0, 8});
  comparer.feed({.offset = 0, .before = before, .expected = expected, .found = found});
  const ElementDiff result = comparer.result();
  EXPECT_EQ(result.elements, 3U);
  EXPECT_EQ(result.beyond_tolerance, 2U);
  EXPECT_EQ(result.examples[0].expected, "0x02");
  EXPECT_EQ(comparer.tally().changed_bytes, 2U);
  EXPECT_EQ(comparer.tally().unexpected_bytes, 1U);
}

TEST(Compare, UnexpectedIsWhatWasWrittenInElementsThatDidNotChange) {
  // In the first element one byte changed and another one comes out otherwise: that is a
  // difference. The second did not change: it is unexpected.
  const std::vector<std::uint32_t> before{0x3f800000, 0x3f800000}, expected{0x3fc00000, 0x3f800000},
      found{0x3fc00001, 0x3f810001};
  ElementDiffer comparer(f32, "given", {.max_ulp = 1});
  ByteMask unexpected;
  const auto a = bytes_of_values(before), b = bytes_of_values(expected), c = bytes_of_values(found);
  comparer.feed({.offset = 0, .before = a, .expected = b, .found = c}, &unexpected);
  EXPECT_EQ(comparer.tally().unexpected_bytes, 2U);
  EXPECT_EQ(unexpected.eight(0), 0x50U);
  EXPECT_EQ(unexpected.count(), 2U);
  EXPECT_EQ(comparer.result().elements, 2U);
  EXPECT_EQ(comparer.result().beyond_tolerance, 1U);
}

TEST(Compare, EightBytesAtOnceAreWhatEachOfThemIs) {
  Prng random(3);
  for (int round = 0; round < 2000; ++round) {
    std::array<std::byte, 24> a{}, b{};
    for (std::size_t i = 0; i < a.size(); ++i)
      a.at(i) = b.at(i) = static_cast<std::byte>(random.next());
    for (auto other = random.below(10); other > 0; --other)
      b.at(static_cast<std::size_t>(random.below(20))) ^= static_cast<std::byte>(random.below(256));
    ByteMask differences;
    differences.set_differences(std::span(a).first(20), std::span(b).first(20));
    for (std::size_t i = 0; i < a.size(); ++i)
      EXPECT_EQ(differences.test(i), i < 20 && a.at(i) != b.at(i)) << i;
    const std::uint8_t bits = nonzero_bytes(eight_at(a, 0) ^ eight_at(b, 0));
    EXPECT_EQ(bits, differences.eight(0));
    for (const std::size_t step : {1U, 2U, 4U, 8U}) {
      for (std::size_t i = 0; i < 8; ++i) {
        const std::size_t first = i / step * step;
        const bool any = (bits >> first & ((1U << step) - 1)) != 0;
        EXPECT_EQ((whole_elements(bits, step) >> i & 1) != 0, any) << step << ' ' << i;
      }
    }
  }
}

TEST(Compare, ExcludedElementsAreLeftOutWhole) {
  ByteMask excluded;
  excluded.set(5);
  ElementDiffer comparer(f32, "given", {});
  const auto a = bytes_of_values<float>({0, 0, 0}), b = bytes_of_values<float>({1, 2, 3}),
             c = bytes_of_values<float>({1, 9, 4});
  comparer.feed({.offset = 0, .before = a, .expected = b, .found = c, .excluded = &excluded});
  EXPECT_EQ(comparer.result().elements, 2U);
  EXPECT_EQ(comparer.result().different, 1U);
  EXPECT_EQ(comparer.tally().excluded_bytes, 4U);
}

TEST(Compare, PiecesGiveWhatOneElementAfterTheOtherGives) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    Prng random(seed);
    const auto type = static_cast<ElementType>(random.below(kElementTypes));
    const std::size_t step = bytes_of(type);
    // Ends within an element, sometimes.
    const auto size = static_cast<std::size_t>(1 + random.below(20'000));
    std::vector<std::byte> before(size), expected, found;
    for (std::byte& one : before) one = static_cast<std::byte>(random.next());
    expected = before;
    for (int i = 0; i < 500; ++i)
      expected[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(size)))] =
          static_cast<std::byte>(random.next());
    found = expected;
    for (int i = 0; i < 50; ++i)
      found[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(size)))] =
          static_cast<std::byte>(random.next());
    ElementDiffer comparer(type, "given", {});
    for (std::size_t at = 0; at < size; at += capture::kPageBytes) {
      const std::size_t part = std::min<std::size_t>(capture::kPageBytes, size - at);
      comparer.feed({.offset = at,
                     .before = std::span(before).subspan(at, part),
                     .expected = std::span(expected).subspan(at, part),
                     .found = std::span(found).subspan(at, part)});
    }
    std::uint64_t elements = 0, different = 0;
    std::vector<std::uint64_t> offsets;
    for (std::size_t at = 0; at < size;) {
      const std::size_t part = size - at >= step ? step : 1;
      const auto of = [&](const std::vector<std::byte>& all) {
        return load_element(all, at, part);
      };
      elements += of(before) != of(expected) || of(expected) != of(found);
      const bool nans = part == step && is_float(type) &&
                        decode_float(type, of(expected)).what == FloatClass::nan &&
                        decode_float(type, of(found)).what == FloatClass::nan;
      different += of(expected) != of(found);
      if (of(expected) != of(found) && !nans && offsets.size() < 5) offsets.push_back(at);
      at += part;
    }
    const ElementDiff result = comparer.result();
    EXPECT_EQ(result.elements, elements) << seed;
    EXPECT_EQ(result.different, different) << seed;
    std::vector<std::uint64_t> examples;
    for (const auto& example : result.examples) examples.push_back(example.offset);
    EXPECT_EQ(examples, offsets) << seed;
  }
}

}  // namespace
}  // namespace perflab::replay
