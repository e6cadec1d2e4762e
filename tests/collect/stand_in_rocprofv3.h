// The stand-in for rocprofv3 (tests/collect/fake_rocprofv3) as the one that is found, for as long
// as this lives; it writes its arguments to `log`.
#pragma once

#include <filesystem>
#include <optional>

#include "base/temp_folder.h"
#include "collect/collect.h"

namespace perflab::test {

class StandInRocprofv3 {
 public:
  explicit StandInRocprofv3(const std::filesystem::path& log)
      : log_("FAKE_ROCPROFV3_LOG", log.string()) {}

 private:
  ScopedVariable tool_{
      "ROCPROFV3",
      (std::filesystem::path(PERFLAB_SOURCE_DIR) / "tests/collect/fake_rocprofv3").string()};
  ScopedVariable databases_{"FAKE_ROCPROFV3_DB", std::nullopt};
  ScopedVariable mode_{"FAKE_ROCPROFV3_MODE", std::nullopt};
  ScopedVariable log_;
};

/// A collection by the stand-in, version 1.1.0 of ROCm 7.1.1, into the folder 0001 of `folder`,
/// which is made.
inline collect::Collection traced_collection(const std::filesystem::path& folder) {
  collect::Collection base;
  base.traced = true;
  base.rocprofv3 = collect::Rocprofv3{
      .path = std::filesystem::path(PERFLAB_SOURCE_DIR) / "tests/collect/fake_rocprofv3",
      .version = "1.1.0",
      .rocm_version = "7.1.1"};
  base.folder = folder / "0001";
  std::filesystem::create_directory(base.folder);
  return base;
}

}  // namespace perflab::test
