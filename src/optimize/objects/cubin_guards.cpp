// See cubin_guards.h. Facts: docs/facts/cuda_code.md.
#include "optimize/objects/cubin_guards.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyze/inspect/static_kernel.h"
#include "code/cubin/cubin.h"
#include "code/cubin/cubin_files.h"
#include "code/object/unit_names.h"
#include "hal/arch.h"
#include "hal/occupancy.h"
#include "optimize/objects/guard_results.h"

namespace perflab::optimize {
namespace {

constexpr std::size_t kCubinWord = 16;  // an instruction, from sm_70 on

/// One cubin out of a file of them. Owns the file's bytes.
struct OpenedCubin {
  code::CubinFile file;
  code::Cubin cubin;
  const code::CubinKernel* kernel = nullptr;  ///< the one that is judged; nullptr: it has none
};

/// The cubin with the kernel, of this architecture when one is wanted; else the first.
Result<OpenedCubin> open_cubin(std::string_view bytes, const std::string& what,
                               const std::string& kernel, std::optional<int> architecture) {
  OpenedCubin out;
  PERFLAB_TRY(out.file, code::find_cubins(std::string(bytes), what));
  bool first = true;
  for (const code::FatbinEntry& entry : out.file.cubins) {
    PERFLAB_TRY(code::Cubin read, code::read_cubin(entry.bytes, what));
    const bool fits = code::kernel_named(read, kernel) != nullptr &&
                      (!architecture || read.architecture == *architecture);
    if (first || fits) out.cubin = std::move(read);
    if (fits) break;
    first = false;
  }
  out.kernel = code::kernel_named(out.cubin, kernel);
  return out;
}

std::string parameter_words(const code::CubinParameter& parameter) {
  return fmt::format("{} bytes at offset {}", parameter.size, parameter.offset);
}

GuardResult check_parameters(const code::CubinKernel& before, const code::CubinKernel& after) {
  const auto &was = before.parameters, &is = after.parameters;
  for (std::size_t i = 0; i < std::max(was.size(), is.size()); ++i) {
    if (i < was.size() && i < is.size() && was[i] == is[i]) continue;
    return object_failed("kernarg", Reason::kernarg_changed,
                         fmt::format("parameter {}: the original has {}, the candidate has {}", i,
                                     i < was.size() ? parameter_words(was[i]) : "none",
                                     i < is.size() ? parameter_words(is[i]) : "none"));
  }
  if (before.parameter_bytes != after.parameter_bytes)
    return object_failed("kernarg", Reason::kernarg_changed,
                         fmt::format("the parameters take {} bytes, and {} in the candidate",
                                     before.parameter_bytes, after.parameter_bytes));
  return object_passed("kernarg");
}

/// Whether two kernels ask for the same: all but their code.
bool same_needs(const code::CubinKernel& a, const code::CubinKernel& b) {
  return a.registers == b.registers && a.shared_bytes == b.shared_bytes &&
         a.frame_bytes == b.frame_bytes && a.stack_bytes == b.stack_bytes &&
         a.spill_instructions == b.spill_instructions && a.parameters == b.parameters &&
         a.max_threads == b.max_threads && a.required_threads == b.required_threads &&
         a.cluster == b.cluster && a.relocations == b.relocations;
}

std::size_t different_instructions(std::string_view a, std::string_view b) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < a.size(); at += kCubinWord)
    count += a.substr(at, kCubinWord) != b.substr(at, kCubinWord);
  return count;
}

/// Things of a cubin by name, the judged kernel left out.
template <class T>
std::map<std::string, const T*> by_name(const std::vector<T>& things, const T* without = nullptr) {
  std::map<std::string, const T*> out;
  for (const T& one : things)
    if (&one != without) out[one.name] = &one;
  return out;
}
template <class T>
code::NamePairs paired(const std::map<std::string, const T*>& before,
                       const std::map<std::string, const T*>& after) {
  std::vector<std::string> old_names, new_names;
  for (const auto& [name, one] : before) old_names.push_back(name);
  for (const auto& [name, one] : after) new_names.push_back(name);
  return code::pair_names(std::move(old_names), std::move(new_names));
}

