// One input after another: written, run by the original a few times, then by the other code object.
// What a run left is read once and put back as it was in the same pass, so that nothing is restored
// in between; what the original leaves is kept on disk where it differs from the input.
#include "replay/inputs/perturb.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "replay/inputs/perturb_state.h"

namespace perflab::replay {
namespace {

enum class RunEnd : std::uint8_t { fine, failed };

/// A dispatch of one of the two; a failure of the dispatch itself goes into `failure`.
Result<RunEnd> run_once(PerturbState& state, std::string_view who, std::string& failure,
                        std::optional<Failure>* kind = nullptr) {
  if (state.options.on_step) PERFLAB_TRY_VOID(state.options.on_step(who));
  const auto done = dispatch(state.verify);
  if (done) return RunEnd::fine;
  if (done.error().code != ErrorCode::target_failed) return std::unexpected(done.error());
  failure = done.error().message;
  if (kind != nullptr) *kind = failure_of(done.error());
  state.result.device_lost = true;
  return RunEnd::failed;
}

/// Hands over the pages where memory is not the input, and those that were kept before: `before` is
/// the input, `after` the captured post-image. Then puts the input back.
template <class F>
Result<void> scan_and_restore(PerturbState& state, std::size_t region, F&& take) {
  VerifyState& verify = state.verify;
  std::vector<std::byte> found(most_batch_bytes(verify.capture, region)), input(found.size());
  const auto look = [&](const Batch& batch) -> Result<void> {
    const auto now = std::span(found).first(batch.before.size());
    const auto before = std::span(input).first(batch.before.size());
    std::ranges::copy(batch.before, before.begin());
    state.memory.apply(region, batch.offset, before);
    PERFLAB_TRY_VOID(verify.session.read(region, batch.offset, now));
    const auto kept = verify.kept.pages().lower_bound({region, batch.offset / capture::kPageBytes});
    const bool any_kept = kept != verify.kept.pages().end() && kept->first.first == region &&
                          kept->first.second * capture::kPageBytes < batch.offset + before.size();
    if (!any_kept && same_bytes(now, before)) return {};
    const Batch varied{
        .offset = batch.offset, .before = before, .after = batch.after, .written = batch.written};
    return each_page(varied, now, [&](const PageView& view) -> Result<void> {
      const bool as_before = same_bytes(view.found, view.before);
      if (as_before && !verify.kept.has({region, view.page})) return {};
      PERFLAB_TRY_VOID(take(view));
      return as_before ? Result<void>{} : verify.session.write(region, view.offset, view.before);
    });
  };
  PERFLAB_TRY_VOID(each_written_batch(verify.capture, region, look));
  return each_other_batch(verify.capture, region, look);
}

/// Brings the captured contents back and writes the varied ones over them.
Result<void> write_input(PerturbState& state, PerturbedInput& input) {
  PERFLAB_TRY([[maybe_unused]] const Restored restored, state.verify.session.restore_all());
  if (input.number == 0) return {};
  std::vector<std::byte> varied;
  std::optional<std::size_t> last;
  for (const PerturbedSpan& span : state.memory.spans()) {
    if (last == span.region) continue;  // all spans of a region at once
    last = span.region;
    if (!state.verify.session.address(span.region)) continue;
    const auto write = [&](const Batch& batch) -> Result<void> {
      varied.assign(batch.before.begin(), batch.before.end());
      const std::uint64_t changed = state.memory.apply(span.region, batch.offset, varied);
      input.elements += changed;
      return changed == 0 ? Result<void>{}
                          : state.verify.session.write(span.region, batch.offset, varied);
    };
    PERFLAB_TRY_VOID(each_written_batch(state.verify.capture, span.region, write));
    PERFLAB_TRY_VOID(each_other_batch(state.verify.capture, span.region, write));
  }
  return {};
}

/// Keeps what the first run of the original left.
Result<void> keep_first(PerturbState& state, const RegionState& region, const PageView& view,
                        PerturbedInput& input) {
  KeptPage page;
  std::ranges::copy(view.found, page.bytes.begin());
  for (std::size_t i = 0; i < view.found.size(); ++i)
    input.changed_output_bytes += view.found[i] != view.before[i] && view.found[i] != view.after[i];
  return state.verify.kept.put({region.region, view.page}, page);
}

/// Marks what a later run of the original left otherwise.
Result<void> mark_varying(PerturbState& state, RegionState& region, const PageView& view) {
  const PageStore::Key key{region.region, view.page};
  KeptPage page;
  if (state.verify.kept.has(key)) {
    PERFLAB_TRY(page, state.verify.kept.get(key));
  } else {
    std::ranges::copy(view.before, page.bytes.begin());
  }
  const auto first = std::span(page.bytes).first(view.found.size());
  if (same_bytes(first, view.found)) return {};
  region.most_beyond += beyond_of(region.comparer, first, view.found);
  region.verdict.not_deterministic_bytes += 1;  // only whether there are any
  page.varying.set_differences(view.found, first);
  return state.verify.kept.put(key, page);
}

/// Whether runs of the original differ from one another.
bool any_varying(const PerturbState& state) {
  return std::ranges::any_of(state.verify.regions, [](const RegionState& region) {
    return region.verdict.not_deterministic_bytes > 0;
  });
}

/// The original's runs. `stray`: a sentence when it wrote where it should not.
Result<RunEnd> run_originals_perturbed(PerturbState& state, PerturbedInput& input,
                                       std::string& stray) {
  const PerturbOptions& options = state.options;
  for (RegionState& region : state.verify.regions) {
    region.most_beyond = 0;
    region.verdict.not_deterministic_bytes = 0;
    region.comparer = {region.type, region.type_from, options.compare};
  }
  const int most = std::max(options.runs, options.most_runs);
  for (int run = 0; run < options.runs || (run < most && any_varying(state)); ++run) {
    PERFLAB_TRY(const RunEnd end, run_once(state, input.number == 0 ? "captured" : "original",
                                           state.result.original_failed));
    if (end == RunEnd::failed) return end;
    for (RegionState& region : state.verify.regions) {
      const auto take = [&](const PageView& view) -> Result<void> {
        if (!state.may_write[region.region])
          stray = fmt::format("the original wrote to region {:#x}, which it did not when captured",
                              state.verify.description_of(region).base);
        return run == 0 ? keep_first(state, region, view, input)
                        : mark_varying(state, region, view);
      };
      PERFLAB_TRY_VOID(scan_and_restore(state, region.region, take));
    }
  }
  for (RegionState& region : state.verify.regions)
    region.covered = region.verdict.not_deterministic_bytes > 0 && region.most_beyond == 0 &&
                     options.compare.has_tolerance() && region.type && is_float(*region.type);
  return RunEnd::fine;
}

Result<void> compare_region(PerturbState& state, RegionState& region) {
  return scan_and_restore(state, region.region, [&](const PageView& view) -> Result<void> {
    KeptPage kept;
    auto expected = view.before;
    const PageStore::Key key{region.region, view.page};
    if (state.verify.kept.has(key)) {
      PERFLAB_TRY(kept, state.verify.kept.get(key));
      expected = std::span(kept.bytes).first(view.before.size());
    }
    region.comparer.feed({.offset = view.offset,
                          .before = view.before,
                          .expected = expected,
                          .found = view.found,
                          .excluded = region.covered ? nullptr : &kept.varying});
    return {};
  });
}

ProofVerdict verdict_of_input(const PerturbedInput& input) {
  if (!input.run_failure.empty()) return ProofVerdict::differs;
  std::uint64_t elements = 0, different = 0, excluded = 0;
  for (const PerturbedRegion& region : input.regions) {
    if (region.comparison.beyond_tolerance > 0 || region.unexpected_bytes > 0)
      return ProofVerdict::differs;
    elements += region.comparison.elements;
    different += region.comparison.different;
    excluded += region.excluded_bytes;
  }
  if (elements == 0) return ProofVerdict::proves_nothing;
  if (excluded > 0) return ProofVerdict::not_deterministic;
  return different == 0 ? ProofVerdict::bitwise : ProofVerdict::within_tolerance;
}

std::string sentence_of_input(const PerturbedInput& input) {
  const std::string on =
      fmt::format("on perturbed input {} ({} elements are others)", input.number, input.elements);
  if (!input.run_failure.empty())
    return fmt::format("It does not end well {} where the original does: {}.", on,
                       input.run_failure);
  std::uint64_t elements = 0, beyond = 0, unexpected = 0;
  for (const PerturbedRegion& region : input.regions) {
    elements += region.comparison.elements;
    beyond += region.comparison.beyond_tolerance;
    unexpected += region.unexpected_bytes;
  }
  switch (input.verdict) {
    case ProofVerdict::bitwise:
      return fmt::format("The same as the original {}, bitwise.", on);
    case ProofVerdict::within_tolerance:
      return fmt::format("The same as the original {}, within the tolerance.", on);
    case ProofVerdict::not_deterministic:
      return fmt::format("The same as the original {} wherever that repeats itself.", on);
    case ProofVerdict::proves_nothing:
      return fmt::format("Nothing could be compared {}.", on);
    case ProofVerdict::differs:
      break;
  }
  std::string out = beyond > 0 ? fmt::format("{} of {} elements differ", beyond, elements) : "";
  if (unexpected > 0)
    out += fmt::format("{}{} bytes were written that the original does not write",
                       out.empty() ? "" : "; ", unexpected);
  return fmt::format("It computes something else {}: {}.", on, out);
}

/// The other code object's run on the input that the original just had.
Result<void> run_other_perturbed(PerturbState& state, PerturbedInput& input) {
  Session& session = state.verify.session;
  PERFLAB_TRY_VOID(session.load(state.options.code_object));
  PERFLAB_TRY(const RunEnd end, run_once(state, "other", input.run_failure, &input.failure));
  if (end == RunEnd::failed) return {};
  for (RegionState& region : state.verify.regions) {
    region.comparer = {region.type, region.type_from, state.options.compare};
    if (!session.address(region.region)) continue;  // a variable that it does not have
    PERFLAB_TRY_VOID(compare_region(state, region));
    const Tally& tally = region.comparer.tally();
    if (tally.compared_bytes == 0 && tally.excluded_bytes == 0) continue;
    input.regions.push_back({.region = region.region,
                             .compared_bytes = tally.compared_bytes,
                             .unexpected_bytes = tally.unexpected_bytes,
                             .excluded_bytes = tally.excluded_bytes,
                             .comparison = region.comparer.result()});
  }
  return session.load({});
}

/// One input. Missing: it was set aside, or the original failed on it.
Result<std::optional<PerturbedInput>> try_input(PerturbState& state, int number) {
  PerturbedInput input;
  PERFLAB_TRY(const OracleEnd end, run_oracle(state, number, input));
  if (end != OracleEnd::usable) return std::optional<PerturbedInput>{};
  PERFLAB_TRY_VOID(run_other_perturbed(state, input));
  input.verdict = verdict_of_input(input);
  input.sentence = sentence_of_input(input);
  return std::optional(std::move(input));
}

Result<void> try_inputs(PerturbState& state) {
  PerturbedResult& result = state.result;
  const int last = state.options.inputs + kMoreInputTries;
  for (int number = 1; number <= last; ++number) {
    if (static_cast<int>(result.inputs.size()) == state.options.inputs) break;
    PERFLAB_TRY(std::optional<PerturbedInput> input, try_input(state, number));
    const bool differs = input && input->verdict == ProofVerdict::differs;
    if (input) result.inputs.push_back(std::move(*input));
    if (result.device_lost) return {};
    if (differs) break;
  }
  PERFLAB_TRY([[maybe_unused]] const Restored restored, state.verify.session.restore_all());
  if (result.inputs.empty())
    result.none_because = fmt::format("none of {} was of use: {}", last, result.notes.back());
  else if (std::ranges::all_of(result.inputs, [](const PerturbedInput& input) {
             return input.changed_output_bytes == 0 && input.verdict != ProofVerdict::differs;
           }))
    result.notes.emplace_back(
        "the outputs on the perturbed inputs are those on the captured one: they prove nothing "
        "new");
  return {};
}

}  // namespace

Result<OracleEnd> run_oracle(PerturbState& state, int number, PerturbedInput& input) {
  input.number = number;
  state.memory.choose(state.options.seed, number);
  state.verify.kept = {};
  PERFLAB_TRY_VOID(write_input(state, input));
  const auto set_aside = [&](const std::string& why) {
    state.result.notes.push_back(fmt::format("perturbed input {} was set aside: {}", number, why));
    return OracleEnd::set_aside;
  };
  if (number > 0 && input.elements == 0) return set_aside("it is the captured one");
  std::string stray;
  PERFLAB_TRY(const RunEnd end, run_originals_perturbed(state, input, stray));
  if (end == RunEnd::failed) return OracleEnd::failed;
  if (number > 0 && !stray.empty()) return set_aside(stray);
  return OracleEnd::usable;
}

Result<PerturbState> open_perturb_state(Session& session, const PerturbOptions& options,
                                        const VerifyOptions& verify_options) {
  const capture::Capture& capture = session.capture();
  PERFLAB_TRY_VOID(session.load({}));
  PERFLAB_TRY(std::vector<PointerArgument> arguments, pointer_arguments(capture));
  PERFLAB_TRY(PerturbedMemory memory,
              PerturbedMemory::make(capture, arguments, options.compare.type, options.scope));
  PerturbState state{.options = options,
                     .verify = {.session = session,
                                .options = verify_options,
                                .capture = capture,
                                .arguments = std::move(arguments),
                                .regions = {},
                                .kept = {},
                                .certificate = {}},
                     .memory = std::move(memory),
                     .result = {},
                     .may_write = {}};
  state.result.spans = state.memory.spans();
  state.result.none_because = state.memory.none_because();
  PERFLAB_TRY_VOID(find_regions(state.verify));
  for (const capture::MemoryRegion& region : capture.description().regions)
    state.may_write.push_back(!region.written.empty());
  for (const PointerArgument& argument : state.verify.arguments)
    if (const auto region = region_at(capture.description(), argument.address);
        region && argument.writable)
      state.may_write[*region] = true;
  return state;
}

Result<PerturbedResult> verify_perturbed(Session& session, const PerturbOptions& options) {
  PERFLAB_CHECK(options.inputs >= 1 && options.runs >= 1);
  const VerifyOptions verify_options{.code_object = options.code_object,
                                     .poison = Poison::none,
                                     .runs = options.runs,
                                     .compare = options.compare};
  PERFLAB_TRY(PerturbState state, open_perturb_state(session, options, verify_options));
  if (!state.result.spans.empty()) PERFLAB_TRY_VOID(try_inputs(state));
  return std::move(state.result);
}

}  // namespace perflab::replay
