// The folder in which a tuning builds its configurations.
#pragma once

#include <filesystem>
#include <utility>

#include "base/error.h"

namespace perflab::measure {

/// A given folder that stays, or a fresh one that goes with its contents.
class BuildFolder {
 public:
  /// `parent`: where a fresh one is made. Error (usage): it cannot be.
  static Result<BuildFolder> make(const std::filesystem::path& kept,
                                  const std::filesystem::path& parent);
  BuildFolder(const BuildFolder&) = delete;
  BuildFolder& operator=(const BuildFolder&) = delete;
  BuildFolder(BuildFolder&& other) noexcept
      : path_(std::move(other.path_)), remove_(std::exchange(other.remove_, false)) {}
  BuildFolder& operator=(BuildFolder&&) = delete;
  ~BuildFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  BuildFolder() = default;
  std::filesystem::path path_;
  bool remove_ = false;
};

}  // namespace perflab::measure
