// Running a HIP compiler, and reading its kernel-resource-usage remarks (LLVM's AMDGPUAsmPrinter).
// The command line and the messages of a missing piece: docs/facts/hip_toolchain.md "Command
// lines", "Missing pieces".
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "base/text/numbers.h"
#include "base/text/text.h"
#include "code/elf/elf.h"
#include "code/tools/compiler.h"
#include "code/tools/device_libraries.h"
#include "code/tools/temporary_folder.h"
#include "code/tools/tool_search.h"

namespace perflab::code {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCompilerMessageBytes = std::size_t{1} << 26;
constexpr std::size_t kNoteLines = 20;
constexpr std::string_view kRemarkTag = " [-Rpass-analysis=kernel-resource-usage]";
constexpr std::string_view kRemark = ": remark: ";

// --- remarks --------------------------------------------------------------------------------

struct RemarkField {
  std::string_view label;
  std::optional<std::int64_t> ResourceRemark::* field;
};

// LLVM 20 and later say TotalSGPRs.
constexpr RemarkField kRemarkFields[] = {
    {"SGPRs", &ResourceRemark::sgprs},
    {"TotalSGPRs", &ResourceRemark::sgprs},
    {"VGPRs", &ResourceRemark::vgprs},
    {"AGPRs", &ResourceRemark::agprs},
    {"ScratchSize [bytes/lane]", &ResourceRemark::scratch_bytes},
    {"Occupancy [waves/SIMD]", &ResourceRemark::occupancy},
    {"SGPRs Spill", &ResourceRemark::sgpr_spills},
    {"VGPRs Spill", &ResourceRemark::vgpr_spills},
    {"LDS Size [bytes/block]", &ResourceRemark::lds_bytes}};

/// One "label: value" of a remark.
void read_remark(std::string_view text, std::vector<ResourceRemark>& remarks) {
  text = trimmed(text);
  const std::size_t colon = text.find(": ");
  if (colon == std::string_view::npos) return;
  const std::string_view label = text.substr(0, colon);
  const std::string_view value = trimmed(text.substr(colon + 2));
  if (label == "Function Name") {
    remarks.emplace_back().kernel = value;
    return;
  }
  if (remarks.empty()) return;
  if (label == "Dynamic Stack") {
    if (value == "True" || value == "False") remarks.back().dynamic_stack = value == "True";
    return;
  }
  const auto* const field = std::ranges::find(kRemarkFields, label, &RemarkField::label);
  if (const auto number = whole_number<std::int64_t>(value);
      number && field != std::ranges::end(kRemarkFields))
    remarks.back().*(field->field) = *number;
}

/// "   12 | source text" or "      | ^": what clang shows below a diagnostic.
bool is_excerpt(std::string_view line) {
  const std::size_t bar = line.find_first_not_of(" 0123456789");
  return bar != std::string_view::npos && bar > 0 && line[bar] == '|';
}

/// "In file included from x.h:1:" and its next lines, which come before their diagnostic.
bool is_include_note(std::string_view line) {
  return line.starts_with("In file included from ") || line.starts_with("                 from ");
}

// --- running the compiler -------------------------------------------------------------------

std::vector<std::string> command_of(const Compiler& compiler, const CompileRequest& request,
                                    const std::optional<fs::path>& device_libraries) {
  std::vector<std::string> command{compiler.program.string(),
                                   "-x",
                                   "hip",
                                   "--offload-arch=" + request.arch,
                                   "--cuda-device-only",
                                   "--no-gpu-bundle-output",
                                   "-fuse-cuid=none",  // a hash of the path in a symbol otherwise
                                   "-O3"};
  if (compiler.rocm_path) command.push_back("--rocm-path=" + compiler.rocm_path->string());
  if (device_libraries) command.push_back("--rocm-device-lib-path=" + device_libraries->string());
  command.insert(command.end(), request.arguments.begin(), request.arguments.end());
  command.emplace_back("-Rpass-analysis=kernel-resource-usage");
  command.emplace_back("-fno-color-diagnostics");
  command.push_back(request.source.string());
  return command;
}

struct MissingPiece {
  std::string_view message;  // part of what clang says
  std::string_view what;
  std::string_view remedy;
};

constexpr MissingPiece kMissingPieces[] = {
    {"cannot find ROCm device library", "the compiler finds no ROCm device libraries",
     "install rocm-device-libs"},
    {"cannot find HIP runtime", "the compiler finds no HIP", "install libamdhip64-dev"},
    {"'hip/hip_runtime.h' file not found", "HIP's headers are not there",
     "install libamdhip64-dev (ROCm: hip-dev)"},
    {"unable to execute command: Executable \"lld\"", "the compiler's linker is not there",
     "install lld of the compiler's version (lld-19)"},
    {"invalid linker name", "the compiler's linker is not there",
     "install lld of the compiler's version (lld-19)"}};

/// The missing piece that the compiler complains about; nullptr: the source is at fault.
const MissingPiece* missing_piece(std::string_view messages) {
  while (!messages.empty()) {
    const std::size_t end = std::min(messages.find('\n'), messages.size());
    const std::string_view line = messages.substr(0, end);
    messages.remove_prefix(std::min(end + 1, messages.size()));
    const std::size_t at = line.find("error: ");
    if (at == std::string_view::npos) continue;
    for (const MissingPiece& piece : kMissingPieces)
      if (line.find(piece.message, at) != std::string_view::npos) return &piece;
  }
  return nullptr;
}

std::unexpected<Error> with_messages(std::unexpected<Error> error, std::string_view messages) {
  while (!messages.empty() && error.error().notes.size() < kNoteLines) {
    const std::size_t end = std::min(messages.find('\n'), messages.size());
    error.error().notes.emplace_back(messages.substr(0, end));
    messages.remove_prefix(std::min(end + 1, messages.size()));
  }
  return error;
}

std::unexpected<Error> failure(const Compiler& compiler, const CompileRequest& request,
                               const ProcessResult& result, std::string_view messages) {
  const std::string source = request.source.string();
  if (result.interrupted)
    return fail(ErrorCode::interrupted, fmt::format("{}: interrupted", source));
  if (result.timed_out)
    return with_messages(
        fail(ErrorCode::bad_input,
             fmt::format("{}: {} did not compile it for {} within {} s", source, compiler.version,
                         request.arch, static_cast<double>(request.timeout.count()) / 1000.0)),
        messages);
  if (const MissingPiece* piece = missing_piece(messages))
    return with_messages(fail(ErrorCode::missing_tool,
                              fmt::format("{} cannot compile for {}: {}", compiler.version,
                                          request.arch, piece->what),
                              fmt::format("{}, or use ROCm's own compiler", piece->remedy)),
                         messages);
  return with_messages(fail(ErrorCode::bad_input,
                            fmt::format("{}: does not compile for {} ({} {})", source, request.arch,
                                        compiler.version, describe_end(result)),
                            "what the compiler needs (-I, -D, -std) goes after --"),
                       messages);
}

std::string_view processor_of(std::string_view arch) {
  return arch.substr(0, arch.find(':'));
}

}  // namespace

