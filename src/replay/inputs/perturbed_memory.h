// Other inputs at the same addresses: which captured bytes are varied, and what becomes of them. A
// page's new contents follow from its captured bytes, the seed and its place alone, so that they
// need not be kept. The policy is ours; docs/OPTIMIZER.md says it in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "capture/capture_reader.h"
#include "replay/elements/element_type.h"
#include "replay/verify/poison.h"

namespace perflab::replay {

/// What is varied. When the original does not end well on the inputs that one of them makes, the
/// next is milder.
enum class PerturbScope : std::uint8_t {
  /// Floats, also where only the data says that they are floats; where there are none, the integers
  /// that the kernel's signature or metadata names, which only change places.
  guessed,
  declared,  ///< floats that the signature, the metadata or the user names
  permuted,  ///< those, and they only change places
};
std::string_view to_string(PerturbScope scope);

/// Bytes [begin, end) of a region that hold elements of one type: from where a pointer of the
/// kernel's arguments points to where the next one does, or to the region's end.
struct PerturbedSpan {
  std::size_t region = 0;
  std::uint64_t begin = 0, end = 0;
  ElementType type = ElementType::f32;
  std::string type_from;  ///< "given", "the kernel's arguments", "the data"
};

/// The varied inputs of one capture. What is never varied: variables of code objects (compilers may
/// have folded them into the code), the region with the kernel's arguments, aligned words of 8
/// bytes that look like addresses of captured memory, NaN and infinity, and whatever no argument
/// points to. Floats change places within their page of 4 KiB, and three of four become another
/// number of their sign, with an exponent that is the same or one less and a mantissa that is
/// random: nothing grows, overflows or changes its sign, and no NaN comes to be. Zeros stay where
/// they are in the first input of three, change places with the others in the second, and one of
/// eight becomes a number from 0.5 to 1 in the third. Integers only change places within their
/// page: indices and offsets stay within the set of those that were there.
class PerturbedMemory {
 public:
  /// `given`: the user's element type, for pointers whose pointee is not known. `capture` has to
  /// outlive this. Errors: those of the reader.
  static Result<PerturbedMemory> make(const capture::Capture& capture,
                                      const std::vector<PointerArgument>& arguments,
                                      std::optional<ElementType> given, PerturbScope scope);

  /// By region and offset; empty: none_because() says why.
  [[nodiscard]] const std::vector<PerturbedSpan>& spans() const { return spans_; }
  [[nodiscard]] const std::string& none_because() const { return none_because_; }

  /// Chooses the input: from 1; 0 is the captured one.
  void choose(std::uint64_t seed, int number);
  /// Turns captured bytes into those of the chosen input. `offset`, in the region: a multiple of a
  /// page; `bytes`: whole pages, but for the region's last. Returns how many elements are others.
  std::uint64_t apply(std::size_t region, std::uint64_t offset, std::span<std::byte> bytes) const;

 private:
  PerturbedMemory(const capture::Capture& capture, PerturbScope scope)
      : capture_(capture), scope_(scope), addresses_(capture.description()) {}

  Result<void> find_spans(const std::vector<PointerArgument>& arguments,
                          std::optional<ElementType> given);
  /// What apply() does with one span. `offset` is that of a page.
  std::uint64_t vary_pages(const PerturbedSpan& span, std::uint64_t offset,
                           std::span<std::byte> bytes) const;
  /// `page`: its captured bytes; `first`: the offset of its first byte in the region.
  std::uint64_t vary(const PerturbedSpan& span, std::uint64_t first,
                     std::span<std::byte> page) const;

  const capture::Capture& capture_;
  PerturbScope scope_;
  Poisoner addresses_;
  std::vector<PerturbedSpan> spans_;
  std::string none_because_;
  std::uint64_t seed_ = 1;
  int number_ = 1;
};

}  // namespace perflab::replay
