// Output to the terminal and to document folders.
#include "cli/kit/command.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/system/files.h"
#include "base/text/progress.h"
#include "report/kit/document.h"

namespace perflab::cli {

namespace {

/// Removes NAME.json of this program from the folder, when there is one.
Result<void> remove_stale(const std::string& folder, const std::string& name, std::string_view what,
                          bool quiet) {
  const std::filesystem::path path = std::filesystem::path(folder) / (name + ".json");
  const Result<std::string> text = read_file(path);
  if (!text) return {};  // nothing there, or nothing that this program wrote
  const Result<Json> value = parse_json(*text, path.string());
  const auto says = [&](const char* field, std::string_view expected) {
    const Json::json_pointer at(field);
    return value && value->contains(at) && value->at(at) == expected;
  };
  if (!says("/document", name) || !says("/generator/name", "rocm-perf")) return {};
  std::error_code error;
  if (!std::filesystem::remove(path, error) && error)
    return fail(ErrorCode::usage, fmt::format("{}: an earlier run's, and it cannot be removed: {}",
                                              path.string(), errno_text(error.value())));
  if (!quiet)
    fmt::print(stderr, "rocm-perf: removed {} of an earlier run: this one has no {}\n",
               path.string(), what);
  return {};
}

}  // namespace

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

Result<void> write_documents(const std::string& folder,
                             const std::vector<report::RenderedDocument>& documents) {
  PERFLAB_TRY_VOID(make_directories(folder));
  for (const report::RenderedDocument& one : documents)
    PERFLAB_TRY_VOID(
        write_file_atomically(std::filesystem::path(folder) / (one.name + ".json"), one.text));
  return {};
}

Result<void> remove_stale_documents(const std::string& folder,
                                    const std::vector<report::RenderedDocument>& documents,
                                    bool quiet) {
  struct Optional {
    const char* name;
    const char* what;
  };
  for (const Optional& one :
       {Optional{"roofline", "roofline"}, Optional{"dag", "critical path"},
        Optional{"profile", "recording of times"}, Optional{"timeline", "timeline"},
        Optional{"thread_trace", "thread trace"}})
    if (std::ranges::find(documents, one.name, &report::RenderedDocument::name) == documents.end())
      PERFLAB_TRY_VOID(remove_stale(folder, one.name, one.what, quiet));
  return {};
}

}  // namespace perflab::cli
