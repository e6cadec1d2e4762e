// Runs rocm-perf as a user does, in a fresh folder, and looks at what comes out.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/system/subprocess.h"
#include "base/temp_folder.h"
#include "base/text/json.h"
#include "report/kit/document.h"

namespace perflab::cli {

using Words = std::vector<std::string>;

inline Words joined(Words a, const Words& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// How a call ended.
struct Outcome {
  int exit_code = -1;
  std::string out, err;
};

/// A program in this folder, both streams captured.
inline Outcome run_in(const std::filesystem::path& folder, const std::vector<std::string>& argv,
                      ProcessOptions options = {}) {
  options.working_directory = folder;
  options.standard_output = options.standard_error = StreamMode::capture;
  options.capture_limit = std::size_t{1} << 24;
  options.empty_input = true;
  const auto result = run_program(argv, options);
  if (!result) {
    ADD_FAILURE() << result.error().message;
    return {};
  }
  return {.exit_code = result->exit_code.value_or(-1),
          .out = result->output.tail,
          .err = result->error.tail};
}

/// rocm-perf with these arguments, in this folder.
inline Outcome rocm_perf(const std::filesystem::path& folder, std::vector<std::string> arguments,
                         ProcessOptions options = {}) {
  arguments.insert(arguments.begin(), PERFLAB_PROGRAM);
  return run_in(folder, arguments, std::move(options));
}

/// The lines of a text, without their ends.
inline std::vector<std::string> text_lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out.push_back(line);
  return out;
}

/// The text as JSON that satisfies the schema of `name`; a failed test otherwise.
inline Json document(const std::string& name, const std::string& text) {
  const auto parsed = parse_json(text, name);
  if (!parsed) {
    ADD_FAILURE() << parsed.error().message << "\n" << text.substr(0, 400);
    return {};
  }
  const auto valid = report::validate(name, *parsed);
  EXPECT_TRUE(valid.has_value()) << (valid ? "" : valid.error().message);
  return *parsed;
}

/// Number of lines of a text.
inline std::ptrdiff_t lines(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

/// Names in a folder, sorted.
inline std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace perflab::cli
