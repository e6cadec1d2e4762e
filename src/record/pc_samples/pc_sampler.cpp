// The order of calls is what CUPTI 13.0 takes on an H200: enable, before which it names no reason
// (INVALID_OPERATION), then configure, data while it runs, and disable, which leaves the rest in
// the buffer that was configured.
#include "record/pc_samples/pc_sampler.h"

#include <array>
#include <chrono>
#include <utility>

#include "record/json_text.h"

namespace perflab::record {
namespace {

/// PCs that a buffer has room for: what has none at the end is lost, and said.
constexpr std::size_t kPcsAtEnd = 20'000, kPcsAtOnce = 2'000;
/// CUPTI's default of 512 MiB of the GPU's memory is much beside a program that needs it.
constexpr std::size_t kHardwareBufferBytes = std::size_t{128} << 20;
/// A context that goes does not wait longer for the thread that collects.
constexpr std::chrono::seconds kLongestWait{2};

}  // namespace

/// A buffer of CUPTI's form.
struct PcSampler::Room {
  Room(std::size_t pcs, std::size_t reasons) : pcs_(pcs), counts_(pcs * reasons) {
    for (std::size_t i = 0; i < pcs; ++i) pcs_[i].reasons = counts_.data() + i * reasons;
    buffer.room = pcs;
    buffer.data = pcs_.data();
  }
  cuda::PcSamplingBuffer buffer;

