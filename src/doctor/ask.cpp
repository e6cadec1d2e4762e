#include "doctor/ask.h"

#include <fmt/format.h>

#include "base/system/subprocess.h"

namespace perflab::doctor {

Result<Json> ask(const Question& question, Part& part) {
  ProcessOptions options;
  options.empty_input = true;
  options.standard_output = StreamMode::capture;
  options.standard_error = StreamMode::capture;
  options.timeout = question.timeout;
  PERFLAB_TRY(const ProcessResult result, run_program(question.command, options));
  if (result.interrupted) return fail(ErrorCode::interrupted, "interrupted");
  // A runtime may print on stdout, too: the answer is the last line.
  std::string_view text = result.output.tail;
  while (text.ends_with('\n')) text.remove_suffix(1);
  Result<Json> answer = parse_json(text.substr(text.rfind('\n') + 1), question.answer);
  if (result.succeeded() && answer && answer->is_object()) return answer;
  part.state = State::unusable;
  part.problem = fmt::format("a process that opens it {}", describe_end(result));
  part.remedy = question.remedy;
  return Json(nullptr);
}

}  // namespace perflab::doctor