CompilerOutput read_compiler_output(std::string_view text) {
  CompilerOutput output;
  std::string held;  // "In file included from", until its diagnostic is known
  bool in_remark = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t remark = line.find(kRemark);
    if (remark != std::string_view::npos && line.ends_with(kRemarkTag)) {
      const std::size_t begin = remark + kRemark.size();
      read_remark(line.substr(begin, line.size() - kRemarkTag.size() - begin), output.remarks);
      in_remark = true;
      held.clear();
      continue;
    }
    if (in_remark && is_excerpt(line)) continue;
    in_remark = false;
    held.append(line).append("\n");
    if (is_include_note(line)) continue;
    output.messages += held;
    held.clear();
  }
  output.messages += held;
  return output;
}

Result<Compiled> compile(const Compiler& compiler, const CompileRequest& request) {
  const std::string_view processor = processor_of(request.arch);
  if (!compiler.knows(processor))
    return fail(ErrorCode::missing_tool,
                fmt::format("{} ({}) does not know {}; it knows {}", compiler.program.string(),
                            compiler.version, processor, detail::abbreviated(compiler.processors)),
                "install a newer compiler, or let ROCM_PERF_CLANG name one");
  std::error_code error;
  if (!fs::is_regular_file(request.source, error))
    return fail(ErrorCode::bad_input,
                fmt::format("{}: there is no such file", request.source.string()));
  PERFLAB_TRY(const detail::TemporaryFolder folder, detail::TemporaryFolder::make());
  std::optional<fs::path> device_libraries;
  if (compiler.stock_device_libraries) {
    PERFLAB_TRY(device_libraries,
                device_library_folder(compiler, processor, folder / "device-libraries"));
  }
  Compiled compiled;
  compiled.command = command_of(compiler, request, device_libraries);
  std::vector<std::string> command = compiled.command;
  const fs::path target = folder / "out.co";
  command.emplace_back("-o");
  command.push_back(target.string());
  compiled.command.emplace_back("-o");
  compiled.command.emplace_back("OUT.co");

  ProcessOptions options;
  options.empty_input = true;
  options.standard_output = StreamMode::discard;
  options.standard_error = StreamMode::capture;
  options.capture_limit = kCompilerMessageBytes;
  options.timeout = request.timeout;
  options.confinement = {.sandbox = request.sandbox, .writable = {folder / ""}};
  if (request.sandbox && device_libraries) {  // in the user's cache, which is hidden
    Sandbox with_libraries = *request.sandbox;
    with_libraries.shown.push_back(*device_libraries);
    options.confinement.sandbox = std::make_shared<const Sandbox>(std::move(with_libraries));
  }
  options.grace = std::chrono::milliseconds{1'000};
  PERFLAB_TRY(const ProcessResult result, run_program(command, options));
  CompilerOutput output = read_compiler_output(result.error.tail);
  if (!result.succeeded()) return failure(compiler, request, result, output.messages);
  auto bytes = read_file(target);
  if (!bytes || !is_elf(*bytes))
    return with_messages(
        fail(ErrorCode::bad_input,
             fmt::format("{}: {} wrote no code object", request.source.string(), compiler.version),
             "leave out options that change what is written: -S, -E, -c, -o"),
        output.messages);
  compiled.code_object = *std::move(bytes);
  compiled.remarks = std::move(output.remarks);
  compiled.messages = std::move(output.messages);
  return compiled;
}

}  // namespace perflab::code
