// The two recorders. Variables and file names of the library: record/protocol.h repeats them for
// the library's side; CUDA_INJECTION64_PATH: CUPTI documentation "Usage"; NVTX_INJECTION64_PATH:
// NVTX 3, nvtxInitDefs.h.
#include "collect/recorder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/system/environment.h"
#include "base/system/files.h"
#include "base/system/sqlite.h"
#include "base/text/json.h"
#include "collect/target_process.h"

namespace perflab::collect {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRecordLibraryVariable = "PERFLAB_RECORD_LIBRARY";
constexpr const char* kRecordLibraryPlace = "../lib/rocm-perf-lab/librocm_perf_record.so";
constexpr const char* kRecordCounters = "PERFLAB_RECORD_COUNTERS";
constexpr const char* kRecordPcSampling = "PERFLAB_RECORD_PC_SAMPLING";
constexpr std::string_view kPartial = "_results.db.partial";
constexpr std::string_view kStatus = "_record_status.json";

class Rocprofv3Recorder final : public Recorder {
 public:
  explicit Rocprofv3Recorder(Rocprofv3 tool) : tool_(std::move(tool)) {}

  [[nodiscard]] std::vector<std::string> command(const fs::path& folder,
                                                 const CollectPlan& plan) const override {
    std::vector<std::string> words = plan.trace_options;
    words.insert(words.end(), plan.extra_options.begin(), plan.extra_options.end());
    return rocprofv3_command(tool_, folder, words, plan.target);
  }
  void set_environment(const fs::path& folder, const std::vector<std::string>& /*counters*/,
                       ProcessOptions& options) const override {
    set_rocprofv3_environment(folder, options);
  }
  [[nodiscard]] bool wraps_target() const override { return true; }
  [[nodiscard]] Result<void> check_refused(const ProcessResult& process,
                                           const CollectPlan& plan) const override {
    return check_refusal(tool_, process, plan.extra_options);
  }
  [[nodiscard]] std::vector<std::string> salvage(const fs::path& /*folder*/) const override {
    return {};
  }
  [[nodiscard]] Error nothing_recorded(std::string_view heading, const fs::path& folder,
                                       std::vector<std::string> rejected) const override {
    return {.code = ErrorCode::bad_input,
            .message =
                fmt::format("{} ended well, but rocprofv3 left {} in {}", heading,
                            rejected.empty() ? "no database" : "nothing usable", folder.string()),
            .notes = std::move(rejected),
            .remedy =
                "see that the program launches GPU kernels, is not statically linked or "
                "setuid (rocprofv3 preloads a library), ends its worker processes without "
                "killing them, and that rocprofv3 is of ROCm 7.0 or newer"};
  }
  [[nodiscard]] std::optional<Rocprofv3> rocprofv3() const override { return tool_; }

 private:
  Rocprofv3 tool_;
};

/// What a process that could not be recorded says of it; empty: the file cannot be read.
std::string status_sentence(const fs::path& file) {
  constexpr std::uint64_t kMost = 1 << 16;
  const auto text = read_file(file, kMost);
  if (!text) return {};
  const auto json = parse_json(*text, file.string());
  if (!json || !json->is_object()) return {};
  const auto word = [&](const char* key) {
    const auto found = json->find(key);
    return found != json->end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  const std::string reason = word("reason"), remedy = word("remedy");
  if (reason.empty()) return {};
  const std::string name = file.filename().string();
  return fmt::format("process {} was not recorded: {}{}{}{}",
                     name.substr(0, name.size() - kStatus.size()), reason,
                     remedy.empty() ? "" : " (", remedy, remedy.empty() ? "" : ")");
}

/// Files below the folder whose names end so, sorted.
std::vector<fs::path> files_ending(const fs::path& folder, std::string_view tail) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::recursive_directory_iterator
           it(folder, fs::directory_options::skip_permission_denied, error),
       end;
       !error && it != end; it.increment(error))
    if (it->path().filename().string().ends_with(tail) &&
        it->symlink_status(error).type() == fs::file_type::regular)
      found.push_back(it->path());
  std::ranges::sort(found);
  return found;
}

/// Takes back what was being written when the process ended, and gives the database its name.
std::string salvage_partial(const fs::path& partial) {
  if (const Result<void> done = roll_back(partial); !done)
    return fmt::format("{}: {}", partial.string(), done.error().message);
  fs::path whole = partial;
  whole.replace_extension();  // ".partial"
  std::error_code error;
  if (fs::exists(whole, error))
    return fmt::format("{}: is there beside {}", partial.string(), whole.filename().string());
  fs::rename(partial, whole, error);
  if (error) return fmt::format("{}: cannot be renamed: {}", partial.string(), error.message());
  return fmt::format(
      "{}: its process ended before the recording was finished; what had been "
      "written until then is kept",
      whole.string());
}

