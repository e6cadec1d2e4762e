// What a sandbox shows of a home: as little as a build of this source needs. A folder with a whole
// home in it, or one whose name begins with a dot (where keys and tokens are kept), is never shown
// because something in it is named.
#include "optimize/sandboxing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/enum_names.h"
#include "base/system/environment.h"
#include "base/system/find_sandbox.h"
#include "base/system/subprocess.h"
#include "base/text/command_line.h"

namespace perflab::optimize {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTool = "bubblewrap";
/// Of pyenv and its kind, below ~/.pyenv: beside it there are versions of the tool and nothing
/// else.
constexpr const char* kShims = "shims";
/// Files and folders, with colons between: of compilers, loaders and interpreters.
constexpr auto kToolVariables = std::to_array<const char*>(
    {"PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH",
     "ROCM_PATH", "HIP_PATH", "HIP_CLANG_PATH", "HIP_DEVICE_LIB_PATH", "ROCM_PERF_CLANG",
     "ROCPROFV3", "PYTHONPATH", "VIRTUAL_ENV", "CONDA_PREFIX"});

class Shown {
 public:
  /// What lies in a hidden place without holding one; it need not be there yet.
  void add(const fs::path& path) {
    std::error_code error;
    fs::path full = fs::absolute(path, error).lexically_normal();
    if (!full.has_filename()) full = full.parent_path();
    if (error || !is_hidden(full) || holds_hidden(full)) return;
    if (std::ranges::find(paths_, full) == paths_.end()) paths_.push_back(std::move(full));
  }
  /// A file with what lies beside it, which it may read.
  void add_with_folder(const fs::path& file) {
    const fs::path folder = parent_of(file);
    add(is_private(folder) ? file : folder);
  }
  /// A program with what was installed with it, also where a link leads.
  void add_program(const std::string& name) {
    const auto program = find_program(name);
    if (!program) return;
    std::error_code error;
    for (const fs::path& path : {*program, fs::canonical(*program, error)}) {
      if (is_installed(parent_of(path)))
        add_installed(parent_of(path), path);
      else
        add_with_folder(path);
    }
  }
  /// What a word of a command line names: "FILE", "-IFOLDER", "--option=FILE".
  void add_word(const std::string& word) {
    const std::size_t equals = word.find('=');
    for (const std::size_t begin : {std::size_t{0}, std::size_t{2}, equals + 1}) {
      if (begin >= word.size() || word.find('{') != std::string::npos) continue;
      const fs::path path = word.substr(begin);
      std::error_code error;
      if (fs::is_directory(path, error))
        add(path);
      else if (fs::exists(path, error))
        add_with_folder(path);
    }
  }
  void add_command(std::string_view text) {
    const Result<std::vector<std::string>> words = split_command_line(text);
    if (!words || words->empty()) return;  // whoever runs it says what is wrong
    add_program(words->front());
    for (auto word = words->begin() + 1; word != words->end(); ++word) add_word(*word);
  }
  void add_variable(const char* name) {
    const std::string value = environment(name);
    for (std::size_t begin = 0; begin < value.size();) {
      const std::size_t end = std::min(value.find(':', begin), value.size());
      const fs::path path = value.substr(begin, end - begin);
      if (is_installed(path))
        add_installed(path, path);
      else if (!path.empty())
        add(path);
      begin = end + 1;
    }
  }
  [[nodiscard]] std::vector<fs::path> take() { return std::move(paths_); }

 private:
  /// A folder of an installation: what its programs need lies beside it.
  static bool is_installed(const fs::path& folder) {
    return folder.filename() == "bin" || folder.filename() == kShims;
  }
  /// Its prefix. `alone`: what is shown when that would be too much.
  void add_installed(const fs::path& folder, const fs::path& alone) {
    const fs::path prefix = parent_of(folder);
    const bool only_tools = folder.filename() == kShims && !holds_hidden(prefix);
    add(only_tools || !is_private(prefix) ? prefix : alone);
  }
  static fs::path parent_of(const fs::path& path) {
    std::error_code error;
    return fs::absolute(path, error).lexically_normal().parent_path();
  }
  /// It holds a whole home, or lies in one under a name with a dot.
  static bool is_private(const fs::path& folder) {
    if (holds_hidden(folder)) return true;
    return is_hidden(folder) && std::ranges::any_of(folder, [](const fs::path& part) {
             return part.native().starts_with('.');
           });
  }

