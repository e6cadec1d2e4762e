// `replay verify`, first half: which regions are compared as what, the runs of the original and of
// the other code object. verify_poison.cpp and verdict.cpp have the rest.
#include "replay/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/hash.h"
#include "base/system/files.h"
#include "base/system/interrupt.h"
#include "replay/code_choice.h"
#include "replay/verify/verify_state.h"

namespace perflab::replay {
namespace {

/// Pages that the type is guessed from, spread over all.
constexpr std::uint64_t kGuessPages = 1024;

/// Adds the changed words of a page, or all of them.
void add_to_guess(TypeGuess& guess, const PageView& view, bool changed_only) {
  if (!changed_only) return guess.add(view.after);
  for (std::size_t at = 0; at + 8 <= view.after.size(); at += 8)
    if (!same_bytes(view.before.subspan(at, 8), view.after.subspan(at, 8)))
      guess.add(view.after.subspan(at, 8));
}

Result<std::pair<std::optional<ElementType>, std::string>> find_type(const VerifyState& state,
                                                                     std::size_t region) {
  using Found = std::pair<std::optional<ElementType>, std::string>;
  if (state.options.compare.type) return Found{state.options.compare.type, "given"};
  if (const auto type = type_from_arguments(state.capture.description(), state.arguments, region))
    return Found{type, "the kernel's arguments"};
  const bool reached = std::ranges::any_of(state.arguments, [&](const PointerArgument& argument) {
    return region_at(state.capture.description(), argument.address) == region;
  });
  // What is neither written nor an argument is only looked at for stray writes.
  if (state.capture.description().regions[region].written.empty() && !reached) return Found{};
  PERFLAB_TRY(const std::optional<ElementType> type, guess_type(state.capture, region));
  return type ? Found{type, "the data"} : Found{};
}

}  // namespace

Result<std::optional<ElementType>> guess_type(const capture::Capture& capture, std::size_t region) {
  const capture::MemoryRegion& description = capture.description().regions[region];
  const bool changed = !description.written.empty();
  std::uint64_t pages = 0;
  for (const capture::PageRun& run : description.written) pages += run.count;
  if (!changed) pages = description.pages();
  const std::uint64_t step = pages / kGuessPages + 1;
  std::uint64_t number = 0;
  TypeGuess guess;
  const auto look = [&](const Batch& batch) -> Result<void> {
    return each_page(batch, batch.after, [&](const PageView& view) -> Result<void> {
      if (number++ % step == 0) add_to_guess(guess, view, changed);
      return {};
    });
  };
  PERFLAB_TRY_VOID(changed ? each_written_batch(capture, region, look)
                           : each_other_batch(capture, region, look));
  return guess.type();
}

Result<void> find_regions(VerifyState& state) {
  const auto& regions = state.capture.description().regions;
  std::size_t not_captured = 0;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    if (!regions[i].captured()) {
      ++not_captured;
      continue;
    }
    if (!state.session.address(i)) {
      state.certificate.notes.push_back(
          fmt::format("region {:#x} is not there in the replay: what is written to it is not "
                      "compared",
                      regions[i].base));
      continue;
    }
    PERFLAB_TRY(auto found, find_type(state, i));
    state.regions.push_back({.region = i,
                             .type = found.first,
                             .type_from = found.second,
                             .comparer = {found.first, found.second, state.options.compare},
                             .verdict = {},
                             .most_beyond = 0,
                             .steady_beyond = 0,
                             .covered = false,
                             .suspects = {},
                             .forgiven_bytes = 0,
                             .last_varying_end = 0});
  }
  if (not_captured > 0)
    state.certificate.notes.push_back(
        fmt::format("{} of {} regions were not captured: what is written to them is not compared",
                    not_captured, regions.size()));
  return {};
}

std::uint64_t beyond_of(const ElementDiffer& comparer, std::span<const std::byte> expected,
                        std::span<const std::byte> found) {
  const std::size_t step = comparer.element_bytes();
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < expected.size(); at += step) {
    const std::size_t part = std::min(step, expected.size() - at);
    count += !comparer.accepts(expected.subspan(at, part), found.subspan(at, part));
  }
  return count;
}

