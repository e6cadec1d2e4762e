// One run of the disassembler per object, restricted to the kernels that were sampled.
#include "analyze/pc_sampling/kernel_codes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "code/files/container.h"
#include "code/instructions/disassembly.h"
#include "code/object/code_object.h"

namespace perflab::analyze {
namespace {

using pc_sampling::PcSamples;

/// Mangled names and architectures of what has samples.
struct WantedCode {
  std::set<std::string, std::less<>> kernels, architectures;
};

WantedCode wanted_code(const PcSamples& samples) {
  WantedCode out;
  std::set<std::pair<pc_sampling::Index, pc_sampling::Index>> seen;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    const pc_sampling::Index kernel = samples.kernel_of(row), agent = samples.agent_of(row);
    if (!seen.emplace(kernel, agent).second) continue;
    if (kernel != pc_sampling::kNone && !samples.kernels[kernel].mangled_name.empty())
      out.kernels.insert(samples.kernels[kernel].mangled_name);
    if (agent != pc_sampling::kNone && !samples.agents[agent].arch.empty())
      out.architectures.insert(samples.agents[agent].arch);
  }
  return out;
}

CodeOfKernelFile code_of(const code::Function& function, std::uint64_t begin) {
  CodeOfKernelFile out;
  out.reserve(function.instructions.size());
  for (const code::Instruction& one : function.instructions) {
    CodeInstruction& row = out.emplace_back();
    row.in_kernel = one.address - begin;
    row.text =
        one.operands.empty() ? one.mnemonic : fmt::format("{} {}", one.mnemonic, one.operands);
    if (one.branch_target && *one.branch_target >= begin)
      row.branch_target = *one.branch_target - begin;
  }
  return out;
}

/// The wanted kernels of one object.
Result<void> disassemble_object(const code::EmbeddedObject& object, const std::string& file,
                                const WantedCode& wanted, KernelCodes& out) {
  auto read = code::read_code_object(object.bytes, file);
  if (!read) return {};  // not one of kernels
  std::vector<const code::KernelMetadata*> kernels;
  code::ToDisassemble work{
      .bytes = object.bytes, .processor = object.target.processor, .symbols = {}};
  for (const code::KernelMetadata& kernel : read->kernels)
    if (wanted.kernels.contains(kernel.name) && kernel.code_bytes > 0) {
      kernels.push_back(&kernel);
      work.symbols.push_back(kernel.name);
    }
  if (kernels.empty()) return {};
  PERFLAB_TRY(const code::Disassembler disassembler, code::find_disassembler(work.processor));
  PERFLAB_TRY(const auto results, code::disassemble(disassembler, std::array{work}));
  if (!results.front()) return std::unexpected(results.front().error());
  for (const code::KernelMetadata* const kernel : kernels) {
    const code::Function function =
        code::function_at(*results.front(), kernel->name, kernel->code_address, kernel->code_bytes);
    if (!function.instructions.empty())
      out.by_name[kernel->name].push_back(code_of(function, kernel->code_address));
  }
  return {};
}

void add_container(const code::Container& container, const std::string& file,
                   const WantedCode& wanted, KernelCodes& out) {
  for (const code::EmbeddedObject& object : container.objects) {
    if (!wanted.architectures.empty() && !wanted.architectures.contains(object.target.processor))
      continue;
    if (const auto done = disassemble_object(object, file, wanted, out); !done)
      out.warnings.push_back(
          fmt::format("PC samples: the code in {} cannot be used: {}", file, done.error().message));
  }
}

/// Files in the URIs of the code objects: "file:///path#offset=…".
std::set<std::string> files_of_uris(const PcSamples& samples) {
  constexpr std::string_view kFile = "file://";
  std::set<std::string> out;
  for (const pc_sampling::CodeObject& object : samples.code_objects)
    if (object.uri.starts_with(kFile))
      out.insert(object.uri.substr(kFile.size(), object.uri.find('#') - kFile.size()));
  return out;
}

}  // namespace

Result<KernelCodes> find_kernel_codes(const PcSamples& samples,
                                      const std::vector<std::filesystem::path>& files,
                                      bool search) {
  KernelCodes out;
  const WantedCode wanted = wanted_code(samples);
  std::set<std::string> seen;
  for (const std::filesystem::path& file : files) {
    PERFLAB_TRY(const code::Container container, code::open_container(file));
    seen.insert(file.string());
    add_container(container, file.string(), wanted, out);
  }
  if (!search || wanted.kernels.empty()) return out;
  for (const std::string& file : files_of_uris(samples)) {
    std::error_code ignored;
    if (seen.contains(file) || !std::filesystem::is_regular_file(file, ignored)) continue;
    const auto container = code::open_container(file);
    if (container) add_container(*container, file, wanted, out);
  }
  return out;
}

}  // namespace perflab::analyze
