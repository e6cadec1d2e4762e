// The job file, the one call, and what it left, pass by pass.
#include "collect/counter_passes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/system/files.h"
#include "base/text/json.h"
#include "collect/cuda_counters.h"
#include "collect/log_sentences.h"
#include "collect/target_process.h"

namespace perflab::collect {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRefusals = 8;       // every process on every GPU says it again
constexpr std::size_t kLongestLine = 1 << 14;  // a refusal names the counters of one pass

/// Finds the profiler's refusals in the output as it comes.
class RefusalFinder {
 public:
  void read(std::string_view text) {
    lines_.read(text, [this](std::string_view line) { look_at(line); });
  }
  void finish() {
    lines_.finish([this](std::string_view line) { look_at(line); });
  }

  [[nodiscard]] const std::optional<std::string>& fatal() const { return fatal_; }
  [[nodiscard]] std::vector<std::string> sentences() const { return sentences_.all(); }

 private:
  void look_at(std::string_view line) {
    const auto refusal = counter_refusal(line);
    if (!refusal) return;
    if (refusal->fatal && !fatal_) fatal_ = refusal->text;
    sentences_.add(refusal->text);
  }

  LogLines lines_{kLongestLine};
  Sentences sentences_{kMostRefusals};
  std::optional<std::string> fatal_;  // the first that ended a pass
};

class CounterCollector {
 public:
  CounterCollector(const CollectPlan& plan, const Collection& base) : plan_(plan) {
    PERFLAB_CHECK(base.rocprofv3.has_value());
    tool_ = *base.rocprofv3;
    collection_.folder = base.folder / "counters";
    collection_.job_file = collection_.folder / "jobs.json";
  }

  Result<CounterCollection> run(const std::vector<std::vector<std::string>>& passes) {
    PERFLAB_TRY_VOID(prepare(passes));
    input_.rewind();
    Result<ProcessResult> process = run_program(command(), options());
    if (plan_.progress != nullptr) plan_.progress->erase();
    if (!process) {
      take_back_folder();
      return std::unexpected(cannot_start(std::move(process).error(), true));
    }
    refusals_.finish();
    collection_.process = *std::move(process);
    for (CounterPass& pass : collection_.passes) look_into(pass);
    if (!collection_.process.succeeded() && collection_.passes_with_databases() == 0) {
      Result<void> accepted = check_refusal(tool_, collection_.process, plan_.extra_options);
      if (!accepted) {
        take_back_folder();
        return std::unexpected(std::move(accepted).error());
      }
    }
    collection_.refusals = refusals_.sentences();
    add_notes();
    collection_.problem = problem();
    return std::move(collection_);
  }

 private:
  Result<void> prepare(const std::vector<std::vector<std::string>>& passes) {
    for (const std::string& option : plan_.extra_options)
      if (option == "--pmc" || option.starts_with("--pmc=")) return set_by_us(option);
    PERFLAB_TRY_VOID(make_directories(collection_.folder));
    PERFLAB_TRY_VOID(write_file_atomically(collection_.job_file, counter_job_file(passes)));
    for (const std::vector<std::string>& counters : passes) {
      PERFLAB_CHECK(!counters.empty());
      CounterPass& pass = collection_.passes.emplace_back();
      pass.number = static_cast<int>(collection_.passes.size());
      pass.counters = counters;
      pass.folder = collection_.folder / fmt::format("pass_{}", pass.number);
    }
    if (plan_.timeout) timeout_ = *plan_.timeout * static_cast<std::int64_t>(passes.size());
    return {};
  }

  [[nodiscard]] std::vector<std::string> command() const {
    std::vector<std::string> words{"-i", collection_.job_file.string()};
    words.insert(words.end(), plan_.extra_options.begin(), plan_.extra_options.end());
    return rocprofv3_command(tool_, collection_.folder, words, plan_.target);
  }

  [[nodiscard]] ProcessOptions options() {
    ProcessOptions options = process_options(plan_, collection_.folder, timeout_, [this](Nanos) {
      const std::size_t total = collection_.passes.size();
      const std::size_t done = std::min(count_started(), total - 1);
      return Shown{
          .text = fmt::format("counter pass {} of {}: {}", done + 1, total, program_name(plan_)),
          .fraction = done == 0
                          ? std::nullopt
                          : std::optional(static_cast<double>(done) / static_cast<double>(total))};
    });
    options.on_output = [this, show = options.on_output](std::string_view text) {
      refusals_.read(text);
      if (show) show(text);
    };
    return options;
  }

  /// Passes whose folder is there: rocprofv3 makes it when the target has ended.
  std::size_t count_started() {
    std::error_code ignored;
    while (folders_seen_ < collection_.passes.size() &&
           fs::exists(collection_.passes[folders_seen_].folder, ignored))
      ++folders_seen_;
    return folders_seen_;
  }

  static void look_into(CounterPass& pass) {
    std::error_code ignored;
    if (!fs::is_directory(pass.folder, ignored)) return;
    FoundDatabases found = find_databases(pass.folder);
    pass.databases = std::move(found.databases);
    pass.rejected = std::move(found.rejected);
  }

  /// Nothing was run: no folder stays that holds the job file alone.
  void take_back_folder() const {
    std::error_code ignored;
    fs::remove(collection_.job_file, ignored);
    fs::remove(collection_.folder, ignored);
  }

