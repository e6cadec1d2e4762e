// The stand-in for rocprofv3 (tests/collect/fake_rocprofv3) as the one that is found, for as long
// as this lives; it writes its arguments to `log`.
#pragma once

#include <filesystem>
#include <optional>

#include "base/temp_folder.h"

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

}  // namespace perflab::test
