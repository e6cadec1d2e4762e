// Guards on AMD's code objects: what their metadata, symbols and instruction bytes say. Facts:
// docs/facts/code_object.md (LLVM AMDGPUUsage). Those on cubins are in cubin_guards.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "code/cubin/cubin_files.h"
#include "code/files/container.h"
#include "code/object/code_object.h"
#include "code/object/unit_names.h"
#include "optimize/guards/guards.h"
#include "optimize/objects/cubin_guards.h"
#include "optimize/objects/guard_results.h"
#include "optimize/objects/object_exports.h"

namespace perflab::optimize {
namespace {

constexpr std::size_t kInstructionWord = 4;

/// One code object out of a file of them. Owns the file's bytes.
struct OpenedObject {
  code::Container container;
  std::string_view bytes;
  code::TargetId target;
  code::CodeObject object;
  const code::KernelMetadata* kernel = nullptr;  ///< the one that is judged; nullptr: it has none
};

/// The object with the kernel, of this target when one is wanted; else the first.
Result<OpenedObject> open_object(std::string_view bytes, const std::string& what,
                                 const std::string& kernel, const code::TargetId* target) {
  OpenedObject out;
  PERFLAB_TRY(out.container, code::find_code_objects(std::string(bytes), what));
  const code::EmbeddedObject* chosen = nullptr;
  for (const code::EmbeddedObject& one : out.container.objects) {
    PERFLAB_TRY(const code::CodeObject read, code::read_code_object(one.bytes, what));
    const bool fits =
        code::kernel_named(read, kernel) != nullptr && (target == nullptr || one.target == *target);
    if (chosen == nullptr || fits) chosen = &one;
    if (fits) break;
  }
  PERFLAB_CHECK(chosen != nullptr);
  out.bytes = chosen->bytes;
  out.target = chosen->target;
  PERFLAB_TRY(out.object, code::read_code_object(chosen->bytes, what));
  return out;
}

std::string argument_words(const code::KernelArgument& argument) {
  return fmt::format("{} of {} bytes at offset {}{}{}", argument.value_kind, argument.size,
                     argument.offset, argument.address_space.empty() ? "" : ", address space ",
                     argument.address_space);
}

/// What a caller has to know of an argument.
auto layout_key(const code::KernelArgument& argument) {
  return std::tie(argument.offset, argument.size, argument.value_kind, argument.address_space);
}

std::vector<code::KernelArgument> explicit_arguments(const code::KernelMetadata& kernel) {
  std::vector<code::KernelArgument> out;
  std::ranges::copy_if(kernel.arguments, std::back_inserter(out),
                       [](const code::KernelArgument& argument) { return !argument.hidden(); });
  return out;
}

std::set<std::string> hidden_kinds(const code::KernelMetadata& kernel) {
  std::set<std::string> kinds;
  for (const code::KernelArgument& argument : kernel.arguments)
    if (argument.hidden()) kinds.insert(argument.value_kind);
  return kinds;
}

GuardResult check_kernarg(const code::KernelMetadata& before, const code::KernelMetadata& after) {
  const auto old_ones = explicit_arguments(before), new_ones = explicit_arguments(after);
  for (std::size_t i = 0; i < std::max(old_ones.size(), new_ones.size()); ++i) {
    if (i < old_ones.size() && i < new_ones.size() &&
        layout_key(old_ones[i]) == layout_key(new_ones[i]))
      continue;
    return object_failed("kernarg", Reason::kernarg_changed,
                         fmt::format("argument {}: the original has {}, the candidate has {}", i,
                                     i < old_ones.size() ? argument_words(old_ones[i]) : "none",
                                     i < new_ones.size() ? argument_words(new_ones[i]) : "none"));
  }
  const auto old_hidden = hidden_kinds(before), new_hidden = hidden_kinds(after);
  // Without hidden arguments the segment is the explicit part and nothing else.
  if (old_hidden.empty() && new_hidden.empty() && before.kernarg_bytes != after.kernarg_bytes)
    return object_failed("kernarg", Reason::kernarg_changed,
                         fmt::format("the arguments take {} bytes, and {} in the candidate",
                                     before.kernarg_bytes, after.kernarg_bytes));
  std::vector<std::string> fresh;
  std::ranges::set_difference(new_hidden, old_hidden, std::back_inserter(fresh));
  return object_passed("kernarg",
                       fresh.empty()
                           ? ""
                           : fmt::format("the candidate asks the runtime for {} besides, which a "
                                         "capture of the original may not hold",
                                         fmt::join(fresh, ", ")));
}

/// Everything the metadata says of a kernel, as one text.
std::string metadata_words(const code::KernelMetadata& kernel) {
  std::string out = fmt::format(
      "kernarg {}/{} lds {} scratch {} wave {} vgpr {} agpr {} sgpr {} spills {}/{} group {}",
      kernel.kernarg_bytes, kernel.kernarg_align, kernel.lds_bytes, kernel.scratch_bytes,
      kernel.wave_size, kernel.vgpr_count.value_or(-1), kernel.agpr_count.value_or(-1),
      kernel.sgpr_count.value_or(-1), kernel.sgpr_spills.value_or(-1),
      kernel.vgpr_spills.value_or(-1), kernel.max_workgroup_size.value_or(-1));
  for (const code::KernelArgument& argument : kernel.arguments)
    out += "; " + argument_words(argument);
  return out;
}

std::size_t different_words(std::string_view a, std::string_view b) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < a.size(); at += kInstructionWord)
    count += a.substr(at, kInstructionWord) != b.substr(at, kInstructionWord);
  return count;
}

