// As `hipcc FILE -o PROGRAM` does; a distribution's clang needs its folders named
// (docs/facts/hip_toolchain.md "Device libraries", "Command lines").
#include "code/tools/hip_command.h"

#include "code/tools/device_libraries.h"

namespace perflab::code {

namespace fs = std::filesystem;

Result<std::vector<std::string>> hip_compile_command(const Compiler& compiler,
                                                     const std::string& architecture,
                                                     const fs::path& folder) {
  std::vector<std::string> command{compiler.program.string(), "-x", "hip",
                                   "--offload-arch=" + architecture, "-O2", "-std=c++17", "-w",
                                   // What HIP's library needs itself is the loader's affair.
                                   "-Wl,--allow-shlib-undefined"};
  if (compiler.stock_device_libraries) {
    PERFLAB_TRY(const fs::path libraries,
                device_library_folder(compiler, architecture, folder / "device-libraries"));
    command.push_back("--rocm-device-lib-path=" + libraries.string());
  }
  if (!compiler.rocm_path) return command;
  command.push_back("--rocm-path=" + compiler.rocm_path->string());
  // A ROCm beside others: its programs should find the libraries they were linked with.
  const fs::path libraries = *compiler.rocm_path / "lib";
  std::error_code ignored;
  if (fs::exists(libraries / "libamdhip64.so", ignored))
    command.insert(command.end(), {"-L" + libraries.string(), "-Wl,-rpath," + libraries.string()});
  return command;
}

}  // namespace perflab::code
