// Bringing a capture back, step by step, and dispatching it. Packet fields are those that were
// captured; only what belongs to the loaded code object is its own: the kernel's address, static
// LDS, scratch.
#include "replay/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "hsa/types.h"
#include "replay/addresses/address_plan.h"
#include "replay/code_choice.h"
#include "replay/cuda_lint.h"
#include "replay/failures.h"
#include "replay/lint.h"
#include "replay/session/pre_image.h"
#include "replay/variable_pointers.h"

namespace perflab::replay {
namespace {

constexpr std::uint32_t kMostPacketWorkgroup = 0xffff;  // 16 bits in the packet
constexpr std::uint64_t kMostPacketGrid = 0xffff'ffff;  // 32 bits in the packet
constexpr std::uint64_t kLeastKernargs = 64;

/// A launch that the CUDA driver would refuse without saying why.
Result<void> check_cuda_launch(const capture::Dispatch& dispatch) {
  constexpr std::uint64_t kMostBlocks = 0x7fff'ffff, kMostOfOthers = 0xffff;  // of a grid's axes
  for (std::size_t i = 0; i < dispatch.grid.size(); ++i) {
    const std::uint64_t group = dispatch.workgroup[i];
    const bool whole = group != 0 && dispatch.grid[i] != 0 && dispatch.grid[i] % group == 0;
    if (!whole || dispatch.grid[i] / group > (i == 0 ? kMostBlocks : kMostOfOthers))
      return fail(Failure::not_replayable,
                  fmt::format("the captured launch has a grid of {} threads in blocks of {}",
                              dispatch.grid[i], group));
  }
  if (dispatch.cuda) return {};
  return fail(Failure::not_replayable, "the capture does not say how CUDA launched the kernel");
}

/// A packet that no runtime would run must not be given to one: it reports nothing
/// (docs/facts/hsa_runtime.md "Unreported mistakes").
Result<void> check_packet(const capture::Description& description) {
  const capture::Dispatch& dispatch = description.dispatch;
  if (description.machine.platform == capture::Platform::cuda) return check_cuda_launch(dispatch);
  const auto refuse = [](const std::string& what) {
    return fail(Failure::not_replayable, fmt::format("the captured packet has {}", what));
  };
  if (hsa::type_of(dispatch.header) != hsa::packet_type::kernel_dispatch)
    return refuse(fmt::format("the header {:#x}, which is not a dispatch", dispatch.header));
  if ((dispatch.setup & 3U) == 0) return refuse("no dimensions");
  for (std::size_t i = 0; i < dispatch.grid.size(); ++i)
    if (dispatch.grid[i] == 0 || dispatch.grid[i] > kMostPacketGrid || dispatch.workgroup[i] == 0 ||
        dispatch.workgroup[i] > kMostPacketWorkgroup)
      return refuse(fmt::format("a grid of {} work-items in groups of {}", dispatch.grid[i],
                                dispatch.workgroup[i]));
  return {};
}

/// Findings of severity error end the replay, unless they may be ignored; then they are notes.
/// Warnings are doubts: what a dispatch that does not end well may have died of.
Result<void> check_findings(const capture::Capture& capture, bool ignore,
                            std::vector<std::string>& notes, std::vector<std::string>& doubts) {
  PERFLAB_TRY(const std::vector<Finding> findings, lint(capture));
  for (const Finding& finding : findings) {
    const std::string sentence = fmt::format("{}: {}", finding.rule, finding.sentence);
    if (finding.severity == Severity::error && !ignore)
      return fail(Failure::not_replayable, sentence,
                  fmt::format("{}{}--ignore-findings replays it all the same", finding.remedy,
                              finding.remedy.empty() ? "" : "; "));
    if (finding.severity == Severity::error) notes.push_back("ignored: " + sentence);
    if (finding.rule == kVariableCopies) notes.push_back(finding.sentence);
    if (finding.severity != Severity::note) doubts.push_back(sentence);
  }
  return {};
}

/// What of the regions stays behind, counted by reason.
void note_missing_regions(const capture::Description& description,
                          std::vector<std::string>& notes) {
  std::vector<std::pair<std::string, int>> reasons;
  int foreign = 0;
  for (const capture::MemoryRegion& region : description.regions) {
    if (region.origin == capture::Origin::variable)
      foreign += static_cast<int>(region.code_object_hash != description.code_object_hash);
    else if (!region.captured()) {
      const auto known =
          std::ranges::find(reasons, region.not_captured, &decltype(reasons)::value_type::first);
      if (known == reasons.end())
        reasons.emplace_back(region.not_captured, 1);
      else
        ++known->second;
    }
  }
  for (const auto& [reason, count] : reasons)
    notes.push_back(fmt::format("{} not in the capture: {}",
                                count == 1 ? "a region is" : fmt::format("{} regions are", count),
                                reason));
  // On CUDA they come back where they were.
  if (foreign > 0 && description.machine.platform == capture::Platform::hip)
    notes.push_back(fmt::format("{} of other code objects {} not brought back",
                                foreign == 1 ? "a variable" : fmt::format("{} variables", foreign),
                                foreign == 1 ? "is" : "are"));
}

/// Whether the bytes lie in one captured region that keeps its address.
bool in_placed_region(const capture::Description& description, std::uint64_t address,
                      std::uint64_t bytes) {
  return std::ranges::any_of(description.regions, [&](const capture::MemoryRegion& region) {
    return region.origin != capture::Origin::variable && region.captured() &&
           address >= region.base && bytes <= region.bytes &&
           address - region.base <= region.bytes - bytes;
  });
}

}  // namespace

struct Session::State {
  State(const capture::Capture& from, Device& on, const SessionOptions& with)
      : capture(from), device(on), options(with), memory(from, on) {}

