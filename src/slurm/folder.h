// The folder through which the Slurm executor and its workers exchange jobs and answers, and in
// which the allocations stand: should this process be killed, the next one that uses the same place
// ends them.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace perflab::slurm {

class Folder {
 public:
  using Cancel = std::function<void(const std::vector<std::string>& allocations)>;

  /// Makes a new folder in `working_directory`/.slurm. Folders there whose process is gone are
  /// removed, and `cancel` is called with their allocations. Error (usage): it cannot be made.
  static Result<Folder> create(const std::filesystem::path& working_directory,
                               const Cancel& cancel);
  Folder(Folder&& other) noexcept;
  Folder& operator=(Folder&&) = delete;
  /// Removes it.
  ~Folder();

  /// A file name that was not given before.
  [[nodiscard]] std::filesystem::path next_file();
  /// Notes an allocation, to be ended by others if we cannot. Any thread.
  void note(std::string_view allocation) const;

 private:
  Folder(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::filesystem::path path_;
  int lock_ = -1;  ///< descriptor of `owner`, locked as long as we live
  std::atomic<unsigned> files_{0};
};

}  // namespace perflab::slurm
