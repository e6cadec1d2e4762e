// Rules for modules of CUDA: parameters, shared memory, blocks, architecture, variables that are
// pointed to. Facts: docs/facts/cuda_code.md, docs/facts/cuda_cupti.md "Modules".
#include "replay/cuda_lint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>

#include "code/cubin/cubin.h"
#include "replay/cubin_choice.h"
#include "replay/lint_rules.h"
#include "replay/variable_pointers.h"

namespace perflab::replay {
namespace {

class CudaLinter : public LintRules {
 public:
  CudaLinter(const capture::Capture& capture, const code::Cubin& cubin,
             std::vector<VariablePointers> pointed)
      : LintRules(capture), cubin_(cubin), pointed_(std::move(pointed)) {}

  std::vector<Finding> run() {
    const std::string& name = description_.dispatch.kernel;
    const auto kernel = std::ranges::find(cubin_.kernels, name, &code::CubinKernel::name);
    if (kernel == cubin_.kernels.end()) {
      add(Severity::error, "kernel_not_found", fmt::format("the module has no kernel {}", name));
    } else {
      arguments(*kernel);
      shared_memory(*kernel);
      geometry(*kernel);
    }
    architecture();
    variables();
    return finished();
  }

 private:
  void arguments(const code::CubinKernel& kernel) {
    const std::uint64_t here = capture_.kernarg().size();
    if (here != kernel.parameter_bytes)
      add(here < kernel.parameter_bytes ? Severity::error : Severity::note, "kernarg_size",
          fmt::format("{} bytes of kernel arguments were captured and the kernel has {}", here,
                      kernel.parameter_bytes),
          "take the capture again");
    for (const code::CubinParameter& one : kernel.parameters)
      for (std::uint64_t at = (one.offset + kWordBytes - 1) / kWordBytes * kWordBytes;
           at + kWordBytes <= one.offset + one.size; at += kWordBytes)
        if (const auto value = word(at))
          pointer(*value, fmt::format("argument {} (byte {})", one.ordinal, at), false);
  }

  void shared_memory(const code::CubinKernel& kernel) {
    const std::uint64_t captured = description_.dispatch.group_segment_bytes;
    if (captured < kernel.shared_bytes)
      add(Severity::error, "segment_sizes",
          fmt::format("the launch gives {} bytes of shared memory, and the kernel needs {}",
                      captured, kernel.shared_bytes));
    else if (captured > kernel.shared_bytes)
      add(Severity::note, "dynamic_lds",
          fmt::format("{} of {} bytes of shared memory are dynamic: another module gets as many",
                      captured - kernel.shared_bytes, captured));
  }

  void geometry(const code::CubinKernel& kernel) {
    const auto& block = description_.dispatch.workgroup;
    std::uint64_t threads = 1, most = 1;
    for (std::size_t i = 0; i < 3; ++i) {
      threads *= block[i];
      if (kernel.max_threads) most *= std::max((*kernel.max_threads)[i], 1U);
    }
    if ((kernel.max_threads && threads > most) ||
        (kernel.required_threads && !std::ranges::equal(*kernel.required_threads, block)))
      add(Severity::error, "geometry",
          fmt::format("blocks of {} threads are none that the kernel can be launched with",
                      fmt::join(block, " x ")));
  }

  void architecture() {
    const std::string& isa = description_.machine.isa;
    if (cubin_.architecture != 0 &&
        !isa.starts_with(fmt::format("sm_{}", cubin_.architecture / 10)))
      add(Severity::error, "isa",
          fmt::format("the module is for sm_{} and the captured GPU is {}", cubin_.architecture,
                      isa),
          "take the capture again");
  }

  void variables() {
    std::vector<std::string_view> copied;
    for (const VariablePointers& one : pointed_) {
      const capture::MemoryRegion& variable = description_.regions[one.region];
      const bool own = variable.code_object_hash == description_.code_object_hash;
      if (own && !variable.written.empty())
        add(Severity::error, "variable_written_both_ways",
            fmt::format("the kernel changed the variable {}, and {} points to it: in another "
                        "process the variable and what is pointed to are two things",
                        variable.symbol, one.first),
            "let the kernel name the variable everywhere, or pass allocated memory");
      copied.push_back(variable.symbol);
    }
    if (copied.empty()) return;
    constexpr std::size_t kMost = 5;
    const std::size_t all = copied.size();
    copied.resize(std::min(all, kMost));
    add(Severity::note, kVariableCopies,
        fmt::format("{} ({}{}) {} pointed to from memory or arguments: a replay puts a copy at the "
                    "old address",
                    all == 1 ? "a variable" : fmt::format("{} variables", all),
                    fmt::join(copied, ", "), all > kMost ? ", ..." : "", all == 1 ? "is" : "are"));
  }

  const code::Cubin& cubin_;
  std::vector<VariablePointers> pointed_;
};

}  // namespace

Result<std::vector<Finding>> lint_cuda(const capture::Capture& capture) {
  const auto bytes = capture.code_object();
  PERFLAB_TRY(const code::Cubin cubin,
              code::read_cubin({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                               capture.code_object_path().string()));
  PERFLAB_TRY(std::vector<VariablePointers> pointed, variable_pointers(capture));
  return CudaLinter(capture, cubin, std::move(pointed)).run();
}

}  // namespace perflab::replay
