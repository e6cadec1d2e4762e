// Rules for addresses and for what a capture lacks: docs/facts/hsa_runtime.md "Unreported
// mistakes".
#include "replay/lint_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

namespace perflab::replay {
namespace {

using capture::MemoryRegion;
using capture::Origin;

/// Words of arguments by value are taken for pointers from here on: programs, their heap and
/// mappings of 64-bit Linux begin above it (x86-64 and AArch64), and user space ends at 2^47.
constexpr std::uint64_t kLikelyPointers = 0x550000000000, kEndOfUserSpace = std::uint64_t{1} << 47;
/// What may lie between a kernel's descriptor and other parts of its loaded code object, beside the
/// object's own size: segments begin on pages of their own.
constexpr std::uint64_t kCodeSlack = std::uint64_t{1} << 20;

}  // namespace

void LintRules::add(Severity severity, std::string_view rule, std::string sentence,
                    std::string_view remedy) {
  findings_.push_back({.severity = severity,
                       .rule = std::string(rule),
                       .sentence = std::move(sentence),
                       .remedy = std::string(remedy)});
}

std::optional<std::uint64_t> LintRules::word(std::uint64_t offset) const {
  const auto kernarg = capture_.kernarg();
  if (offset > kernarg.size() || kernarg.size() - offset < kWordBytes) return std::nullopt;
  std::uint64_t value = 0;
  std::memcpy(&value, kernarg.data() + offset, kWordBytes);
  return value;
}

LintRules::Place LintRules::place(std::uint64_t address) const {
  const MemoryRegion *found = nullptr, *ended = nullptr;
  for (const MemoryRegion& region : description_.regions) {
    if (address < region.base) continue;
    const std::uint64_t offset = address - region.base;
    if (offset < region.bytes && (found == nullptr || !found->captured())) found = &region;
    if (offset == region.bytes && region.bytes > 0 && region.captured()) ended = &region;
  }
  if (found == nullptr) found = ended;
  if (found == nullptr) return {.region = nullptr, .text = "it is in nothing that is known"};
  return {.region = found,
          .text = fmt::format("it lies in the {} at {:#x}{}",
                              found->captured() ? "captured region" : "region", found->base,
                              found->captured() ? "" : ", which was not captured")};
}

bool LintRules::near_code(std::uint64_t address) const {
  const std::uint64_t object = description_.dispatch.kernel_object;
  const std::uint64_t reach = description_.code_object_bytes + kCodeSlack;
  return object != 0 && address != 0 &&
         (address > object ? address - object : object - address) <= reach;
}

void LintRules::pointer(std::uint64_t value, const std::string& which, bool sure) {
  if (value == 0) return;
  const Place found = place(value);
  const std::string is = fmt::format("{} is {:#x}", which, value);
  if (found.region != nullptr) return into_region(*found.region, is, sure);
  if (near_code(value))
    return add(sure ? Severity::error : Severity::warning, "code_pointer",
               fmt::format("{}, an address in the code object as it was loaded in the old process: "
                           "it will lie elsewhere",
                           is),
               "pass function and table addresses in another way");
  const bool likely = value >= kLikelyPointers && value < kEndOfUserSpace;
  if (!sure && !likely) return;
  add(sure ? Severity::error : Severity::warning, "host_pointer",
      sure ? fmt::format("{}: {} (memory of the host, or freed)", is, found.text)
           : fmt::format("{}: if that is a pointer, {} (memory of the host, or freed)", is,
                         found.text),
      "pass memory that is allocated for the GPU");
}

void LintRules::into_region(const MemoryRegion& region, const std::string& is, bool sure) {
  if (!region.captured())
    return add(sure ? Severity::error : Severity::warning, "not_captured",
               fmt::format("{}: its region at {:#x} ({}) was not captured: {}", is, region.base,
                           capture::to_string(region.origin), region.not_captured),
               "pass memory that is allocated for the GPU");
  // On CUDA a copy lies at that address (cuda_lint.cpp).
  if (region.origin == Origin::variable && description_.machine.platform == capture::Platform::cuda)
    return;
  if (region.origin == Origin::variable)
    return add(
        sure ? Severity::error : Severity::warning, "variable_pointer",
        fmt::format("{}, the address of the variable {} in the old process: it will be elsewhere",
                    is, region.symbol),
        "let the kernel name the variable, or pass allocated memory");
  if (region.on_gpu && region.agent_index != description_.machine.gpu_index)
    add(Severity::warning, "other_gpu_pointer",
        fmt::format("{}: memory of GPU {}, and the kernel ran on GPU {}", is, region.agent_index,
                    description_.machine.gpu_index),
        "replay on a machine with as many GPUs");
}

void LintRules::not_captured() {
  std::size_t count = 0;
  std::uint64_t bytes = 0;
  for (const MemoryRegion& region : description_.regions) {
    if (region.captured()) continue;
    ++count;
    bytes += region.bytes;
  }
  if (count > 0)
    add(Severity::note, "not_captured",
        fmt::format("{} {} of {} bytes in all {} not captured: pointers in memory that lead there "
                    "are not looked for",
                    count, count == 1 ? "region" : "regions", bytes, count == 1 ? "was" : "were"));
}

std::vector<Finding> LintRules::finished() {
  not_captured();
  for (Finding& finding : nothing_written(description_)) findings_.push_back(std::move(finding));
  for (const std::string& limit : description_.limits)
    add(Severity::warning, "limit", "when it was captured: " + limit);
  std::ranges::stable_sort(findings_, [](const Finding& a, const Finding& b) {
    return std::tuple(b.severity, std::string_view(a.rule)) <
           std::tuple(a.severity, std::string_view(b.rule));
  });
  return std::move(findings_);
}

}  // namespace perflab::replay
