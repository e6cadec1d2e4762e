// Target and metadata of code objects against the capture.
#include "replay/code_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "code/elf/elf.h"
#include "code/elf/target_id.h"
#include "code/files/container.h"
#include "code/object/code_object.h"
#include "code/object/unit_names.h"
#include "replay/cubin_choice.h"
#include "replay/failures.h"

namespace perflab::replay {
namespace {

constexpr std::size_t kMostNames = 10;
constexpr std::size_t kLongestName = 4096;

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Generic targets ("gfx9-4-generic") are the runtime's to judge.
bool may_run(const code::TargetId& target, const std::optional<code::TargetId>& device) {
  return !device || target.processor.ends_with("-generic") || code::runs_on(target, *device);
}

std::string argument_text(const code::KernelArgument& argument) {
  return fmt::format("{} of {} bytes at offset {}", argument.value_kind, argument.size,
                     argument.offset);
}

bool same_argument(const code::KernelArgument& a, const code::KernelArgument& b) {
  return a.offset == b.offset && a.size == b.size && a.hidden() == b.hidden() &&
         (!a.hidden() || a.value_kind == b.value_kind);
}

/// The first difference, as a clause; empty: the arguments fit.
std::string difference(const code::KernelMetadata& captured, const code::KernelMetadata& other) {
  const auto has = [](const code::KernelMetadata& kernel, const code::KernelArgument& argument) {
    return std::ranges::any_of(kernel.arguments,
                               [&](const auto& one) { return same_argument(one, argument); });
  };
  for (const code::KernelArgument& argument : other.arguments)
    if (!has(captured, argument))
      return fmt::format("it has {}, which the captured kernel lacks", argument_text(argument));
  for (const code::KernelArgument& argument : captured.arguments)
    if (!argument.hidden() && !has(other, argument))
      return fmt::format("it lacks {}, which the captured kernel has", argument_text(argument));
  return {};
}

Result<void> check_arguments(const capture::Capture& capture, const code::KernelMetadata& other,
                             const std::string& what) {
  const std::string& name = capture.description().dispatch.kernel;
  const std::size_t bytes = capture.kernarg().size();
  if (other.kernarg_bytes > static_cast<std::int64_t>(bytes))
    return fail(Failure::kernel_mismatch,
                fmt::format("{}: {} takes {} bytes of arguments, and the capture has {}", what,
                            name, other.kernarg_bytes, bytes),
                "the signature has to stay that of the captured kernel");
  const auto captured = code::read_code_object(as_text(capture.code_object()),
                                               capture.code_object_path().filename().string());
  const code::KernelMetadata* const kernel =
      captured ? code::kernel_named(*captured, name) : nullptr;
  if (kernel == nullptr) return {};  // nothing to compare with but the size
  if (const std::string clause = difference(*kernel, other); !clause.empty())
    return fail(Failure::kernel_mismatch, fmt::format("{}: {}: {}", what, name, clause),
                "the signature has to stay that of the captured kernel");
  return {};
}

Result<ChosenObject> captured_object(const capture::Capture& capture,
                                     const std::optional<code::TargetId>& device,
                                     const std::string& device_isa) {
  const std::string_view bytes = as_text(capture.code_object());
  const auto target = code::code_object_target(bytes);
  if (!target)
    return fail(ErrorCode::bad_input, fmt::format("{} is not an AMDGPU code object",
                                                  capture.code_object_path().string()));
  if (!may_run(*target, device))
    return fail(Failure::isa_mismatch,
                fmt::format("the captured code object is for {}, and this GPU is {}",
                            code::to_string(*target), device_isa),
                "replay it on a GPU of that ISA, or give code for this one with --hsaco");
  return ChosenObject{
      .bytes = std::string(bytes), .kernel = capture.description().dispatch.kernel, .renamed = {}};
}

/// Variables of the captured code object that the other one has under the name of another
/// translation unit.
Result<std::map<std::string, std::string>> renamed_variables(
    const capture::Description& description, std::string_view bytes, std::string_view what) {
  std::vector<std::string> captured, here;
  for (const capture::MemoryRegion& region : description.regions)
    if (region.origin == capture::Origin::variable &&
        code::without_unit(region.symbol) != region.symbol)
      captured.push_back(region.symbol);
  if (captured.empty()) return std::map<std::string, std::string>{};
  PERFLAB_TRY(const code::Elf elf, code::Elf::read(bytes, what));
  PERFLAB_TRY_VOID(elf.visit_symbols(
      kLongestName, [&](const code::ElfSymbol& symbol) { here.emplace_back(symbol.name); }));
  std::ranges::sort(here);
  here.erase(std::ranges::unique(here).begin(), here.end());  // .dynsym and .symtab
  return code::pair_names(std::move(captured), std::move(here)).same;
}

}  // namespace

Result<ChosenObject> choose_code_object(const capture::Capture& capture,
                                        const std::filesystem::path& file,
                                        const std::string& device_isa) {
  if (capture.description().machine.platform == capture::Platform::cuda)
    return choose_cubin(capture, file, device_isa);
  const auto device = code::parse_target_id(device_isa);
  if (file.empty()) return captured_object(capture, device, device_isa);
  PERFLAB_TRY(const code::Container container, code::open_container(file));
  std::vector<std::string> targets, kernels;
  for (const code::EmbeddedObject& object : container.objects) {
    targets.push_back(code::to_string(object.target));
    if (!may_run(object.target, device)) continue;
    PERFLAB_TRY(const code::CodeObject read, code::read_code_object(object.bytes, file.string()));
    if (const code::KernelMetadata* const kernel =
            code::kernel_named(read, capture.description().dispatch.kernel)) {
      PERFLAB_TRY_VOID(check_arguments(capture, *kernel, file.string()));
      ChosenObject chosen{.bytes = std::string(object.bytes),
                          .kernel = kernel->symbol.substr(0, kernel->symbol.rfind(".kd")),
                          .renamed = {}};
      PERFLAB_TRY(chosen.renamed,
                  renamed_variables(capture.description(), chosen.bytes, file.string()));
      return chosen;
    }
    for (const code::KernelMetadata& kernel : read.kernels) kernels.push_back(kernel.name);
  }
  if (std::ranges::none_of(container.objects, [&](const code::EmbeddedObject& object) {
        return may_run(object.target, device);
      }))
    return fail(Failure::isa_mismatch,
                fmt::format("{} is for {}, and this GPU is {}", file.string(),
                            fmt::join(targets, ", "), device_isa),
                "build it for this GPU (--offload-arch)");
  const std::size_t all = kernels.size();
  kernels.resize(std::min(all, kMostNames));
  return fail(
      Failure::kernel_not_found,
      fmt::format("{} has no kernel {}", file.string(), capture.description().dispatch.kernel),
      fmt::format("it has: {}{}", fmt::join(kernels, ", "),
                  all > kernels.size() ? fmt::format(", and {} more", all - kernels.size()) : ""));
}

bool is_unit_marker(const capture::MemoryRegion& region) {
  return region.origin == capture::Origin::variable && region.bytes == 1 &&
         region.written.empty() && code::is_unit_marker_name(region.symbol);
}

Result<void> check_isa(const std::string& captured, const std::string& device) {
  if (captured.starts_with("sm_")) return check_architecture(captured, device);
  const auto then = code::parse_target_id(captured), now = code::parse_target_id(device);
  const auto fits = [](code::Feature a, code::Feature b) {
    const auto open = [](code::Feature one) {
      return one == code::Feature::any || one == code::Feature::unsupported;
    };
    return a == b || open(a) || open(b);
  };
  if (then && now && then->processor == now->processor && fits(then->sramecc, now->sramecc) &&
      fits(then->xnack, now->xnack))
    return {};
  return fail(Failure::isa_mismatch,
              fmt::format("the capture was taken on {}, and this GPU is {}", captured, device),
              "replay it on a GPU of that ISA (xnack: HSA_XNACK)");
}

}  // namespace perflab::replay