/// Code reads addresses of variables at places that move when another kernel needs one more: words
/// of equally long code may differ, which is a note.
GuardResult check_other_kernels(const OpenedCubin& before, const OpenedCubin& after) {
  const auto old_ones = by_name(before.cubin.kernels, before.kernel);
  const auto new_ones = by_name(after.cubin.kernels, after.kernel);
  const code::NamePairs pairs = paired(old_ones, new_ones);
  OtherCode found{.fresh = pairs.fresh, .gone = pairs.gone, .altered = {}, .moved = {}};
  for (const auto& [was_name, is_name] : pairs.same) {
    const code::CubinKernel &was = *old_ones.at(was_name), &is = *new_ones.at(is_name);
    if (!same_needs(was, is) || was.code.size() != is.code.size())
      found.altered.push_back(was.name);
    else if (was.code != is.code)
      found.moved.push_back(fmt::format("{} ({} of {} instructions)", was.name,
                                        different_instructions(was.code, is.code),
                                        was.code.size() / kCubinWord));
  }
  return describe_others(found);
}

std::string change_of(const code::CubinVariable& was, const code::CubinVariable& is) {
  if (was.space != is.space)
    return fmt::format("{} is {}, it was {}", is.name, to_string(is.space), to_string(was.space));
  if (was.size != is.size)
    return fmt::format("{} has {} bytes, it had {}", is.name, is.size, was.size);
  if (was.contents != is.contents) return fmt::format("{} begins with other contents", is.name);
  return {};
}

GuardResult check_cubin_variables(const OpenedCubin& before, const OpenedCubin& after) {
  const auto old_ones = by_name(before.cubin.variables);
  const auto new_ones = by_name(after.cubin.variables);
  const code::NamePairs pairs = paired(old_ones, new_ones);
  std::vector<std::string> problems;
  for (const std::string& name : pairs.fresh)
    problems.push_back(fmt::format("{} ({} bytes) is new", name, new_ones.at(name)->size));
  for (const std::string& name : pairs.gone) problems.push_back(name + " is gone");
  for (const auto& [was, is] : pairs.same)
    if (std::string change = change_of(*old_ones.at(was), *new_ones.at(is)); !change.empty())
      problems.push_back(std::move(change));
  return describe_variables(std::move(problems));
}

GuardResult check_architecture(const OpenedCubin& before, const OpenedCubin& after) {
  if (before.cubin.architecture == after.cubin.architecture) return object_passed("target");
  return object_failed("target", Reason::other_code_changed,
                       fmt::format("the original is for sm_{}, the candidate for sm_{}",
                                   before.cubin.architecture, after.cubin.architecture));
}

std::string cluster_words(const std::optional<std::array<std::uint32_t, 3>>& cluster) {
  return cluster ? fmt::format("clusters of {}x{}x{}", (*cluster)[0], (*cluster)[1], (*cluster)[2])
                 : "no clusters";
}

GuardResult check_bounds(const code::CubinKernel& before, const code::CubinKernel& after,
                         const std::optional<std::int64_t>& workgroup_size) {
  if (before.cluster != after.cluster)
    return object_failed("launch_bounds_of_code", Reason::launch_bounds,
                         fmt::format("the original has {}, the candidate has {}",
                                     cluster_words(before.cluster), cluster_words(after.cluster)));
  const auto threads = [](const std::optional<std::array<std::uint32_t, 3>>& axes) {
    return axes ? std::optional(analyze::workgroup_size(*axes).value_or(0)) : std::nullopt;
  };
  return describe_bounds(threads(after.max_threads), threads(after.required_threads),
                         workgroup_size, hal::Platform::nvidia);
}

