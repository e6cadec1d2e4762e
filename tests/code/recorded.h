// The recorded code objects and bundles of ../shared/data.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/system/files.h"

namespace perflab::test {

inline std::filesystem::path recorded(std::string_view name) {
  return std::filesystem::path(PERFLAB_SHARED_DIR) / "data" / name;
}

/// The text of a file, which must be readable.
inline std::string must_read(const std::filesystem::path& path) {
  auto text = read_file(path);
  EXPECT_TRUE(text.has_value()) << path;
  return text.value_or("");
}

}  // namespace perflab::test

/// Ends a test whose recorded input is not there, as on a clean clone.
#define PERFLAB_SKIP_WITHOUT(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "skipped: no " << (path).string()