namespace {

/// Keeps what the first run left where it is not the post-image, and marks what later runs leave
/// otherwise.
Result<void> keep_page(VerifyState& state, const RegionState& region, const PageView& view,
                       bool first_run) {
  const PageStore::Key key{region.region, view.page};
  const bool known = state.kept.has(key);
  if (!known && same_bytes(view.found, view.after)) return {};
  KeptPage page;
  if (known) {
    PERFLAB_TRY(page, state.kept.get(key));
  } else {
    // Earlier runs left the post-image here.
    std::ranges::copy(first_run ? view.found : view.after, page.bytes.begin());
  }
  if (!first_run)
    page.varying.set_differences(view.found, std::span(page.bytes).first(view.found.size()));
  return state.kept.put(key, page);
}

/// Tells what begins: `step` of the original's runs, the other code object's and those on poison.
void tell(const VerifyState& state, std::string_view what, int step) {
  if (state.options.progress) state.options.progress(what, step / (state.options.runs + 2.0));
}

Result<void> run_originals(VerifyState& state) {
  for (int run = 0; run < state.options.runs; ++run) {
    tell(state, "running the captured code object", run);
    PERFLAB_TRY_VOID(dispatch(state));
    bool stray = false;
    for (RegionState& region : state.regions) {
      std::uint64_t beyond = 0;
      PERFLAB_TRY_VOID(
          scan(state, region.region, Look::wrong, [&](const PageView& view) -> Result<void> {
            const bool as_before = same_bytes(view.found, view.before);
            stray = stray || (!view.written && !as_before);
            if (!same_bytes(view.found, view.after))
              beyond += beyond_of(region.comparer, view.after, view.found);
            return keep_page(state, region, view, run == 0);
          }));
      region.most_beyond = std::max(region.most_beyond, beyond);
    }
    if (stray) {
      PERFLAB_TRY_VOID(restore_all(state));
    } else {
      PERFLAB_TRY([[maybe_unused]] const Restored restored, state.session.restore_writes());
    }
  }
  return {};
}

/// Adds the varying elements of a page to the region's ranges.
void add_ranges(RegionState& region, std::uint64_t offset, std::size_t size,
                const ByteMask& varying) {
  if (varying.none()) return;
  const std::size_t step = region.comparer.element_bytes();
  auto& ranges = region.verdict.not_deterministic;
  for (std::size_t at = 0; at < size; at += step) {
    const std::size_t part = std::min(step, size - at);
    bool varies = false;
    for (std::size_t i = at; i < at + part; ++i) varies = varies || varying.test(i);
    if (!varies) continue;
    RegionVerdict& verdict = region.verdict;
    verdict.not_deterministic_bytes += part;
    const std::uint64_t first = offset + at;
    if (region.last_varying_end == first && verdict.not_deterministic_ranges > 0) {
      if (verdict.not_deterministic_ranges == ranges.size()) ranges.back().bytes += part;
    } else {
      ++verdict.not_deterministic_ranges;
      if (ranges.size() < kMostRanges) ranges.push_back({.offset = first, .bytes = part});
    }
    region.last_varying_end = first + part;
  }
}

/// Compares what the first run left with the post-image. Nothing is read from the device.
Result<void> compare_first_run(VerifyState& state, RegionState& region) {
  const capture::MemoryRegion& description = state.description_of(region);
  region.comparer = {region.type, region.type_from, state.options.compare};
  const auto feed = [&](const PageView& view) -> Result<void> {
    Piece piece{.offset = view.offset,
                .before = view.before,
                .expected = view.after,
                .found = view.after,
                .excluded = nullptr};
    const PageStore::Key key{region.region, view.page};
    if (!state.kept.has(key)) {
      region.comparer.feed(piece);
      return {};
    }
    PERFLAB_TRY(const KeptPage kept, state.kept.get(key));
    piece.found = std::span(kept.bytes).first(view.after.size());
    if (!region.covered) piece.excluded = &kept.varying;
    region.comparer.feed(piece);
    return {};
  };
  PERFLAB_TRY_VOID(each_written_batch(state.capture, region.region, [&](const Batch& batch) {
    return each_page(batch, batch.after, feed);
  }));
  // Then the pages that only this run wrote.
  auto run = description.written.begin();
  for (auto at = state.kept.pages().lower_bound({region.region, 0});
       at != state.kept.pages().end() && at->first.first == region.region; ++at) {
    const std::uint64_t page = at->first.second, offset = page * capture::kPageBytes;
    while (run != description.written.end() && run->first + run->count <= page) ++run;
    if (run != description.written.end() && run->first <= page) continue;
    PageBytes before{};
    const auto bytes = std::span(before).first(static_cast<std::size_t>(
        std::min<std::uint64_t>(capture::kPageBytes, description.bytes - offset)));
    PERFLAB_TRY_VOID(state.capture.read_at(region.region, offset, bytes));
    PERFLAB_TRY_VOID(feed({.page = page,
                           .offset = offset,
                           .before = bytes,
                           .after = bytes,
                           .found = bytes,
                           .written = false}));
  }
  return {};
}

/// The verdict on the original's runs in one region.
Result<void> judge_original(VerifyState& state, RegionState& region) {
  const std::uint64_t bytes = state.description_of(region).bytes;
  for (auto at = state.kept.pages().lower_bound({region.region, 0});
       at != state.kept.pages().end() && at->first.first == region.region; ++at) {
    const std::uint64_t offset = at->first.second * capture::kPageBytes;
    PERFLAB_TRY(const KeptPage kept, state.kept.get(at->first));
    add_ranges(
        region, offset,
        static_cast<std::size_t>(std::min<std::uint64_t>(capture::kPageBytes, bytes - offset)),
        kept.varying);
  }
  PERFLAB_TRY_VOID(compare_first_run(state, region));
  region.steady_beyond = region.comparer.result().beyond_tolerance;
  region.covered = region.verdict.not_deterministic_bytes > 0 &&
                   state.options.compare.has_tolerance() && region.type && is_float(*region.type) &&
                   region.most_beyond <= region.steady_beyond;
  return region.covered ? compare_first_run(state, region) : Result<void>{};
}

Result<void> compare_other(VerifyState& state, RegionState& region) {
  const bool may_forgive = state.certificate.poison == Poison::arguments &&
                           state.options.compare.has_tolerance() && region.type &&
                           is_float(*region.type);
  region.comparer = {region.type, region.type_from, state.options.compare};
  return scan(state, region.region, Look::changed, [&](const PageView& view) -> Result<void> {
    KeptPage kept;
    const PageStore::Key key{region.region, view.page};
    if (state.kept.has(key)) {
      PERFLAB_TRY(kept, state.kept.get(key));
    }
    ByteMask unexpected;
    region.comparer.feed({.offset = view.offset,
                          .before = view.before,
                          .expected = view.after,
                          .found = view.found,
                          .excluded = region.covered ? nullptr : &kept.varying},
                         &unexpected);
    if (may_forgive && unexpected.any() && region.suspects.size() < kMostSuspects)
      region.suspects[view.page] = unexpected;
    return {};
  });
}

/// One run of the other code object. A run that fails is its answer, not an error.
Result<void> run_other(VerifyState& state) {
  PERFLAB_TRY_VOID(state.session.load(state.options.code_object, state.options.launch));
  for (RegionState& region : state.regions) {
    if (state.session.address(region.region)) continue;
    const capture::MemoryRegion& description = state.description_of(region);
    region.comparer = {region.type, region.type_from, state.options.compare};
    if (is_unit_marker(description)) continue;
    state.certificate.notes.push_back(
        fmt::format("the other code object has no variable {}", description.symbol));
    if (description.written.empty()) continue;
    state.certificate.failure = Failure::kernel_mismatch;
    state.certificate.run_failure =
        fmt::format("{}: the code object has no variable {}, which the captured dispatch writes",
                    to_string(Failure::kernel_mismatch), description.symbol);
  }
  if (!state.certificate.run_failure.empty()) return {};
  if (const auto done = dispatch(state); !done) {
    if (done.error().code != ErrorCode::target_failed) return done;
    state.certificate.run_failure = done.error().message;
    state.certificate.failure = failure_of(done.error());
    return {};
  }
  for (RegionState& region : state.regions)
    if (state.session.address(region.region)) PERFLAB_TRY_VOID(compare_other(state, region));
  return restore_all(state);
}

Result<void> describe_run(VerifyState& state) {
  const capture::Description& description = state.capture.description();
  Certificate& certificate = state.certificate;
  certificate.kernel = description.dispatch.kernel;
  certificate.demangled = description.dispatch.demangled;
  PERFLAB_TRY_VOID(state.capture.check_bytes());
  certificate.capture_hash = state.capture.hash();
  certificate.code_object_hash = description.code_object_hash;
  if (state.has_other()) {
    PERFLAB_TRY(const std::string object, read_file(state.options.code_object));
    certificate.code_object_hash = content_hash_text(object);
  }
  certificate.original = !state.has_other();
  certificate.poison = state.options.poison;
  certificate.runs = state.options.runs;
  certificate.notes = state.session.notes();
  return {};
}

/// Whether the original leaves what it left when it was captured, wherever it is repeatable.
bool reproduces(const VerifyState& state) {
  return std::ranges::none_of(state.regions, [](const RegionState& region) {
    return region.comparer.result().beyond_tolerance > 0 ||
           region.comparer.tally().unexpected_bytes > 0;
  });
}

/// Whether the captured dispatch changed anything that was captured, or runs of it differ.
bool changed_anything(const VerifyState& state) {
  return std::ranges::any_of(state.regions, [&](const RegionState& region) {
    return !state.description_of(region).written.empty() ||
           region.verdict.not_deterministic_bytes > 0;
  });
}

/// Step 3: without a captured write set, poison has to show what the original writes.
void choose_poison(VerifyState& state) {
  if (changed_anything(state)) return;
  state.certificate.write_set = WriteSet::unknown;
  if (state.certificate.poison != Poison::none) state.certificate.poison = Poison::arguments;
}

/// What poison has shown, when it was to show the write set.
void judge_write_set(VerifyState& state) {
  Certificate& certificate = state.certificate;
  if (certificate.write_set == WriteSet::captured || certificate.poison == Poison::none) return;
  std::uint64_t pure = 0, changed = 0;
  for (const RegionState& region : state.regions) {
    pure += region.verdict.pure_output_bytes;
    changed += region.verdict.changed_poison_bytes;
  }
  if (pure > 0)
    certificate.write_set = WriteSet::poisoned;
  else if (certificate.poison_note.empty() && !state.device_lost)
    certificate.write_set = changed > 0 ? WriteSet::in_place : WriteSet::nothing;
}

}  // namespace

