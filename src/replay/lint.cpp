// The rules of the lint. Which hidden arguments exist and where they stand:
// docs/facts/code_object.md "Hidden arguments"; what cannot be checked by the runtime and has to be
// known before: docs/facts/hsa_runtime.md "Unreported mistakes".
#include "replay/lint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "code/elf/target_id.h"
#include "code/instructions/disassembly.h"
#include "code/instructions/kernarg_use.h"
#include "code/object/code_object.h"
#include "replay/cuda_lint.h"
#include "replay/lint_rules.h"

namespace perflab::replay {
namespace {

using capture::MemoryRegion;

/// Code objects beyond this are not disassembled to see what a kernel uses.
constexpr std::size_t kMostDisassembled = std::size_t{32} << 20;

/// A hidden argument that points into the process which the capture was taken from.
struct HiddenRule {
  std::string_view kind, rule, what;
  Severity outside, inside;  ///< when it points outside of, and into, a captured region
  std::string_view remedy;
};

/// What the code of the kernel says about its arguments.
code::KernargUse use_in_code(std::string_view bytes, const code::CodeObject& object,
                             const code::KernelMetadata& kernel) {
  const auto unknown = [](std::string because) {
    code::KernargUse use;
    use.nothing_known_because = std::move(because);
    return use;
  };
  if (bytes.size() > kMostDisassembled)
    return unknown(
        fmt::format("a code object of {} bytes is not disassembled for that", bytes.size()));
  const std::string& processor = object.target.processor;
  const auto objdump = code::find_disassembler(processor);
  if (!objdump) return unknown(objdump.error().message);
  const std::array<code::ToDisassemble, 1> wanted{
      {{.bytes = bytes, .processor = processor, .symbols = {}}}};
  const auto done = code::disassemble(*objdump, wanted);
  if (!done) return unknown(done.error().message);
  if (!done->front()) return unknown(done->front().error().message);
  return code::KernargUse::of(object, kernel, *done->front());
}

constexpr std::string_view kNoHost = "take the call out of the kernel, or capture another dispatch";
constexpr std::array<HiddenRule, 7> kHiddenRules{{
    {"hidden_hostcall_buffer", "hidden_hostcall",
     "printf, assert or malloc of the kernel ask a thread of the old process through it and would "
     "wait for ever",
     Severity::error, Severity::error, kNoHost},
    {"hidden_printf_buffer", "hidden_printf", "printf of the kernel writes into it",
     Severity::error, Severity::warning, "take printf out of the kernel"},
    {"hidden_heap_v1", "hidden_heap", "malloc and free of the kernel work on it", Severity::error,
     Severity::warning, "take malloc and free out of the kernel"},
    {"hidden_default_queue", "hidden_default_queue",
     "kernels that this one starts would be put there, and nothing runs them", Severity::error,
     Severity::error, kNoHost},
    {"hidden_completion_action", "hidden_completion_action",
     "kernels that this one starts end there, and nothing reads it", Severity::error,
     Severity::error, kNoHost},
    {"hidden_multigrid_sync_arg", "hidden_multigrid_sync",
     "work-groups of a cooperative launch wait for each other there: all of them must be resident "
     "at once, which a replay does not promise",
     Severity::error, Severity::warning,
     "replay on a GPU that is not busy, and not smaller than the captured one"},
    {"hidden_queue_ptr", "hidden_queue_ptr",
     "it is the descriptor of the old process's queue (traps and address checks read it)",
     Severity::warning, Severity::warning, "build without asserts and traps"},
}};

class Linter : public LintRules {
 public:
  Linter(const capture::Capture& capture, std::string_view bytes, const code::CodeObject& object)
      : LintRules(capture), bytes_(bytes), object_(object) {}

  std::vector<Finding> run() {
    const auto& name = description_.dispatch.kernel;
    const auto kernel = std::ranges::find(object_.kernels, name, &code::KernelMetadata::name);
    if (kernel == object_.kernels.end()) {
      add(Severity::error, "kernel_not_found",
          fmt::format("the code object has no kernel {}; it has {}", name,
                      fmt::join(names_of(object_.kernels), ", ")));
    } else {
      kernarg_size(*kernel);
      arguments(*kernel);
      segments(*kernel);
      geometry(*kernel);
    }
    isa();
    return finished();
  }

