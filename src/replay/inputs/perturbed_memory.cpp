// Finding the spans that are varied, and varying a page. Random numbers: SplitMix64 (Steele, Lea,
// Flood 2014), seeded by seed, input, region and page.
#include "replay/inputs/perturbed_memory.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <numeric>
#include <utility>

#include "base/enum_names.h"
#include "base/parallel.h"
#include "base/random.h"
#include "replay/verify/verify_state.h"

namespace perflab::replay {
namespace {

/// Of so many zeros one becomes a number, in every third input.
constexpr std::uint64_t kZerosPerNumber = 8;
/// What one thread varies at a time: some ten times of what starting it takes.
constexpr std::size_t kVariedAtOnce = 32 * capture::kPageBytes;

class PerturbRandom {
 public:
  explicit PerturbRandom(std::uint64_t seed) : random_(seed) {}
  std::uint64_t next() { return random_.next(); }
  /// In [0, limit).
  std::uint64_t below(std::uint64_t limit) { return (next() >> 1U) % limit; }

 private:
  SplitMix64 random_;
};

std::uint64_t load_element(const std::byte* from, std::size_t bytes) {
  std::uint64_t out = 0;
  std::memcpy(&out, from, bytes);
  return out;
}

/// What a float's bits say, as far as varying needs it.
struct FloatFields {
  FloatLayout layout;
  std::uint64_t sign_bit, mantissa_mask, top_exponent;

  explicit FloatFields(ElementType type)
      : layout(layout_of(type)),
        sign_bit(std::uint64_t{1} << (layout.exponent_bits + layout.mantissa_bits)),
        mantissa_mask((std::uint64_t{1} << layout.mantissa_bits) - 1),
        top_exponent((std::uint64_t{1} << layout.exponent_bits) - 1) {}