/// Kernels by symbol, but for the one that is judged.
std::map<std::string, const code::KernelMetadata*> other_kernels(const OpenedObject& opened) {
  std::map<std::string, const code::KernelMetadata*> out;
  for (const code::KernelMetadata& one : opened.object.kernels)
    if (&one != opened.kernel) out[one.symbol] = &one;
  return out;
}

/// The kernels that are not judged. Addresses relative to the program counter move when other code
/// grows: words of equally long code may differ, which is a note.
GuardResult check_others(const OpenedObject& before, const OpenedObject& after) {
  const auto old_ones = other_kernels(before), new_ones = other_kernels(after);
  const auto symbols = [](const auto& kernels) {
    std::vector<std::string> out;
    for (const auto& [symbol, one] : kernels) out.push_back(symbol);
    return out;
  };
  const code::NamePairs pairs = code::pair_names(symbols(old_ones), symbols(new_ones));
  OtherCode found;
  for (const std::string& symbol : pairs.fresh) found.fresh.push_back(new_ones.at(symbol)->name);
  for (const std::string& symbol : pairs.gone) found.gone.push_back(old_ones.at(symbol)->name);
  for (const auto& [symbol, other] : pairs.same) {
    const code::KernelMetadata &one = *old_ones.at(symbol), &two = *new_ones.at(other);
    const std::string_view was = code::kernel_code(before.bytes, one);
    const std::string_view is = code::kernel_code(after.bytes, two);
    if (metadata_words(one) != metadata_words(two) || was.size() != is.size())
      found.altered.push_back(one.name);
    else if (was != is)
      found.moved.push_back(fmt::format("{} ({} of {} words)", one.name, different_words(was, is),
                                        was.size() / kInstructionWord));
  }
  return describe_others(found);
}

Result<GuardResult> check_variables(const OpenedObject& before, const OpenedObject& after) {
  PERFLAB_TRY(std::vector<std::string> problems, changed_exports(before.bytes, after.bytes));
  return describe_variables(std::move(problems));
}

GuardResult check_target(const OpenedObject& before, const OpenedObject& after) {
  if (before.target == after.target && before.kernel->wave_size == after.kernel->wave_size)
    return object_passed("target");
  return object_failed(
      "target", Reason::other_code_changed,
      fmt::format("the original is for {} in waves of {}, the candidate for {} in waves of {}",
                  code::to_string(before.target), before.kernel->wave_size,
                  code::to_string(after.target), after.kernel->wave_size));
}

GuardResult check_launch_bounds(const code::KernelMetadata& after,
                                const std::optional<std::int64_t>& workgroup_size) {
  std::optional<std::int64_t> required;
  if (after.required_workgroup_size)
    required = analyze::workgroup_size(*after.required_workgroup_size).value_or(0);
  return describe_bounds(after.max_workgroup_size, required, workgroup_size, hal::Platform::amd);
}

