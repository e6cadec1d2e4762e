// Files that are worked on where they lie: each node of an allocation says which of the files it
// sees, and does its share, a process for each file. A file that several nodes see (of a shared
// file system) is done by one of them; equal paths on disks of their own are files of their own.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"

namespace perflab::slurm {

/// What the process does that runs srun.
struct FileTasks {
  /// Our program on the nodes with what makes it call file_task_main(); two arguments follow.
  std::vector<std::string> task;
  std::vector<std::filesystem::path> inputs;  ///< files and folders, on whichever nodes
  std::vector<std::string> options;           ///< for the processes of the files
  /// A folder that all nodes see. What tasks and we exchange lies in .slurm/ in it, for as long as
  /// it takes.
  std::filesystem::path shared;
  /// How long what was written may take to show up here: network file systems are late.
  std::chrono::milliseconds patience{10'000};
};

/// What became of a file.
struct FileEnd {
  std::string file;
  std::string node;
  std::string why_not;  ///< empty: it was done
};

/// All files, by path and node; also nodes that could not say what they have, and inputs that are
/// on none (then without node).
/// Errors: those of surrounding_allocation(), usage (`shared` cannot be written), interrupted,
/// missing_tool (no node answers: the program is not there).
Result<std::vector<FileEnd>> run_file_tasks(const FileTasks& tasks);

/// What a task asks of its program.
struct FileWork {
  /// The files of an input that is there: a folder's, or itself.
  std::function<Result<std::vector<std::filesystem::path>>(const std::filesystem::path& input)>
      find;
  /// The argument array of the process that does one file.
  std::function<std::vector<std::string>(const std::filesystem::path& file,
                                         const std::vector<std::string>& options)>
      command;
};

/// The task on a node: {"list" or "do", FOLDER}. Gives the exit code: 0 when what it has to say was
/// written, whatever that is.
int file_task_main(std::span<const std::string> arguments, const FileWork& work);

}  // namespace perflab::slurm
