// Joins as docs/facts/pc_sampling.md "JSON" has them: PC to code object and kernel, dispatch to
// kernel and GPU.
#include "pc_sampling/builder.h"

#include <fmt/format.h>

#include <algorithm>

namespace perflab::pc_sampling {
namespace {

/// Distinct unknown names that are kept: damaged files must not fill the memory with them.
constexpr std::size_t kMostUnknownNames = 64;

/// The row of an id, added by `make` when it is new.
template <class Make>
Index row_of(std::unordered_map<std::uint64_t, Index>& rows, std::uint64_t id, std::size_t next,
             const Make& make) {
  const auto [found, added] = rows.try_emplace(id, static_cast<Index>(next));
  if (added) make();
  return found->second;
}

Index find_row(const std::unordered_map<std::uint64_t, Index>& rows, std::uint64_t id) {
  const auto found = rows.find(id);
  return found == rows.end() ? kNone : found->second;
}

/// Calls visit(column) for each column that samples of the method and form have, but
/// memory_counters.
template <class Visit>
void each_column(PcSamples& samples, const Visit& visit) {
  visit(samples.source);
  visit(samples.pc);
  visit(samples.dispatch);
  visit(samples.timestamp);
  visit(samples.exec_mask);
  const bool json = samples.form == Form::rocprofv3_json;
  const bool stochastic = samples.method == Method::stochastic;
  if (json) {
    visit(samples.hardware);
    visit(samples.workgroup);
    visit(samples.wave_in_group);
  }
  if (stochastic) {
    visit(samples.flags);
    visit(samples.type);
    visit(samples.reason);
    visit(samples.wave_count);
  }
  if (json && stochastic) {
    visit(samples.arbiter_issue);
    visit(samples.arbiter_stall);
  }
}

}  // namespace

std::size_t Builder::PcHash::operator()(const PcKey& key) const {
  std::uint64_t hash = key.offset * 0x9e3779b97f4a7c15;
  hash ^= key.code_object * 0xc2b2ae3d27d4eb4f + static_cast<std::uint64_t>(key.instruction);
  return static_cast<std::size_t>(hash ^ (hash >> 29));
}

Builder::Builder(PcSamples& samples, Source source)
    : samples_(samples),
      first_row_(samples.size()),
      first_pc_(samples.pcs.size()),
      first_kernel_(samples.kernels.size()),
      first_dispatch_(samples.dispatches.size()) {
  samples_.sources.push_back(std::move(source));
}

Result<void> Builder::use(Method method, Form form) {
  states_places_ = form != Form::rocprofv3_csv;
  if (samples_.size() == 0) {
    samples_.method = method;
    samples_.form = form;
    if (samples_.reasons.empty()) samples_.reasons = amd_reasons();
    return {};
  }
  if (samples_.method != method)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: holds samples of method {}, those before are of method {}",
                            source().file, to_string(method), to_string(samples_.method)),
                "give the files of one method");
  if (samples_.form != form)
    return fail(
        ErrorCode::bad_input,
        fmt::format("{}: samples of JSON and of CSV files cannot be taken together", source().file),
        "give the JSON files alone: they have all that the CSV files have");
  return {};
}

void Builder::reserve(std::size_t more) {
  const std::size_t rows = samples_.size() + more;
  each_column(samples_, [rows](auto& column) { column.reserve(rows); });
}

