// Driving llvm-objdump and reading its text. It is a program of its own because it aborts on code
// for a processor that it does not know ("Disassembly not yet supported for subtarget"): hence it
// is asked first, with `-d --mattr=help` on a file that is an ELF header and nothing else.
#include "code/instructions/disassembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "base/system/environment.h"
#include "base/system/subprocess.h"
#include "base/text/numbers.h"
#include "base/text/text.h"
#include "code/tools/temporary_folder.h"
#include "code/tools/tool_search.h"

namespace perflab::code {
namespace {

namespace fs = std::filesystem;
using detail::TemporaryFolder;

constexpr std::chrono::milliseconds kTimeout{600'000};
constexpr std::size_t kDisassemblerMessageBytes = std::size_t{1} << 14;
constexpr std::size_t kMostSymbolBytes = 60'000;  // of one argument; Linux takes 128 KiB

constexpr std::string_view kInstallDisassembler =
    "install llvm-19 (Debian, Ubuntu) or ROCm's rocm-llvm, or let ROCM_PERF_LLVM_OBJDUMP name "
    "an llvm-objdump with the AMDGPU target";

/// A code object with no sections, for gfx900, which every LLVM that we can use knows: an ELF
/// header (docs/facts/code_object.md "ELF header").
std::string empty_code_object() {
  constexpr std::array<unsigned char, 64> kHeader{
      0x7f, 'E', 'L', 'F', 2, 1, 1,  64, 3, 0, 0, 0, 0, 0, 0, 0,  // 64 bit, little, AMDGPU_HSA, V5
      3,    0,   224, 0,   1, 0, 0,  0,                           // ET_DYN, EM_AMDGPU
      0,    0,   0,   0,   0, 0, 0,  0,  0, 0, 0, 0, 0, 0, 0, 0,  // no entry, no segments
      0,    0,   0,   0,   0, 0, 0,  0,                           // no sections
      0x2c, 0,   0,   0,                                          // gfx900
      64,   0,   56,  0,   0, 0, 64, 0,  0, 0, 0, 0};
  return {kHeader.begin(), kHeader.end()};
}

std::uint64_t hex(std::string_view text) {
  return take_number(text, 16).value_or(0);
}

/// Code of functions and kernels begins at multiples of this (AMDGPU ABI); labels rarely do.
constexpr std::uint64_t kFunctionAlignment = 256;

/// Reads objdump's text line by line:
///     /tmp/x/0.co:   file format elf64-amdgpu
///     0000000000002e00 <symbol>:
///             s_cbranch_execz 28          // 000000002E48: BF88001C <symbol+0xbc>
class ListingReader {
 public:
  explicit ListingReader(std::size_t objects) : functions_(objects) {}

  /// Takes the next bytes of the text, cut anywhere.
  void feed(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      if (end == std::string_view::npos) {
        pending_ += bytes;
        return;
      }
      if (pending_.empty()) {
        read_line(bytes.substr(0, end));
      } else {
        pending_ += bytes.substr(0, end);
        read_line(pending_);
        pending_.clear();
      }
      bytes.remove_prefix(end + 1);
    }
  }

  /// The functions of every object, when there is no more text.
  std::vector<std::vector<Function>> finish() {
    read_line(pending_);
    pending_.clear();
    end_function();
    return std::move(functions_);
  }

 private:
  void read_line(std::string_view line) {
    if (line.starts_with('\t'))
      read_instruction(line);
    else if (line.ends_with(">:"))
      read_symbol(line);
    else if (line.find(":\tfile format ") != std::string_view::npos)
      read_file(line);
  }

  void read_file(std::string_view line) {
    end_function();
    line = line.substr(0, line.find(":\tfile format "));
    const std::string name = fs::path(line).stem().string();
    std::string_view digits = name;
    object_ = take_number<std::size_t>(digits).value_or(functions_.size());
  }

  void read_symbol(std::string_view line) {
    const std::size_t open = line.find(" <");
    Function function;
    function.address = hex(line.substr(0, open));
    end_function(function.address);
    if (open == std::string_view::npos || object_ >= functions_.size()) return;
    function.symbol = line.substr(open + 2, line.size() - open - 4);
    functions_[object_].push_back(std::move(function));
    in_function_ = true;
  }

  void read_instruction(std::string_view line) {
    if (!in_function_) return;
    const std::size_t comment = line.rfind("// ");
    if (comment == std::string_view::npos) return;
    const std::string_view text = trimmed(line.substr(0, comment));
    std::string_view place = line.substr(comment + 3);
    const std::size_t colon = place.find(':');
    if (text.empty() || colon == std::string_view::npos) return;
    Instruction instruction;
    instruction.address = hex(place.substr(0, colon));
    place.remove_prefix(colon + 1);
    std::string_view encoding = place.substr(0, place.find('<'));
    std::uint32_t word = 0;
    while (!(encoding = trimmed(encoding)).empty()) {
      const std::string_view digits = encoding.substr(0, encoding.find(' '));
      if (instruction.bytes == 0) word = static_cast<std::uint32_t>(hex(digits));
      instruction.bytes += static_cast<int>(digits.size() / 2);
      encoding.remove_prefix(digits.size());
    }
    const std::size_t blank = std::min(text.find_first_of(" \t"), text.size());
    instruction.mnemonic = text.substr(0, blank);
    instruction.operands = trimmed(text.substr(blank));
    if ((instruction.mnemonic == "s_branch" || instruction.mnemonic.starts_with("s_cbranch_")) &&
        instruction.bytes == 4) {
      // SOPP: the low half is the distance in words from the next instruction, signed.
      const auto words = static_cast<std::int16_t>(word & 0xffffU);
      instruction.branch_target =
          instruction.address + 4 + static_cast<std::uint64_t>(std::int64_t{words} * 4);
    }
    functions_[object_].back().instructions.push_back(std::move(instruction));
  }

  /// Takes the padding up to the next function away.
  /// Takes away what lies between functions. A symbol that begins at no kernel's alignment is a
  /// label inside one: what stands before it is code.
  void end_function(std::uint64_t next_address = 0) {
    if (!std::exchange(in_function_, false)) return;
    std::vector<Instruction>& code = functions_[object_].back().instructions;
    while (!code.empty() && code.back().mnemonic == "s_code_end") code.pop_back();
    if (next_address % kFunctionAlignment != 0) return;
    const auto last = std::find_if(code.rbegin(), code.rend(),
                                   [](const Instruction& i) { return i.mnemonic != "s_nop"; });
    if (last != code.rend() && (last->mnemonic.starts_with("s_endpgm") ||
                                last->mnemonic == "s_branch" || last->mnemonic == "s_setpc_b64"))
      code.erase(last.base(), code.end());
  }

  std::vector<std::vector<Function>> functions_;
  std::string pending_;
  std::size_t object_ = 0;
  bool in_function_ = false;
};

/// "--disassemble-symbols=..." for objects that all name symbols; empty: disassemble everything.
std::string symbols_option(std::span<const ToDisassemble* const> objects) {
  std::set<std::string_view> symbols;
  for (const ToDisassemble* object : objects) {
    if (object->symbols.empty()) return {};
    symbols.insert(object->symbols.begin(), object->symbols.end());
  }
  std::string option = "--disassemble-symbols=";
  char separator = '=';
  for (const std::string_view symbol : symbols) {
    if (symbol.empty() ||
        symbol.find_first_of(std::string_view(",\0", 2)) != std::string_view::npos)
      return {};
    if (separator == ',') option += separator;
    option += symbol;
    separator = ',';
    if (option.size() > kMostSymbolBytes) return {};
  }
  return option;
}

using Outcome = Result<std::vector<Function>>;

/// One call of disassemble(): the objects that the program can take.
class Job {
 public:
  Job(const Disassembler& disassembler, const TemporaryFolder& folder)
      : disassembler_(disassembler), folder_(folder) {}

