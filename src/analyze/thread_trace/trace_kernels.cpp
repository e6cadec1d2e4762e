// Names come from the occupancy file and from label rows; both have them mangled.
#include "analyze/thread_trace/trace_kernels.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text/numbers.h"
#include "base/text/text.h"

namespace perflab::analyze {
namespace {

using Address = std::pair<std::int64_t, std::uint64_t>;

std::string without_kd(std::string_view name) {
  name = trimmed(name);
  if (name.ends_with(".kd")) name.remove_suffix(3);
  return std::string(name);
}

std::string name_of_label(const att::CodeRow& row) {
  return without_kd(std::string_view(row.text).substr(1));
}

/// "2 / 0x3600": how the profiler names a kernel without a symbol.
std::optional<Address> address_of(std::string_view name) {
  constexpr std::string_view kBetween = " / 0x";
  const std::size_t cut = name.find(kBetween);
  if (cut == std::string_view::npos) return std::nullopt;
  const auto first = whole_number<decltype(Address::first)>(name.substr(0, cut));
  const auto second =
      whole_number<decltype(Address::second)>(name.substr(cut + kBetween.size()), 16);
  return first && second ? std::optional(Address{*first, *second}) : std::nullopt;
}

}  // namespace

TraceKernels::TraceKernels(const att::ThreadTrace& trace) {
  find_names(trace);
  find_rows(trace);
  find_starts(trace);
}

void TraceKernels::find_names(const att::ThreadTrace& trace) {
  std::map<std::string, std::string> names;  // mangled -> demangled
  std::map<Address, std::string> labels;
  for (const att::CodeRow& row : trace.code) {
    if (!row.is_label()) continue;
    const std::string name = name_of_label(row);
    if (name.empty()) continue;
    labels.emplace(Address(row.code_object, row.vaddr), name);
    std::string& demangled = names[name];
    if (demangled.empty()) demangled = row.source;
  }
  std::map<std::int64_t, std::string> by_id;
  for (const auto& [id, text] : trace.kernels) {
    std::string name = without_kd(text);
    if (const auto address = address_of(name)) {
      if (*address == Address{}) continue;  // "0 / 0x0": not known
      if (const auto label = labels.find(*address); label != labels.end()) name = label->second;
    }
    if (name.empty()) continue;
    names.try_emplace(name);
    by_id[id] = std::move(name);
  }
  std::map<std::string_view, std::size_t> index;
  for (const auto& [mangled, demangled] : names) {
    index[mangled] = kernels_.size();
    kernels_.push_back({.mangled = mangled, .demangled = demangled});
  }
  for (const auto& [id, name] : by_id) by_id_[id] = index[name];
  kernels_.emplace_back();
}

void TraceKernels::find_rows(const att::ThreadTrace& trace) {
  std::vector<std::pair<Address, std::size_t>> labels;
  std::map<std::int64_t, std::set<std::size_t>> of_object;
  for (const att::CodeRow& row : trace.code) {
    if (!row.is_label()) continue;
    const std::string name = name_of_label(row);
    const auto found = std::ranges::lower_bound(kernels_.begin(), kernels_.end() - 1, name, {},
                                                &TraceKernel::mangled);
    if (found == kernels_.end() - 1 || found->mangled != name) continue;
    const auto kernel = static_cast<std::size_t>(found - kernels_.begin());
    labels.emplace_back(Address(row.code_object, row.vaddr), kernel);
    of_object[row.code_object].insert(kernel);
  }
  std::ranges::sort(labels);
  of_row_.reserve(trace.code.size());
  for (const att::CodeRow& row : trace.code) {
    const auto after = std::ranges::upper_bound(labels, Address(row.code_object, row.vaddr), {},
                                                [](const auto& label) { return label.first; });
    if (after != labels.begin() && std::prev(after)->first.first == row.code_object) {
      of_row_.push_back(std::prev(after)->second);
      continue;
    }
    const auto only = of_object.find(row.code_object);
    if (only != of_object.end() && only->second.size() == 1)
      of_row_.push_back(*only->second.begin());
    else
      of_row_.push_back(kernels_.size() == 2 ? 0 : unknown());  // the only one, if there is one
  }
}

void TraceKernels::find_starts(const att::ThreadTrace& trace) {
  for (const att::ShaderEngine& engine : trace.engines)
    for (const att::OccupancyRow& row : engine.occupancy)
      if (row.start)
        starts_.push_back({.engine = engine.number,
                           .simd = row.simd,
                           .slot = row.slot,
                           .time = row.time,
                           .cu = row.cu,
                           .kernel = row.kernel});
  std::ranges::sort(starts_, {}, [](const Start& start) {
    return std::tuple(start.engine, start.simd, start.slot, start.time, start.cu, start.kernel);
  });
}

std::size_t TraceKernels::of_id(std::int64_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? unknown() : found->second;
}

std::size_t TraceKernels::of_wave(const att::Wave& wave) const {
  const auto key = [](const Start& start) {
    return std::tuple(start.engine, start.simd, start.slot, start.time);
  };
  const auto range = std::ranges::equal_range(
      starts_, std::tuple(wave.place.shader_engine, wave.place.simd, wave.place.slot, wave.begin),
      {}, key);
  std::size_t kernel = unknown();
  for (const Start& start : range) {
    // The low seven bits: wave files can lack the shader array's bit.
    if (range.size() > 1 && (start.cu & 0x7f) != (wave.place.cu & 0x7f)) continue;
    kernel = of_id(start.kernel);
    if (start.cu == wave.place.cu) break;
  }
  if (kernel != unknown()) return kernel;
  for (const att::WaveInstruction& instruction : wave.instructions)
    if (instruction.row < of_row_.size()) return of_row_[instruction.row];
  return unknown();
}

}  // namespace perflab::analyze