 private:
  static std::vector<std::string_view> names_of(const std::vector<code::KernelMetadata>& kernels) {
    constexpr std::size_t kMost = 8;
    std::vector<std::string_view> names;
    for (const code::KernelMetadata& kernel : kernels)
      if (names.size() < kMost) names.push_back(kernel.name);
    if (names.empty()) names.emplace_back("none");
    if (kernels.size() > kMost) names.emplace_back("...");
    return names;
  }

  void kernarg_size(const code::KernelMetadata& kernel) {
    const auto expected =
        static_cast<std::uint64_t>(std::max<std::int64_t>(kernel.kernarg_bytes, 0));
    const std::uint64_t here = capture_.kernarg().size();
    if (here < expected)
      add(Severity::error, "kernarg_size",
          fmt::format("{} bytes of kernel arguments were captured and the kernel has {}", here,
                      expected),
          "take the capture again");
    else if (here > expected)
      add(Severity::note, "kernarg_size",
          fmt::format("{} bytes of kernel arguments were captured and the kernel has {}", here,
                      expected));
  }

  void arguments(const code::KernelMetadata& kernel) {
    for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
      const code::KernelArgument& argument = kernel.arguments[i];
      if (argument.offset < 0 || argument.size < 0) continue;
      const auto offset = static_cast<std::uint64_t>(argument.offset);
      if (argument.hidden()) {
        hidden(kernel, argument);
      } else if (argument.value_kind == "global_buffer") {
        if (const auto value = word(offset)) pointer(*value, said(argument, i, offset), true);
      } else if (argument.value_kind == "by_value") {
        const std::uint64_t end = offset + static_cast<std::uint64_t>(argument.size);
        for (std::uint64_t at = (offset + kWordBytes - 1) / kWordBytes * kWordBytes;
             at + kWordBytes <= end; at += kWordBytes) {
          const auto value = word(at);
          if (!value) break;
          pointer(*value, said(argument, i, at), false);
        }
      }
    }
    if (kernel.arguments.empty())  // hand-written kernels record none
      for (std::uint64_t at = 0; const auto value = word(at); at += kWordBytes)
        pointer(*value, fmt::format("the word at byte {} of the kernel arguments", at), false);
  }

  static std::string said(const code::KernelArgument& argument, std::size_t index,
                          std::uint64_t offset) {
    return fmt::format("argument {}{} (byte {})", index,
                       argument.name.empty() ? "" : " \"" + argument.name + "\"", offset);
  }

  /// Compilers list hidden arguments that nothing uses: without optimisation all of them.
  void hidden(const code::KernelMetadata& kernel, const code::KernelArgument& argument) {
    const std::string_view kind = argument.value_kind;
    const auto* const rule = std::ranges::find(kHiddenRules, kind, &HiddenRule::kind);
    const auto value = word(static_cast<std::uint64_t>(argument.offset));
    if (rule == kHiddenRules.end() || value.value_or(0) == 0) return;
    if (!use_) use_ = use_in_code(bytes_, object_, kernel);
    const std::string_view name = kind.substr(7);
    const code::ArgumentUse use = use_->use_of(argument.offset, argument.size);
    if (use == code::ArgumentUse::unused)
      return add(
          Severity::note, rule->rule,
          fmt::format("the hidden argument {} is {:#x}, and no instruction of the kernel loads it",
                      name, *value));
    const Place found = place(*value);
    const bool inside = found.region != nullptr && found.region->captured();
    const Severity severity = inside ? rule->inside : rule->outside;
    if (use == code::ArgumentUse::loaded)
      return add(severity, rule->rule,
                 fmt::format("the hidden argument {} is {:#x}: {}; {}", name, *value, rule->what,
                             found.text),
                 rule->remedy);
    add(std::min(severity, Severity::warning), rule->rule,
        fmt::format(
            "the hidden argument {} is {:#x}: {}; {}. Whether it is used cannot be told from the "
            "code ({}): a replay, which ends at its time limit, shows it",
            name, *value, rule->what, found.text,
            use_->why_unknown(argument.offset, argument.size)),
        rule->remedy);
  }

