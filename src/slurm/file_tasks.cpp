// The side that runs srun: two steps, one that lists and one that works. Which file is which: path,
// inode, size and time of change in ns (stat(2)); two nodes' own files do not agree in all of them.
#include "slurm/file_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

#include "base/system/files.h"
#include "base/system/interrupt.h"
#include "base/text/json.h"
#include "base/text/json_fields.h"
#include "slurm/each_node.h"
#include "slurm/folder.h"
#include "slurm/process.h"

namespace perflab::slurm {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kPoll{50};

/// A file as the nodes see it.
struct SeenFile {
  std::string path;
  std::int64_t inode = 0, size = 0, changed = 0;
  friend auto operator<=>(const SeenFile&, const SeenFile&) = default;
};

/// What one node said in the first step.
struct NodeList {
  unsigned number = 0;
  std::string node;
  std::vector<SeenFile> files;
  std::vector<FileEnd> faults;  ///< inputs that it could not search
};

class FileTaskRun {
 public:
  FileTaskRun(const FileTasks& tasks, Allocation allocation, Folder folder)
      : tasks_(tasks),
        allocation_(std::move(allocation)),
        folder_(std::move(folder)),
        place_(folder_.next_file().parent_path()) {}

  Result<std::vector<FileEnd>> run() {
    PERFLAB_TRY_VOID(write_inputs());
    PERFLAB_TRY(const ProcessResult listed, step("list"));
    PERFLAB_TRY_VOID(read_lists(listed));
    PERFLAB_TRY_VOID(share_out());
    if (!shares_.empty()) {
      PERFLAB_TRY(const ProcessResult worked, step("do"));
      PERFLAB_TRY_VOID(read_ends(worked));
    }
    std::ranges::sort(ends_, {}, [](const FileEnd& end) { return std::tie(end.file, end.node); });
    return std::move(ends_);
  }

 private:
  Result<void> write_inputs() const {
    Json inputs = Json::array();
    for (const fs::path& input : tasks_.inputs) inputs.push_back(fs::absolute(input).string());
    return write_file_atomically(
        place_ / "inputs.json",
        to_canonical_text(Json{{"inputs", std::move(inputs)}, {"options", tasks_.options}}));
  }

  Result<ProcessResult> step(const char* what) const {
    std::vector<std::string> argv = tasks_.task;
    argv.emplace_back(what);
    argv.push_back(place_.string());
    PERFLAB_TRY(ProcessResult ended, run_on_each_node(allocation_, argv, tasks_.shared));
    if (ended.interrupted)
      return fail(ErrorCode::interrupted, "stopped while the nodes were at work",
                  "run it again: what was finished stays");
    return ended;
  }

  /// What shows up under that name before `end`.
  static std::optional<Json> wait_for(const fs::path& file,
                                      std::chrono::steady_clock::time_point end) {
    while (true) {
      if (const auto text = read_file(file)) {
        auto json = parse_json(*text, file.string());
        return json ? std::optional(*std::move(json)) : std::nullopt;
      }
      if (std::chrono::steady_clock::now() >= end || interrupted()) return std::nullopt;
      std::this_thread::sleep_for(kPoll);
    }
  }

  Result<void> read_lists(const ProcessResult& srun) {
    const auto end = std::chrono::steady_clock::now() + tasks_.patience;
    for (unsigned number = 0; number < allocation_.nodes; ++number) {
      const auto json = wait_for(place_ / fmt::format("list-{}.json", number), end);
      if (json) {
        read_list(number, *json);
        continue;
      }
      ends_.push_back(
          {.file = {},
           .node = fmt::format("node {} of the allocation", number),
           .why_not = fmt::format("it did not say what lies there: {}", last_words(srun))});
    }
    if (lists_.empty())
      return fail(
          ErrorCode::missing_tool,
          fmt::format("no node of allocation {} answers: {}", allocation_.number, last_words(srun)),
          fmt::format("see whether the nodes have this program and this folder: srun ls {} "
                      "{}",
                      tasks_.task.front(), tasks_.shared.string()));
    return {};
  }

