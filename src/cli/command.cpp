// Output to the terminal and to document folders.
#include "cli/command.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "report/document.h"

namespace perflab::cli {

int report_error(const Error& error) {
  fmt::print(stderr, "rocm-perf: {}\n", describe(error));
  return exit_code(error.code);
}

report::TerminalStyle terminal_style() {
  report::TerminalStyle style;
  winsize size{};
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  if (terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.width = size.ws_col;
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr && std::atoi(columns) > 0)
    style.width = static_cast<std::size_t>(std::atoi(columns));
  const char* no_color = std::getenv("NO_COLOR");
  style.colour = terminal && (no_color == nullptr || *no_color == '\0');
  return style;
}

Result<void> print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    return fail(ErrorCode::usage,
                fmt::format("standard output cannot be written: {}", errno_text(errno)));
  return {};
}

Result<void> write_documents(const std::string& folder, const std::vector<Document>& documents) {
  std::vector<std::pair<std::filesystem::path, std::string>> files;
  for (const Document& document : documents) {
    PERFLAB_TRY(std::string text, report::render(document.name, document.value));
    files.emplace_back(std::filesystem::path(folder) / (document.name + ".json"), std::move(text));
  }
  PERFLAB_TRY_VOID(make_directories(folder));
  for (const auto& [path, text] : files) PERFLAB_TRY_VOID(write_file_atomically(path, text));
  return {};
}

}  // namespace perflab::cli
