// The order of CUPTI's calls, and what survives which end of a program: docs/facts/cuda_cupti.md
// "Buffers", docs/facts/rocpd_cuda.md "The library in a process".
#include "record/tool/recorder.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/blocked_signals.h"
#include "base/rank_variables.h"
#include "base/version.h"
#include "cuda/launch_parameters.h"
#include "record/database/boot_time.h"
#include "record/json_text.h"
#include "record/protocol.h"
#include "record/tool/needed_call.h"
#include "record/tool/status.h"

namespace perflab::record {
namespace {

using cuda::ActivityKind;
using cuda::CuptiResult;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// What is recorded lasts after so long, whatever happens to the process.
constexpr milliseconds kFlushEvery{100};

/// Set in our own threads: they never wait for the writer, which may wait for them.
thread_local bool own_thread = false;

Recorder* the_recorder = nullptr;

void request_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  *buffer = the_recorder->buffer_requested();
  *bytes = *buffer == nullptr ? 0 : Buffers::kBufferBytes;
  *most_records = 0;
}

void complete_buffer(cuda::Context context, std::uint32_t stream, std::uint8_t* buffer,
                     std::size_t /*bytes*/, std::size_t valid_bytes) {
  the_recorder->buffer_completed(context, stream, buffer, valid_bytes);
}

void take_event(void* recorder, cuda::CallbackDomain domain, cuda::CallbackId id,
                const void* data) {
  static_cast<Recorder*>(recorder)->event(domain, id, data);
}

/// Which rank of a job this is, as JSON. Of the environment, which can hold secrets, nothing else
/// is ever recorded; and of these variables only what is a number.
std::string rank_environment() {
  std::string json;
  for_each_rank_variable([&](std::string_view name) {
    const char* const value = std::getenv(std::string(name).c_str());
    const std::string_view text = value == nullptr ? std::string_view() : value;
    if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != text.npos)
      return;
    const std::string key = json_text(name);
    if (json.find(key) != std::string::npos) return;
    json += json.empty() ? "{" : ", ";
    json.append(key).append(": ").append(json_text(text));
  });
  return json.empty() ? "{}" : json + "}";
}

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::ranges::replace(text, '\0', ' ');
  return text;
}

