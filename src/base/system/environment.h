// Environment variables as texts.
#pragma once

#include <cstdlib>
#include <string>

namespace perflab {

/// The value of an environment variable; empty when it is not set.
inline std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace perflab
