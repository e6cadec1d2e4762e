// Files are taken apart by code/files/container.h and code/cubin/cubin_files.h; the guards are
// those of objects/.
#include "optimize/workshop/command_objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/system/files.h"
#include "code/cubin/cubin.h"
#include "code/cubin/cubin_files.h"
#include "code/files/container.h"
#include "code/object/code_object.h"
#include "optimize/kernel_names.h"

namespace perflab::optimize {
namespace {

namespace fs = std::filesystem;

bool begins_like_code(const fs::path& file) {
  std::string start(24, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(stream.gcount()));
  return code::may_hold_code(start) || code::may_hold_cubins(start);
}

/// Mangled names of the kernels that are this function, sorted.
Result<std::set<std::string>> kernels_of(const std::string& bytes, const fs::path& file,
                                         std::string_view function) {
  const std::string wanted = bare_kernel_name(function);
  std::set<std::string> names;
  if (code::holds_cubins(bytes)) {
    PERFLAB_TRY(const code::CubinFile found, code::find_cubins(bytes, file.string()));
    for (const code::FatbinEntry& entry : found.cubins) {
      PERFLAB_TRY(const code::Cubin cubin, code::read_cubin(entry.bytes, file.string()));
      for (const code::CubinKernel& kernel : cubin.kernels)
        if (bare_kernel_name(kernel.name) == wanted) names.insert(kernel.name);
    }
    return names;
  }
  PERFLAB_TRY(const code::Container container, code::find_code_objects(bytes, file.string()));
  for (const code::EmbeddedObject& object : container.objects) {
    PERFLAB_TRY(const code::CodeObject read, code::read_code_object(object.bytes, file.string()));
    for (const code::KernelMetadata& kernel : read.kernels)
      if (bare_kernel_name(kernel.name) == wanted) names.insert(kernel.name);
  }
  return names;
}

void add_guards(ObjectGuards& all, ObjectGuards more, const std::string& kernel) {
  for (GuardResult& result : more.results) {
    if (!result.passed) result.detail = fmt::format("{}: {}", kernel, result.detail);
    const auto known = std::ranges::find(all.results, result.name, &GuardResult::name);
    if (known == all.results.end())
      all.results.push_back(std::move(result));
    else if (known->passed && !result.passed)
      *known = std::move(result);
  }
  std::ranges::move(more.changes, std::back_inserter(all.changes));
}

}  // namespace

Result<std::optional<fs::path>> file_with_device_code(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(folder, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    if (at->is_regular_file(ignored)) files.push_back(at->path());
  }
  if (error)
    return fail(ErrorCode::usage,
                fmt::format("{}: cannot be read: {}", folder.string(), error.message()));
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    if (!begins_like_code(file)) continue;
    const Result<code::Container> container = code::open_container(file);
    if (container && !container->objects.empty()) return file;
    if (const auto cubins = code::open_cubins(file); cubins) return file;
  }
  return std::optional<fs::path>{};
}

Result<ObjectGuards> check_device_files(const fs::path& original, const fs::path& candidate,
                                        std::string_view function) {
  PERFLAB_TRY(const std::string before, read_file(original));
  PERFLAB_TRY(const std::string after, read_file(candidate));
  PERFLAB_TRY(const std::set<std::string> kernels, kernels_of(before, original, function));
  if (kernels.empty())
    return fail(ErrorCode::bad_input,
                fmt::format("{} has device code, but no kernel {}", original.string(), function),
                "name the kernel as the source does, with its namespaces");
  ObjectGuards all;
  for (const std::string& kernel : kernels) {
    PERFLAB_TRY(
        ObjectGuards guards,
        check_object(before, after, {.kernel = kernel, .workgroup_size = {}, .dynamic_lds = 0}));
    add_guards(all, std::move(guards), kernel);
  }
  return all;
}

}  // namespace perflab::optimize