  [[nodiscard]] std::uint64_t exponent(std::uint64_t bits) const {
    return (bits & (sign_bit - 1)) >> layout.mantissa_bits;
  }
  /// NaN and infinity, the largest octave of the types without infinity, and what is -0 in most
  /// types and NaN in some.
  [[nodiscard]] bool stays(std::uint64_t bits) const {
    return exponent(bits) == top_exponent || bits == sign_bit;
  }
  /// Another number of the same sign in the same octave or the one below.
  [[nodiscard]] std::uint64_t other(std::uint64_t bits, PerturbRandom& random) const {
    const std::uint64_t draw = random.next();
    std::uint64_t octave = exponent(bits);
    if (octave >= 2) octave -= draw >> 63U;
    std::uint64_t mantissa = draw & mantissa_mask;
    if (octave == 0) mantissa |= 1U;  // not zero
    return (bits & sign_bit) | octave << layout.mantissa_bits | mantissa;
  }
  /// From 0.5 to 1.
  [[nodiscard]] std::uint64_t number_for_zero(PerturbRandom& random) const {
    return static_cast<std::uint64_t>(layout.bias - 1) << layout.mantissa_bits |
           (random.next() & mantissa_mask);
  }
};

/// The elements of a page that are varied.
struct Elements {
  std::vector<std::size_t> at;  ///< first byte, in the page
  std::vector<std::uint64_t> bits;
};

void shuffle(std::vector<std::uint64_t>& values, PerturbRandom& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

void vary_floats(std::vector<std::uint64_t>& values, const FloatFields& fields,
                 PerturbRandom& random, bool fill_zeros) {
  for (std::uint64_t& bits : values) {
    const std::uint64_t draw = random.next();
    if (bits == 0) {
      if (fill_zeros && draw % kZerosPerNumber == 0) bits = fields.number_for_zero(random);
    } else if (draw % 4 != 0) {
      bits = fields.other(bits, random);
    }
  }
}

/// One place that arguments point to.
struct Pointed {
  std::optional<ElementType> pointee;
  bool contradicts = false;  ///< pointers of several types
};

}  // namespace

std::string_view to_string(PerturbScope scope) {
  using enum PerturbScope;
  static constexpr auto kWords = enum_names<PerturbScope>(
      {{guessed, "guessed"}, {declared, "declared"}, {permuted, "permuted"}});
  return kWords[scope];
}

Result<PerturbedMemory> PerturbedMemory::make(const capture::Capture& capture,
                                              const std::vector<PointerArgument>& arguments,
                                              std::optional<ElementType> given,
                                              PerturbScope scope) {
  PerturbedMemory memory(capture, scope);
  PERFLAB_TRY_VOID(memory.find_spans(arguments, given));
  return memory;
}

Result<void> PerturbedMemory::find_spans(const std::vector<PointerArgument>& arguments,
                                         std::optional<ElementType> given) {
  const capture::Description& description = capture_.description();
  const auto kernargs = region_at(description, description.dispatch.kernarg_address);
  std::map<std::pair<std::size_t, std::uint64_t>, Pointed> places;  // by region and offset
  for (const PointerArgument& argument : arguments) {
    const auto region = region_at(description, argument.address);
    if (!region || region == kernargs ||
        description.regions[*region].origin == capture::Origin::variable)
      continue;
    const std::uint64_t offset = argument.address - description.regions[*region].base;
    Pointed& pointed = places[{*region, offset}];
    if (argument.pointee && pointed.pointee && argument.pointee != pointed.pointee)
      pointed.contradicts = true;
    if (argument.pointee) pointed.pointee = argument.pointee;
  }
  if (places.empty()) {
    none_because_ = "no argument of the kernel points to captured memory";
    return {};
  }
  std::vector<PerturbedSpan> integers;
  for (auto at = places.begin(); at != places.end(); ++at) {
    const auto& [region, begin] = at->first;
    const auto next = std::next(at);
    PerturbedSpan span{.region = region,
                       .begin = begin,
                       .end = next != places.end() && next->first.first == region
                                  ? next->first.second
                                  : description.regions[region].bytes,
                       .type_from = "the kernel's arguments"};
    if (at->second.contradicts) continue;
    std::optional<ElementType> type = at->second.pointee;
    if (!type && given) {
      type = given;
      span.type_from = "given";
    } else if (!type && scope_ == PerturbScope::guessed) {
      PERFLAB_TRY(type, guess_type(capture_, region));
      span.type_from = "the data";
    }
    if (!type || begin % bytes_of(*type) != 0) continue;
    span.type = *type;
    if (is_float(*type))
      spans_.push_back(std::move(span));
    else if (span.type_from != "the data")
      integers.push_back(std::move(span));
  }
  if (!spans_.empty()) return {};
  if (scope_ == PerturbScope::guessed) spans_ = std::move(integers);
  if (spans_.empty())
    none_because_ =
        "neither the kernel's signature nor --type nor the data say which buffers hold numbers";
  return {};
}

void PerturbedMemory::choose(std::uint64_t seed, int number) {
  PERFLAB_CHECK(number >= 0);
  seed_ = seed;
  number_ = number;
}

std::uint64_t PerturbedMemory::apply(std::size_t region, std::uint64_t offset,
                                     std::span<std::byte> bytes) const {
  if (number_ == 0) return 0;
  const bool any = std::ranges::any_of(spans_, [&](const PerturbedSpan& span) {
    return span.region == region && span.begin < offset + bytes.size() && span.end > offset;
  });
  if (!any) return 0;
  // Each page by itself, whoever has time for it.
  const std::size_t pieces = (bytes.size() + kVariedAtOnce - 1) / kVariedAtOnce;
  std::vector<std::uint64_t> changed(pieces);
  parallel_each(pieces, thread_count(0), [&](std::size_t piece) {
    const std::size_t first = piece * kVariedAtOnce;
    const auto part = bytes.subspan(first, std::min(kVariedAtOnce, bytes.size() - first));
    for (const PerturbedSpan& span : spans_)
      if (span.region == region) changed[piece] += vary_pages(span, offset + first, part);
  });
  return std::accumulate(changed.begin(), changed.end(), std::uint64_t{0});
}

std::uint64_t PerturbedMemory::vary_pages(const PerturbedSpan& span, std::uint64_t offset,
                                          std::span<std::byte> bytes) const {
  std::uint64_t changed = 0;
  for (std::size_t at = 0; at < bytes.size(); at += capture::kPageBytes) {
    const std::size_t size = std::min<std::size_t>(capture::kPageBytes, bytes.size() - at);
    if (span.begin >= offset + at + size || span.end <= offset + at) continue;
    changed += vary(span, offset + at, bytes.subspan(at, size));
  }
  return changed;
}

std::uint64_t PerturbedMemory::vary(const PerturbedSpan& span, std::uint64_t first,
                                    std::span<std::byte> page) const {
  const std::size_t step = bytes_of(span.type);
  const std::size_t from = span.begin > first ? span.begin - first : 0;
  const std::size_t to = std::min<std::uint64_t>(page.size(), span.end - first) / step * step;
  const bool floats = is_float(span.type), permute_only = scope_ == PerturbScope::permuted;
  const std::optional<FloatFields> fields =
      floats ? std::optional<FloatFields>(span.type) : std::nullopt;
  const bool zeros_move = !floats || number_ % 3 == 2;
  const bool zeros_fill = floats && number_ % 3 == 0 && !permute_only;
  Elements elements;
  elements.at.reserve(page.size() / step);
  elements.bits.reserve(page.size() / step);
  Elements zeros;
  std::optional<std::size_t> looked_at;  // the word of 8 bytes that is_address is of
  bool is_address = false;
  for (std::size_t at = from; at + step <= to; at += step) {
    if (const std::size_t word = at / 8 * 8; looked_at != word) {
      looked_at = word;
      is_address =
          word + 8 <= page.size() && addresses_.is_address(load_element(page.data() + word, 8));
    }
    const std::uint64_t bits = load_element(page.data() + at, step);
    if (is_address || (fields && fields->stays(bits))) continue;
    Elements& into = floats && bits == 0 && !zeros_move ? zeros : elements;
    into.at.push_back(at);
    into.bits.push_back(bits);
  }
  PerturbRandom random(
      mixed_bits(mixed_bits(seed_ * 1000003 + static_cast<std::uint64_t>(number_)) ^
                 mixed_bits((std::uint64_t{span.region} << 40U) + first + span.begin * 3 + 1)));
  shuffle(elements.bits, random);
  if (floats && !permute_only) vary_floats(elements.bits, *fields, random, false);
  if (zeros_fill) vary_floats(zeros.bits, *fields, random, true);
  std::uint64_t changed = 0;
  for (const Elements* const group : {&elements, &zeros})
    for (std::size_t i = 0; i < group->at.size(); ++i) {
      std::byte* const place = page.data() + group->at[i];
      changed += load_element(place, step) != group->bits[i];
      std::memcpy(place, &group->bits[i], step);
    }
  return changed;
}

}  // namespace perflab::replay