  void read_list(unsigned number, const Json& json) {
    NodeList list{.number = number,
                  .node = member_as<std::string>(json, "node").value_or(""),
                  .files = {},
                  .faults = {}};
    if (const Json* files = member(json, "files"); files != nullptr)
      for (const Json& file : *files)
        list.files.push_back({.path = member_as<std::string>(file, "path").value_or(""),
                              .inode = member_as<std::int64_t>(file, "inode").value_or(0),
                              .size = member_as<std::int64_t>(file, "size").value_or(0),
                              .changed = member_as<std::int64_t>(file, "changed").value_or(0)});
    if (const Json* faults = member(json, "faults"); faults != nullptr)
      for (const Json& fault : *faults)
        ends_.push_back({.file = member_as<std::string>(fault, "input").value_or(""),
                         .node = list.node,
                         .why_not = member_as<std::string>(fault, "why").value_or("")});
    lists_.push_back(std::move(list));
  }

  /// Each file to the node with the fewest bytes so far of those that see it.
  Result<void> share_out() {
    std::map<SeenFile, std::vector<std::size_t>> seen;
    for (std::size_t i = 0; i < lists_.size(); ++i)
      for (const SeenFile& file : lists_[i].files) seen[file].push_back(i);
    std::vector<std::int64_t> bytes(lists_.size(), 0);
    for (const auto& [file, nodes] : seen) {
      const std::size_t least =
          *std::ranges::min_element(nodes, {}, [&](std::size_t i) { return bytes[i]; });
      bytes[least] += file.size;
      shares_[least].push_back(file.path);
    }
    for (const fs::path& input : tasks_.inputs) check_input(fs::absolute(input).string(), seen);
    for (const auto& [index, files] : shares_)
      PERFLAB_TRY_VOID(write_file_atomically(
          place_ / fmt::format("do-{}.json", lists_[index].number),
          to_canonical_text(Json{{"files", files}, {"node", lists_[index].node}})));
    return {};
  }

  /// An input that no node has anything of is not passed over.
  void check_input(const std::string& input,
                   const std::map<SeenFile, std::vector<std::size_t>>& seen) {
    const std::string below = input.ends_with('/') ? input : input + "/";
    const bool found = std::ranges::any_of(seen, [&](const auto& one) {
      return one.first.path == input || one.first.path.starts_with(below);
    });
    const bool named =
        std::ranges::any_of(ends_, [&](const FileEnd& end) { return end.file == input; });
    if (!found && !named)
      ends_.push_back({.file = input, .node = {}, .why_not = "no node has a recording there"});
  }

  Result<void> read_ends(const ProcessResult& srun) {
    const auto end = std::chrono::steady_clock::now() + tasks_.patience;
    for (const auto& [index, files] : shares_) {
      const NodeList& list = lists_[index];
      for (std::size_t i = 0; i < files.size(); ++i) {
        FileEnd file{.file = files[i], .node = list.node, .why_not = {}};
        const auto json = wait_for(place_ / fmt::format("end-{}-{}.json", list.number, i), end);
        file.why_not = json ? member_as<std::string>(*json, "why_not").value_or("")
                            : fmt::format("its task ended before it was done: {}",
                                          words_about(list.node, srun));
        ends_.push_back(std::move(file));
      }
    }
    return {};
  }

  const FileTasks& tasks_;
  Allocation allocation_;
  Folder folder_;
  fs::path place_;
  std::vector<NodeList> lists_;
  std::map<std::size_t, std::vector<std::string>> shares_;  ///< files by index of lists_
  std::vector<FileEnd> ends_;
};

}  // namespace

Result<std::vector<FileEnd>> run_file_tasks(const FileTasks& tasks) {
  PERFLAB_TRY(Allocation allocation, surrounding_allocation());
  PERFLAB_TRY_VOID(make_directories(tasks.shared));
  FileTasks absolute = tasks;
  std::error_code error;
  absolute.shared = fs::absolute(tasks.shared, error);
  if (error)
    return fail(ErrorCode::usage, fmt::format("{}: {}", tasks.shared.string(), error.message()));
  // Allocations are not ours to end: this one was there before us.
  PERFLAB_TRY(Folder folder,
              Folder::create(absolute.shared, [](const std::vector<std::string>&) {}));
  return FileTaskRun(absolute, std::move(allocation), std::move(folder)).run();
}

}  // namespace perflab::slurm
