// Finding bwrap(1) on PATH, and one program in it to see whether it works here.
#include "base/system/find_sandbox.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "base/system/subprocess.h"
#include "base/text/text.h"

namespace perflab {
namespace {

constexpr const char* kToInstall = "sudo apt install bubblewrap (Debian, Ubuntu)";
constexpr const char* kToAllow =
    "let it make user namespaces: sudo sysctl kernel.unprivileged_userns_clone=1 "
    "user.max_user_namespaces=15000; on Ubuntu 24.04 or later also an AppArmor profile for bwrap "
    "(or sysctl kernel.apparmor_restrict_unprivileged_userns=0); a container has to be started "
    "with the right to (Docker's security options seccomp=unconfined and systempaths=unconfined)";
constexpr std::chrono::milliseconds kProbeLimit{10'000};

/// "bwrap: setting up uid map: Permission denied" without its name.
std::string words_of(const ProcessResult& end) {
  std::string_view text = trimmed(end.error.tail);
  text = text.substr(0, text.find('\n'));
  constexpr std::string_view kName = "bwrap: ";
  if (text.starts_with(kName)) text.remove_prefix(kName.size());
  return text.empty() ? describe_end(end) : std::string(text);
}

}  // namespace

Result<Sandbox> find_sandbox() {
  const auto program = find_program("bwrap");
  if (!program)
    return fail(ErrorCode::missing_tool, "bubblewrap (bwrap) is not installed", kToInstall);
  ProcessOptions options;
  options.empty_input = true;
  options.standard_output = options.standard_error = StreamMode::capture;
  options.timeout = kProbeLimit;
  Sandbox sandbox;
  sandbox.program = *program;
  PERFLAB_TRY(const ProcessResult asked, run_program({program->string(), "--version"}, options));
  if (asked.succeeded()) {  // "bubblewrap 0.8.0"
    const std::string_view line = trimmed(asked.output.tail);
    sandbox.version = line.substr(line.rfind(' ') + 1);
  }
  options.confinement.sandbox = std::make_shared<const Sandbox>(sandbox);
  PERFLAB_TRY(const ProcessResult tried, run_program({"true"}, options));
  if (tried.interrupted) return fail(ErrorCode::interrupted, "bwrap: interrupted");
  if (!tried.succeeded())
    return fail(ErrorCode::refused,
                fmt::format("bubblewrap ({}) cannot make a sandbox here: {}", program->string(),
                            words_of(tried)),
                kToAllow);
  return sandbox;
}

}  // namespace perflab