/// A thread of ours that nobody joins. False: there is no other thread to be had.
template <class Body>
bool start_thread(const Body& body) {
  const BlockedSignals on_the_new_thread;
  try {
    std::thread([body] {
      own_thread = true;
      body();
    }).detach();
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

constexpr const char* kInstallToolkit =
    "install CUPTI of CUDA 12.8 or later (package cuda-cupti), or set CUDA_HOME";

}  // namespace

Recorder::Recorder(Settings settings) : settings_(std::move(settings)), pid_(getpid()) {}

bool Recorder::of_this_process() const {
  return getpid() == pid_;
}

Result<void> Recorder::open_libraries() {
  driver_ = cuda::open_driver();
  if (driver_.problem != cuda::LibraryProblem::none)
    return fail(ErrorCode::missing_tool, driver_.detail, "install the NVIDIA driver");
  cupti_ = cuda::open_cupti();
  if (cupti_.problem != cuda::LibraryProblem::none)
    return fail(ErrorCode::missing_tool, cupti_.detail, kInstallToolkit);
  return {};
}

Result<void> Recorder::subscribe() {
  std::array<char, 256> other{};
  CuptiResult result = CuptiResult::success;
  if (cupti_.api.subscribe_v2 != nullptr) {
    cuda::SubscriberParameters parameters{.struct_size = sizeof(cuda::SubscriberParameters),
                                          .subscriber_name = kCollector.data(),
                                          .old_subscriber_name = other.data(),
                                          .old_subscriber_size = other.size()};
    result = cupti_.api.subscribe_v2(&subscriber_, take_event, this, &parameters);
  } else {
    result = cupti_.api.subscribe(&subscriber_, take_event, this);
  }
  if (result == CuptiResult::success) return {};
  subscriber_ = nullptr;
  if (result != CuptiResult::multiple_subscribers_not_supported)
    return fail(ErrorCode::refused,
                "cuptiSubscribe: " + std::string(cuda::result_name(cupti_.api, result)));
  second_client_ = other[0] != '\0' ? other.data() : "a client without a name";
  return fail(ErrorCode::refused,
              "another profiler uses CUPTI in this process already: " + second_client_,
              "switch it off in the program: one process has one CUPTI client");
}

Result<void> Recorder::start_counting() {
  if (settings_.counters.empty()) return {};
  // Launches are repeated: what else the program does, and when, is not what it is without us.
  settings_.what = {.calls = false, .memory = false, .ranges = false, .sync = false};
  PERFLAB_TRY(counting_, Counting::make(driver_, cupti_, settings_.counters));
  return {};
}

/// What cannot be sampled is said in the recording: the rest of it is good.
void Recorder::start_sampling() {
  if (settings_.pc_sampling) sampler_ = std::make_unique<PcSampler>(cupti_, settings_.pc_period);
}

Result<void> Recorder::open_database() {
  Process process;
  process.pid = pid_;
  process.ppid = getppid();
  process.start = static_cast<std::int64_t>(boot_time());
  process.command = command_line();
  process.extdata = process_json(false, {});
  process.environment = rank_environment();
  PERFLAB_TRY(database_,
              Database::create(file_of_process(settings_.folder, kDatabaseSuffix), process));
  if (sampler_) database_->make_pc_counts();
  return {};
}

Result<void> Recorder::enable() {
  const cuda::Cupti& cupti = cupti_.api;
  PERFLAB_TRY_VOID(need(cupti, "cuptiActivityRegisterTimestampCallback",
                        cupti.activity_register_timestamp(boot_time)));
  PERFLAB_TRY_VOID(
      need(cupti, "cuptiSetThreadIdType", cupti.set_thread_id_type(cuda::ThreadIdType::system)));
  PERFLAB_TRY_VOID(need(cupti, "cuptiActivityRegisterCallbacks",
                        cupti.activity_register_callbacks(request_buffer, complete_buffer)));
  // Never ActivityKind::kernel: it makes kernels run one after the other.
  std::vector<ActivityKind> kinds = {ActivityKind::concurrent_kernel, ActivityKind::copy,
                                     ActivityKind::peer_copy, ActivityKind::fill,
                                     ActivityKind::context};
  const What& what = settings_.what;
  if (counting_) kinds.clear();  // see CountedLaunch: launches are seen as calls
  if (what.calls)
    kinds.insert(kinds.end(), {ActivityKind::runtime_call, ActivityKind::driver_call});
  if (what.sync) kinds.insert(kinds.end(), {ActivityKind::synchronization, ActivityKind::event});
  if (what.memory) kinds.insert(kinds.end(), {ActivityKind::memory, ActivityKind::memory_pool});
  if (what.ranges) kinds.insert(kinds.end(), {ActivityKind::marker, ActivityKind::marker_data});
  for (const ActivityKind kind : kinds) {
    const CuptiResult result = cupti.activity_enable(kind);
    if (kind == ActivityKind::concurrent_kernel)
      PERFLAB_TRY_VOID(need(cupti, "cuptiActivityEnable(10)", result));
    if (result == CuptiResult::success)
      enabled_.push_back(kind);
    else
      missing_kinds_.push_back(static_cast<int>(kind));
  }
  if (what.calls && cupti.activity_enable_driver_call != nullptr)
    cupti.activity_enable_driver_call(kKernelGetName, 0);  // the converter leaves them out as well
  // Records have no arguments; without this one the recording is good as well.
  if (what.calls)
    cupti.enable_callback(1, subscriber_, cuda::CallbackDomain::runtime_api,
                          cuda::runtime_call::set_device);
  for (const cuda::CallbackId id : {cuda::resource_callback::context_created,
                                    cuda::resource_callback::context_destroy_starting})
    PERFLAB_TRY_VOID(
        need(cupti, "cuptiEnableCallback",
             cupti.enable_callback(1, subscriber_, cuda::CallbackDomain::resource, id)));
  return {};
}

void Recorder::abandon() {
  for (const ActivityKind kind : enabled_) cupti_.api.activity_disable(kind);
  if (subscriber_ != nullptr) cupti_.api.unsubscribe(subscriber_);
  subscriber_ = nullptr;
  buffers_.close();
  if (database_) database_->discard();
  database_.reset();
}

bool Recorder::start_threads() {
  // The one that flushes first: without a writer it does no harm.
  return start_thread([this] { flush_until_stopped(); }) &&
         start_thread([this] { write_until_stopped(); });
}

Result<void> Recorder::start() {
  PERFLAB_TRY_VOID(open_libraries());
  PERFLAB_TRY_VOID(subscribe());
  the_recorder = this;
  Result<void> ready = start_counting();
  start_sampling();
  if (ready) ready = open_database();
  if (ready) ready = enable();
  if (ready && counting_) ready = counting_->enable(subscriber_);
  if (ready && !start_threads()) ready = fail(ErrorCode::refused, "no thread could be started");
  if (!ready) {
    abandon();
    return ready;
  }
  return {};
}

std::uint8_t* Recorder::buffer_requested() {
  return of_this_process() ? buffers_.get(!own_thread) : nullptr;
}

void Recorder::buffer_completed(cuda::Context context, std::uint32_t stream, std::uint8_t* buffer,
                                std::size_t valid_bytes) {
  if (!of_this_process() || buffer == nullptr) return;
  buffers_.put_filled(buffer, valid_bytes);
  note_dropped(context, stream);
}

void Recorder::note_dropped(cuda::Context context, std::uint32_t stream) {
  std::size_t dropped = 0;
  if (cupti_.api.activity_get_dropped(context, stream, &dropped) == CuptiResult::success)
    dropped_ += static_cast<std::int64_t>(dropped);
}

void Recorder::event(cuda::CallbackDomain domain, cuda::CallbackId id, const void* data) {
  if (data == nullptr || !of_this_process()) return;
  if (counting_ &&
      (domain == cuda::CallbackDomain::driver_api || domain == cuda::CallbackDomain::runtime_api))
    return counting_->call(domain, id, data);
  if (domain == cuda::CallbackDomain::runtime_api && id == cuda::runtime_call::set_device)
    return device_chosen(*static_cast<const cuda::CallbackData*>(data));
  if (domain != cuda::CallbackDomain::resource) return;
  cuda::Context context = static_cast<const cuda::ResourceData*>(data)->context;
  if (id == cuda::resource_callback::context_created) context_created(context);
  if (id == cuda::resource_callback::context_destroy_starting) context_going(context);
}

void Recorder::device_chosen(const cuda::CallbackData& data) {
  if (data.site != cuda::CallbackSite::enter || data.function_parameters == nullptr) return;
  const auto* const given = static_cast<const cuda::SetDeviceParameters*>(data.function_parameters);
  const std::scoped_lock lock(chosen_mutex_);
  chosen_devices_.push_back(
      {.call = data.correlation_id, .position = 0, .name = "device", .value = given->device});
}

void Recorder::write_chosen_devices() {
  std::vector<Argument> chosen;
  {
    const std::scoped_lock lock(chosen_mutex_);
    chosen.swap(chosen_devices_);
  }
  for (const Argument& argument : chosen) database_->add(argument);
}

void Recorder::write_pc_counts() {
  if (!sampler_) return;
  for (const PcCount& row : sampler_->take()) database_->add(row);
}

void Recorder::context_created(cuda::Context context) {
  if (sampler_) sampler_->context_created(context);
  const std::scoped_lock lock(mutex_);
  contexts_.push_back(context);
  first_context_ = true;
}

void Recorder::context_going(cuda::Context context) {
  if (counting_) counting_->context_going(context);
  if (sampler_) sampler_->context_going(context);
  const std::scoped_lock lock(mutex_);
  std::erase(contexts_, context);
}

void Recorder::flush_until_stopped() {
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, kFlushEvery, [this] { return stopping_; })) {
    if (!first_context_) continue;
    lock.unlock();
    cupti_.api.activity_flush_all(0);
    if (sampler_) sampler_->collect();
    lock.lock();
  }
  flusher_done_ = true;
  changed_.notify_all();
}

