// Making inputs, bringing them back before each dispatch, and comparing what it left. A page that
// is what the oracle left is not looked at twice; nor is what was found right before.
#include "replay/inputs/timed_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "replay/inputs/perturb_state.h"

namespace perflab::replay {
namespace {

using capture::kPageBytes;

/// Runs of the original on an input; more of one that does not repeat itself: timed dispatches are
/// many, and each byte that varies has to be known.
constexpr int kTimedOracleRuns = 2, kMostTimedOracleRuns = 8;

bool in_write_set(const capture::MemoryRegion& region, std::uint64_t page) {
  return std::ranges::any_of(region.written, [&](const capture::PageRun& run) {
    return run.first <= page && page < run.first + run.count;
  });
}

bool same_compare(const DiffOptions& a, const DiffOptions& b) {
  return a.type == b.type && a.max_ulp == b.max_ulp && a.max_relative == b.max_relative &&
         a.max_absolute == b.max_absolute && a.nan_equal == b.nan_equal;
}

bool same_options(const TimedInputOptions& a, const TimedInputOptions& b) {
  return a.seed == b.seed && a.scope == b.scope && a.no_scope_because == b.no_scope_because &&
         same_compare(a.compare, b.compare);
}

/// Of what was found at a place of a region, on one input.
std::uint64_t place_hash(int input, std::size_t region, const std::string& place,
                         std::span<const std::byte> found) {
  return content_hash(
      fmt::format("{} {} {} {}", input, region, place,
                  content_hash({reinterpret_cast<const char*>(found.data()), found.size()})));
}

}  // namespace

struct TimedInputs::State {
  /// Whole pages of a region that an input varies.
  struct VariedPages {
    std::size_t region = 0;
    std::uint64_t begin = 0, end = 0;  ///< bytes in the region; the end may be its end
    std::uint64_t at = 0;              ///< in a copy of the input
  };

  /// One input and what the oracle left on it.
  struct TimedInput {
    int number = 0;                        ///< for PerturbedMemory; 0: the captured one
    PageStore kept;                        ///< pages that the oracle left otherwise
    std::vector<bool> covered;             ///< by place in VerifyState::regions
    std::optional<std::uint64_t> copy_at;  ///< on the device
  };

  Session& session;
  OnStep on_step;
  std::optional<TimedInputOptions> options;  ///< of what is prepared
  PerturbOptions perturb;
  VerifyOptions verify;
  std::optional<PerturbState> oracle;
  std::vector<TimedInput> inputs;
  std::vector<VariedPages> varied;
  std::vector<VariedPages> varied_written;  ///< those of `varied` that the oracle writes
  std::set<PageStore::Key> loose;  ///< that the oracle writes outside of the captured write set
  std::string original_failed, captured_only_because;
  bool changes_nothing = false;  ///< the captured dispatch: seen by what it writes alone
  /// Room for copies of inputs on the device, kept from one preparation to the next.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> rooms;  ///< address, bytes
  std::set<std::pair<std::string, std::size_t>> seen;          ///< who ran on which input
  std::unordered_set<std::uint64_t>
      accepted;  ///< pages and stretches that were right: place_hash()

  [[nodiscard]] bool as_captured() const { return inputs.front().number == 0; }
  void choose(const TimedInput& input) { oracle->memory.choose(options->seed, input.number); }

