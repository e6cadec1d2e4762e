// Error, Result and PERFLAB_TRY: how everything that a user, file, driver or network can get wrong
// is reported. Exit codes are the contract of docs/ARCHITECTURE.md "Errors". Bugs do not come this
// way: PERFLAB_CHECK aborts with a stack trace.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perflab {

/// What went wrong, coarse enough to choose a process exit code from.
enum class ErrorCode {
  usage,          ///< the command line is wrong, or names a place that cannot be written (exit 2)
  bad_input,      ///< an input file is missing, unreadable, damaged or of another format (exit 3)
  missing_tool,   ///< a tool or device that the command needs is not there (exit 4)
  target_failed,  ///< the profiled program failed or was stopped (exit 5)
  refused,        ///< the thing was done and the answer is no (exit 1)
  interrupted,    ///< Ctrl-C (exit 130)
  internal,       ///< a bug of ours that was caught (exit 70)
};

/// Process exit code of an error code (docs/ARCHITECTURE.md "Errors").
int exit_code(ErrorCode code);

/// Stable name for documents and logs: "usage", "bad_input", ...
std::string_view to_string(ErrorCode code);

/// One failure: a sentence that names the file and the thing, notes gathered on the way up, and
/// what to do about it.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;             ///< one sentence, no trailing newline
  std::vector<std::string> notes;  ///< context, innermost first
  std::string remedy;              ///< what the user can do; may be empty, see fail()
  /// What callers tell apart beyond the code, numbered by the folder that fails
  /// (replay/failures.h); 0: nothing.
  std::uint8_t kind = 0;

  /// Adds context and returns the error, for use in a return statement.
  Error&& with_note(std::string note) &&;
  /// Sets what the user can do, for use in a return statement.
  Error&& with_remedy(std::string text) &&;
};

/// Value or Error. g++ 12's std::expected has no monadic members: use PERFLAB_TRY.
template <class T>
using Result = std::expected<T, Error>;

/// The code of an error that does not say what to do. What is missing can always be installed or
/// asked for: missing_tool does not compile, nor does a code that only the running program knows.
struct CodeWithoutRemedy {
  ErrorCode code;
  consteval CodeWithoutRemedy(ErrorCode of) : code(of) {
    if (of == ErrorCode::missing_tool) throw "what is missing comes with a remedy";
  }
};

/// Makes the failed side of a Result: `return fail(ErrorCode::bad_input, "…")`.
[[nodiscard]] std::unexpected<Error> fail(CodeWithoutRemedy code, std::string message);
/// With what the user can do: `return fail(ErrorCode::missing_tool, "…", "install …")`.
[[nodiscard]] std::unexpected<Error> fail(ErrorCode code, std::string message, std::string remedy);

/// The text a person sees: message, notes, remedy, a line each.
std::string describe(const Error& error);

/// Prints the failed condition and a stack trace to stderr and aborts. For bugs only.
[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace perflab

// A declaration cannot be put in parentheses.
// NOLINTBEGIN(bugprone-macro-parentheses)
#define PERFLAB_CONCAT_INNER(a, b) a##b
#define PERFLAB_CONCAT(a, b) PERFLAB_CONCAT_INNER(a, b)
#define PERFLAB_TRY_IMPL(tmp, decl, expr)                   \
  auto tmp = (expr);                                        \
  if (!tmp) return std::unexpected(std::move(tmp).error()); \
  decl = std::move(*tmp)

/// `PERFLAB_TRY(auto x, f());` declares x from a Result, or returns its error from the enclosing
/// function.
#define PERFLAB_TRY(decl, expr) PERFLAB_TRY_IMPL(PERFLAB_CONCAT(perflab_try_, __LINE__), decl, expr)

// NOLINTEND(bugprone-macro-parentheses)

/// For a Result<void>: returns its error from the enclosing function.
#define PERFLAB_TRY_VOID(expr)                                     \
  do {                                                             \
    if (auto perflab_try_void = (expr); !perflab_try_void)         \
      return std::unexpected(std::move(perflab_try_void).error()); \
  } while (false)

/// Aborts with a stack trace when the condition does not hold; on in every build.
#define PERFLAB_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::perflab::check_failed(#condition, __FILE__, __LINE__))
