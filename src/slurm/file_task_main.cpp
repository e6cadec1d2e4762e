// The side on a node. Answers are files that are renamed into place: nothing that a node prints can
// spoil them, and a task that is killed leaves none that is half.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>

#include "base/parallel.h"
#include "base/system/files.h"
#include "base/system/interrupt.h"
#include "base/text/json.h"
#include "base/text/json_fields.h"
#include "base/text/text.h"
#include "slurm/each_node.h"
#include "slurm/file_tasks.h"

namespace perflab::slurm {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kMostProcesses = 8;  // as many recordings as a node has GPUs, memory permitting
constexpr std::int64_t kNanos = 1'000'000'000;

std::vector<std::string> texts_of(const Json& json, std::string_view key) {
  std::vector<std::string> texts;
  if (const Json* list = member(json, key); list != nullptr && list->is_array())
    for (const Json& one : *list)
      if (auto text = value_as<std::string>(one)) texts.push_back(*std::move(text));
  return texts;
}

Result<Json> read_exchange(const fs::path& file) {
  PERFLAB_TRY(const std::string text, read_file(file));
  return parse_json(text, file.string());
}

Result<void> list_files(const fs::path& place, const NodeTask& task, const FileWork& work) {
  PERFLAB_TRY(const Json given, read_exchange(place / "inputs.json"));
  Json files = Json::array(), faults = Json::array();
  for (const std::string& input : texts_of(given, "inputs")) {
    std::error_code ignored;
    if (!fs::exists(input, ignored)) continue;  // it may be on other nodes
    const auto found = work.find(input);
    if (!found) {
      faults.push_back(Json{{"input", input}, {"why", found.error().message}});
      continue;
    }
    for (const fs::path& file : *found) {
      struct stat info{};
      if (::stat(file.c_str(), &info) != 0) continue;
      files.push_back(Json{{"path", file.string()},
                           {"inode", static_cast<std::int64_t>(info.st_ino)},
                           {"size", static_cast<std::int64_t>(info.st_size)},
                           {"changed", info.st_mtim.tv_sec * kNanos + info.st_mtim.tv_nsec}});
    }
  }
  return write_file_atomically(
      place / fmt::format("list-{}.json", task.number),
      to_canonical_text(
          Json{{"node", task.node}, {"files", std::move(files)}, {"faults", std::move(faults)}}));
}

/// Empty: it was done.
Result<std::string> do_file(const std::vector<std::string>& argv) {
  ProcessOptions options;
  options.empty_input = true;
  options.standard_output = StreamMode::capture;
  options.standard_error = StreamMode::capture;
  const auto ended = run_program(argv, options);
  if (!ended && ended.error().code == ErrorCode::interrupted) return std::unexpected(ended.error());
  if (!ended) return ended.error().message;
  if (ended->interrupted) return fail(ErrorCode::interrupted, "the task was stopped");
  if (ended->succeeded()) return std::string();
  const std::string_view said = trimmed(ended->error.tail);
  const std::string end = describe_end(*ended);
  return said.empty() ? end : fmt::format("{}: {}", end, said.substr(0, said.find('\n')));
}

Result<void> do_files(const fs::path& place, const NodeTask& task, const FileWork& work) {
  const fs::path mine = place / fmt::format("do-{}.json", task.number);
  std::error_code ignored;
  if (!fs::exists(mine, ignored)) return {};  // nothing lies here
  PERFLAB_TRY(const Json given, read_exchange(place / "inputs.json"));
  PERFLAB_TRY(const Json share, read_exchange(mine));
  if (member_as<std::string>(share, "node") != task.node)
    return fail(ErrorCode::internal,
                fmt::format("{}: the nodes of the two steps differ", task.node));
  const std::vector<std::string> files = texts_of(share, "files");
  const std::vector<std::string> options = texts_of(given, "options");
  return parallel_for(
      files.size(), std::min(thread_count(0), kMostProcesses),
      [&](unsigned, std::size_t index) -> Result<void> {
        PERFLAB_TRY(const std::string why_not, do_file(work.command(files[index], options)));
        return write_file_atomically(place / fmt::format("end-{}-{}.json", task.number, index),
                                     to_canonical_text(Json{{"why_not", why_not}}));
      });
}

Result<void> do_step(std::span<const std::string> arguments, const FileWork& work) {
  const auto task = this_task();
  if (arguments.size() != 2 || !task)
    return fail(ErrorCode::usage, "this is started by srun, with list or do and a folder");
  if (arguments[0] == "list") return list_files(arguments[1], *task, work);
  if (arguments[0] == "do") return do_files(arguments[1], *task, work);
  return fail(ErrorCode::usage, fmt::format("{}: neither list nor do", arguments[0]));
}

}  // namespace

int file_task_main(std::span<const std::string> arguments, const FileWork& work) {
  // Slurm ends a step with SIGTERM: the processes of the files must end with us.
  const InterruptScope interrupts;
  const Result<void> done = do_step(arguments, work);
  if (done) return 0;
  fmt::print(stderr, "{}\n", describe(done.error()));
  return 1;
}

}  // namespace perflab::slurm