void Recorder::write(const Filled& filled, Converter& converter) {
  const auto for_each = [&](auto&& body) {
    cuda::Record* record = nullptr;
    while (cupti_.api.activity_get_next_record(filled.data, filled.valid_bytes, &record) ==
           CuptiResult::success)
      body(*record);
  };
  if (const std::uint32_t thread = exit_thread_) converter.ignore_thread(thread);
  if (settings_.what.calls) for_each([&](const cuda::Record& record) { converter.note(record); });
  for_each([&](const cuda::Record& record) { converter.take(record); });
  buffers_.reuse(filled.data);
}

void Recorder::write_until_stopped() {
  Converter converter(*database_, driver_.api, cupti_.api, settings_.what);
  converter.ignore_thread(static_cast<std::uint32_t>(gettid()));
  bool described = false;
  auto last_commit = steady_clock::now();
  while (true) {
    const std::optional<Filled> filled = buffers_.next(kFlushEvery);
    if (filled) write(*filled, converter);
    if (!filled && draining_) break;
    if (steady_clock::now() - last_commit < kFlushEvery) continue;
    if (filled && !described) {
      database_->set_process(0, process_json(false, converter.totals()));
      described = true;
    }
    if (counting_) counting_->write(*database_, converter);
    write_chosen_devices();
    write_pc_counts();
    database_->commit();
    last_commit = steady_clock::now();
    if (const Error* failure = database_->failure()) complain(*failure);
  }
  if (counting_) counting_->write(*database_, converter);
  write_chosen_devices();
  write_pc_counts();
  database_->set_process(static_cast<std::int64_t>(boot_time()),
                         process_json(gpu_idle_, converter.totals()));
  if (const Result<void> done = database_->finish(); !done) complain(done.error());
  const std::scoped_lock lock(mutex_);
  writer_done_ = true;
  changed_.notify_all();
}