  void find_varied_pages();
  void find_varied_written();
  Result<void> make_inputs();
  Result<bool> make_input(int number);
  Result<void> keep_copy(TimedInput& input, std::size_t place);
  Result<void> bring(const TimedInput& input, const std::vector<VariedPages>& pages);
  Result<void> write_pages(const std::vector<VariedPages>& all);
  Result<void> write_loose(bool copied);
  [[nodiscard]] bool is_varied(std::size_t region, std::uint64_t page) const;
  [[nodiscard]] std::vector<CopyRun> copy_runs(const std::vector<VariedPages>& all,
                                               std::uint64_t copy, bool into_regions) const;
  Result<std::string> compare_all(TimedInput& input, bool everywhere);
  Result<bool> was_right_before(const TimedInput& input, std::size_t region,
                                std::span<const capture::PageRun> runs,
                                std::vector<std::uint64_t>& hashes);
  [[nodiscard]] std::vector<capture::PageRun> loose_runs(std::size_t region) const;
  Result<void> compare_region(TimedInput& input, std::size_t place, bool everywhere,
                              std::vector<std::uint64_t>& hashes);
  Result<void> compare_batch(TimedInput& input, std::size_t place, const Batch& batch,
                             std::vector<std::uint64_t>& hashes);
  Result<void> compare_page(TimedInput& input, std::size_t place, const PageView& view,
                            std::vector<std::uint64_t>& hashes);
  Result<void> compare_loose(TimedInput& input, std::size_t place,
                             std::vector<std::uint64_t>& hashes);
};

TimedInputs::TimedInputs(Session& session, OnStep on_step)
    : state_(std::make_unique<State>(State{.session = session,
                                           .on_step = std::move(on_step),
                                           .options = {},
                                           .perturb = {},
                                           .verify = {},
                                           .oracle = {},
                                           .inputs = {},
                                           .varied = {},
                                           .varied_written = {},
                                           .loose = {},
                                           .original_failed = {},
                                           .captured_only_because = {},
                                           .rooms = {},
                                           .seen = {},
                                           .accepted = {}})) {}
TimedInputs::~TimedInputs() = default;

const std::string& TimedInputs::original_failed() const {
  return state_->original_failed;
}
const std::string& TimedInputs::captured_only_because() const {
  return state_->captured_only_because;
}
int TimedInputs::count() const {
  return state_->inputs.empty() || state_->as_captured() ? 0
                                                         : static_cast<int>(state_->inputs.size());
}

Result<void> TimedInputs::prepare(const TimedInputOptions& options) {
  State& state = *state_;
  if (state.options && same_options(*state.options, options)) return {};
  state.options.reset();
  state.oracle.reset();
  state.inputs.clear();
  state.loose.clear();
  state.seen.clear();
  state.accepted.clear();
  state.original_failed.clear();
  state.captured_only_because.clear();
  state.perturb = {.code_object = {},
                   .inputs = kTimedInputs,
                   .seed = options.seed,
                   .runs = kTimedOracleRuns,
                   .most_runs = kMostTimedOracleRuns,
                   .compare = options.compare,
                   .scope = options.scope.value_or(PerturbScope::permuted),
                   .on_step = state.on_step};
  state.verify = {.code_object = {},
                  .poison = Poison::none,
                  .runs = kTimedOracleRuns,
                  .compare = options.compare};
  PERFLAB_TRY(PerturbState oracle, open_perturb_state(state.session, state.perturb, state.verify));
  state.oracle.emplace(std::move(oracle));
  state.options = options;
  const auto made = state.make_inputs();
  if (!made || !state.original_failed.empty()) state.options.reset();
  return made;
}

void TimedInputs::State::find_varied_pages() {
  varied.clear();
  for (const PerturbedSpan& span : oracle->memory.spans()) {
    const std::uint64_t bytes = session.capture().description().regions[span.region].bytes;
    const std::uint64_t begin = span.begin / kPageBytes * kPageBytes;
    const std::uint64_t end =
        std::min((span.end + kPageBytes - 1) / kPageBytes * kPageBytes, bytes);
    if (!varied.empty() && varied.back().region == span.region && begin <= varied.back().end)
      varied.back().end = std::max(varied.back().end, end);
    else
      varied.push_back({.region = span.region, .begin = begin, .end = end});
  }
  std::uint64_t at = 0;
  for (VariedPages& pages : varied) {
    pages.at = at;
    at += (pages.end - pages.begin + kPageBytes - 1) / kPageBytes * kPageBytes;
  }
}

/// Runs of pages, clipped to those that the captured dispatch or the oracle on an input wrote.
void TimedInputs::State::find_varied_written() {
  varied_written.clear();
  for (const VariedPages& pages : varied) {
    const capture::MemoryRegion& region = session.capture().description().regions[pages.region];
    std::vector<capture::PageRun> runs = loose_runs(pages.region);
    runs.insert(runs.end(), region.written.begin(), region.written.end());
    for (const capture::PageRun& run : runs) {
      const std::uint64_t begin = std::max(pages.begin, run.first * kPageBytes);
      const std::uint64_t end = std::min(pages.end, (run.first + run.count) * kPageBytes);
      if (begin < end)
        varied_written.push_back({.region = pages.region,
                                  .begin = begin,
                                  .end = end,
                                  .at = pages.at + (begin - pages.begin)});
    }
  }
}

Result<void> TimedInputs::State::make_inputs() {
  varied.clear();
  varied_written.clear();
  if (!options->scope) {
    captured_only_because = options->no_scope_because;
  } else if (!oracle->result.none_because.empty()) {
    captured_only_because = oracle->result.none_because;
  } else {
    find_varied_pages();
    const int last = kTimedInputs + kMoreInputTries;
    for (int number = 1; number <= last && inputs.size() < kTimedInputs; ++number) {
      PERFLAB_TRY(const bool alive, make_input(number));
      if (!alive) return {};
    }
    if (inputs.empty())
      captured_only_because =
          fmt::format("none of {} was of use: {}", last, oracle->result.notes.back());
  }
  if (inputs.empty()) {
    PERFLAB_TRY(const bool alive, make_input(0));
    if (!alive)
      return fail(ErrorCode::target_failed,
                  fmt::format("the captured code object fails on the captured input: {}",
                              std::exchange(original_failed, {})),
                  "`rocm-perf replay verify` on this capture shows it alone");
  }
  find_varied_written();
  changes_nothing = std::ranges::all_of(
      session.capture().description().regions,
      [](const capture::MemoryRegion& region) { return region.written.empty(); });
  PERFLAB_TRY([[maybe_unused]] const Restored restored, session.restore_all());
  return {};
}

/// Adds an input, unless it is set aside. False: the original failed on it.
Result<bool> TimedInputs::State::make_input(int number) {
  PerturbedInput made;
  PERFLAB_TRY(const OracleEnd end, run_oracle(*oracle, number, made));
  if (end == OracleEnd::failed) original_failed = oracle->result.original_failed;
  if (end != OracleEnd::usable) return end == OracleEnd::set_aside;
  TimedInput input;
  input.number = number;
  input.kept = std::exchange(oracle->verify.kept, {});
  for (const RegionState& region : oracle->verify.regions) input.covered.push_back(region.covered);
  for (const auto& [key, slot] : input.kept.pages())
    if (!in_write_set(session.capture().description().regions[key.first], key.second))
      loose.insert(key);
  if (number > 0) PERFLAB_TRY_VOID(keep_copy(input, inputs.size()));
  inputs.push_back(std::move(input));
  return true;
}

/// Keeps what the regions hold now, which is the input, on the device.
Result<void> TimedInputs::State::keep_copy(TimedInput& input, std::size_t place) {
  const VariedPages& last = varied.back();
  const std::uint64_t bytes = last.at + (last.end - last.begin + kPageBytes - 1);
  if (rooms.size() <= place || rooms[place].second < bytes) {
    PERFLAB_TRY(const std::optional<std::uint64_t> room, session.allocate(bytes));
    if (!room) return {};
    rooms.resize(std::max(rooms.size(), place + 1));
    rooms[place] = {*room, bytes};
  }
  input.copy_at = rooms[place].first;
  return session.copy(copy_runs(varied, *input.copy_at, false));
}

std::vector<CopyRun> TimedInputs::State::copy_runs(const std::vector<VariedPages>& all,
                                                   std::uint64_t copy, bool into_regions) const {
  std::vector<CopyRun> runs;
  for (const VariedPages& pages : all) {
    const auto base = session.address(pages.region);
    if (!base) continue;
    const std::uint64_t here = *base + pages.begin, there = copy + pages.at;
    runs.push_back({.to = into_regions ? here : there,
                    .from = into_regions ? there : here,
                    .bytes = pages.end - pages.begin});
  }
  return runs;
}

/// Makes these pages of the chosen input on the host.
Result<void> TimedInputs::State::write_pages(const std::vector<VariedPages>& all) {
  std::vector<std::byte> bytes;
  for (const VariedPages& pages : all) {
    if (!session.address(pages.region)) continue;
    for (std::uint64_t at = pages.begin; at < pages.end; at += bytes.size()) {
      bytes.resize(std::min<std::uint64_t>(kBatchBytes, pages.end - at));
      PERFLAB_TRY_VOID(session.capture().read_at(pages.region, at, bytes));
      oracle->memory.apply(pages.region, at, bytes);
      PERFLAB_TRY_VOID(session.write(pages.region, at, bytes));
    }
  }
  return {};
}

bool TimedInputs::State::is_varied(std::size_t region, std::uint64_t page) const {
  return std::ranges::any_of(varied, [&](const VariedPages& pages) {
    return pages.region == region && pages.begin <= page * kPageBytes &&
           page * kPageBytes < pages.end;
  });
}

/// The chosen input, where a run may have written what the captured dispatch did not. `copied`: the
/// pages that the input varies come from a copy.
Result<void> TimedInputs::State::write_loose(bool copied) {
  for (const auto& [region, page] : loose) {
    if (!session.address(region) || (copied && is_varied(region, page))) continue;
    PageBytes bytes{};
    const std::uint64_t offset = page * kPageBytes;
    const auto whole = std::span(bytes).first(static_cast<std::size_t>(std::min<std::uint64_t>(
        kPageBytes, session.capture().description().regions[region].bytes - offset)));
    PERFLAB_TRY_VOID(session.capture().read_at(region, offset, whole));
    oracle->memory.apply(region, offset, whole);
    PERFLAB_TRY_VOID(session.write(region, offset, whole));
  }
  return {};
}

/// What the oracle writes, and `pages`, as the input has them.
Result<void> TimedInputs::State::bring(const TimedInput& input,
                                       const std::vector<VariedPages>& pages) {
  choose(input);
  PERFLAB_TRY([[maybe_unused]] const Restored restored, session.restore_writes());
  PERFLAB_TRY_VOID(write_loose(input.copy_at.has_value()));
  if (pages.empty()) return {};
  if (input.copy_at) return session.copy(copy_runs(pages, *input.copy_at, true));
  return input.number > 0 ? write_pages(pages) : Result<void>{};
}

Result<void> TimedInputs::bring(std::uint64_t number) {
  PERFLAB_CHECK(!state_->inputs.empty());
  return state_->bring(state_->inputs[number % state_->inputs.size()], state_->varied);
}

Result<void> TimedInputs::bring_written(std::uint64_t number) {
  PERFLAB_CHECK(!state_->inputs.empty());
  return state_->bring(state_->inputs[number % state_->inputs.size()], state_->varied_written);
}

bool TimedInputs::is_new(const std::string& who, std::uint64_t number) const {
  return !state_->seen.contains({who, number % state_->inputs.size()});
}

Result<std::string> TimedInputs::check(const std::string& who, std::uint64_t number) {
  State& state = *state_;
  PERFLAB_CHECK(!state.inputs.empty());
  const std::size_t place = number % state.inputs.size();
  State::TimedInput& input = state.inputs[place];
  state.choose(input);
  // Where nothing changed, nothing says where the original writes.
  const bool everywhere = is_new(who, number) || (state.as_captured() && state.changes_nothing);
  PERFLAB_TRY(std::string wrong, state.compare_all(input, everywhere));
  state.seen.insert({who, place});
  if (wrong.empty()) return wrong;
  if (state.as_captured()) return "on the captured input, " + wrong;
  return fmt::format("on input {} of {} made from the captured one, {}", place + 1,
                     state.inputs.size(), wrong);
}

Result<std::string> TimedInputs::State::compare_all(TimedInput& input, bool everywhere) {
  std::uint64_t beyond = 0, unexpected = 0;
  std::string example;
  std::vector<std::uint64_t> hashes;
  for (std::size_t place = 0; place < oracle->verify.regions.size(); ++place) {
    RegionState& region = oracle->verify.regions[place];
    region.comparer = {region.type, region.type_from, options->compare};
    if (!session.address(region.region)) continue;  // a variable that it does not have
    region.most_beyond = 0;
    PERFLAB_TRY_VOID(compare_region(input, place, everywhere, hashes));
    const ElementDiff found = region.comparer.result();
    beyond += found.beyond_tolerance + region.most_beyond;
    unexpected += region.comparer.tally().unexpected_bytes;
    if (example.empty() && !found.examples.empty())
      example =
          fmt::format(" (at {:#x}+{:#x}: {} instead of {})",
                      oracle->verify.description_of(region).base, found.examples.front().offset,
                      found.examples.front().found, found.examples.front().expected);
  }
  if (beyond == 0 && unexpected == 0) {
    accepted.insert(hashes.begin(), hashes.end());
    return std::string();
  }
  std::string wrong = beyond > 0 ? fmt::format("{} element{} from what the original leaves", beyond,
                                               beyond == 1 ? " differs" : "s differ")
                                 : "";
  if (unexpected > 0)
    wrong +=
        fmt::format("{}{} byte{} written that the original does not write",
                    wrong.empty() ? "" : "; ", unexpected, unexpected == 1 ? " was" : "s were");
  return wrong + example;
}

Result<void> TimedInputs::State::compare_region(TimedInput& input, std::size_t place,
                                                bool everywhere,
                                                std::vector<std::uint64_t>& hashes) {
  const std::size_t region = oracle->verify.regions[place].region;
  const auto look = [&](const Batch& batch) { return compare_batch(input, place, batch, hashes); };
  const auto& written = session.capture().description().regions[region].written;
  PERFLAB_TRY(const bool known, was_right_before(input, region, written, hashes));
  if (!known) PERFLAB_TRY_VOID(each_written_batch(session.capture(), region, look));
  return everywhere ? each_other_batch(session.capture(), region, look)
                    : compare_loose(input, place, hashes);
}

/// Whether all of these pages are as they were found right before on this input: the captured
/// bytes need not be unpacked then, which takes longer than everything else here.
Result<bool> TimedInputs::State::was_right_before(const TimedInput& input, std::size_t region,
                                                  std::span<const capture::PageRun> runs,
                                                  std::vector<std::uint64_t>& hashes) {
  const std::uint64_t bytes = session.capture().description().regions[region].bytes;
  bool known = true;
  std::vector<std::byte> found;
  for (const capture::PageRun& run : runs) {
    const std::uint64_t end = std::min((run.first + run.count) * kPageBytes, bytes);
    for (std::uint64_t at = run.first * kPageBytes; at < end; at += found.size()) {
      found.resize(std::min<std::uint64_t>(kBatchBytes, end - at));
      PERFLAB_TRY_VOID(session.read(region, at, found));
      hashes.push_back(place_hash(input.number, region, fmt::format("bytes {}", at), found));
      known = known && accepted.contains(hashes.back());
    }
  }
  return known;
}

std::vector<capture::PageRun> TimedInputs::State::loose_runs(std::size_t region) const {
  std::vector<capture::PageRun> runs;
  for (auto at = loose.lower_bound({region, 0}); at != loose.end() && at->first == region; ++at)
    if (!runs.empty() && runs.back().first + runs.back().count == at->second)
      ++runs.back().count;
    else
      runs.push_back({.first = at->second, .count = 1});
  return runs;
}

Result<void> TimedInputs::State::compare_loose(TimedInput& input, std::size_t place,
                                               std::vector<std::uint64_t>& hashes) {
  const std::size_t region = oracle->verify.regions[place].region;
  PERFLAB_TRY(const bool known, was_right_before(input, region, loose_runs(region), hashes));
  if (known) return {};
  for (auto at = loose.lower_bound({region, 0}); at != loose.end() && at->first == region; ++at) {
    PageBytes bytes{};
    const std::uint64_t offset = at->second * kPageBytes;
    const auto before = std::span(bytes).first(static_cast<std::size_t>(std::min<std::uint64_t>(
        kPageBytes, session.capture().description().regions[region].bytes - offset)));
    PERFLAB_TRY_VOID(session.capture().read_at(region, offset, before));
    PERFLAB_TRY_VOID(compare_batch(
        input, place, {.offset = offset, .before = before, .after = before, .written = false},
        hashes));
  }
  return {};
}

Result<void> TimedInputs::State::compare_batch(TimedInput& input, std::size_t place,
                                               const Batch& batch,
                                               std::vector<std::uint64_t>& hashes) {
  std::vector<std::byte> found(batch.before.size());
  PERFLAB_TRY_VOID(session.read(oracle->verify.regions[place].region, batch.offset, found));
  return each_page(batch, found,
                   [&](const PageView& view) { return compare_page(input, place, view, hashes); });
}

/// `view`: with the captured bytes of before and after.
Result<void> TimedInputs::State::compare_page(TimedInput& input, std::size_t place,
                                              const PageView& view,
                                              std::vector<std::uint64_t>& hashes) {
  RegionState& region = oracle->verify.regions[place];
  const PageStore::Key key{region.region, view.page};
  const bool captured = input.number == 0, has = input.kept.has(key);
  KeptPage kept;
  if (has) {
    PERFLAB_TRY(kept, input.kept.get(key));
  }
  auto expected =
      captured ? view.after : std::span<const std::byte>(kept.bytes).first(view.found.size());
  if ((captured || has) && same_bytes(view.found, expected)) return {};
  const std::uint64_t hash =
      place_hash(input.number, key.first, fmt::format("page {}", key.second), view.found);
  if (accepted.contains(hash)) return {};
  PageBytes input_bytes{};
  const auto before = std::span(input_bytes).first(view.before.size());
  std::ranges::copy(view.before, before.begin());
  oracle->memory.apply(region.region, view.offset, before);
  if (!captured && !has) {
    expected = before;
    if (same_bytes(view.found, expected)) return {};
  }
  hashes.push_back(hash);
  // What the captured dispatch wrote stood there already: only that it is right can be seen.
  if (captured && changes_nothing) {
    region.most_beyond += beyond_of(region.comparer, expected, view.found);
    return {};
  }
  region.comparer.feed({.offset = view.offset,
                        .before = before,
                        .expected = expected,
                        .found = view.found,
                        .excluded = input.covered[place] ? nullptr : &kept.varying});
  return {};
}

}  // namespace perflab::replay
