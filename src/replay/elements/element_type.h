// The element types that outputs are compared as: their names, sizes and values, and finding the
// type of a region from the kernel's arguments or from the data itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "capture/capture_reader.h"

namespace perflab::replay {

/// Little-endian, as the GPUs store them. The two f8 types without a suffix are those of the OCP
/// specification (gfx950); those with "fnuz" are what gfx942 computes with.
enum class ElementType : std::uint8_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  u64,
  i64,
  f16,
  bf16,
  f32,
  f64,
  f8_e4m3,
  f8_e5m2,
  f8_e4m3fnuz,
  f8_e5m2fnuz,
};
inline constexpr std::size_t kElementTypes = 16;

std::string_view to_string(ElementType type);
/// All names, in the order of the types.
std::vector<std::string> element_type_names();
std::size_t bytes_of(ElementType type);
bool is_float(ElementType type);

/// Widths of a float's fields below its sign bit, and the exponent field of 1.0.
struct FloatLayout {
  int exponent_bits = 0, mantissa_bits = 0, bias = 0;
};
/// Precondition: is_float(type).
FloatLayout layout_of(ElementType type);

/// What the bits of a float stand for.
enum class FloatClass : std::uint8_t { finite, infinite, nan };

/// One float, exactly.
struct FloatValue {
  FloatClass what = FloatClass::finite;
  double value = 0;        ///< exact for every type; meaningless for a NaN
  std::int64_t place = 0;  ///< number of the value among all of its type, 0 for both zeros
};

/// Precondition: is_float(type). Bits above the type's size are ignored.
FloatValue decode_float(ElementType type, std::uint64_t bits);

/// An element in words: shortest decimal that reads back (f16 and smaller: as the f32 of the same
/// value), "nan", "-inf".
std::string element_text(ElementType type, std::uint64_t bits);

/// The type that a C++ or metadata name stands for: "float", "HIP_vector_type<float, 4u>",
/// "__hip_bfloat16", "unsigned int const"; missing for a name that is not known.
std::optional<ElementType> type_of_name(std::string_view name);

/// An address among the captured kernel arguments.
struct PointerArgument {
  std::uint64_t kernarg_offset = 0;  ///< bytes
  std::uint64_t address = 0;
  bool writable = true;  ///< false: the metadata or the signature says that it is only read
  std::optional<ElementType> pointee;
};

/// The explicit arguments of the captured kernel that can hold an address: pointers, and the
/// aligned 8-byte words of structures that are passed by value. Pointee and constness come from the
/// metadata (".type_name", ".is_const", ".access", ".actual_access") or, where that is silent as
/// HIP's compiler leaves it, from the parameters in the demangled name. A kernel without argument
/// metadata: every aligned word of its kernarg segment. Errors (bad_input): the captured code
/// object cannot be read.
Result<std::vector<PointerArgument>> pointer_arguments(const capture::Capture& capture);

/// The region whose captured bytes hold this address; missing: none.
std::optional<std::size_t> region_at(const capture::Description& description,
                                     std::uint64_t address);

/// The type that all typed pointers into a region agree on.
std::optional<ElementType> type_from_arguments(const capture::Description& description,
                                               const std::vector<PointerArgument>& arguments,
                                               std::size_t region);

/// Finds a type by looking at the values. The rule:
///  1. The period of the data: the least of 1, 2, 4 and 8 bytes at which the leading nibbles of the
///     bytes are distributed alike. Fewer than 64 samples of 8 bytes, or period 1: no type.
///  2. Period 8 is f64, or i64 when it holds small integers; 4 is f32 or i32 likewise; where both
///     halves of the elements are sane floats of half the size, these are the elements. A float
///     type needs 99 of 100 values that are zero or of a magnitude from 2^-40 to 2^40; an integer
///     type needs 99 of 100 whose upper quarter is only sign.
///  3. Period 2 is f16 when the three bits below its exponent are spread evenly (2.8 bits of
///     entropy or more in the median over octaves, as mantissas are), bf16 when they are not (2.6
///     or less, as exponents are) and the mantissas are not all alike; between the two: no type.
///     Both need sane magnitudes (f16: 2^-12 to 2^9).
/// It can be wrong (u32 data that looks like floats, for one): a guess is named as such wherever it
/// is used.
class TypeGuess {
 public:
  /// Values of the data, a multiple of 8 bytes from an offset that is one; blocks of 8 bytes that
  /// are zero do not count.
  void add(std::span<const std::byte> bytes);
  [[nodiscard]] std::optional<ElementType> type() const;

 private:
  [[nodiscard]] int period() const;
  [[nodiscard]] std::optional<ElementType> half_type() const;

  std::uint64_t samples_ = 0;
  std::array<std::array<std::uint64_t, 16>, 8> nibbles_{};  ///< of the byte at each place of 8
  std::array<std::uint64_t, 4> values_{}, sane_{};          ///< non-zero; f16, bf16, f32, f64
  std::uint64_t low_words_ = 0, low_halves_ = 0;            ///< not zero, of each 8 bytes
  std::uint64_t words_ = 0, small_words_ = 0;               ///< of 4 bytes, non-zero
  std::uint64_t longs_ = 0, small_longs_ = 0;               ///< of 8 bytes
  std::array<std::array<std::uint64_t, 8>, 32> below_exponent_{};  ///< by f16 exponent
  std::array<std::uint64_t, 128> mantissas_{};                     ///< of bf16
};

}  // namespace perflab::replay