  const capture::Capture& capture;
  Device& device;
  SessionOptions options;
  PreImage memory;
  std::uint64_t kernarg = 0;          ///< where the captured arguments lie
  std::uint64_t changed_kernarg = 0;  ///< room for those of a changed launch; 0: none yet
  Launch launch;
  bool original = true;
  std::vector<std::string> notes;
  std::size_t own_notes = 0;        ///< those behind them are of the loaded code object
  std::vector<std::string> doubts;  ///< what lint() warned of
  std::uint64_t launches = 0;
  Dirtied dirtied{.what = std::nullopt, .missing_because = "nothing was launched"};

  Result<void> place();
  Result<void> make_kernarg();
  /// Arguments are a buffer of the host there.
  [[nodiscard]] bool on_cuda() const {
    return capture.description().machine.platform == capture::Platform::cuda;
  }
  Result<void> write_kernarg() {
    if (on_cuda() || capture.kernarg().empty()) return {};
    return device.write(kernarg, capture.kernarg());
  }
  Result<void> load(const ChosenObject& chosen, const LaunchChange& change);
  void fill_launch(const LoadedKernel& kernel, const Geometry& geometry);
  Result<void> change_kernarg(const std::vector<std::byte>& bytes);
  Result<std::uint64_t> allocate_kernarg(std::uint64_t bytes);
  Result<void> dirty();
};

Result<void> Session::State::place() {
  PERFLAB_TRY(const AddressPlan plan,
              plan_addresses(capture.description(), Granules{.device = device.facts().granule,
                                                             .host = device.facts().host_granule}));
  notes.insert(notes.end(), plan.notes.begin(), plan.notes.end());
  PERFLAB_TRY_VOID(memory.place(plan));
  if (const auto& lost = memory.not_placed(); !lost.empty()) {
    PERFLAB_TRY(const std::vector<VariablePointers> pointed, variable_pointers(capture));
    for (const VariablePointers& one : pointed)
      if (const auto at = lost.find(one.region); at != lost.end())
        return std::unexpected(at->second);
  }
  PERFLAB_TRY_VOID(make_kernarg());
  PERFLAB_TRY([[maybe_unused]] const Restored restored, memory.restore_all());
  return {};
}

Result<void> Session::State::make_kernarg() {
  if (on_cuda()) return {};
  const capture::Dispatch& dispatch = capture.description().dispatch;
  if (in_placed_region(capture.description(), dispatch.kernarg_address, capture.kernarg().size())) {
    kernarg = dispatch.kernarg_address;
    return {};
  }
  PERFLAB_TRY(kernarg, allocate_kernarg(capture.kernarg().size()));
  notes.push_back(
      "the kernel's arguments lie in a buffer of the GPU's memory, because the one they were in is "
      "not in the capture");
  return {};
}

Result<std::uint64_t> Session::State::allocate_kernarg(std::uint64_t bytes) {
  PERFLAB_TRY(const std::optional<std::uint64_t> buffer,
              device.allocate(std::max(bytes, kLeastKernargs)));
  if (buffer) return *buffer;
  return fail(Failure::hsa_call_failed,
              fmt::format("the GPU has no room for {} bytes of kernel arguments", bytes),
              "end what else uses the GPU: rocm-smi --showpids lists it");
}

/// They get a place of their own: what the captured memory holds would no longer be what it held.
Result<void> Session::State::change_kernarg(const std::vector<std::byte>& bytes) {
  if (on_cuda()) {
    launch.arguments = bytes;
    return {};
  }
  if (changed_kernarg == 0) {
    PERFLAB_TRY(changed_kernarg, allocate_kernarg(bytes.size()));
  }
  launch.kernarg_address = changed_kernarg;
  return device.write(changed_kernarg, bytes);
}

Result<void> Session::State::load(const ChosenObject& chosen, const LaunchChange& change) {
  notes.resize(own_notes);
  PERFLAB_TRY(const Geometry geometry,
              changed_geometry(capture, change, chosen.bytes, chosen.kernel));
  const auto* const data = reinterpret_cast<const std::byte*>(chosen.bytes.data());
  PERFLAB_TRY_VOID(device.load({data, chosen.bytes.size()}));
  PERFLAB_TRY(const LoadedKernel kernel, device.kernel(chosen.kernel));
  if (kernel.kernarg_bytes > capture.kernarg().size())
    return fail(Failure::kernel_mismatch,
                fmt::format("{} takes {} bytes of arguments, and the capture has {}",
                            capture.description().dispatch.kernel, kernel.kernarg_bytes,
                            capture.kernarg().size()),
                "the signature has to stay that of the captured kernel");
  fill_launch(kernel, geometry);
  PERFLAB_TRY(const std::vector<std::string> lost, memory.find_variables(chosen.renamed));
  for (const std::string& symbol : lost)
    notes.push_back(
        fmt::format("the loaded code object has no variable {} of the captured size", symbol));
  PERFLAB_TRY_VOID(write_kernarg());
  return geometry.kernarg.empty() ? Result<void>{} : change_kernarg(geometry.kernarg);
}

void Session::State::fill_launch(const LoadedKernel& kernel, const Geometry& geometry) {
  const capture::Dispatch& dispatch = capture.description().dispatch;
  launch = {.kernel_object = kernel.object,
            .kernarg_address = kernarg,
            .header = dispatch.header,
            .setup = geometry.setup,
            .grid = {},
            .workgroup = geometry.workgroup,
            .group_segment_bytes = geometry.dynamic_lds_bytes + kernel.group_segment_bytes,
            .private_segment_bytes =
                std::max(dispatch.private_segment_bytes, kernel.private_segment_bytes),
            .cuda = dispatch.cuda};
  if (on_cuda()) launch.arguments.assign(capture.kernarg().begin(), capture.kernarg().end());
  std::ranges::transform(geometry.grid, launch.grid.begin(), [](std::uint64_t items) {
    return static_cast<decltype(launch.grid)::value_type>(items);
  });
}

/// The number of the launch is the seed, so that a replay does the same each time.
Result<void> Session::State::dirty() {
  PERFLAB_TRY(Dirtied now, device.dirty(launch, ++launches));
  if (now.what && dirtied.what)
    now.what->scratch_bytes = std::max(now.what->scratch_bytes, dirtied.what->scratch_bytes);
  dirtied = std::move(now);
  return {};
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::open(const capture::Capture& capture, Device& device,
                              const SessionOptions& options) {
  auto state = std::make_unique<State>(capture, device, options);
  PERFLAB_TRY_VOID(check_findings(capture, options.ignore_findings, state->notes, state->doubts));
  PERFLAB_TRY_VOID(check_packet(capture.description()));
  PERFLAB_TRY_VOID(check_isa(capture.description().machine.isa, device.facts().isa));
  PERFLAB_TRY(const ChosenObject chosen,
              choose_code_object(capture, options.code_object, device.facts().isa));
  note_missing_regions(capture.description(), state->notes);
  PERFLAB_TRY_VOID(state->place());
  std::ranges::copy(device.notes(), std::back_inserter(state->notes));
  state->own_notes = state->notes.size();
  state->original = options.code_object.empty();
  PERFLAB_TRY_VOID(state->load(chosen, {}));
  return Session(std::move(state));
}

Result<void> Session::load(const std::filesystem::path& code_object, const LaunchChange& change) {
  PERFLAB_TRY(const ChosenObject chosen,
              choose_code_object(state_->capture, code_object, state_->device.facts().isa));
  state_->original = code_object.empty();
  return state_->load(chosen, change);
}

bool Session::runs_original() const {
  return state_->original;
}

Result<Restored> Session::restore_all() {
  PERFLAB_TRY(const Restored restored, state_->memory.restore_all());
  PERFLAB_TRY_VOID(state_->write_kernarg());
  return restored;
}

Result<Restored> Session::restore_writes() {
  const bool knew = !state_->memory.from_host_because().empty();
  PERFLAB_TRY(const Restored restored, state_->memory.restore_writes());
  if (const std::string& why = state_->memory.from_host_because(); !knew && !why.empty()) {
    state_->notes.insert(state_->notes.begin() + static_cast<std::ptrdiff_t>(state_->own_notes),
                         why);
    ++state_->own_notes;
  }
  return restored;
}

Result<std::uint64_t> Session::learn_writes() {
  return state_->memory.learn_writes();
}

Result<Nanos> Session::run() {
  PERFLAB_TRY_VOID(state_->dirty());
  auto time = state_->device.run(state_->launch, state_->options.time_limit);
  if (!time && time.error().code == ErrorCode::target_failed)
    for (const std::string& doubt : state_->doubts)
      time.error().notes.push_back("found before: " + doubt);
  return time;
}

void Session::set_time_limit(Nanos limit) {
  state_->options.time_limit = limit;
}

std::optional<std::uint64_t> Session::address(std::size_t region) const {
  return state_->memory.address(region);
}

Result<void> Session::read(std::size_t region, std::uint64_t offset, std::span<std::byte> out) {
  const auto base = address(region);
  PERFLAB_CHECK(base && offset + out.size() <= capture().description().regions[region].bytes);
  return state_->device.read(*base + offset, out);
}

Result<void> Session::write(std::size_t region, std::uint64_t offset,
                            std::span<const std::byte> bytes) {
  const auto base = address(region);
  PERFLAB_CHECK(base && offset + bytes.size() <= capture().description().regions[region].bytes);
  return state_->device.write(*base + offset, bytes);
}

Result<std::optional<std::uint64_t>> Session::allocate(std::uint64_t bytes) {
  return state_->device.allocate(bytes);
}

Result<void> Session::copy(std::span<const CopyRun> runs) {
  return runs.empty() ? Result<void>{} : state_->device.copy(runs);
}

const Dirtied& Session::left_memory() const {
  return state_->dirtied;
}

const capture::Capture& Session::capture() const {
  return state_->capture;
}
const Device& Session::device() const {
  return state_->device;
}
const std::vector<std::string>& Session::notes() const {
  return state_->notes;
}

}  // namespace perflab::replay
