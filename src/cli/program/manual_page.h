// Manual pages (man(7)) of the program and its commands, generated from what CLI11 knows of them.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace perflab::cli {

/// One page as a file: "rocm-perf-replay-verify.1" and its text.
struct ManualPage {
  std::string file, text;
};

/// A page for the program, for each group of commands and for each command of the help, by file
/// name. `date`: "2026-11-22", or empty for none. The same program gives the same bytes.
std::vector<ManualPage> manual_pages(const CLI::App& app, const std::string& date);

/// Text as roff shows it as it stands: escapes, signs that roff typesets otherwise (- ' ` ^ ~ "),
/// dots and quotes at the start of a line, everything beyond ASCII.
std::string roff_text(std::string_view text);

}  // namespace perflab::cli
