// See cuda_headers.h.
#include "optimize/ast/cuda_headers.h"

#include <algorithm>
#include <array>

#include "base/system/environment.h"
#include "base/system/subprocess.h"
#include "base/text/numbers.h"

namespace perflab::optimize {
namespace {

namespace fs = std::filesystem;

bool is_toolkit(const fs::path& folder) {
  std::error_code ignored;
  return !folder.empty() && fs::exists(folder / "include/cuda_runtime.h", ignored);
}

/// The folder above the one that a program is in, links resolved.
fs::path above(const fs::path& program) {
  std::error_code error;
  const fs::path real = fs::canonical(program, error);
  return error ? fs::path() : real.parent_path().parent_path();
}

/// The newest architecture that a clang knows (clang's OffloadArch, release by release).
struct KnownArchitecture {
  int clang_major = 0, newest = 0;
};
constexpr std::array kKnown{KnownArchitecture{17, 90}, KnownArchitecture{20, 100},
                            KnownArchitecture{21, 121}};

}  // namespace

std::optional<fs::path> find_cuda_toolkit(const fs::path& compiler) {
  std::vector<fs::path> places;
  if (!compiler.empty())
    if (const auto found = find_program(compiler.string())) places.push_back(above(*found));
  for (const char* const name : {"CUDA_PATH", "CUDA_HOME"}) places.emplace_back(environment(name));
  if (const auto nvcc = find_program("nvcc")) places.push_back(above(*nvcc));
  places.emplace_back("/usr/local/cuda");
  const auto found = std::ranges::find_if(places, is_toolkit);
  return found == places.end() ? std::nullopt : std::optional(*found);
}

std::string architecture_for_clang(const std::string& architecture, int clang_major) {
  std::string_view digits =
      std::string_view(architecture)
          .substr(std::min<std::size_t>(architecture.size(), std::string_view("sm_").size()));
  const int number = take_number<int>(digits).value_or(0);
  int newest = 0;
  for (const KnownArchitecture& known : kKnown)
    if (clang_major >= known.clang_major) newest = known.newest;
  return number > newest ? "sm_" + std::to_string(newest) : architecture;
}

const std::string_view kTextureFetchHeader = R"(
extern "C" int cudaConfigureCall(dim3 grid, dim3 block, __SIZE_TYPE__ shared = 0,
                                 void* stream = nullptr);
)";

}  // namespace perflab::optimize