void Recorder::complain(const Error& why) {
  if (!complained_.exchange(true)) say_not_recorded(settings_.folder, why, second_client_);
}

/// In a thread of its own, which is left behind when the GPU does not end: its calls are not the
/// program's, and a kernel may wait for ever.
void Recorder::synchronise_contexts() {
  std::unique_lock lock(mutex_);
  if (contexts_.empty()) return;
  const std::vector<cuda::Context> contexts = contexts_;
  const bool started = start_thread([this, contexts] {
    exit_thread_ = static_cast<std::uint32_t>(gettid());
    for (cuda::Context context : contexts)
      if (driver_.api.context_set_current(context) == cuda::DriverResult::success)
        driver_.api.context_synchronize();
    const std::scoped_lock done(mutex_);
    synchronised_ = true;
    changed_.notify_all();
  });
  gpu_idle_ =
      started && changed_.wait_for(lock, settings_.patience, [this] { return synchronised_; });
}

void Recorder::finish() {
  if (!of_this_process()) return;
  {
    std::unique_lock lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, settings_.patience, [this] { return flusher_done_; });
  }
  own_thread = true;
  if (counting_) counting_->end();
  synchronise_contexts();
  if (sampler_) sampler_->end();
  cupti_.api.activity_flush_all(cuda::flush_forced);
  buffers_.close();
  draining_ = true;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return writer_done_; });
}

std::string Recorder::missing_kinds_json() const {
  std::string list;
  for (const int kind : missing_kinds_) list += (list.empty() ? "" : ", ") + std::to_string(kind);
  return "[" + list + "]";
}

std::string Recorder::process_json(bool complete, const Totals& totals) const {
  std::string driver = "null";
  int version = 0;
  if (the_recorder == this && first_context_ &&
      driver_.api.driver_get_version(&version) == cuda::DriverResult::success)
    driver =
        "\"" + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10) + "\"";
  std::string counters;
  if (const std::string summary = counting_ ? counting_->json() : ""; !summary.empty())
    counters = ", \"counters\": " + summary;
  if (sampler_) counters += ", \"pc_sampling\": " + sampler_->json();
  return R"({"collector": ")" + std::string(kCollector) + R"(", "version": ")" +
         std::string(kProgramVersion) + R"(", "platform": "cuda", "complete": )" +
         (complete ? "true" : "false") + R"(, "dropped_records": )" +
         std::to_string(dropped_.load()) + R"(, "unfinished": )" +
         std::to_string(totals.unfinished) + R"(, "without_thread": )" +
         std::to_string(totals.without_thread) + R"(, "second_client": )" +
         (second_client_.empty() ? "null" : json_text(second_client_)) + R"(, "recorded": )" +
         what_words_json(settings_.what) + R"(, "missing_kinds": )" + missing_kinds_json() +
         R"(, "driver_version": )" + driver + R"(, "cupti_version": )" +
         std::to_string(cupti_.version) + R"(, "cupti_path": )" + json_text(cupti_.path) +
         counters + "}";
}

}  // namespace perflab::record