  /// Disassembles objects in one run. When the program fails on several, each half again: one bad
  /// object must not take the others with it.
  Result<void> run(std::span<const ToDisassemble* const> objects, std::span<Outcome* const> out) {
    if (objects.empty()) return {};
    PERFLAB_TRY_VOID(write(objects));
    ListingReader reader(objects.size());
    PERFLAB_TRY(const ProcessResult result, start(objects, reader));
    if (result.interrupted)
      return fail(ErrorCode::interrupted,
                  fmt::format("{}: interrupted", disassembler_.program.string()));
    if (result.succeeded()) {
      std::vector<std::vector<Function>> functions = reader.finish();
      for (std::size_t i = 0; i < objects.size(); ++i) {
        keep_named(*objects[i], functions[i]);
        *out[i] = std::move(functions[i]);
      }
      return {};
    }
    if (objects.size() == 1) {
      *out[0] = refused(result);
      return {};
    }
    const std::size_t half = objects.size() / 2;
    PERFLAB_TRY_VOID(run(objects.first(half), out.first(half)));
    return run(objects.subspan(half), out.subspan(half));
  }

 private:
  [[nodiscard]] fs::path file(std::size_t index) const {
    return folder_ / fmt::format("{}.co", index);
  }

  Result<void> write(std::span<const ToDisassemble* const> objects) const {
    for (std::size_t i = 0; i < objects.size(); ++i)
      PERFLAB_TRY_VOID(detail::write_temporary(file(i), objects[i]->bytes));
    return {};
  }