void Builder::add(const RawSample& sample) {
  const Index place = pc({sample.code_object_id, sample.offset, sample.instruction});
  if (sample.dispatch_id != last_dispatch_id_) {
    last_dispatch_ = dispatch(sample.dispatch_id);
    last_dispatch_id_ = sample.dispatch_id;
  }
  PcSamples& to = samples_;
  if ((sample.flags & kMemoryCounts) != 0 && to.memory_counters.size() < to.size())
    to.memory_counters.resize(to.size());
  const bool memory = (sample.flags & kMemoryCounts) != 0 || !to.memory_counters.empty();
  to.source.push_back(source_index());
  to.pc.push_back(place);
  to.dispatch.push_back(last_dispatch_);
  to.timestamp.push_back(sample.timestamp);
  to.exec_mask.push_back(sample.exec_mask);
  const bool json = to.form == Form::rocprofv3_json, stochastic = to.method == Method::stochastic;
  if (json) {
    to.hardware.push_back(sample.hardware);
    to.workgroup.push_back(sample.workgroup);
    to.wave_in_group.push_back(sample.wave_in_group);
  }
  if (stochastic) {
    to.flags.push_back(sample.flags);
    to.type.push_back(sample.type);
    to.reason.push_back(sample.reason);
    to.wave_count.push_back(sample.wave_count);
  }
  if (json && stochastic) {
    to.arbiter_issue.push_back(sample.arbiter_issue);
    to.arbiter_stall.push_back(sample.arbiter_stall);
    if (memory) to.memory_counters.push_back(sample.memory);
  }
}

void Builder::count_unknown(std::string_view name, std::uint64_t& counter) {
  ++counter;
  auto& names = samples_.counts.unknown_names;
  if (const auto found = names.find(name); found != names.end())
    ++found->second;
  else if (names.size() < kMostUnknownNames)
    names.emplace(name, 1);
}

InstructionType Builder::type_of(std::string_view name) {
  const InstructionType type = instruction_type_of(name);
  if (type == InstructionType::unknown) count_unknown(name, samples_.counts.unknown_type);
  return type;
}

std::uint8_t Builder::reason_of(std::string_view name) {
  const StallKind kind = stall_kind_of(name);
  if (kind == StallKind::unknown) count_unknown(name, samples_.counts.unknown_reason);
  return static_cast<std::uint8_t>(kind);
}

Index Builder::agent(std::uint64_t handle) {
  return row_of(agents_, handle, samples_.agents.size(), [&] {
    samples_.agents.push_back(
        {.source = source_index(), .handle = handle, .arch = {}, .product = {}});
  });
}

void Builder::agent_facts(Agent facts) {
  facts.source = source_index();
  samples_.agents[agent(facts.handle)] = std::move(facts);
}

void Builder::code_object(CodeObject object, std::uint64_t agent_handle) {
  object.source = source_index();
  object.agent = agent(agent_handle);
  row_of(code_objects_, object.id, samples_.code_objects.size(),
         [&] { samples_.code_objects.push_back(std::move(object)); });
}

void Builder::kernel(Kernel kernel, std::uint64_t code_object_id,
                     std::optional<std::uint64_t> address) {
  kernel.source = source_index();
  row_of(kernels_, kernel.id, samples_.kernels.size(), [&] {
    samples_.kernels.push_back(std::move(kernel));
    raw_kernels_.push_back({code_object_id, address});
  });
}

Index Builder::dispatch(std::uint64_t id) {
  if (id == 0) return kNone;
  return row_of(dispatches_, id, samples_.dispatches.size(), [&] {
    Dispatch& added = samples_.dispatches.emplace_back();
    added.source = source_index();
    added.id = id;
    raw_dispatches_.emplace_back();
  });
}

void Builder::recorded_dispatch(Dispatch recorded, std::uint64_t kernel_id) {
  recorded.source = source_index();
  const Index row = dispatch(recorded.id);
  if (row == kNone || raw_dispatches_[row - first_dispatch_].recorded) return malformed();
  samples_.dispatches[row] = recorded;
  raw_dispatches_[row - first_dispatch_] = {.kernel = kernel_id, .recorded = true};
  source().has_dispatches = true;
}

Index Builder::pc(const PcKey& key) {
  if (last_pc_ != kNone && key == last_key_) return last_pc_;
  const auto [found, added] = pcs_.try_emplace(key, static_cast<Index>(samples_.pcs.size()));
  if (added) {
    samples_.pcs.emplace_back().source = source_index();
    raw_pcs_.push_back(key);
  }
  last_key_ = key;
  return last_pc_ = found->second;
}

