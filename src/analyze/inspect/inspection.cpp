// The pipeline of `inspect`: find or compile the code objects, read them, describe their kernels.
#include "analyze/inspect/inspection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/hash.h"
#include "base/parallel.h"
#include "base/system/files.h"
#include "code/instructions/disassembly.h"
#include "code/tools/compiler.h"
#include "hal/arch.h"

namespace perflab::analyze {
namespace {

/// Device code and where it came from; the container or `built` keeps the bytes alive.
struct SourceObject {
  std::string_view bytes;
  InspectedObject about;
};

struct Collected {
  Inspection inspection;
  code::Container container;                        ///< of a binary
  std::vector<std::unique_ptr<std::string>> built;  ///< of a source
  std::vector<SourceObject> objects;
};

bool is_source(const std::filesystem::path& path) {
  static constexpr std::array kExtensions = {".hip", ".cu", ".cpp", ".cc", ".cxx", ".C"};
  return std::ranges::find(kExtensions, path.extension().string()) != kExtensions.end();
}

/// Whether code for `target` is what `arch` asks for: the processor, and each feature it names.
bool asked_for(const code::TargetId& target, const code::TargetId& arch) {
  const auto same = [](code::Feature has, code::Feature wanted) {
    return wanted == code::Feature::any || has == wanted;
  };
  return target.processor == arch.processor && same(target.sramecc, arch.sramecc) &&
         same(target.xnack, arch.xnack);
}

/// The architectures asked for, in order.
using Targets = std::vector<code::TargetId>;

Result<Targets> asked_targets(const InspectOptions& options) {
  Targets targets;
  for (const std::string& arch : options.archs) {
    auto target = code::parse_target_id(arch);
    if (!target || hal::unknown_feature(arch))
      return fail(ErrorCode::usage, fmt::format("'{}' is not an architecture", arch),
                  "say it like gfx942 or gfx942:sramecc+:xnack-");
    targets.push_back(*std::move(target));
  }
  return targets;
}

/// Per target the compiler for it. Asking compilers takes longer than compiling a small kernel: one
/// that knows several targets is asked once.
Result<std::vector<code::Compiler>> find_compilers(const Targets& targets) {
  std::vector<code::Compiler> compilers;
  for (const code::TargetId& target : targets) {
    const auto knows = [&](const code::Compiler& one) { return one.knows(target.processor); };
    const auto same = std::ranges::find_if(compilers, knows);
    if (same != compilers.end()) {
      compilers.push_back(code::Compiler(*same));
      continue;
    }
    PERFLAB_TRY(compilers.emplace_back(), code::find_compiler(target.processor));
  }
  return compilers;
}

Result<Collected> compile_source(const std::filesystem::path& path, std::string bytes,
                                 const InspectOptions& options, const Targets& targets) {
  for (const std::string& argument : options.compiler_arguments)
    if (argument.starts_with("-o"))
      return fail(ErrorCode::usage, "the compiler's -o is ours: the code object is only looked at",
                  "leave -o out");
  if (options.archs.empty())
    return fail(
        ErrorCode::usage,
        fmt::format("{} is a source: it needs the architecture to compile it for", path.string()),
        "add --arch gfx942 (several are possible)");
  PERFLAB_TRY(const std::vector<code::Compiler> compilers, find_compilers(targets));
  Collected collected;
  collected.inspection.kind = "source";
  collected.inspection.file_bytes = bytes.size();
  collected.inspection.file_hash = content_hash_text(bytes);
  collected.built.resize(options.archs.size());
  collected.objects.resize(options.archs.size());
  std::vector<std::string> messages(options.archs.size());
  PERFLAB_TRY_VOID(parallel_for(
      options.archs.size(), thread_count(options.threads),
      [&](unsigned, std::size_t i) -> Result<void> {
        PERFLAB_TRY(code::Compiled compiled,
                    code::compile(compilers[i], {.source = path,
                                                 .arch = options.archs[i],
                                                 .arguments = options.compiler_arguments}));
        messages[i] = std::move(compiled.messages);
        collected.built[i] = std::make_unique<std::string>(std::move(compiled.code_object));
        collected.objects[i].bytes = *collected.built[i];
        collected.objects[i].about.command = std::move(compiled.command);
        return {};
      }));
  std::set<std::string> versions;
  for (const code::Compiler& compiler : compilers) versions.insert(compiler.version);
  collected.inspection.compiler = fmt::format("{}", fmt::join(versions, "; "));
  for (const std::string& message : std::set<std::string>(messages.begin(), messages.end()))
    if (!message.empty()) collected.inspection.warnings.push_back(message);
  return collected;
}

/// The targets that a container has, for a sentence.
std::string targets_of(const code::Container& container) {
  std::set<std::string> targets;
  for (const code::EmbeddedObject& object : container.objects)
    targets.insert(code::to_string(object.target));
  return fmt::format("{}", fmt::join(targets, ", "));
}

Result<Collected> open_binary(const std::filesystem::path& path, std::string bytes,
                              const Targets& wanted) {
  Collected collected;
  collected.inspection.file_bytes = bytes.size();
  collected.inspection.file_hash = content_hash_text(bytes);
  PERFLAB_TRY(collected.container, code::find_code_objects(std::move(bytes), path.string()));
  const code::Container& container = collected.container;
  collected.inspection.kind = code::to_string(container.kind);
  collected.inspection.warnings = container.notes;
  for (const code::Bundle& bundle : container.bundles)
    collected.inspection.bundles.push_back({.offset = bundle.offset,
                                            .size = bundle.size,
                                            .compression = bundle.compression,
                                            .compressed_version = bundle.compressed_version});
  for (const code::TargetId& target : wanted) {
    const bool there = std::ranges::any_of(
        container.objects, [&](const auto& object) { return asked_for(object.target, target); });
    if (!there)
      return fail(ErrorCode::usage, fmt::format("{} has no code for {}: it has {}", path.string(),
                                                code::to_string(target), targets_of(container)));
  }
  for (const code::EmbeddedObject& object : container.objects) {
    const bool take = wanted.empty() || std::ranges::any_of(wanted, [&](const auto& target) {
                        return asked_for(object.target, target);
                      });
    if (!take) continue;
    SourceObject& found = collected.objects.emplace_back();
    found.bytes = object.bytes;
    found.about.entry = object.entry;
    found.about.bundle = object.bundle;
    found.about.file_offset = object.file_offset;
  }
  return collected;
}

bool selected(const InspectOptions& options, const std::string& mangled) {
  return !options.kernels || options.kernels->found_in(mangled) ||
         options.kernels->found_in(demangled(mangled));
}

std::string place(const std::filesystem::path& path, const InspectedObject& object) {
  return object.entry.empty() ? path.string() : fmt::format("{} ({})", path.string(), object.entry);
}

/// Reads one code object: fills `about`, returns its selected kernels.
Result<std::vector<StaticKernel>> read_object(const std::filesystem::path& path,
                                              const InspectOptions& options, std::size_t index,
                                              SourceObject& source) {
  InspectedObject& about = source.about;
  about.bytes = source.bytes.size();
  about.hash = content_hash_text(source.bytes);
  PERFLAB_TRY(code::CodeObject object, code::read_code_object(source.bytes, place(path, about)));
  about.target = object.target;
  about.version = object.version;
  about.generic_version = object.generic_version;
  about.kernels = object.kernels.size();
  about.problems = std::move(object.problems);
  std::vector<StaticKernel> kernels;
  for (code::KernelMetadata& kernel : object.kernels) {
    if (!selected(options, kernel.name)) continue;
    kernels.push_back(describe_static_kernel(about.target, std::move(kernel), options.launch));
    kernels.back().object = index;
  }
  return kernels;
}

/// Reads all code objects. One that cannot be read is said and left out; when none can be read,
/// the first one's error is the answer.
Result<void> read_objects(const std::filesystem::path& path, const InspectOptions& options,
                          Collected& collected) {
  using Outcome = Result<std::vector<StaticKernel>>;
  Inspection& inspection = collected.inspection;
  std::optional<Error> first;
  std::size_t unreadable = 0;
  PERFLAB_TRY_VOID(parallel_ordered<Outcome>(
      collected.objects.size(), thread_count(options.threads),
      [&](unsigned, std::size_t i) -> Result<Outcome> {
        return read_object(path, options, i, collected.objects[i]);
      },
      [&](std::size_t i, Outcome&& kernels) -> Result<void> {
        InspectedObject& about = collected.objects[i].about;
        if (kernels) {
          std::ranges::move(*kernels, std::back_inserter(inspection.kernels));
        } else {
          ++unreadable;
          about.readable = false;
          about.problems.push_back(kernels.error().message);
          inspection.warnings.push_back("left out: " + kernels.error().message);
          if (!first) first = std::move(kernels).error();
        }
        inspection.objects.push_back(std::move(about));
        return {};
      }));
  if (first && unreadable == inspection.objects.size()) return std::unexpected(std::move(*first));
  if (inspection.kernels.empty() && options.kernels && !options.reference)
    return fail(
        ErrorCode::usage,
        fmt::format("no kernel of {} is called like '{}'", path.string(), options.kernels->text()),
        "rocm-perf inspect without --kernel lists them");
  if (inspection.kernels.empty())
    inspection.warnings.emplace_back("the device code has no kernels");
  return {};
}

void no_mix(std::span<StaticKernel> kernels, const std::string& reason, const std::string& remedy) {
  for (StaticKernel& kernel : kernels)
    if (!kernel.mix)
      for (const char* field : {"instruction_mix", "static_intensity"})
        kernel.missing.push_back({.field = field, .reason = reason, .remedy = remedy});
}

/// The mix of one kernel out of its object's disassembly.
void add_mix(const Result<std::vector<code::Function>>& functions, StaticKernel& kernel) {
  const code::KernelMetadata& code = kernel.code;
  if (!functions) return no_mix({&kernel, 1}, functions.error().message, functions.error().remedy);
  if (code.wave_size != 32 && code.wave_size != 64)
    return no_mix({&kernel, 1}, fmt::format("there are no waves of {}", code.wave_size), "");
  const code::Function function =
      code::function_at(*functions, code.name, code.code_address, code.code_bytes);
  if (function.instructions.empty())
    return no_mix({&kernel, 1}, "the disassembler found no code at the kernel's address", "");
  const auto flat = std::ranges::count_if(function.instructions, [](const auto& instruction) {
    return instruction.mnemonic.starts_with("flat_");
  });
  if (flat > 0 && (code.scratch_bytes > 0 || code.dynamic_stack))
    kernel.assumptions.push_back(fmt::format(
        "{} flat instructions may go to scratch: they are counted as vector memory", flat));
  kernel.mix = code::instruction_mix(function.instructions, static_cast<int>(code.wave_size),
                                     code.scratch_bytes > 0 || code.dynamic_stack);
  if (!kernel.mix->static_intensity())
    kernel.missing.push_back({.field = "static_intensity",
                              .reason = "the code has no vector memory instructions",
                              .remedy = ""});
}

/// Disassembles the objects that have selected kernels, in one run, and counts instructions.
/// Whole objects: the code of assembly kernels is cut by labels, which only the whole puts
/// together.
Result<void> add_mixes(const code::Disassembler& disassembler,
                       const std::vector<std::size_t>& objects, Collected& collected) {
  std::vector<code::ToDisassemble> work;
  for (const std::size_t i : objects)
    work.push_back({.bytes = collected.objects[i].bytes,
                    .processor = collected.inspection.objects[i].target.processor,
                    .symbols = {}});
  PERFLAB_TRY(const auto results, code::disassemble(disassembler, work));
  for (std::size_t w = 0; w < results.size(); ++w)
    for (StaticKernel& kernel : collected.inspection.kernels)
      if (kernel.object == objects[w]) add_mix(results[w], kernel);
  return {};
}

/// Objects that have selected kernels, by the disassembler that knows their processor.
struct DisassemblyPlan {
  std::vector<code::Disassembler> disassemblers;
  std::vector<std::vector<std::size_t>> objects;  ///< by disassembler
};

Result<DisassemblyPlan> plan_disassembly(const Inspection& inspection) {
  std::set<std::size_t> used;
  for (const StaticKernel& kernel : inspection.kernels) used.insert(kernel.object);
  DisassemblyPlan plan;
  for (const std::size_t i : used) {
    const std::string& processor = inspection.objects[i].target.processor;
    const auto knows = [&](const code::Disassembler& one) {
      return std::ranges::find(one.processors, processor) != one.processors.end();
    };
    auto it = std::ranges::find_if(plan.disassemblers, knows);
    if (it == plan.disassemblers.end()) {
      PERFLAB_TRY(code::Disassembler found, code::find_disassembler(processor));
      it = std::ranges::find(plan.disassemblers, found.program, &code::Disassembler::program);
      if (it == plan.disassemblers.end()) {
        plan.disassemblers.push_back(std::move(found));
        plan.objects.emplace_back();
        it = plan.disassemblers.end() - 1;
      }
    }
    plan.objects[static_cast<std::size_t>(it - plan.disassemblers.begin())].push_back(i);
  }
  return plan;
}

Result<void> choose_mix(const InspectOptions& options, Collected& collected) {
  Inspection& inspection = collected.inspection;
  std::vector<StaticKernel>& kernels = inspection.kernels;
  if (kernels.empty()) return {};
  if (options.mix == MixChoice::never) {
    no_mix(kernels, "left out (--no-mix)", "");
    return {};
  }
  if (options.mix == MixChoice::automatic && kernels.size() > kMostKernelsForMix) {
    no_mix(kernels,
           fmt::format("left out for more than {} kernels: disassembling takes long",
                       kMostKernelsForMix),
           "--kernel REGEX for some of them, or --mix");
    return {};
  }
  const auto plan = plan_disassembly(inspection);
  if (!plan) {
    if (options.mix == MixChoice::always || plan.error().code == ErrorCode::interrupted)
      return std::unexpected(plan.error());
    no_mix(kernels, plan.error().message, plan.error().remedy);
    return {};
  }
  std::vector<std::string> versions;
  for (std::size_t i = 0; i < plan->disassemblers.size(); ++i) {
    PERFLAB_TRY_VOID(add_mixes(plan->disassemblers[i], plan->objects[i], collected));
    versions.push_back(plan->disassemblers[i].version);
  }
  inspection.disassembler = fmt::format("{}", fmt::join(versions, "; "));
  return {};
}

}  // namespace

Result<Inspection> inspect_file(const std::filesystem::path& path, const InspectOptions& options) {
  PERFLAB_TRY(std::string bytes, read_file(path, std::uint64_t{1} << 34));
  const bool binary = code::may_hold_code(bytes);
  if (binary && !options.compiler_arguments.empty() && !options.reference)
    return fail(ErrorCode::usage,
                fmt::format("{} is a binary: there is nothing to compile with '{}'", path.string(),
                            options.compiler_arguments.front()),
                "leave out the words after --: they are for the compiler of a source");
  PERFLAB_TRY(const Targets targets, asked_targets(options));
  PERFLAB_TRY(Collected collected, !binary && is_source(path)
                                       ? compile_source(path, std::move(bytes), options, targets)
                                       : open_binary(path, std::move(bytes), targets));
  collected.inspection.path = path;
  PERFLAB_TRY_VOID(read_objects(path, options, collected));
  PERFLAB_TRY_VOID(choose_mix(options, collected));
  return std::move(collected.inspection);
}

}  // namespace perflab::analyze
