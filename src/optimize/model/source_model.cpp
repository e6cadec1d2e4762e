// Parsing a source in a process of its own where clang could crash over it, and look-ups in what
// came of it.
#include "optimize/model/source_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/system/subprocess.h"
#include "base/text/command_line.h"
#include "optimize/ast/apart.h"
#include "optimize/model/modelled_source.h"

namespace perflab::optimize {
namespace {

/// Whether there is more between two ends of statements than anyone writes: nested so deeply, a
/// source can make clang crash.
bool is_suspicious(std::string_view text) {
  constexpr std::size_t kMostBytes = 8192, kMostElse = 500;
  std::size_t since = 0;
  for (const char c : text) {
    since = c == ';' || c == '{' || c == '}' ? 0 : since + 1;
    if (since > kMostBytes) return true;
  }
  std::size_t count = 0;
  for (std::size_t at = text.find("else"); at != std::string_view::npos;
       at = text.find("else", at + 4))
    ++count;
  return count > kMostElse;
}

}  // namespace

Result<SourceModel> parse_source(std::string text, const ParseOptions& options,
                                 std::string_view function) {
  if (is_suspicious(text)) {
    PERFLAB_TRY_VOID(prepare_parsing(options));
    PERFLAB_TRY(const ApartResult apart, run_apart([&] {
                  return model_source(text, options, function) ? std::string("model")
                                                               : std::string();
                }));
    if (!apart.text)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: clang {} over it", options.path.string(), apart.ending));
  }
  PERFLAB_TRY(ModelledSource modelled, model_source(std::move(text), options, function));
  return std::move(modelled.model);
}

std::filesystem::path compiler_of_command(std::string_view command) {
  const Result<std::vector<std::string>> words = split_command_line(command);
  if (!words) return {};
  for (const std::string& word : *words) {
    const std::string name = std::filesystem::path(word).filename().string();
    const bool is_compiler = name.starts_with("hipcc") || name.starts_with("amdclang") ||
                             name.starts_with("clang") || name == "nvcc";
    if (!is_compiler) continue;
    if (const auto program = find_program(word)) return *program;
  }
  return {};
}

Result<std::size_t> find_kernel(const SourceModel& model, std::string_view name) {
  const std::string path = model.options.path.string();
  std::vector<std::size_t> whole;
  std::vector<std::size_t> last;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < model.kernels.size(); ++i) {
    const SourceKernel& kernel = model.kernels[i];
    names.push_back(kernel.signature);
    if (name.empty() || kernel.name == name || kernel.signature == name) whole.push_back(i);
    if (kernel.name.ends_with("::" + std::string(name))) last.push_back(i);
  }
  if (whole.empty()) whole = last;
  if (whole.size() == 1) return whole.front();
  if (model.kernels.empty())
    return fail(ErrorCode::usage, fmt::format("{}: there is no kernel in it", path),
                "a kernel is a __global__ function with a body, in this file itself");
  const std::string text = fmt::format("{}", fmt::join(names, "; "));
  if (whole.empty())
    return fail(ErrorCode::usage,
                fmt::format("{}: there is no kernel {}; there are: {}", path, name, text),
                "name one of them with --kernel");
  return fail(ErrorCode::usage,
              name.empty() ? fmt::format("{}: there are several kernels: {}", path, text)
                           : fmt::format("{}: several kernels are called {}: {}", path, name, text),
              "name one, by its whole signature if need be");
}

std::string replaced(std::string_view text, const TextRange& range, std::string_view replacement) {
  std::string result(text.substr(0, range.begin));
  result += replacement;
  result += text.substr(range.end);
  return result;
}

}  // namespace perflab::optimize
