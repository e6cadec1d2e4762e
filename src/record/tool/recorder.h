// Records this process from cuInit to its exit: CUPTI's callbacks, the thread that flushes, the
// thread that writes. There is one, and it is never destroyed: threads of the program may be inside
// its callbacks until the very end.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cuda/libraries.h"
#include "record/activity/converter.h"
#include "record/database/database.h"
#include "record/pc_samples/pc_sampler.h"
#include "record/tool/buffers.h"
#include "record/tool/counting.h"
#include "record/tool/settings.h"

namespace perflab::record {

/// The recorder of this process.
class Recorder {
 public:
  explicit Recorder(Settings settings);

  /// Opens the libraries, makes the database, enables the records and starts the threads. Error:
  /// nothing is recorded, and CUPTI is as it was.
  Result<void> start();
  /// Waits for the GPU, takes what CUPTI still has, closes and renames the database. Returns at
  /// once in a process that fork() made, and when it was called before.
  void finish();

  /// The name of the CUPTI client that was there before; empty: none.
  [[nodiscard]] const std::string& second_client() const { return second_client_; }

  // What CUPTI calls.
  std::uint8_t* buffer_requested();
  void buffer_completed(cuda::Context context, std::uint32_t stream, std::uint8_t* buffer,
                        std::size_t valid_bytes);
  void event(cuda::CallbackDomain domain, cuda::CallbackId id, const void* data);

 private:
  Result<void> open_libraries();
  Result<void> subscribe();
  Result<void> start_counting();
  void start_sampling();
  Result<void> open_database();
  Result<void> enable();
  void abandon();
  bool start_threads();

  void context_created(cuda::Context context);
  void context_going(cuda::Context context);
  void device_chosen(const cuda::CallbackData& data);

  void flush_until_stopped();
  void write_until_stopped();
  void write(const Filled& filled, Converter& converter);
  void write_chosen_devices();
  void write_pc_counts();
  void note_dropped(cuda::Context context, std::uint32_t stream);
  void synchronise_contexts();
  void complain(const Error& why);
  [[nodiscard]] std::string missing_kinds_json() const;
  [[nodiscard]] std::string process_json(bool complete, const Totals& totals) const;
  [[nodiscard]] bool of_this_process() const;

  Settings settings_;
  pid_t pid_;
  cuda::DriverLibrary driver_;
  cuda::CuptiLibrary cupti_;
  cuda::Subscriber subscriber_ = nullptr;
  std::string second_client_;
  std::vector<cuda::ActivityKind> enabled_;
  std::vector<int> missing_kinds_;      ///< activity kinds that CUPTI would not record
  std::unique_ptr<Database> database_;  ///< the writer's, once that runs
  std::unique_ptr<Counting> counting_;  ///< of a counter pass
  std::unique_ptr<PcSampler> sampler_;  ///< of a run with PC sampling
  Buffers buffers_;
  std::atomic<std::int64_t> dropped_ = 0;
  std::atomic<bool> complained_ = false;

  std::mutex chosen_mutex_;
  std::vector<Argument> chosen_devices_;  ///< of calls of cudaSetDevice, not written yet

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<cuda::Context> contexts_;
  bool stopping_ = false;  ///< the exit has begun
  bool flusher_done_ = false, synchronised_ = false, writer_done_ = false;
  std::atomic<bool> first_context_ = false;     ///< there was one
  std::atomic<std::uint32_t> exit_thread_ = 0;  ///< calls the driver at the exit
  std::atomic<bool> draining_ = false;          ///< the writer ends when nothing waits
  std::atomic<bool> gpu_idle_ = true;           ///< the exit saw the GPU's end
};

}  // namespace perflab::record
