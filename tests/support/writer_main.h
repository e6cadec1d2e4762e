// What the programs that write files for tests share: a command line, one thing to do, and how an
// error of either ends.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>

#include "base/error.h"

namespace perflab::test {

/// Parses `app`'s options and does `work`. The exit code; errors go to stderr after the name.
inline int writer_main(CLI::App& app, int argc, char** argv,
                       const std::function<Result<void>()>& work) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    fmt::print(stderr, "{0}: {1}\n  try: {0} --help\n", app.get_name(), error.what());
    return exit_code(ErrorCode::usage);
  }
  if (const Result<void> done = work(); !done) {
    fmt::print(stderr, "{}: {}\n", app.get_name(), describe(done.error()));
    return exit_code(done.error().code);
  }
  return 0;
}

}  // namespace perflab::test
