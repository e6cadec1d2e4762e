// Names, sizes and exact values of element types. f16 and bf16: IEEE 754 and its upper half; f8:
// OCP "OFP8" 1.0 and, with fnuz, the form without infinities and negative zero whose only NaN is
// 0x80 (the operand formats of the MI300 instruction set).
#include "replay/elements/element_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace perflab::replay {
namespace {

/// How the code points that are no numbers are spent.
enum class Specials : std::uint8_t {
  ieee,       ///< the largest exponent is infinity and NaN
  one_nan,    ///< all ones is a NaN of either sign, nothing is infinite
  minus_zero  ///< the bits of -0 are the only NaN
};

struct FloatFormat {
  int exponent_bits, mantissa_bits, bias;
  Specials specials;
};

struct TypeRow {
  ElementType type;
  std::string_view name;
  std::size_t bytes;
  FloatFormat format;  ///< exponent_bits 0: an integer
};

constexpr FloatFormat kInteger{
    .exponent_bits = 0, .mantissa_bits = 0, .bias = 0, .specials = Specials::ieee};
constexpr std::array<TypeRow, kElementTypes> kTypes{{
    {ElementType::u8, "u8", 1, kInteger},
    {ElementType::i8, "i8", 1, kInteger},
    {ElementType::u16, "u16", 2, kInteger},
    {ElementType::i16, "i16", 2, kInteger},
    {ElementType::u32, "u32", 4, kInteger},
    {ElementType::i32, "i32", 4, kInteger},
    {ElementType::u64, "u64", 8, kInteger},
    {ElementType::i64, "i64", 8, kInteger},
    {ElementType::f16, "f16", 2, {5, 10, 15, Specials::ieee}},
    {ElementType::bf16, "bf16", 2, {8, 7, 127, Specials::ieee}},
    {ElementType::f32, "f32", 4, {8, 23, 127, Specials::ieee}},
    {ElementType::f64, "f64", 8, {11, 52, 1023, Specials::ieee}},
    {ElementType::f8_e4m3, "f8_e4m3", 1, {4, 3, 7, Specials::one_nan}},
    {ElementType::f8_e5m2, "f8_e5m2", 1, {5, 2, 15, Specials::ieee}},
    {ElementType::f8_e4m3fnuz, "f8_e4m3fnuz", 1, {4, 3, 8, Specials::minus_zero}},
    {ElementType::f8_e5m2fnuz, "f8_e5m2fnuz", 1, {5, 2, 16, Specials::minus_zero}},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes.at(i).type != static_cast<ElementType>(i)) return false;
  return true;
}
static_assert(in_order());

const TypeRow& row_of(ElementType type) {
  return kTypes.at(static_cast<std::size_t>(type));
}

std::int64_t signed_value(std::uint64_t bits, std::size_t bytes) {
  const auto shift = static_cast<int>(64 - 8 * bytes);
  return static_cast<std::int64_t>(bits << shift) >> shift;
}

}  // namespace

std::string_view to_string(ElementType type) {
  return row_of(type).name;
}

std::vector<std::string> element_type_names() {
  std::vector<std::string> names;
  for (const TypeRow& row : kTypes) names.emplace_back(row.name);
  return names;
}

std::size_t bytes_of(ElementType type) {
  return row_of(type).bytes;
}

bool is_float(ElementType type) {
  return row_of(type).format.exponent_bits != 0;
}

FloatLayout layout_of(ElementType type) {
  PERFLAB_CHECK(is_float(type));
  const FloatFormat& format = row_of(type).format;
  return {.exponent_bits = format.exponent_bits,
          .mantissa_bits = format.mantissa_bits,
          .bias = format.bias};
}

FloatValue decode_float(ElementType type, std::uint64_t bits) {
  const FloatFormat& format = row_of(type).format;
  const int width = 1 + format.exponent_bits + format.mantissa_bits;
  const std::uint64_t sign_bit = std::uint64_t{1} << (width - 1);
  const std::uint64_t magnitude = bits & (sign_bit - 1);
  const bool negative = (bits & sign_bit) != 0;
  const std::uint64_t mantissa = magnitude & ((std::uint64_t{1} << format.mantissa_bits) - 1);
  const std::uint64_t exponent = magnitude >> format.mantissa_bits;
  const std::uint64_t top_exponent = (std::uint64_t{1} << format.exponent_bits) - 1;
  FloatValue out;
  out.place =
      negative ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
  if (format.specials == Specials::ieee && exponent == top_exponent) {
    out.what = mantissa == 0 ? FloatClass::infinite : FloatClass::nan;
    out.value = negative ? -INFINITY : INFINITY;
    return out;
  }
  if ((format.specials == Specials::one_nan && magnitude == sign_bit - 1) ||
      (format.specials == Specials::minus_zero && negative && magnitude == 0)) {
    out.what = FloatClass::nan;
    return out;
  }
  // A mantissa has at most 53 bits with its leading one: every step is exact.
  const std::uint64_t leading = exponent == 0 ? 0 : std::uint64_t{1} << format.mantissa_bits;
  const int power =
      static_cast<int>(std::max<std::uint64_t>(exponent, 1)) - format.bias - format.mantissa_bits;
  out.value = std::ldexp(static_cast<double>(leading | mantissa), power);
  if (negative) out.value = -out.value;
  return out;
}

std::string element_text(ElementType type, std::uint64_t bits) {
  const TypeRow& row = row_of(type);
  if (!is_float(type)) {
    const bool is_signed = row.name.front() == 'i';
    return is_signed ? fmt::format("{}", signed_value(bits, row.bytes)) : fmt::format("{}", bits);
  }
  const FloatValue value = decode_float(type, bits);
  if (value.what == FloatClass::nan) return "nan";
  if (type == ElementType::f64) return fmt::format("{}", value.value);
  return fmt::format("{}", static_cast<float>(value.value));
}

}  // namespace perflab::replay
