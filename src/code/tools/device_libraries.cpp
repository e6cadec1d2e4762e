// The device-library folder of docs/facts/hip_toolchain.md "Device libraries". The ISA version file
// is one constant as LLVM bitcode; clang itself makes it from text (-x ir), so that no llvm-as is
// needed and the bitcode is of the compiler's own version.
#include "code/tools/device_libraries.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/hash.h"
#include "base/system/environment.h"
#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "base/text/numbers.h"
#include "code/tools/temporary_folder.h"
#include "code/tools/tool_search.h"

namespace perflab::code {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBitcodeMagic = "BC\xc0\xde";
constexpr const char* kOwnCompiler =
    "compile with ROCm's own compiler (ROCM_PERF_CLANG=/opt/rocm/llvm/bin/clang++)";

/// The user's cache folder of ours; empty when there is no home.
fs::path cache_root() {
  // The XDG specification: a relative path is to be ignored.
  if (const fs::path named = environment("XDG_CACHE_HOME"); named.is_absolute())
    return named / "rocm-perf";
  if (const fs::path home = environment("HOME"); home.is_absolute())
    return home / ".cache" / "rocm-perf";
  return {};
}

bool is_bitcode(const fs::path& path) {
  const auto text = read_file(path);
  return text && text->starts_with(kBitcodeMagic);
}

/// Links every library of `stock` into `folder`. A link that another process makes first is fine.
Result<void> link_stock(const fs::path& stock, const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(stock, error), last; !error && entry != last;
       entry.increment(error)) {
    if (entry->path().extension() != ".bc") continue;
    const fs::path link = folder / entry->path().filename();
    std::error_code failed;
    if (fs::exists(link, failed)) continue;
    if (::symlink(entry->path().c_str(), link.c_str()) != 0 && errno != EEXIST)
      return fail(ErrorCode::usage,
                  fmt::format("{}: cannot be linked: {}", link.string(), errno_text(errno)));
  }
  if (error)
    return fail(ErrorCode::missing_tool,
                fmt::format("{}: cannot be listed: {}", stock.string(), error.message()),
                "let this user read that folder, or install rocm-device-libs again");
  return {};
}

/// Compiles the constant to `target`.
Result<void> make_isa_file(const Compiler& compiler, int version, const fs::path& target) {
  PERFLAB_TRY(const detail::TemporaryFolder folder, detail::TemporaryFolder::make());
  const fs::path source = folder / "isa.ll";
  const fs::path bitcode = folder / "isa.bc";
  PERFLAB_TRY_VOID(detail::write_temporary(
      source, fmt::format("source_filename = \"oclc_isa_version\"\n"  // not the temporary name
                          "target triple = \"amdgcn-amd-amdhsa\"\n"
                          "@__oclc_ISA_version = linkonce_odr protected local_unnamed_addr "
                          "addrspace(4) constant i32 {}, align 4\n",
                          version)));
  PERFLAB_TRY(
      const ProcessResult result,
      detail::ask({compiler.program.string(), "--target=amdgcn-amd-amdhsa", "-nogpulib", "-x", "ir",
                   "-c", "-emit-llvm", "-o", bitcode.string(), source.string()}));
  const auto text = read_file(bitcode);
  if (!result.succeeded() || !text || !text->starts_with(kBitcodeMagic)) {
    std::unexpected<Error> error =
        fail(ErrorCode::missing_tool,
             fmt::format("{}: cannot make the device library {}: it {}", compiler.program.string(),
                         target.filename().string(), describe_end(result)),
             kOwnCompiler);
    error.error().notes.emplace_back(detail::first_line(result.error.tail));
    return error;
  }
  return write_file_atomically(target, *text);
}

Result<fs::path> complete(const Compiler& compiler, std::string_view processor,
                          const fs::path& folder) {
  PERFLAB_TRY_VOID(make_directories(folder));
  PERFLAB_TRY_VOID(link_stock(*compiler.stock_device_libraries, folder));
  const fs::path file = folder / fmt::format("oclc_isa_version_{}.bc", processor.substr(3));
  if (is_bitcode(file)) return folder;
  const auto version = isa_version(processor);
  if (!version)
    return fail(ErrorCode::missing_tool,
                fmt::format("{}: there is no device library for {}",
                            compiler.stock_device_libraries->string(), processor),
                kOwnCompiler);
  PERFLAB_TRY_VOID(make_isa_file(compiler, *version, file));
  return folder;
}

}  // namespace

std::optional<int> isa_version(std::string_view processor) {
  if (!processor.starts_with("gfx")) return std::nullopt;
  const std::string_view digits = processor.substr(3);
  if (digits.size() < 3 || digits.size() > 4) return std::nullopt;
  const auto major = whole_number<unsigned>(digits.substr(0, digits.size() - 2));
  const auto minor = whole_number<unsigned>(digits.substr(digits.size() - 2, 1));
  const auto stepping = whole_number<unsigned>(digits.substr(digits.size() - 1), 16);
  if (!major || !minor || !stepping) return std::nullopt;
  return static_cast<int>(*major * 1000 + *minor * 100 + *stepping);
}

Result<fs::path> device_library_folder(const Compiler& compiler, std::string_view processor,
                                       const fs::path& fallback) {
  PERFLAB_CHECK(compiler.stock_device_libraries.has_value());
  const std::string key =
      key_text(compiler.stock_device_libraries->string() + "\n" + compiler.version);
  const fs::path root = cache_root();
  if (!root.empty()) {
    auto folder =
        complete(compiler, processor, root / "device-libraries" / key.substr(key.find(':') + 1));
    if (folder || folder.error().code != ErrorCode::usage) return folder;
  }
  return complete(compiler, processor, fallback);
}

}  // namespace perflab::code