void Builder::resolve_kernels() {
  for (std::size_t i = 0; i < raw_kernels_.size(); ++i) {
    const auto row = static_cast<Index>(first_kernel_ + i);
    Kernel& kernel = samples_.kernels[row];
    kernel.code_object = find_row(code_objects_, raw_kernels_[i].code_object);
    if (kernel.code_object == kNone || !raw_kernels_[i].address) continue;
    const CodeObject& object = samples_.code_objects[kernel.code_object];
    if (*raw_kernels_[i].address < object.load_base) continue;
    kernel.begin = *raw_kernels_[i].address - object.load_base;
    begins_[kernel.code_object].emplace_back(*kernel.begin, row);
  }
  for (auto& [object, begins] : begins_) std::ranges::sort(begins);
  for (std::size_t i = 0; i < raw_dispatches_.size(); ++i)
    if (raw_dispatches_[i].recorded)
      samples_.dispatches[first_dispatch_ + i].kernel =
          find_row(kernels_, raw_dispatches_[i].kernel);
}

Builder::Oddity Builder::resolve_pc(Pc& pc, const PcKey& key) {
  const bool in_code = !states_places_ || key.code_object != 0;
  const bool known =
      key.instruction >= 0 && static_cast<std::uint64_t>(key.instruction) < instructions_.size();
  if (states_places_ || key.offset != 0) pc.offset = key.offset;
  if (!in_code) return Oddity::no_code_object;
  if (known) {
    const auto row = static_cast<std::size_t>(key.instruction);
    pc.instruction = instructions_[row];
    if (row < source_lines_.size()) pc.source_line = source_lines_[row];
    pc.decoded = !pc.instruction.empty();
  }
  if (states_places_) {
    pc.code_object = find_row(code_objects_, key.code_object);
    if (const auto found = begins_.find(pc.code_object); found != begins_.end()) {
      const auto behind = std::ranges::upper_bound(found->second, key.offset, {},
                                                   &std::pair<std::uint64_t, Index>::first);
      if (behind != found->second.begin()) pc.kernel = std::prev(behind)->second;
    }
  }
  if (pc.decoded) return Oddity::none;
  // A CSV has the address of what lies in no code object, and nothing of the rest.
  if (!states_places_) return pc.offset ? Oddity::no_code_object : Oddity::undecoded;
  return key.instruction < 0 || known ? Oddity::undecoded : Oddity::out_of_range;
}

void Builder::count_samples(const std::vector<Oddity>& oddities) {
  Counts& counts = samples_.counts;
  const auto count = [](std::uint64_t& counter, bool is_so) { counter += is_so ? 1U : 0U; };
  for (std::size_t row = first_row_; row < samples_.size(); ++row) {
    const Pc& pc = samples_.pcs[samples_.pc[row]];
    const Oddity oddity = oddities[samples_.pc[row] - first_pc_];
    count(counts.undecoded, oddity == Oddity::undecoded);
    count(counts.index_out_of_range, oddity == Oddity::out_of_range);
    count(counts.no_code_object, oddity == Oddity::no_code_object);
    count(counts.code_object_unknown,
          states_places_ && oddity != Oddity::no_code_object && pc.code_object == kNone);
    const Index dispatch = samples_.dispatch[row];
    if (dispatch == kNone) {
      ++counts.dispatch_unknown;
      continue;
    }
    count(counts.dispatch_unrecorded, !raw_dispatches_[dispatch - first_dispatch_].recorded);
    const Index ran = samples_.dispatches[dispatch].kernel;
    count(counts.kernel_disagrees, ran != kNone && pc.kernel != kNone && ran != pc.kernel);
  }
}

void Builder::finish() {
  resolve_kernels();
  std::vector<Oddity> oddities;
  for (std::size_t i = 0; i < raw_pcs_.size(); ++i)
    oddities.push_back(resolve_pc(samples_.pcs[first_pc_ + i], raw_pcs_[i]));
  count_samples(oddities);
  source().samples = samples_.size() - first_row_;
}

}  // namespace perflab::pc_sampling