 private:
  std::vector<cuda::PcSamplingPc> pcs_;
  std::vector<cuda::PcStallCount> counts_;
};

struct PcSampler::Sampled {
  cuda::Context context = nullptr;
  std::uint32_t device = 0;
  std::map<std::uint32_t, std::string> reasons;  ///< by index
  std::unique_ptr<Room> at_end, at_once;
  std::timed_mutex busy;  ///< CUPTI is called for it
  bool enabled = false;
};

PcSampler::PcSampler(const cuda::CuptiLibrary& cupti, std::optional<std::uint32_t> period)
    : cupti_(cupti), api_(cuda::pc_sampling_of(cupti)), period_(period) {
  if (const char* const missing = cuda::missing_entry(api_))
    complain({.problem = CounterProblem::old_library,
              .reason = cupti.path + " has no " + missing,
              .remedy = "install CUPTI of CUDA 12.8 or later"});
}

PcSampler::~PcSampler() = default;

void PcSampler::complain(CounterFailure failure) {
  const std::scoped_lock lock(mutex_);
  if (!problem_) problem_ = std::move(failure);
}

bool PcSampler::good(const char* call, cuda::CuptiResult result) {
  if (result == cuda::CuptiResult::success) return true;
  complain(failure_of(cuda::ProfilerFailure{
      .call = call, .result = result, .detail = cuda::result_name(cupti_.api, result)}));
  return false;
}

bool PcSampler::name_reasons(Sampled& sampled) {
  std::size_t count = 0;
  auto how_many = cuda::sized<cuda::PcSamplingReasonCount>();
  how_many.context = sampled.context;
  how_many.count = &count;
  if (!good("cuptiPCSamplingGetNumStallReasons", api_.reason_count(&how_many))) return false;
  std::vector<std::array<char, cuda::PcSamplingReasons::kNameBytes>> names(count);
  std::vector<char*> places;
  for (auto& name : names) places.push_back(name.data());
  std::vector<std::uint32_t> indices(count);
  auto call = cuda::sized<cuda::PcSamplingReasons>();
  call.context = sampled.context;
  call.count = count;
  call.indices = indices.data();
  call.names = places.data();
  if (!good("cuptiPCSamplingGetStallReasons", api_.reasons(&call))) return false;
  for (std::size_t i = 0; i < count; ++i) {
    names[i].back() = '\0';
    sampled.reasons[indices[i]] = names[i].data();
  }
  sampled.at_end = std::make_unique<Room>(kPcsAtEnd, count);
  sampled.at_once = std::make_unique<Room>(kPcsAtOnce, count);
  return true;
}

bool PcSampler::configure(Sampled& sampled) {
  std::vector<cuda::PcSamplingSetting> settings(3);
  settings[0].attribute = cuda::PcSamplingAttribute::mode;
  settings[0].value.number = static_cast<std::uint32_t>(cuda::PcSamplingMode::continuous);
  settings[1].attribute = cuda::PcSamplingAttribute::hardware_buffer_bytes;
  settings[1].value.bytes = kHardwareBufferBytes;
  settings[2].attribute = cuda::PcSamplingAttribute::data_buffer;
  settings[2].value.buffer = &sampled.at_end->buffer;
  if (period_) {
    settings.emplace_back().attribute = cuda::PcSamplingAttribute::period;
    settings.back().value.number = *period_;
  }
  auto call = cuda::sized<cuda::PcSamplingConfigure>();
  call.context = sampled.context;
  call.count = settings.size();
  call.settings = settings.data();
  return good("cuptiPCSamplingSetConfigurationAttribute", api_.configure(&call));
}

void PcSampler::context_created(cuda::Context context) {
  if (cuda::missing_entry(api_) != nullptr) return;
  auto sampled = std::make_shared<Sampled>();
  sampled->context = context;
  if (cupti_.api.get_device_id != nullptr) cupti_.api.get_device_id(context, &sampled->device);
  auto context_call = cuda::sized<cuda::PcSamplingCall>();
  context_call.context = context;
  if (!good("cuptiPCSamplingEnable", api_.enable(&context_call))) return;
  if (!name_reasons(*sampled) || !configure(*sampled)) {
    api_.disable(&context_call);
    return;
  }
  sampled->enabled = true;
  const std::scoped_lock lock(contexts_mutex_);
  contexts_.push_back(std::move(sampled));
}

void PcSampler::add(const Sampled& sampled, const cuda::PcSamplingBuffer& buffer) {
  const std::scoped_lock lock(mutex_);
  samples_ += buffer.samples;
  dropped_ += buffer.dropped;
  other_ += buffer.other_samples;
  hardware_buffer_full_ = hardware_buffer_full_ || buffer.hardware_buffer_full != 0;
  for (std::size_t i = 0; i < buffer.pcs && i < buffer.room; ++i) {
    const cuda::PcSamplingPc& pc = buffer.data[i];
    for (std::size_t j = 0; j < pc.reason_count && j < sampled.reasons.size(); ++j) {
      const auto name = sampled.reasons.find(pc.reasons[j].reason);
      if (pc.reasons[j].samples == 0) continue;
      // The function's name is not freed: CUPTI may have given it out more than once.
      counts_[{sampled.device, pc.cubin_crc, pc.function == nullptr ? "" : pc.function, pc.offset,
               name == sampled.reasons.end() ? "" : name->second}] += pc.reasons[j].samples;
    }
  }
}

void PcSampler::stop(Sampled& sampled) {
  if (!std::exchange(sampled.enabled, false)) return;
  auto disable = cuda::sized<cuda::PcSamplingCall>();
  disable.context = sampled.context;
  if (!good("cuptiPCSamplingDisable", api_.disable(&disable))) return;
  add(sampled, sampled.at_end->buffer);
  const std::scoped_lock lock(mutex_);
  left_ += sampled.at_end->buffer.left;
}

void PcSampler::context_going(cuda::Context context) {
  std::shared_ptr<Sampled> found;
  {
    const std::scoped_lock lock(contexts_mutex_);
    for (auto& sampled : contexts_)
      if (sampled->context == context) found = sampled;
    std::erase(contexts_, found);
  }
  if (!found) return;
  // The thread that collects may wait for CUPTI, which may wait for this one.
  std::unique_lock busy(found->busy, kLongestWait);
  if (busy.owns_lock()) return stop(*found);
  complain({.problem = CounterProblem::failed,
            .reason = "a context went while its samples were being collected: its last are lost",
            .remedy = ""});
}

void PcSampler::collect() {
  std::vector<std::shared_ptr<Sampled>> contexts;
  {
    const std::scoped_lock lock(contexts_mutex_);
    contexts = contexts_;
  }
  for (const auto& sampled : contexts) {
    const std::scoped_lock busy(sampled->busy);
    if (!sampled->enabled) continue;
    cuda::PcSamplingBuffer& buffer = sampled->at_once->buffer;
    do {
      buffer.pcs = buffer.left = 0;
      buffer.samples = buffer.dropped = buffer.other_samples = 0;
      auto call = cuda::sized<cuda::PcSamplingGetData>();
      call.context = sampled->context;
      call.buffer = &buffer;
      if (!good("cuptiPCSamplingGetData", api_.get_data(&call))) break;
      add(*sampled, buffer);
    } while (buffer.pcs > 0 && buffer.left > 0);
  }
}

void PcSampler::end() {
  std::vector<std::shared_ptr<Sampled>> contexts;
  {
    const std::scoped_lock lock(contexts_mutex_);
    contexts.swap(contexts_);
  }
  for (const auto& sampled : contexts) {
    std::unique_lock busy(sampled->busy, kLongestWait);
    if (busy.owns_lock()) stop(*sampled);
  }
}

std::vector<PcCount> PcSampler::take() {
  std::map<Key, std::uint64_t> counts;
  {
    const std::scoped_lock lock(mutex_);
    counts.swap(counts_);
  }
  std::vector<PcCount> rows;
  for (const auto& [key, samples] : counts) {
    const auto& [device, cubin, function, offset, reason] = key;
    rows.push_back({.agent = 1 + static_cast<std::int64_t>(device),
                    .cubin_crc = cubin,
                    .function = function,
                    .offset = offset,
                    .reason = reason,
                    .samples = samples});
  }
  return rows;
}

std::string PcSampler::json() const {
  const std::scoped_lock lock(mutex_);
  std::string problem = "null";
  if (problem_)
    problem = R"({"kind": ")" + std::string(to_string(problem_->problem)) + R"(", "reason": )" +
              json_text(problem_->reason) + R"(, "remedy": )" + json_text(problem_->remedy) + "}";
  return R"({"mode": "continuous", "period_cycles": )" +
         (period_ ? std::to_string(std::uint64_t{1} << *period_) : "null") + R"(, "samples": )" +
         std::to_string(samples_) + R"(, "dropped": )" + std::to_string(dropped_) +
         R"(, "other_kernels": )" + std::to_string(other_) + R"(, "pcs_without_room": )" +
         std::to_string(left_) + R"(, "hardware_buffer_full": )" +
         (hardware_buffer_full_ ? "true" : "false") + R"(, "problem": )" + problem + "}";
}

}  // namespace perflab::record
