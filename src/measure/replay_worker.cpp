// Both ends of the folder. Files: setup.json, then N.request and N.answer for N from 1, and `step`.
// A file is whole when it has its name. Waiting is looking every few milliseconds.
#include "measure/replay_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/system/files.h"
#include "base/system/interrupt.h"
#include "base/system/subprocess.h"
#include "base/text/error_json.h"
#include "code/tools/temporary_folder.h"

namespace perflab::measure {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr const char* kSetupName = "setup.json";
constexpr const char* kStepName = "step";
constexpr const char* kEndName = "end";
constexpr milliseconds kMostWait{20};
/// What a worker may take to end once it is told to, before it is killed.
constexpr milliseconds kWorkerGrace{3'000};

std::string request_name(int number) {
  return fmt::format("{}.request", number);
}
std::string answer_name(int number) {
  return fmt::format("{}.answer", number);
}

/// Writes a file under another name and renames it. Nothing is flushed: both sides live on this
/// machine, and neither outlives a crash of it.
Result<void> put_file(const fs::path& path, std::string_view text) {
  const fs::path unfinished = path.string() + ".new";
  PERFLAB_TRY_VOID(code::detail::write_temporary(unfinished, text));
  std::error_code error;
  fs::rename(unfinished, path, error);
  if (error)
    return fail(ErrorCode::usage,
                fmt::format("{}: cannot be written: {}", path.string(), error.message()));
  return {};
}

Result<Json> take_json(const fs::path& path) {
  PERFLAB_TRY(const std::string text, read_file(path));
  return parse_json(text, path.string());
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// Looking again after a quarter of what was waited so far: short answers are seen at once, and
/// what takes seconds, a build, has the processor for itself.
class Waiting {
 public:
  void wait() {
    std::this_thread::sleep_for(next_);
    next_ = std::min<std::chrono::nanoseconds>(next_ + next_ / 4, kMostWait);
  }

 private:
  std::chrono::nanoseconds next_ = milliseconds{1};
};

}  // namespace

/// One worker process and its folder.
class ReplayWorker::Running {
 public:
  static Result<std::unique_ptr<Running>> start(const std::vector<std::string>& command,
                                                const Json& setup,
                                                const std::shared_ptr<const Sandbox>& sandbox) {
    PERFLAB_TRY(code::detail::TemporaryFolder folder, code::detail::TemporaryFolder::make());
    PERFLAB_TRY_VOID(put_file(folder / kSetupName, to_canonical_text(setup)));
    return std::unique_ptr<Running>(new Running(command, std::move(folder), sandbox));
  }
  Running(const Running&) = delete;
  Running(Running&&) = delete;
  Running& operator=(const Running&) = delete;
  Running& operator=(Running&&) = delete;
  ~Running() {
    static_cast<void>(put_file(folder_ / kEndName, ""));
    // A worker whose device hangs does not look for that file any more.
    const auto patience = std::chrono::steady_clock::now() + kWorkerGrace;
    Waiting waiting;
    while (!done_ && std::chrono::steady_clock::now() < patience) waiting.wait();
    give_up_ = true;
    thread_.join();
  }

  Result<BenchAnswer> ask(const Json& request) {
    ++number_;
    PERFLAB_TRY_VOID(put_file(folder_ / request_name(number_), to_canonical_text(request)));
    const fs::path answer = folder_ / answer_name(number_);
    for (Waiting waiting;; waiting.wait()) {
      const bool over = done_;  // before the last look
      if (is_there(answer)) break;
      if (interrupted()) return fail(ErrorCode::interrupted, "the replay was interrupted");
      if (over) return ended();
    }
    PERFLAB_TRY(const Json json, take_json(answer));
    lost_ = json.value("lost", false);
    if (json.contains("error"))
      return std::unexpected(error_from_json(json["error"])
                                 .value_or(Error{.code = ErrorCode::internal,
                                                 .message = "the replay worker failed",
                                                 .notes = {},
                                                 .remedy = {}}));
    return BenchAnswer{.answer = json.value("answer", Json::object()), .ended = {}, .step = {}};
  }
  /// No further request can be answered.
  [[nodiscard]] bool useless() const { return lost_ || done_; }

 private:
  Running(const std::vector<std::string>& command, code::detail::TemporaryFolder folder,
          const std::shared_ptr<const Sandbox>& sandbox)
      : folder_(std::move(folder)), thread_([this, command, sandbox] { run(command, sandbox); }) {}

  void run(std::vector<std::string> command, const std::shared_ptr<const Sandbox>& sandbox) {
    command.push_back((folder_ / "").string());
    ProcessOptions options;
    options.confinement = {.sandbox = sandbox, .writable = {folder_ / ""}};
    options.empty_input = true;
    options.standard_output = StreamMode::discard;
    options.standard_error = StreamMode::capture;
    options.grace = kWorkerGrace;
    options.tick = milliseconds{20};
    options.give_up = [this] { return give_up_.load(); };
    result_ = run_program(command, options);
    done_ = true;
  }

  Result<BenchAnswer> ended() {
    if (!result_) return std::unexpected(result_.error());
    if (result_->interrupted) return fail(ErrorCode::interrupted, "the replay was interrupted");
    BenchAnswer out;
    out.ended = describe_end(*result_);
    std::string tail = result_->error.tail;
    while (tail.ends_with('\n')) tail.pop_back();
    if (!tail.empty()) out.ended += ": " + tail.substr(tail.rfind('\n') + 1);
    if (is_there(folder_ / kStepName)) {
      PERFLAB_TRY(out.step, read_file(folder_ / kStepName));
    }
    return out;
  }

  code::detail::TemporaryFolder folder_;
  Result<ProcessResult> result_;
  std::atomic<bool> done_ = false, give_up_ = false;
  bool lost_ = false;
  int number_ = 0;
  std::thread thread_;  ///< last: it uses all of the above
};

ReplayWorker::ReplayWorker(std::vector<std::string> command, Json setup,
                           std::shared_ptr<const Sandbox> sandbox)
    : command_(std::move(command)), setup_(std::move(setup)), sandbox_(std::move(sandbox)) {}
ReplayWorker::~ReplayWorker() = default;

Result<BenchAnswer> ReplayWorker::ask(const Json& request) {
  if (running_ != nullptr && running_->useless()) running_.reset();
  if (running_ == nullptr) {
    PERFLAB_TRY(running_, Running::start(command_, setup_, sandbox_));
  }
  Result<BenchAnswer> answer = running_->ask(request);
  // What a lost device holds has to be free before anyone asks for it again.
  if (running_->useless()) running_.reset();
  return answer;
}

std::vector<std::string> own_worker_command(std::string subcommand) {
  return {own_program(), std::move(subcommand)};
}

namespace {

Result<std::unique_ptr<WorkerBench>> open_bench(const fs::path& folder, const OpenBench& open) {
  PERFLAB_TRY(const Json setup, take_json(folder / kSetupName));
  return open(setup,
              [folder](std::string_view name) { return put_file(folder / kStepName, name); });
}

/// Waits for a request. False: there will be none.
bool wait_for(const fs::path& folder, int number) {
  for (Waiting waiting; !is_there(folder / request_name(number)); waiting.wait())
    if (interrupted() || is_there(folder / kEndName) || !is_there(folder)) return false;
  return true;
}

Result<Json> answer_request(const fs::path& folder, const OpenBench& open,
                            std::unique_ptr<WorkerBench>& bench, int number) {
  PERFLAB_TRY(const Json request, take_json(folder / request_name(number)));
  if (bench == nullptr) {
    PERFLAB_TRY(bench, open_bench(folder, open));
  }
  return bench->answer(request);
}

}  // namespace

int replay_worker_main(const std::string& name, const OpenBench& open) {
  const InterruptScope interrupts;
  const fs::path folder = name;
  std::unique_ptr<WorkerBench> bench;
  // Before anything is answered: the device may start this process again.
  for (int number = 1; wait_for(folder, number); ++number) {
    const Result<Json> answer = answer_request(folder, open, bench, number);
    const bool lost = bench == nullptr || bench->lost();
    Json file;
    if (answer)
      file["answer"] = *answer;
    else
      file["error"] = error_json(answer.error());
    file["lost"] = lost;
    if (const auto put = put_file(folder / answer_name(number), to_canonical_text(file)); !put) {
      fmt::print(stderr, "{}\n", describe(put.error()));
      return exit_code(put.error().code);
    }
    if (!lost) continue;
    // What hangs would take the end of the process with it: nothing is given back.
    std::fflush(nullptr);
    std::_Exit(0);
  }
  if (interrupted()) {
    // Whoever made the folder may be gone.
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  return 0;
}

}  // namespace perflab::measure
