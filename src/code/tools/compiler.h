// HIP compilers: finding one, what it is and which architectures it knows, and compiling a HIP
// source to a code object, reproducibly and with the command recorded. Facts:
// docs/facts/hip_toolchain.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/system/sandbox.h"

namespace perflab::code {

/// A clang that can compile HIP for AMDGPU.
struct Compiler {
  std::filesystem::path program;
  std::string version;                  ///< first line of --version
  int major = 0;                        ///< LLVM major version
  std::vector<std::string> processors;  ///< gfx names that it knows, asked from the compiler
  std::optional<std::filesystem::path> rocm_path;  ///< root with HIP headers; none: not found
  /// Folder of device libraries that lack the architecture's ISA file (Debian): completed by
  /// device_library_folder(). None: the compiler finds its own.
  std::optional<std::filesystem::path> stock_device_libraries;

  [[nodiscard]] bool knows(std::string_view processor) const;
};

/// 19 of "Debian clang version 19.1.7 (3~deb12u1)"; 0: no clang says so.
int clang_major(std::string_view version_line);

/// Finds a compiler: $ROCM_PERF_CLANG (when set, only that), $HIP_CLANG_PATH/clang++, ROCm
/// ($ROCM_PATH, /opt/rocm), amdclang++, clang++-NN (newest first), clang++; the first that knows
/// AMDGPU. `wanted`: prefer one that knows this processor. Errors: missing_tool (what was tried
/// and what to install), interrupted.
Result<Compiler> find_compiler(std::string_view wanted = {});

/// What to compile, and how.
struct CompileRequest {
  std::filesystem::path source;
  std::string arch;                    ///< target id: "gfx942", "gfx942:xnack-"
  std::vector<std::string> arguments;  ///< user's own: -D, -I, -std=..., -O2 (default -O3)
  std::chrono::milliseconds timeout{120'000};
  std::shared_ptr<const Sandbox> sandbox{};  ///< the compiler runs in; null: none
};

/// One kernel's resources as the compiler's own remark printed them
/// (-Rpass-analysis=kernel-resource-usage). Missing: not printed by this compiler.
struct ResourceRemark {
  std::string kernel;  ///< mangled name
  std::optional<std::int64_t> sgprs, vgprs, agprs, scratch_bytes, sgpr_spills, vgpr_spills,
      lds_bytes, occupancy;  ///< occupancy: waves per SIMD under the llvm model
  std::optional<bool> dynamic_stack;
};

/// A compiled code object.
struct Compiled {
  std::string code_object;           ///< ELF bytes
  std::vector<std::string> command;  ///< the command that reproduces it (paths as given)
  std::vector<ResourceRemark> remarks;
  std::string messages;  ///< warnings, without the remarks
};

/// Compiles for the device only, to a bare code object; the same input gives the same bytes,
/// wherever it is compiled (with -g, paths as given become part of them).
/// Errors: bad_input (the source does not compile, or not within the timeout; notes hold the
/// compiler's first messages), missing_tool (the compiler does not know the architecture, or HIP
/// headers, device libraries or the linker are not there: says which package has them),
/// interrupted.
Result<Compiled> compile(const Compiler& compiler, const CompileRequest& request);

/// What a compiler printed to stderr, taken apart.
struct CompilerOutput {
  std::vector<ResourceRemark> remarks;  ///< in the order printed
  std::string messages;                 ///< everything else
};

/// Takes the kernel-resource-usage remarks, with their source lines, out of a compiler's messages.
/// Knows the spellings of LLVM 14 to 22; a line that it does not know is ignored.
CompilerOutput read_compiler_output(std::string_view text);

}  // namespace perflab::code
