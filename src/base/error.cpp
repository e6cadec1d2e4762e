// Error texts and exit codes; the crash path of PERFLAB_CHECK.
#include "base/error.h"

#include <execinfo.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/enum_names.h"

namespace perflab {
namespace {

/// What to do about an error that is none of the user's.
constexpr const char* kReportBug =
    "this is a bug of rocm-perf: report it with the command line, all of this output and that of "
    "`rocm-perf --version` and `rocm-perf doctor`";

}  // namespace

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
      return 2;
    case ErrorCode::bad_input:
      return 3;
    case ErrorCode::missing_tool:
      return 4;
    case ErrorCode::target_failed:
      return 5;
    case ErrorCode::refused:
      return 1;
    case ErrorCode::interrupted:
      return 130;
    case ErrorCode::internal:
      return 70;
  }
  return 70;
}

std::string_view to_string(ErrorCode code) {
  using enum ErrorCode;
  static constexpr auto kNames = enum_names<ErrorCode>({{usage, "usage"},
                                                        {bad_input, "bad_input"},
                                                        {missing_tool, "missing_tool"},
                                                        {target_failed, "target_failed"},
                                                        {refused, "refused"},
                                                        {interrupted, "interrupted"},
                                                        {internal, "internal"}});
  return kNames[code];
}

Error&& Error::with_note(std::string note) && {
  notes.push_back(std::move(note));
  return std::move(*this);
}

Error&& Error::with_remedy(std::string text) && {
  remedy = std::move(text);
  return std::move(*this);
}

std::unexpected<Error> fail(CodeWithoutRemedy code, std::string message) {
  return fail(code.code, std::move(message), {});
}

std::unexpected<Error> fail(ErrorCode code, std::string message, std::string remedy) {
  return std::unexpected(
      Error{.code = code, .message = std::move(message), .notes = {}, .remedy = std::move(remedy)});
}

std::string describe(const Error& error) {
  std::string text = error.message;
  for (const std::string& note : error.notes) text += "\n  note: " + note;
  if (!error.remedy.empty())
    text += "\n  try: " + error.remedy;
  else if (error.code == ErrorCode::internal)
    text += std::string("\n  try: ") + kReportBug;
  return text;
}

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "rocm-perf: internal error: %s does not hold (%s:%d)\n  try: %s\n",
               condition, file, line, kReportBug);
  std::array<void*, 64> frames{};
  const int count = backtrace(frames.data(), static_cast<int>(frames.size()));
  backtrace_symbols_fd(frames.data(), count, STDERR_FILENO);
  std::abort();
}

}  // namespace perflab