std::optional<double> as_figure(const std::optional<std::int64_t>& value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

/// Vector and scalar spills together; missing when one of them is not counted.
std::optional<double> count_spills(const code::KernelMetadata& kernel) {
  if (!kernel.sgpr_spills || !kernel.vgpr_spills) return std::nullopt;
  return static_cast<double>(*kernel.sgpr_spills + *kernel.vgpr_spills);
}

/// Where spills cannot be compared, a sentence; empty: they can.
std::string unknown_spills(const code::KernelMetadata& before, const code::KernelMetadata& after) {
  const bool knew = count_spills(before).has_value(), knows = count_spills(after).has_value();
  if (knew && knows) return {};
  return fmt::format(
      "not known whether spills are new: the metadata of {} does not count both kinds",
      knew    ? "the candidate"
      : knows ? "the original"
              : "either kernel");
}

std::vector<ResourceChange> resource_changes(const analyze::StaticKernel& before,
                                             const analyze::StaticKernel& after) {
  std::vector<ResourceChange> changes;
  const auto occupancy = [](const analyze::StaticKernel& kernel) {
    return kernel.occupancy ? std::optional(kernel.occupancy->resident.waves_per_simd)
                            : std::nullopt;
  };
  add_change(changes, "vgprs", as_figure(before.vgprs), as_figure(after.vgprs), Growth::registers);
  add_change(changes, "sgprs", as_figure(before.code.sgpr_count), as_figure(after.code.sgpr_count),
             Growth::any);
  add_change(changes, "lds_bytes", static_cast<double>(before.code.lds_bytes + before.dynamic_lds),
             static_cast<double>(after.code.lds_bytes + after.dynamic_lds), Growth::shared);
  add_change(changes, "scratch_bytes", static_cast<double>(before.code.scratch_bytes),
             static_cast<double>(after.code.scratch_bytes), Growth::none);
  add_change(changes, "spills", count_spills(before.code), count_spills(after.code), Growth::none);
  add_change(changes, "occupancy", occupancy(before), occupancy(after), Growth::occupancy);
  return changes;
}

}  // namespace

bool ObjectGuards::regressed() const {
  return std::ranges::any_of(changes, &ResourceChange::regression);
}

Result<ObjectGuards> check_object(std::string_view original, std::string_view candidate,
                                  const ObjectGuardOptions& options) {
  if (code::holds_cubins(original)) return check_cubin(original, candidate, options);
  PERFLAB_TRY(OpenedObject before,
              open_object(original, "the original's code object", options.kernel, nullptr));
  before.kernel = code::kernel_named(before.object, options.kernel);
  if (before.kernel == nullptr)
    return fail(ErrorCode::bad_input,
                fmt::format("the original's code object has no kernel {}", options.kernel),
                "give the compiler options that make this instance of it");
  PERFLAB_TRY(OpenedObject after, open_object(candidate, "the candidate's code object",
                                              options.kernel, &before.target));
  after.kernel = code::kernel_named(after.object, options.kernel);
  ObjectGuards out;
  if (after.kernel == nullptr) {
    out.results.push_back(
        object_failed("kernel_of_code", Reason::kernel_missing,
                      fmt::format("the candidate's code object has no kernel {}", options.kernel)));
    return out;
  }
  out.results.push_back(object_passed("kernel_of_code"));
  out.results.push_back(check_target(before, after));
  out.results.push_back(check_kernarg(*before.kernel, *after.kernel));
  out.results.push_back(check_others(before, after));
  PERFLAB_TRY(GuardResult variables, check_variables(before, after));
  out.results.push_back(std::move(variables));
  out.results.push_back(check_launch_bounds(*after.kernel, options.workgroup_size));
  const analyze::StaticLaunch launch{.workgroup_size = options.workgroup_size,
                                     .dynamic_lds = options.dynamic_lds};
  out.changes =
      resource_changes(analyze::describe_static_kernel(before.target, *before.kernel, launch),
                       analyze::describe_static_kernel(after.target, *after.kernel, launch));
  out.results.push_back(
      describe_resources(out.changes, unknown_spills(*before.kernel, *after.kernel)));
  return out;
}

}  // namespace perflab::optimize