template <class T>
std::optional<double> figure_of(const std::optional<T>& value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

/// Warps of a sub-partition, by the model of the hardware; missing: the architecture or the block
/// is not known, or the block cannot be launched.
std::optional<double> occupancy_of(const OpenedCubin& opened, const ObjectGuardOptions& options) {
  const hal::Arch* const arch = hal::find_arch(fmt::format("sm_{}", opened.cubin.architecture));
  const code::CubinKernel& kernel = *opened.kernel;
  if (arch == nullptr || !options.workgroup_size || !kernel.registers) return std::nullopt;
  hal::OccupancyInput input;
  input.kernel.workgroup_size = *options.workgroup_size;
  input.kernel.static_lds = static_cast<std::int64_t>(kernel.shared_bytes);
  input.kernel.dynamic_lds = options.dynamic_lds;
  input.kernel.vgprs = *kernel.registers;
  const auto occupancy = hal::compute_occupancy(*arch, input);
  return occupancy ? std::optional(occupancy->hardware().waves_per_simd) : std::nullopt;
}

std::vector<ResourceChange> changes_between(const OpenedCubin& before, const OpenedCubin& after,
                                            const ObjectGuardOptions& options) {
  const code::CubinKernel &was = *before.kernel, &is = *after.kernel;
  const auto shared = [&](const code::CubinKernel& kernel) {
    return static_cast<double>(kernel.shared_bytes) + static_cast<double>(options.dynamic_lds);
  };
  std::vector<ResourceChange> changes;
  add_change(changes, "registers", figure_of(was.registers), figure_of(is.registers),
             Growth::registers);
  add_change(changes, "shared_bytes", shared(was), shared(is), Growth::shared);
  add_change(changes, "local_bytes", figure_of(was.local_bytes()), figure_of(is.local_bytes()),
             Growth::none);
  add_change(changes, "spills", figure_of(was.spill_instructions), figure_of(is.spill_instructions),
             Growth::none);
  add_change(changes, "occupancy", occupancy_of(before, options), occupancy_of(after, options),
             Growth::occupancy);
  return changes;
}

/// Where spills cannot be compared, a sentence; empty: they can.
std::string unlisted_spills(const code::CubinKernel& was, const code::CubinKernel& is) {
  if (was.spill_instructions && is.spill_instructions) return {};
  return "not known whether spills are new: the compiler of one of the two does not list them "
         "(CUDA 13 does)";
}

}  // namespace

Result<ObjectGuards> check_cubin(std::string_view original, std::string_view candidate,
                                 const ObjectGuardOptions& options) {
  PERFLAB_TRY(const OpenedCubin before,
              open_cubin(original, "the original's code", options.kernel, options.architecture));
  if (before.kernel == nullptr)
    return fail(ErrorCode::bad_input,
                fmt::format("the original's code has no kernel {}", options.kernel),
                "give the compiler options that make this instance of it");
  PERFLAB_TRY(const OpenedCubin after, open_cubin(candidate, "the candidate's code", options.kernel,
                                                  before.cubin.architecture));
  ObjectGuards out;
  if (after.kernel == nullptr) {
    out.results.push_back(
        object_failed("kernel_of_code", Reason::kernel_missing,
                      fmt::format("the candidate's code has no kernel {}", options.kernel)));
    return out;
  }
  out.results.push_back(object_passed("kernel_of_code"));
  out.results.push_back(check_architecture(before, after));
  out.results.push_back(check_parameters(*before.kernel, *after.kernel));
  out.results.push_back(check_other_kernels(before, after));
  out.results.push_back(check_cubin_variables(before, after));
  out.results.push_back(check_bounds(*before.kernel, *after.kernel, options.workgroup_size));
  out.changes = changes_between(before, after, options);
  out.results.push_back(
      describe_resources(out.changes, unlisted_spills(*before.kernel, *after.kernel)));
  return out;
}

}  // namespace perflab::optimize