class CudaRecorder final : public Recorder {
 public:
  CudaRecorder(fs::path library, std::string pc_sampling)
      : library_(std::move(library)), pc_sampling_(std::move(pc_sampling)) {}

  [[nodiscard]] std::vector<std::string> command(const fs::path& /*folder*/,
                                                 const CollectPlan& plan) const override {
    return plan.target;
  }
  void set_environment(const fs::path& folder, const std::vector<std::string>& counters,
                       ProcessOptions& options) const override {
    const auto set = [&](const char* name, std::string value) {
      options.set_environment.emplace_back(name, std::move(value));
    };
    set("CUDA_INJECTION64_PATH", library_.string());
    set("NVTX_INJECTION64_PATH", library_.string());
    set("PERFLAB_RECORD_OUT", folder.string());
    // Kernels are repeated while they are counted: nothing else of such a run is worth its rows.
    set("PERFLAB_RECORD_WHAT", counters.empty() ? "kernels,api,memory,ranges,sync" : "kernels");
    if (counters.empty())
      options.unset_environment.emplace_back(kRecordCounters);
    else
      set(kRecordCounters, fmt::format("{}", fmt::join(counters, ",")));
    // Not in a pass of counters, whose kernels are repeated.
    if (counters.empty() && !pc_sampling_.empty())
      set(kRecordPcSampling, pc_sampling_);
    else
      options.unset_environment.emplace_back(kRecordPcSampling);
  }
  [[nodiscard]] bool wraps_target() const override { return false; }
  [[nodiscard]] Result<void> check_refused(const ProcessResult& /*process*/,
                                           const CollectPlan& /*plan*/) const override {
    return {};
  }
  [[nodiscard]] std::vector<std::string> salvage(const fs::path& folder) const override {
    std::vector<std::string> sentences;
    for (const fs::path& partial : files_ending(folder, kPartial))
      sentences.push_back(salvage_partial(partial));
    for (const fs::path& status : files_ending(folder, kStatus))
      if (std::string sentence = status_sentence(status); !sentence.empty())
        sentences.push_back(std::move(sentence));
    return sentences;
  }
  [[nodiscard]] Error nothing_recorded(std::string_view heading, const fs::path& folder,
                                       std::vector<std::string> rejected) const override {
    for (const fs::path& status : files_ending(folder, kStatus))
      if (std::string sentence = status_sentence(status); !sentence.empty())
        rejected.push_back(std::move(sentence));
    return {.code = ErrorCode::bad_input,
            .message =
                fmt::format("{} ended well, but left {} in {}", heading,
                            rejected.empty() ? "no recording" : "nothing usable", folder.string()),
            .notes = std::move(rejected),
            .remedy =
                "see that the program launches GPU kernels, is not setuid, ends by exit() and not "
                "by _exit(), and that rocm-perf doctor finds CUPTI; on an AMD GPU add "
                "--platform amd"};
  }

 private:
  fs::path library_;
  std::string pc_sampling_;  ///< see CollectPlan
};

}  // namespace

Result<fs::path> find_record_library() {
  fs::path path = environment(kRecordLibraryVariable);
  std::error_code error;
  if (path.empty()) {
    const fs::path self = fs::read_symlink("/proc/self/exe", error);
    path = self.parent_path() / kRecordLibraryPlace;
  }
  fs::path whole = fs::canonical(path, error);
  if (error || !fs::is_regular_file(whole, error))
    return fail(ErrorCode::missing_tool, "the recording library is not at " + path.string(),
                std::string("install it, or name it in ") + kRecordLibraryVariable);
  return whole;
}

Result<std::unique_ptr<Recorder>> make_recorder(const CollectPlan& plan) {
  if (plan.platform == trace::Platform::cuda) {
    PERFLAB_TRY(fs::path library, find_record_library());
    return std::make_unique<CudaRecorder>(std::move(library), plan.cuda_pc_sampling);
  }
  std::error_code error;
  PERFLAB_TRY_VOID(check_output_folder(fs::absolute(plan.root, error)));
  PERFLAB_TRY(Rocprofv3 tool, find_rocprofv3());
  return std::make_unique<Rocprofv3Recorder>(std::move(tool));
}

}  // namespace perflab::collect
