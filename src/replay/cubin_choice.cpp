// Architectures and parameters of cubins against the capture. Code for sm_90 runs on every GPU of
// compute capability 9.x from 9.0 on.
#include "replay/cubin_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/text/numbers.h"
#include "code/cubin/cubin.h"
#include "code/cubin/cubin_files.h"
#include "code/object/unit_names.h"
#include "replay/failures.h"

namespace perflab::replay {
namespace {

constexpr std::size_t kMostCubinNames = 10;

/// 90 of "sm_90" and "sm_90a".
std::optional<int> architecture_of(std::string_view isa) {
  if (!isa.starts_with("sm_")) return std::nullopt;
  isa.remove_prefix(3);
  const auto number = whole_number(isa.substr(0, isa.find_first_not_of("0123456789")));
  return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

bool runs_on_gpu(int code, std::optional<int> device) {
  constexpr int kMajor = 10;
  return !device || (code / kMajor == *device / kMajor && code <= *device);
}

/// The first difference, as a clause; empty: the parameters fit.
std::string parameter_difference(const std::vector<capture::Parameter>& captured,
                                 const std::vector<code::CubinParameter>& other) {
  if (captured.size() != other.size())
    return fmt::format("it has {} parameters, and the captured kernel {}", other.size(),
                       captured.size());
  for (std::size_t i = 0; i < captured.size(); ++i)
    if (captured[i].offset != other[i].offset || captured[i].size != other[i].size)
      return fmt::format(
          "its parameter {} has {} bytes at offset {}, and the captured kernel's {} at {}", i,
          other[i].size, other[i].offset, captured[i].size, captured[i].offset);
  return {};
}

Result<void> check_parameters(const capture::Capture& capture, const code::CubinKernel& other,
                              const std::string& what) {
  const capture::Dispatch& dispatch = capture.description().dispatch;
  if (!dispatch.cuda) return {};
  const std::string clause = parameter_difference(dispatch.cuda->parameters, other.parameters);
  if (clause.empty()) return {};
  return fail(Failure::kernel_mismatch, fmt::format("{}: {}: {}", what, dispatch.kernel, clause),
              "the signature has to stay that of the captured kernel");
}

Result<ChosenObject> captured_cubin(const capture::Capture& capture, std::optional<int> device,
                                    const std::string& device_isa) {
  const auto bytes = capture.code_object();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::optional<int> made_for = code::cubin_architecture(text);
  if (!made_for)
    return fail(ErrorCode::bad_input,
                fmt::format("{} is not a cubin", capture.code_object_path().string()),
                "take the capture again");
  if (!runs_on_gpu(*made_for, device))
    return fail(
        Failure::isa_mismatch,
        fmt::format("the captured module is for sm_{}, and this GPU is {}", *made_for, device_isa),
        "replay it on a GPU of that architecture, or give code for this one with --hsaco");
  return ChosenObject{
      .bytes = std::string(text), .kernel = capture.description().dispatch.kernel, .renamed = {}};
}

/// Variables of the captured module that the other one has under the name of another translation
/// unit.
std::map<std::string, std::string> renamed_globals(const capture::Description& description,
                                                   const code::Cubin& cubin) {
  std::vector<std::string> captured, here;
  for (const capture::MemoryRegion& region : description.regions)
    if (region.origin == capture::Origin::variable &&
        code::without_unit(region.symbol) != region.symbol)
      captured.push_back(region.symbol);
  if (captured.empty()) return {};
  for (const code::CubinVariable& one : cubin.variables) here.push_back(one.name);
  return code::pair_names(std::move(captured), std::move(here)).same;
}

}  // namespace

Result<ChosenObject> choose_cubin(const capture::Capture& capture,
                                  const std::filesystem::path& file,
                                  const std::string& device_isa) {
  const std::optional<int> device = architecture_of(device_isa);
  if (file.empty()) return captured_cubin(capture, device, device_isa);
  PERFLAB_TRY(const code::CubinFile found, code::open_cubins(file));
  const std::string& name = capture.description().dispatch.kernel;
  std::vector<std::string> architectures, kernels;
  bool any_runs = false;
  for (const code::FatbinEntry& entry : found.cubins) {
    const std::optional<int> made_for = code::cubin_architecture(entry.bytes);
    architectures.push_back(made_for ? fmt::format("sm_{}", *made_for) : "an unknown one");
    if (!made_for || !runs_on_gpu(*made_for, device)) continue;
    any_runs = true;
    PERFLAB_TRY(const code::Cubin cubin, code::read_cubin(entry.bytes, file.string()));
    const code::CubinKernel* const kernel = code::kernel_named(cubin, name);
    if (kernel == nullptr) {
      for (const code::CubinKernel& one : cubin.kernels) kernels.push_back(one.name);
      continue;
    }
    PERFLAB_TRY_VOID(check_parameters(capture, *kernel, file.string()));
    return ChosenObject{.bytes = std::string(entry.bytes),
                        .kernel = kernel->name,
                        .renamed = renamed_globals(capture.description(), cubin)};
  }
  if (!any_runs)
    return fail(Failure::isa_mismatch,
                fmt::format("{} is for {}, and this GPU is {}", file.string(),
                            fmt::join(architectures, ", "), device_isa),
                fmt::format("build it for this GPU (-arch={})", device_isa));
  const std::size_t all = kernels.size();
  kernels.resize(std::min(all, kMostCubinNames));
  return fail(
      Failure::kernel_not_found, fmt::format("{} has no kernel {}", file.string(), name),
      fmt::format("it has: {}{}", fmt::join(kernels, ", "),
                  all > kernels.size() ? fmt::format(", and {} more", all - kernels.size()) : ""));
}

Result<void> check_architecture(const std::string& captured, const std::string& device) {
  if (captured == device) return {};
  return fail(Failure::isa_mismatch,
              fmt::format("the capture was taken on {}, and this GPU is {}", captured, device),
              "replay it on a GPU of that architecture");
}

}  // namespace perflab::replay
