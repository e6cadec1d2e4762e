// What tests of programs run: a line of shell as an argument array.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace perflab::test {

inline std::vector<std::string> shell(std::string script) {
  return {"sh", "-c", std::move(script)};
}

}  // namespace perflab::test
