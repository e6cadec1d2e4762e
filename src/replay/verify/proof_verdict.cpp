// Verdicts of a verification and their sentences. docs/REPLAY.md says what each means.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/enum_names.h"
#include "replay/verify/verify_state.h"

namespace perflab::replay {
namespace {

ProofVerdict verdict_of(const VerifyState& state, const RegionState& region) {
  const RegionVerdict& counts = region.verdict;
  const ElementDiff& comparison = counts.comparison;
  const bool varies = counts.not_deterministic_bytes > 0 && !region.covered;
  if (comparison.beyond_tolerance > 0 || counts.unexpected_bytes > 0 ||
      counts.not_rewritten_bytes > 0 || counts.wrong_on_poison_bytes > 0)
    return ProofVerdict::differs;
  // That the original is not deterministic is an answer about it; another code object would have
  // been compared nowhere.
  if (varies && (comparison.elements > 0 || !state.has_other()))
    return ProofVerdict::not_deterministic;
  if (comparison.elements == 0) return ProofVerdict::proves_nothing;
  return comparison.different == 0 ? ProofVerdict::bitwise : ProofVerdict::within_tolerance;
}

ProofVerdict overall(const VerifyState& state) {
  if (!state.certificate.run_failure.empty() || !state.certificate.reproduces)
    return ProofVerdict::differs;
  const auto any = [&](ProofVerdict wanted) {
    return std::ranges::any_of(state.certificate.regions, [&](const RegionVerdict& region) {
      return region.verdict == wanted;
    });
  };
  if (any(ProofVerdict::differs)) return ProofVerdict::differs;
  const bool proven = any(ProofVerdict::bitwise) || any(ProofVerdict::within_tolerance);
  const bool varies = std::ranges::any_of(state.certificate.regions, [](const auto& region) {
    return region.verdict == ProofVerdict::not_deterministic ||
           (region.verdict == ProofVerdict::proves_nothing && region.not_deterministic_bytes > 0);
  });
  if (any(ProofVerdict::not_deterministic) || (proven && varies))
    return ProofVerdict::not_deterministic;
  if (any(ProofVerdict::within_tolerance)) return ProofVerdict::within_tolerance;
  return proven ? ProofVerdict::bitwise : ProofVerdict::proves_nothing;
}

/// "within 2 ULP (f32)", of the region with the largest distance.
std::string closeness(const Certificate& certificate) {
  const RegionVerdict* farthest = nullptr;
  for (const RegionVerdict& region : certificate.regions)
    if (region.comparison.largest_ulp &&
        (farthest == nullptr || *farthest->comparison.largest_ulp < *region.comparison.largest_ulp))
      farthest = &region;
  if (farthest == nullptr) return "within the tolerance";
  return fmt::format("within {} ULP ({})", *farthest->comparison.largest_ulp,
                     to_string(*farthest->comparison.type));
}

std::string counted_runs(const Certificate& certificate) {
  return fmt::format("{} run{}", certificate.runs, certificate.runs == 1 ? "" : "s");
}

/// "12 of 4096 elements differ beyond tolerance; 8 bytes were written that the captured dispatch
/// did not write".
std::string differences(const Certificate& certificate) {
  std::uint64_t elements = 0, beyond = 0, unexpected = 0, kept = 0, wrong = 0;
  for (const RegionVerdict& region : certificate.regions) {
    elements += region.comparison.elements;
    beyond += region.comparison.beyond_tolerance;
    unexpected += region.unexpected_bytes;
    kept += region.not_rewritten_bytes;
    wrong += region.wrong_on_poison_bytes;
  }
  std::string out;
  const auto add = [&](std::uint64_t count, const std::string& sentence) {
    if (count > 0) out += (out.empty() ? "" : "; ") + sentence;
  };
  add(beyond, fmt::format("{} of {} elements differ", beyond, elements));
  add(unexpected,
      fmt::format("{} bytes were written that the captured dispatch did not write", unexpected));
  add(kept, fmt::format("{} bytes of the outputs were still poisoned afterwards", kept));
  add(wrong, fmt::format("{} bytes of the outputs depend on what was there before", wrong));
  return out;
}

std::string varying(const Certificate& certificate) {
  std::uint64_t bytes = 0, ranges = 0;
  for (const RegionVerdict& region : certificate.regions) {
    bytes += region.not_deterministic_bytes;
    ranges += region.not_deterministic_ranges;
  }
  return fmt::format("{} bytes in {} range{}", bytes, ranges, ranges == 1 ? "" : "s");
}

bool compared_anything(const Certificate& certificate) {
  return std::ranges::any_of(certificate.regions, [](const RegionVerdict& region) {
    return region.comparison.elements > 0;
  });
}

std::string nothing_sentence(const Certificate& certificate) {
  const bool varies = std::ranges::any_of(certificate.regions, [](const RegionVerdict& region) {
    return region.not_deterministic_bytes > 0;
  });
  if (varies)
    return "Nothing was compared: the original repeats nothing of what it writes. A tolerance that "
           "its own runs keep to (--max-ulp, --rtol, --atol) would allow it.";
  switch (certificate.write_set) {
    case WriteSet::nothing:
      return "Nothing was compared: the captured dispatch changed nothing, and run again it wrote "
             "nothing even on poisoned memory (the buffers of its arguments).";
    case WriteSet::in_place:
      return "Nothing was compared: the captured dispatch changed nothing, and what it writes to "
             "poisoned buffers of its arguments depends on what was there (it works in place).";
    case WriteSet::unknown:
      return certificate.poison == Poison::none
                 ? "Nothing was compared: the captured dispatch changed nothing, and nothing was "
                   "poisoned to show what it writes."
                 : fmt::format(
                       "Nothing was compared: the captured dispatch changed nothing, and poison "
                       "was "
                       "to show what it writes: {}.",
                       certificate.poison_note);
    case WriteSet::captured:
    case WriteSet::poisoned:
      break;
  }
  return "Nothing was compared: every output depends on what was there before.";
}

/// Where what was compared comes from, when it is not the captured write set.
std::string write_set_words(const Certificate& certificate) {
  if (certificate.write_set != WriteSet::poisoned) return {};
  std::uint64_t bytes = 0;
  for (const RegionVerdict& region : certificate.regions) bytes += region.pure_output_bytes;
  return fmt::format(
      " The captured dispatch changed nothing: the {} bytes that it writes were found by running "
      "the original on poisoned buffers of its arguments.",
      bytes);
}

std::string sentence_of(const Certificate& certificate) {
  const std::string subject = certificate.original ? "This capture" : "The other code object";
  const std::string verb = certificate.original ? "reproduces itself" : "computes the same";
  switch (certificate.verdict) {
    case ProofVerdict::bitwise:
      return certificate.original
                 ? fmt::format("{} {}, bitwise, over {}.", subject, verb, counted_runs(certificate))
                 : fmt::format("{} {}, bitwise.", subject, verb);
    case ProofVerdict::within_tolerance:
      return certificate.original ? fmt::format("{} {} {}, over {}.", subject, verb,
                                                closeness(certificate), counted_runs(certificate))
                                  : fmt::format("{} {} {}.", subject, verb, closeness(certificate));
    case ProofVerdict::not_deterministic:
      if (!compared_anything(certificate))
        return fmt::format(
            "This capture is not deterministic: {} runs left {} differently, and "
            "nothing else was written.",
            certificate.runs, varying(certificate));
      return certificate.original
                 ? fmt::format("{} {}, but for {} that {} of the original left differently.",
                               subject, verb, varying(certificate), counted_runs(certificate))
                 : fmt::format("{} {} wherever the original repeats itself: all but {}.", subject,
                               verb, varying(certificate));
    case ProofVerdict::differs:
      break;
    case ProofVerdict::proves_nothing:
      return nothing_sentence(certificate);
  }
  if (!certificate.reproduces)
    return fmt::format(
        "This capture does not reproduce itself over {}: {}.{}", counted_runs(certificate),
        differences(certificate),
        certificate.original ? "" : " The other code object was not compared with it.");
  if (!certificate.run_failure.empty())
    return fmt::format("{} does not end well where the original does: {}.", subject,
                       certificate.run_failure);
  return fmt::format("{} does not compute the same: {}.", subject, differences(certificate));
}

}  // namespace

std::string_view to_string(Poison poison) {
  using enum Poison;
  static constexpr auto kWords =
      enum_names<Poison>({{none, "none"}, {written, "written"}, {arguments, "arguments"}});
  return kWords[poison];
}

std::string_view to_string(WriteSet write_set) {
  using enum WriteSet;
  static constexpr auto kWords = enum_names<WriteSet>({{captured, "captured"},
                                                       {poisoned, "poisoned"},
                                                       {in_place, "in_place"},
                                                       {nothing, "nothing"},
                                                       {unknown, "unknown"}});
  return kWords[write_set];
}

std::string_view to_string(ProofVerdict verdict) {
  using enum ProofVerdict;
  static constexpr auto kWords = enum_names<ProofVerdict>({{bitwise, "bitwise"},
                                                           {within_tolerance, "within_tolerance"},
                                                           {differs, "differs"},
                                                           {not_deterministic, "not_deterministic"},
                                                           {proves_nothing, "proves_nothing"}});
  return kWords[verdict];
}

int Certificate::exit_code() const {
  return verdict == ProofVerdict::differs || verdict == ProofVerdict::proves_nothing ? 1 : 0;
}

void conclude(VerifyState& state) {
  Certificate& certificate = state.certificate;
  const bool tolerance = state.options.compare.has_tolerance();
  bool untyped = false;
  for (RegionState& region : state.regions) {
    RegionVerdict verdict = region.verdict;
    const Tally& tally = region.comparer.tally();
    verdict.region = region.region;
    verdict.changed_bytes = tally.changed_bytes;
    verdict.compared_bytes = tally.compared_bytes;
    verdict.unexpected_bytes = tally.unexpected_bytes - region.forgiven_bytes;
    verdict.comparison = region.comparer.result();
    region.verdict = verdict;
    region.verdict.verdict = verdict_of(state, region);
    const bool of_interest = verdict.changed_bytes > 0 || verdict.compared_bytes > 0 ||
                             tally.excluded_bytes > 0 || verdict.changed_poison_bytes > 0;
    if (!of_interest) continue;
    untyped = untyped || !region.type;
    if (region.covered)
      certificate.notes.push_back(fmt::format(
          "{} bytes of region {:#x} differ between the runs of the original, all within the "
          "tolerance",
          verdict.not_deterministic_bytes, state.description_of(region).base));
    certificate.regions.push_back(region.verdict);
  }
  if (tolerance && untyped)
    certificate.notes.emplace_back(
        "regions without a type were compared bit by bit, without the tolerance: give one with "
        "--type");
  certificate.verdict = overall(state);
  certificate.sentence = sentence_of(certificate) + write_set_words(certificate);
  if (certificate.verdict == ProofVerdict::differs && !certificate.reproduces &&
      certificate.runs == 1)
    certificate.notes.emplace_back(
        "one run cannot tell a kernel that is not deterministic from a replay that is wrong: "
        "--runs 3 can");
}

}  // namespace perflab::replay