  Result<ProcessResult> start(std::span<const ToDisassemble* const> objects,
                              ListingReader& reader) const {
    std::vector<std::string> command{disassembler_.program.string(), "-d"};
    if (std::string option = symbols_option(objects); !option.empty())
      command.push_back(std::move(option));
    // The files' names in a file: a thousand of them do not fit a command line.
    std::string names;
    for (std::size_t i = 0; i < objects.size(); ++i) names += fmt::format("{}.co\n", i);
    PERFLAB_TRY_VOID(detail::write_temporary(folder_ / "objects.txt", names));
    command.emplace_back("@objects.txt");
    ProcessOptions options = quiet_options();
    options.standard_output = StreamMode::capture;
    options.on_output = [&](std::string_view bytes) { reader.feed(bytes); };
    return run_program(command, options);
  }

  [[nodiscard]] ProcessOptions quiet_options() const {
    ProcessOptions options;
    options.working_directory = folder_ / "";
    options.empty_input = true;
    options.standard_output = StreamMode::discard;
    options.standard_error = StreamMode::discard;
    options.capture_limit = kDisassemblerMessageBytes;
    options.timeout = kTimeout;
    return options;
  }

  /// The first line that the program has to say about the one object that it failed on. A run of
  /// its own: captured with the text, its stderr would be mixed into it.
  [[nodiscard]] std::string complaint() const {
    ProcessOptions options = quiet_options();
    options.standard_error = StreamMode::capture;
    const auto result = run_program({disassembler_.program.string(), "-d", "0.co"}, options);
    return result ? std::string(detail::first_line(result->error.tail)) : std::string{};
  }

  static void keep_named(const ToDisassemble& object, std::vector<Function>& functions) {
    if (object.symbols.empty()) return;
    const std::set<std::string_view> wanted(object.symbols.begin(), object.symbols.end());
    std::erase_if(functions, [&](const Function& f) { return !wanted.contains(f.symbol); });
  }

  [[nodiscard]] Outcome refused(const ProcessResult& result) const {
    std::string message = fmt::format("{} cannot disassemble this code object: it {}",
                                      disassembler_.version, describe_end(result));
    if (result.timed_out) message += " (stopped: it took too long)";
    std::unexpected<Error> error = fail(ErrorCode::bad_input, std::move(message));
    if (result.timed_out) return error;
    if (std::string line = complaint(); !line.empty())
      error.error().notes.push_back(std::move(line));
    return error;
  }