  void add_notes() {
    if (input_.is_file() && collection_.passes.size() > 1)
      collection_.notes.emplace_back(
          "the program's standard input is a file: only the first counter pass reads it");
    const auto add = [&](std::vector<std::string> notes, const std::string& who) {
      for (const std::string& note : notes)
        collection_.notes.push_back(fmt::format("{}: {}", who, note));
    };
    add(oddities_of(collection_.process, {}, plan_.linger), "counter passes");
    for (const CounterPass& pass : collection_.passes)
      add(oddities_of({}, pass.databases, plan_.linger), fmt::format("pass {}", pass.number));
  }

  [[nodiscard]] std::vector<int> passes_without_databases() const {
    std::vector<int> numbers;
    for (const CounterPass& pass : collection_.passes)
      if (pass.databases.empty()) numbers.push_back(pass.number);
    return numbers;
  }

  /// "./app: counter pass 2 of 7". A pass that fails may leave a database or not, so that two can
  /// come into question.
  [[nodiscard]] std::string heading_of_failure() const {
    const std::size_t total = collection_.passes.size();
    const auto first_without = static_cast<std::size_t>(
        std::ranges::find_if(collection_.passes,
                             [](const CounterPass& pass) { return pass.databases.empty(); }) -
        collection_.passes.begin());
    const std::string which = first_without == 0 ? "1"
                              : first_without == total
                                  ? std::to_string(total)
                                  : fmt::format("{} or {}", first_without, first_without + 1);
    return fmt::format("{}: counter pass {} of {}", plan_.target.front(), which, total);
  }

  [[nodiscard]] std::vector<std::string> salvage() const {
    const std::size_t with = collection_.passes_with_databases();
    std::vector<std::string> notes{
        fmt::format("{} of {} counter passes left databases{}", with, collection_.passes.size(),
                    with > 0 ? ", the last of them with what was recorded until then" : "")};
    return notes;
  }

  [[nodiscard]] std::optional<Error> problem() const {
    const ProcessResult& process = collection_.process;
    if (process.interrupted)
      return Error{.code = ErrorCode::interrupted,
                   .message = fmt::format("{}: interrupted", plan_.target.front()),
                   .notes = salvage(),
                   .remedy = {}};
    if (!process.succeeded()) return failure();
    if (!passes_without_databases().empty()) return missing_output();
    return std::nullopt;
  }

  [[nodiscard]] Error failure() const {
    ProcessResult process = collection_.process;
    if (process.timed_out)
      return failure_of(process, fmt::format("{}: collecting counters", plan_.target.front()),
                        timeout_, salvage());
    if (const auto end = reported_end(process.error.tail)) {
      process.exit_code = end->exit_code;
      process.signal = end->signal;
    }
    const std::string heading = heading_of_failure();
    if (refusals_.fatal()) {
      std::vector<std::string> notes = salvage();
      notes.push_back(fmt::format("it {}", describe_end(process)));
      return Error{.code = ErrorCode::missing_tool,
                   .message = fmt::format("{}: rocprofv3 cannot count what it asks for: {}",
                                          heading, *refusals_.fatal()),
                   .notes = std::move(notes),
                   .remedy = "see what this machine can count with: rocprofv3-avail list --pmc"};
    }
    return failure_of(process, heading, plan_.timeout, salvage());
  }

  [[nodiscard]] Error missing_output() const {
    const std::vector<int> without = passes_without_databases();
    Error error{.code = ErrorCode::bad_input,
                .message = fmt::format(
                    "{}: counter pass{} {} of {} ended well, but rocprofv3 left no database in {}",
                    plan_.target.front(), without.size() == 1 ? "" : "es", fmt::join(without, ", "),
                    collection_.passes.size(), collection_.folder.string()),
                .notes = {},
                .remedy =
                    "see that this user may read counters and that no other profiler holds "
                    "the GPU: rocprofv3-avail list --pmc"};
    for (const CounterPass& pass : collection_.passes)
      for (const std::string& rejected : pass.rejected) error.notes.push_back(rejected);
    return error;
  }

  const CollectPlan& plan_;
  CounterCollection collection_;
  Rocprofv3 tool_;
  std::optional<std::chrono::milliseconds> timeout_;  // of all passes
  RewindableInput input_;
  RefusalFinder refusals_;
  std::size_t folders_seen_ = 0;
};

}  // namespace

std::string counter_job_file(const std::vector<std::vector<std::string>>& passes) {
  std::vector<std::string> jobs;
  for (const std::vector<std::string>& counters : passes)
    jobs.push_back(fmt::format("    {{\"pmc\": {}}}", Json(counters).dump()));
  return fmt::format("{{\n  \"jobs\": [\n{}\n  ]\n}}\n", fmt::join(jobs, ",\n"));
}

Result<CounterCollection> collect_counters(const CollectPlan& plan, const Collection& base,
                                           const std::vector<std::vector<std::string>>& passes) {
  PERFLAB_CHECK(!passes.empty());
  if (plan.platform == trace::Platform::cuda) return collect_cuda_counters(plan, base, passes);
  return CounterCollector(plan, base).run(passes);
}

}  // namespace perflab::collect
