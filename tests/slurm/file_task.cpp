// `file_task list|do FOLDER`: the task on a node as a program of its own. Recordings are *.in;
// what does one is the script in $FILE_TASK_SCRIPT, with the file and the options as arguments.
#include <algorithm>
#include <string>
#include <vector>

#include "base/system/environment.h"
#include "slurm/file_tasks.h"

namespace fs = std::filesystem;

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return perflab::slurm::file_task_main(
      arguments,
      {.find = [](const fs::path& input) -> perflab::Result<std::vector<fs::path>> {
         if (!fs::is_directory(input)) return std::vector{input};
         std::vector<fs::path> files;
         for (const auto& entry : fs::directory_iterator(input))
           if (entry.path().extension() == ".in") files.push_back(entry.path());
         if (files.empty())
           return perflab::fail(perflab::ErrorCode::bad_input, "there is no recording in it");
         std::ranges::sort(files);
         return files;
       },
       .command =
           [](const fs::path& file, const std::vector<std::string>& options) {
             std::vector<std::string> command{"sh", "-c", perflab::environment("FILE_TASK_SCRIPT"),
                                              "sh", file.string()};
             command.insert(command.end(), options.begin(), options.end());
             return command;
           }});
}