  std::vector<fs::path> paths_;
};

/// The driver's nodes, as the HSA runtime opens them.
std::vector<fs::path> gpu_devices() {
  std::vector<fs::path> devices{"/dev/kfd"};
  std::error_code error;
  for (fs::directory_iterator at("/dev/dri", error), end; !error && at != end; at.increment(error))
    if (at->path().filename().native().starts_with("renderD")) devices.push_back(at->path());
  std::ranges::sort(devices);
  return devices;
}

Result<void> check_shown(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error))
    return fail(ErrorCode::usage, fmt::format("--sandbox-show {}: it is not there", path.string()));
  if (holds_hidden(path))
    return fail(ErrorCode::usage,
                fmt::format("--sandbox-show {}: that shows a whole folder of homes, temporary "
                            "files or sockets",
                            path.string()),
                "name what is needed in it, or give --no-sandbox");
  return {};
}

std::string sentence_of(const SandboxRequest& request, const Sandbox& sandbox) {
  return fmt::format(
      "candidates and what builds, checks and proposes them run in a sandbox ({}{}): no network{}, "
      "no home, nothing to write to but a folder of their own",
      kTool, sandbox.version.empty() ? "" : " " + sandbox.version,
      request.proposer_network ? " (but for the exec: program, which has it and the keys)" : "");
}

}  // namespace

std::string_view to_string(NoSandbox why) {
  using enum NoSandbox;
  static constexpr auto kNames = enum_names<NoSandbox>({{not_needed, "not_needed"},
                                                        {turned_off, "turned_off"},
                                                        {not_installed, "not_installed"},
                                                        {does_not_work, "does_not_work"}});
  return kNames[why];
}

Json to_json(const SandboxRecord& record) {
  return {{"used", !record.why_not},
          {"tool", sandbox_kind(record)},
          {"version", or_null(record.version)},
          {"reason", or_null(record.why_not)},
          {"sentence", record.sentence},
          {"proposer_network", record.proposer_network}};
}

Json sandbox_kind(const SandboxRecord& record) {
  return record.why_not ? Json(nullptr) : Json(kTool);
}

std::vector<fs::path> shown_paths(const SandboxRequest& request) {
  Shown shown;
  std::error_code error;
  shown.add(fs::current_path(error));
  shown.add_with_folder(request.source);
  shown.add(request.folder);
  if (!request.capture.empty()) shown.add(request.capture);
  shown.add_program(own_program());
  for (const std::string& command : request.commands) shown.add_command(command);
  for (const std::string& word : request.arguments) shown.add_word(word);
  for (const char* const name : kToolVariables) shown.add_variable(name);
  for (const fs::path& path : request.shown) shown.add(path);
  return shown.take();
}

Result<SandboxChoice> choose_sandbox(const SandboxRequest& request) {
  SandboxChoice choice;
  if (!request.needed) return choice;
  SandboxRecord& record = choice.record;
  const auto none = [&](NoSandbox why, const std::string& because) {
    record.why_not = why;
    record.sentence = fmt::format(
        "there is no sandbox ({}): what others wrote runs as the user, with home and network",
        because);
  };
  if (request.turned_off) {
    none(NoSandbox::turned_off, "--no-sandbox");
    return choice;
  }
  for (const fs::path& path : request.shown) PERFLAB_TRY_VOID(check_shown(path));
  Result<Sandbox> found = find_sandbox();
  if (!found) {
    const Error& error = found.error();
    if (error.code == ErrorCode::missing_tool)
      none(NoSandbox::not_installed, error.message);
    else if (error.code == ErrorCode::refused)
      none(NoSandbox::does_not_work, error.message);
    else
      return std::unexpected(error);
    choice.warning = fmt::format("{}; {}", record.sentence, error.remedy);
    return choice;
  }
  record.why_not.reset();
  record.version = found->version;
  record.proposer_network = request.proposer_network;
  record.sentence = sentence_of(request, *found);
  found->shown = shown_paths(request);
  found->devices = gpu_devices();
  choice.candidates = std::make_shared<const Sandbox>(*found);
  found->network = request.proposer_network;
  choice.proposer = std::make_shared<const Sandbox>(*std::move(found));
  return choice;
}

}  // namespace perflab::optimize
