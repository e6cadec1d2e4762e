// The first result is moved aside, so that the second build finds the same empty folder under the
// same name: paths that a compiler writes into its output are then no difference.
#include "optimize/workshop/workshop_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

#include "base/hash.h"
#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "base/text/command_line.h"
#include "tune/evaluate/process_step.h"

namespace perflab::optimize {
namespace {

namespace fs = std::filesystem;
using NamedHashes = std::vector<std::pair<std::string, std::string>>;

bool names_the_file(const std::string& word, const fs::path& source) {
  if (word.empty() || word.find('{') != std::string::npos) return false;
  std::error_code error;
  return fs::equivalent(word, source, error) && !error;
}

std::unexpected<Error> no_folder(const fs::path& folder, const std::error_code& error) {
  return fail(ErrorCode::usage,
              fmt::format("{}: cannot be used for builds: {}", folder.string(), error.message()));
}

/// The last bytes of a text that grows, from the beginning of a line.
class LastText {
 public:
  void add(std::string_view bytes) {
    text_ += bytes;
    if (text_.size() > 2 * kMostCompilerText) cut();
  }
  std::string take() {
    cut();
    return std::move(text_);
  }

 private:
  void cut() {
    if (text_.size() <= kMostCompilerText) return;
    text_.erase(0, text_.size() - kMostCompilerText);
    const std::size_t line = text_.find('\n');
    if (line != std::string::npos) text_.erase(0, line + 1);
  }
  std::string text_;
};

/// Everything in the folder but `kept` is removed, or moved to another one that is empty.
Result<void> clear_folder(const fs::path& folder, const fs::path& kept, const fs::path& into = {}) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    entries.push_back(entry.path());
  if (error) return no_folder(folder, error);
  for (const fs::path& entry : entries) {
    std::error_code ignored;
    if (!kept.empty() && fs::equivalent(entry, kept, ignored)) continue;
    if (into.empty())
      fs::remove_all(entry, error);
    else
      fs::rename(entry, into / entry.filename(), error);
    if (error) return no_folder(entry, error);
  }
  return {};
}

/// One build: its text; `succeeded` says how it went.
struct OneBuild {
  bool succeeded = false;
  std::string text;
  NamedHashes contents;
};

Result<OneBuild> build_once(const BuildRequest& request) {
  LastText text;
  PERFLAB_TRY(
      const tune::StepEnd step,
      tune::run_step(request.command,
                     {.environment = request.environment,
                      .limit_seconds = std::chrono::duration<double>(request.time_limit).count(),
                      .on_stream = [&](int, std::string_view bytes) { text.add(bytes); },
                      .confinement = {.sandbox = request.sandbox, .writable = {request.folder}}}));
  OneBuild one;
  one.succeeded = step.succeeded;
  if (step.succeeded) {
    PERFLAB_TRY(one.contents, folder_contents(request.folder, request.kept));
    if (one.contents.empty()) {
      one.succeeded = false;
      text.add("the build ended well, but left no file in {build_dir}\n");
    }
  } else {
    text.add(fmt::format("the build {}\n", step.detail));
  }
  one.text = text.take();
  return one;
}

/// Names that are not in both lists with the same hash.
std::vector<std::string> differing_names(const NamedHashes& first, const NamedHashes& second) {
  std::map<std::string, std::string> left(first.begin(), first.end());
  std::vector<std::string> names;
  for (const auto& [name, hash] : second) {
    const auto found = left.find(name);
    if (found == left.end() || found->second != hash) names.push_back(name);
    if (found != left.end()) left.erase(found);
  }
  for (const auto& [name, hash] : left) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

/// What a link says. No file has such a hash, whatever is in it.
std::string link_hash(const fs::path& link) {
  std::error_code ignored;
  return "link:" + content_hash_text(fs::read_symlink(link, ignored).string());
}

}  // namespace

Result<tune::CommandTemplate> parse_command(std::string_view option, std::string_view text,
                                            const fs::path& source,
                                            std::span<const std::string> placeholders) {
  Result<std::vector<std::string>> words = split_command_line(text);
  std::string prepared(text);
  if (words) {  // else the template's own reading says what is wrong
    for (std::string& word : *words)
      if (names_the_file(word, source)) word = "{source}";
    prepared = join_command_line(*words);
  }
  Result<tune::CommandTemplate> command = tune::CommandTemplate::parse(prepared, placeholders);
  if (!command) {
    Error error = std::move(command).error();
    error.message = fmt::format("{}: {}", option, error.message);
    return std::unexpected(std::move(error));
  }
  return command;
}

bool uses(const tune::CommandTemplate& command, std::string_view placeholder) {
  return std::ranges::find(command.names(), placeholder) != command.names().end();
}

std::vector<std::pair<std::string, std::string>> include_environment(const fs::path& source) {
  std::error_code ignored;
  std::string value = fs::absolute(source, ignored).parent_path().string();
  const char* const before = std::getenv("CPATH");
  if (before != nullptr && *before != '\0') (value += ':') += before;
  return {{"CPATH", std::move(value)}};
}

Result<NamedHashes> folder_contents(const fs::path& folder, const fs::path& kept) {
  NamedHashes contents;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(folder, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const fs::path& path = at->path();
    std::error_code ignored;
    if (!kept.empty() && fs::equivalent(path, kept, ignored)) continue;
    std::string name = path.lexically_relative(folder).generic_string();
    if (at->is_symlink(ignored)) {
      contents.emplace_back(std::move(name), link_hash(path));
    } else if (at->is_regular_file(ignored)) {
      Result<std::string> bytes = read_file(path);
      if (!bytes) return fail(ErrorCode::usage, bytes.error().message);
      contents.emplace_back(std::move(name), content_hash_text(*bytes));
    }
  }
  if (error) return no_folder(folder, error);
  std::ranges::sort(contents);
  return contents;
}

std::string changed_file(const Built& built) {
  for (const auto& [name, hash] : built.files) {
    const fs::path path = built.folder / name;
    std::error_code ignored;
    if (fs::is_symlink(path, ignored)) {
      if (link_hash(path) != hash) return path.string();
      continue;
    }
    const Result<std::string> bytes = read_file(path);  // fails where something else stands now
    if (!bytes || content_hash_text(*bytes) != hash) return path.string();
  }
  return {};
}

std::string folder_hash(const NamedHashes& contents) {
  std::string text;
  for (const auto& [name, hash] : contents) {
    (text += name) += '\0';
    (text += hash) += '\n';
  }
  return content_hash_text(text);
}

Result<BuildResult> build_twice(const BuildRequest& request) {
  PERFLAB_CHECK(!request.command.empty());
  if (!find_program(request.command.front()))
    return fail(ErrorCode::missing_tool,
                fmt::format("the build's program {} is not there", request.command.front()),
                "install it, or give another --build");
  PERFLAB_TRY_VOID(make_directories(request.folder));
  PERFLAB_TRY_VOID(clear_folder(request.folder, request.kept));
  BuildResult result;
  PERFLAB_TRY(OneBuild first, build_once(request));
  result.text = std::move(first.text);
  if (!first.succeeded) return result;

  const fs::path aside = request.folder.string() + ".first";
  std::error_code error;
  fs::remove_all(aside, error);
  if (!error) fs::create_directory(aside, error);
  if (error) return no_folder(aside, error);
  Result<OneBuild> second = [&]() -> Result<OneBuild> {
    PERFLAB_TRY_VOID(clear_folder(request.folder, request.kept, aside));
    return build_once(request);
  }();
  fs::remove_all(aside, error);
  if (!second) return std::unexpected(std::move(second).error());
  if (!second->succeeded) {
    result.text = std::move(second->text);
    return result;
  }
  result.succeeded = true;
  result.different = differing_names(first.contents, second->contents);
  result.reproducible = result.different.empty();
  result.hash = folder_hash(second->contents);
  result.files = std::move(second->contents);
  return result;
}

}  // namespace perflab::optimize
