// The program started and killed while it works, as a user or a machine that goes down does it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "cli/program.h"
#include "support/prng.h"

namespace perflab::cli {

/// Starts the program in a folder without waiting for it.
class Started {
 public:
  Started(const std::filesystem::path& folder, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), PERFLAB_PROGRAM);
    std::vector<char*> argv;
    for (std::string& word : arguments) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "started.out", O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    posix_spawn_file_actions_addopen(&actions, 2, "started.err", O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    EXPECT_EQ(posix_spawn(&pid_, PERFLAB_PROGRAM, &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
  }
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;
  ~Started() {
    if (pid_ > 0) end(SIGKILL);
  }

  /// Sends the signal and waits; the exit code, or -1 when a signal ended it.
  int end(int signal) {
    if (signal != 0) ::kill(pid_, signal);
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
};

/// The lines of a text file; none: it is not there.
inline std::vector<std::string> lines_of(const std::filesystem::path& file) {
  return std::filesystem::exists(file) ? text_lines(test::text_of(file))
                                       : std::vector<std::string>();
}

/// Starts the program and kills it at a random moment after `log` in the folder has grown, that is,
/// after it began to measure. It may have ended by itself before.
inline void kill_while_measuring(const std::filesystem::path& folder,
                                 const std::vector<std::string>& arguments, const std::string& log,
                                 test::Prng& random) {
  using std::chrono::milliseconds;
  Started started(folder, arguments);
  const std::size_t seen = lines_of(folder / log).size();
  for (int wait = 0; wait < 500 && lines_of(folder / log).size() == seen; ++wait)
    std::this_thread::sleep_for(milliseconds(2));
  std::this_thread::sleep_for(milliseconds(random.below(40)));
  started.end(SIGKILL);
}

}  // namespace perflab::cli
