// Options of a process that nobody watches, and words for how it ended.
#include "tune/evaluate/process_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "base/system/subprocess.h"
#include "base/text/text.h"

namespace perflab::tune {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kStepGrace{1'000};      // between SIGTERM and SIGKILL
constexpr milliseconds kStepLinger{500};       // that children may outlive the program
constexpr std::size_t kKeptOutput = 16 << 10;  // bytes of each stream
constexpr std::size_t kLongestDetail = 300;
constexpr double kLongestLimit = 1e9;  // seconds

/// Length of the UTF-8 character that the text begins with; 0: it begins with none. (RFC 3629,
/// section 4, without its rules against overlong forms but the first.)
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  const bool overlong = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
  const bool no_scalar =
      (byte(0) == 0xed && byte(1) >= 0xa0) || (byte(0) == 0xf4 && byte(1) >= 0x90);
  return overlong || no_scalar ? 0 : length;
}

bool says_error(std::string_view line) {
  constexpr std::string_view kWord = "error";
  return !std::ranges::search(line, kWord, {}, lower).empty();
}

std::string failure_text(const ProcessResult& process, const StepOptions& options) {
  if (process.timed_out)
    return fmt::format("was stopped after {:.3g} s, the time limit",
                       options.limit_seconds.value_or(0));
  std::string line = telling_line(process.error.tail);
  if (line.empty()) line = telling_line(process.output.tail);
  return line.empty() ? describe_end(process) : fmt::format("{}: {}", describe_end(process), line);
}

}  // namespace

Result<StepEnd> run_step(const std::vector<std::string>& argv, const StepOptions& options) {
  ProcessOptions how;
  how.set_environment = options.environment;
  how.unset_environment = device_variables_to_remove(options.environment);
  how.confinement = options.confinement;
  how.empty_input = true;
  how.standard_output = StreamMode::capture;
  how.standard_error = StreamMode::capture;
  how.capture_limit = kKeptOutput;
  how.on_stream = options.on_stream;
  how.grace = kStepGrace;
  how.linger = kStepLinger;
  if (options.limit_seconds)
    how.timeout = milliseconds(std::max<std::int64_t>(
        std::llround(std::min(*options.limit_seconds, kLongestLimit) * 1000), 1));

  Result<ProcessResult> process = run_program(argv, how);
  if (!process) {
    const Error& error = process.error();
    if (error.code == ErrorCode::missing_tool || error.code == ErrorCode::usage)
      return StepEnd{.detail = one_line("cannot be started: " + error.message)};
    return std::unexpected(std::move(process).error());
  }
  if (process->interrupted)
    return fail(ErrorCode::interrupted, fmt::format("{}: interrupted", argv.front()));
  StepEnd step{.succeeded = process->succeeded(),
               .timed_out = process->timed_out,
               .detail = {},
               .seconds = static_cast<double>(process->wall_time.value) / 1e9};
  if (!step.succeeded) step.detail = failure_text(*process, options);
  return step;
}

std::vector<std::string> device_variables_to_remove(
    const std::vector<std::pair<std::string, std::string>>& environment) {
  const bool chooses = std::ranges::any_of(
      environment, [](const auto& one) { return one.first == "ROCR_VISIBLE_DEVICES"; });
  if (!chooses) return {};
  return {"CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"};
}

std::string one_line(std::string_view text) {
  text = trimmed(text);
  std::string line;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (line.size() + std::max<std::size_t>(length, 1) > kLongestDetail) return line + " ...";
    if (length == 0)
      line += '?';
    else if (length == 1 && (static_cast<unsigned char>(text[0]) < ' ' || text[0] == '\x7f'))
      line += ' ';
    else
      line += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return line;
}

std::string telling_line(std::string_view output) {
  std::string_view last;
  while (!output.empty()) {
    const std::size_t end = std::min(output.find('\n'), output.size());
    const std::string_view line = trimmed(output.substr(0, end));
    if (says_error(line)) return one_line(line);
    if (!line.empty()) last = line;
    output.remove_prefix(std::min(end + 1, output.size()));
  }
  return one_line(last);
}

}  // namespace perflab::tune