  void segments(const code::KernelMetadata& kernel) {
    const capture::Dispatch& dispatch = description_.dispatch;
    if (dispatch.dynamic_callstack || kernel.dynamic_stack)
      add(Severity::warning, "dynamic_callstack",
          fmt::format(
              "the kernel's stack has no fixed size (recursion, or calls through pointers): "
              "its {} bytes of scratch may not do",
              dispatch.private_segment_bytes));
    if (std::int64_t{dispatch.private_segment_bytes} < kernel.scratch_bytes ||
        std::int64_t{dispatch.group_segment_bytes} < kernel.lds_bytes)
      add(Severity::error, "segment_sizes",
          fmt::format(
              "the packet gives {} bytes of scratch and {} of LDS, and the kernel needs {} and {}",
              dispatch.private_segment_bytes, dispatch.group_segment_bytes, kernel.scratch_bytes,
              kernel.lds_bytes));
    else if (std::int64_t{dispatch.group_segment_bytes} > kernel.lds_bytes)
      add(Severity::note, "dynamic_lds",
          fmt::format("{} of {} bytes of LDS are dynamic: another code object gets the same sum",
                      dispatch.group_segment_bytes - kernel.lds_bytes,
                      dispatch.group_segment_bytes));
  }

  void geometry(const code::KernelMetadata& kernel) {
    const auto& grid = description_.dispatch.grid;
    const auto& group = description_.dispatch.workgroup;
    std::int64_t items = 1;
    bool possible = true, remainder = false;
    for (std::size_t i = 0; i < 3; ++i) {
      possible &= group[i] > 0 && group[i] <= UINT16_MAX && grid[i] > 0;
      items *= possible ? std::int64_t{group[i]} : 1;
      remainder |= possible && grid[i] % group[i] != 0;
      if (kernel.required_workgroup_size)
        possible &= (*kernel.required_workgroup_size)[i] == std::int64_t{group[i]};
    }
    if (kernel.max_workgroup_size) possible &= items <= *kernel.max_workgroup_size;
    const std::string sizes = fmt::format("a grid of {} work-items in work-groups of {}",
                                          fmt::join(grid, " x "), fmt::join(group, " x "));
    if (!possible)
      add(Severity::error, "geometry", sizes + " is none that the kernel can be started with");
    else if (remainder)
      add(Severity::note, "grid_remainder", sizes + ": the last groups are not full");
  }

  void isa() {
    const auto device = code::parse_target_id(description_.machine.isa);
    if (!device)
      return add(Severity::warning, "isa",
                 fmt::format("the ISA of the captured GPU, \"{}\", is not known",
                             description_.machine.isa));
    const code::TargetId& target = object_.target;
    if (!code::runs_on(target, *device))
      return add(Severity::error, "isa",
                 fmt::format("the code object is for {} and the captured GPU is {}",
                             code::to_string(target), code::to_string(*device)),
                 "take the capture again");
    const auto fixed = [](code::Feature feature) {
      return feature == code::Feature::on || feature == code::Feature::off;
    };
    if (fixed(target.sramecc) || fixed(target.xnack))
      add(Severity::note, "isa_features",
          fmt::format("the code object runs with {} only, not with another setting",
                      code::to_string(target)));
    else if (fixed(device->sramecc) || fixed(device->xnack))
      add(Severity::note, "isa_features",
          fmt::format("the code object runs with any setting; it was captured with {}",
                      code::to_string(*device)));
  }

  std::string_view bytes_;  ///< of the code object
  const code::CodeObject& object_;
  std::optional<code::KernargUse> use_;  ///< when a rule had to know
};

}  // namespace

Result<std::vector<Finding>> lint(const capture::Capture& capture) {
  if (capture.description().machine.platform == capture::Platform::cuda) return lint_cuda(capture);
  const auto bytes = capture.code_object();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  PERFLAB_TRY(const code::CodeObject object,
              code::read_code_object(text, capture.code_object_path().string()));
  return Linter(capture, text, object).run();
}

}  // namespace perflab::replay