  const Disassembler& disassembler_;
  const TemporaryFolder& folder_;
};

/// "LLVM 19.1.7" of "Debian LLVM version 19.1.7".
std::string version_in(std::string_view answer) {
  constexpr std::string_view kKey = "LLVM version ";
  const std::size_t at = answer.find(kKey);
  if (at == std::string_view::npos) return "llvm-objdump";
  const std::string_view rest = answer.substr(at + kKey.size());
  return fmt::format("LLVM {}", rest.substr(0, rest.find_first_of(" \r\n")));
}

/// What the program is. A missing_tool error when it is no llvm-objdump with AMDGPU.
Result<Disassembler> examine(const fs::path& program, const fs::path& empty_object) {
  PERFLAB_TRY(const ProcessResult version, detail::ask({program.string(), "--version"}));
  if (!version.succeeded())
    return fail(ErrorCode::missing_tool,
                fmt::format("{}: --version {}", program.string(), describe_end(version)),
                std::string(kInstallDisassembler));
  PERFLAB_TRY(const ProcessResult help,
              detail::ask({program.string(), "-d", "--mattr=help", empty_object.string()}));
  Disassembler found;
  found.program = program;
  found.version = version_in(version.output.tail);
  found.processors = detail::processors_in(help.error.tail + "\n" + help.output.tail);
  if (found.processors.empty())
    return fail(ErrorCode::missing_tool, fmt::format("{}: does not know AMDGPU", program.string()),
                std::string(kInstallDisassembler));
  return found;
}

std::vector<fs::path> candidates() {
  std::vector<fs::path> found;
  const auto add = [&](std::optional<fs::path> path) {
    if (path && std::ranges::find(found, *path) == found.end()) found.push_back(*std::move(path));
  };
  for (const fs::path& compiler : detail::compiler_candidates()) {
    std::error_code error;
    const fs::path real = fs::canonical(compiler, error);
    // /usr/bin/clang++-19 is a link: the tools of its version lie beside what it points to.
    if (!error) add(find_program((real.parent_path() / "llvm-objdump").string()));
    add(find_program((compiler.parent_path() / "llvm-objdump").string()));
  }
  for (fs::path& path : detail::versions_on_path("llvm-objdump")) add(std::move(path));
  return found;
}

}  // namespace

Result<Disassembler> find_disassembler(std::string_view wanted) {
  PERFLAB_TRY(const TemporaryFolder folder, TemporaryFolder::make());
  const fs::path empty_object = folder / "empty.co";
  PERFLAB_TRY_VOID(detail::write_temporary(empty_object, empty_code_object()));
  if (const std::string named = environment("ROCM_PERF_LLVM_OBJDUMP"); !named.empty()) {
    const auto program = find_program(named);
    if (!program)
      return fail(
          ErrorCode::missing_tool,
          fmt::format("{}: $ROCM_PERF_LLVM_OBJDUMP names it, but it is not a program", named),
          std::string(kInstallDisassembler));
    auto found = examine(*program, empty_object);
    if (found) return found;
    return std::unexpected(std::move(found).error().with_remedy(std::string(kInstallDisassembler)));
  }
  std::optional<Disassembler> best;
  std::vector<std::string> tried;
  for (const fs::path& program : candidates()) {
    auto found = examine(program, empty_object);
    if (!found && found.error().code == ErrorCode::interrupted) return found;
    if (!found) {
      tried.push_back(found.error().message);
      continue;
    }
    if (wanted.empty() || std::ranges::find(found->processors, wanted) != found->processors.end())
      return found;
    if (!best || found->processors.size() > best->processors.size()) best = *std::move(found);
  }
  if (best) return *std::move(best);
  std::unexpected<Error> error =
      fail(ErrorCode::missing_tool,
           tried.empty() ? "llvm-objdump is neither next to a HIP compiler nor on PATH"
                         : "no llvm-objdump on this machine can disassemble AMDGPU code",
           std::string(kInstallDisassembler));
  error.error().notes = std::move(tried);
  return error;
}

Function function_at(std::span<const Function> functions, std::string_view symbol,
                     std::uint64_t address, std::uint64_t bytes) {
  Function found{.symbol = std::string(symbol), .address = address, .instructions = {}};
  auto function = std::ranges::upper_bound(functions, address, {}, &Function::address);
  if (function != functions.begin()) --function;
  for (; function != functions.end(); ++function) {
    if (function->address > address && function->address - address >= bytes) break;
    for (const Instruction& instruction : function->instructions)
      if (instruction.address >= address && instruction.address - address < bytes)
        found.instructions.push_back(instruction);
  }
  return found;
}

Result<std::vector<Result<std::vector<Function>>>> disassemble(
    const Disassembler& disassembler, std::span<const ToDisassemble> objects) {
  std::vector<Outcome> outcomes(objects.size());
  struct Group {
    std::vector<const ToDisassemble*> objects;
    std::vector<Outcome*> out;
  };
  // llvm-objdump takes the processor of its first file for all of them (LLVM 19): a run for each.
  std::map<std::string_view, Group> groups;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (std::ranges::find(disassembler.processors, objects[i].processor) !=
        disassembler.processors.end()) {
      Group& group = groups[objects[i].processor];
      group.objects.push_back(&objects[i]);
      group.out.push_back(&outcomes[i]);
      continue;
    }
    outcomes[i] =
        fail(ErrorCode::missing_tool,
             fmt::format("{} does not know {}", disassembler.version, objects[i].processor),
             "install a newer LLVM, or let ROCM_PERF_LLVM_OBJDUMP name one");
  }
  if (groups.empty()) return outcomes;
  PERFLAB_TRY(const TemporaryFolder folder, TemporaryFolder::make());
  for (const auto& [processor, group] : groups)
    PERFLAB_TRY_VOID(Job(disassembler, folder).run(group.objects, group.out));
  return outcomes;
}

}  // namespace perflab::code