Result<void> dispatch(VerifyState& state) {
  if (interrupted()) return fail(ErrorCode::interrupted, "interrupted between two dispatches");
  state.restored = false;
  const auto time = state.session.run();
  if (time) return {};
  state.device_lost = true;
  return std::unexpected(time.error());
}

Result<void> restore_all(VerifyState& state) {
  PERFLAB_TRY([[maybe_unused]] const Restored restored, state.session.restore_all());
  state.restored = true;
  return {};
}

Result<Certificate> verify(Session& session, const VerifyOptions& options) {
  VerifyState state{.session = session,
                    .options = options,
                    .capture = session.capture(),
                    .arguments = {},
                    .regions = {},
                    .kept = {},
                    .certificate = {}};
  PERFLAB_CHECK(options.runs >= 1);
  PERFLAB_TRY_VOID(describe_run(state));
  PERFLAB_TRY_VOID(state.session.load({}));
  PERFLAB_TRY(state.arguments, pointer_arguments(state.capture));
  PERFLAB_TRY_VOID(find_regions(state));
  PERFLAB_TRY_VOID(run_originals(state));
  for (RegionState& region : state.regions) PERFLAB_TRY_VOID(judge_original(state, region));
  // Against an original that does something else, nothing can be said about another code object.
  state.certificate.reproduces = reproduces(state);
  if (state.certificate.reproduces) {
    choose_poison(state);
    tell(state, "running the other code object", options.runs);
    if (state.has_other()) PERFLAB_TRY_VOID(run_other(state));
    tell(state, "running on poisoned memory", options.runs + 1);
    if (!state.device_lost && state.certificate.poison != Poison::none)
      PERFLAB_TRY_VOID(verify_on_poison(state));
    judge_write_set(state);
  }
  if (!state.device_lost) {
    if (state.has_other()) PERFLAB_TRY_VOID(state.session.load({}));
    if (!state.restored) PERFLAB_TRY_VOID(restore_all(state));
  }
  state.certificate.left_memory = session.left_memory();
  conclude(state);
  return std::move(state.certificate);
}

}  // namespace perflab::replay
