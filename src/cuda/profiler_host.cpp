// The calls of the profiler host, and the search for groups that keep to a number of passes.
#include "cuda/profiler_host.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace perflab::cuda {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define PERFLAB_CUDA_PROFILER_NAME(name, exported, needed, ...) EntryName{#exported, needed},
constexpr std::array profiler_names{PERFLAB_CUDA_PROFILER(PERFLAB_CUDA_PROFILER_NAME)};
#undef PERFLAB_CUDA_PROFILER_NAME

static_assert(sizeof(Profiler) == profiler_names.size() * sizeof(void*));

std::unexpected<ProfilerFailure> failed(const char* call, CuptiResult result,
                                        std::string detail = {}) {
  return std::unexpected(
      ProfilerFailure{.call = call, .result = result, .detail = std::move(detail)});
}

std::string text_of(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

std::vector<const char*> pointers(std::span<const std::string> names) {
  std::vector<const char*> all;
  all.reserve(names.size());
  for (const std::string& name : names) all.push_back(name.c_str());
  return all;
}

/// Planning on one chip: a host object per trial, since metrics cannot be taken back.
class Planner {
 public:
  Planner(const Profiler& profiler, const std::string& chip,
          std::span<const std::uint8_t> availability)
      : profiler_(profiler), chip_(chip), availability_(availability) {}

  [[nodiscard]] Profiled<MetricGroup> group(std::vector<std::string> metrics) const {
    Profiled<ProfilerHost> host = ProfilerHost::open(profiler_, chip_, availability_);
    if (!host) return std::unexpected(std::move(host).error());
    if (auto added = host->add(metrics); !added) return std::unexpected(std::move(added).error());
    auto image = host->config_image();
    if (!image) return std::unexpected(std::move(image).error());
    const auto passes = passes_of(profiler_, *image);
    if (!passes) return std::unexpected(passes.error());
    return MetricGroup{
        .metrics = std::move(metrics), .config_image = *std::move(image), .passes = *passes};
  }

  /// Those of the metrics that the chip has. The library says only that one of several is wrong.
  Profiled<std::vector<std::string>> known(std::span<const std::string> wanted,
                                           std::vector<RefusedMetric>& refused) const {
    std::vector<std::string> all;
    for (const std::string& name : wanted)
      if (std::ranges::find(all, name) == all.end()) all.push_back(name);
    if (all.empty()) return all;
    const auto together = group(all);
    if (together) return all;
    if (together.error().result != CuptiResult::invalid_metric_name)
      if (auto host = ProfilerHost::open(profiler_, chip_, availability_); !host)
        return std::unexpected(std::move(host).error());
    std::vector<std::string> good;
    for (std::string& name : all)
      if (const auto alone = group({name}); alone)
        good.push_back(std::move(name));
      else
        refused.push_back({.name = std::move(name), .result = alone.error().result});
    return good;
  }

  /// Splits in order: a group takes the next metric while it keeps to the limit.
  [[nodiscard]] Profiled<std::vector<MetricGroup>> groups(std::vector<std::string> metrics,
                                                          std::size_t most_passes) const {
    std::vector<MetricGroup> found;
    if (metrics.empty()) return found;
    auto whole = group(metrics);
    if (!whole) return std::unexpected(std::move(whole).error());
    if (most_passes == 0 || whole->passes <= most_passes) {
      found.push_back(*std::move(whole));
      return found;
    }
    for (std::string& metric : metrics) {
      if (!found.empty()) {
        std::vector<std::string> longer = found.back().metrics;
        longer.push_back(metric);
        auto tried = group(std::move(longer));
        if (!tried) return std::unexpected(std::move(tried).error());
        if (tried->passes <= most_passes) {
          found.back() = *std::move(tried);
          continue;
        }
      }
      auto alone = group({std::move(metric)});
      if (!alone) return std::unexpected(std::move(alone).error());
      found.push_back(*std::move(alone));
    }
    return found;
  }

 private:
  const Profiler& profiler_;
  const std::string& chip_;
  std::span<const std::uint8_t> availability_;
};

}  // namespace

std::span<const EntryName> profiler_entries() {
  return profiler_names;
}

Profiler profiler_of_library(void* library) {
  std::array<void*, profiler_names.size()> found{};
  for (std::size_t i = 0; i < found.size(); ++i) found[i] = dlsym(library, profiler_names[i].name);
  Profiler profiler{};
  std::memcpy(&profiler, found.data(), sizeof(profiler));
  return profiler;
}

Profiler profiler_of(const CuptiLibrary& library) {
  if (library.problem != LibraryProblem::none) return Profiler{};
  void* const handle = dlopen(library.path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  return handle == nullptr ? Profiler{} : profiler_of_library(handle);
}

const char* missing_entry(const Profiler& profiler, bool counting) {
  std::array<void*, profiler_names.size()> found{};
  std::memcpy(found.data(), &profiler, sizeof(profiler));
  for (std::size_t i = 0; i < found.size(); ++i)
    if ((counting || profiler_names[i].needed) && found[i] == nullptr)
      return profiler_names[i].name;
  return nullptr;
}

Profiled<std::vector<std::string>> supported_chips(const Profiler& profiler) {
  auto call = sized<HostSupportedChips>();
  if (const auto result = profiler.host_supported_chips(&call); result != CuptiResult::success)
    return failed("cuptiProfilerHostGetSupportedChips", result);
  std::vector<std::string> chips;
  for (std::size_t i = 0; i < call.count; ++i) chips.push_back(text_of(call.chips[i]));
  return chips;
}

Profiled<ProfilerHost> ProfilerHost::open(const Profiler& profiler, const std::string& chip,
                                          std::span<const std::uint8_t> availability) {
  auto call = sized<HostInitialize>();
  call.type = ProfilerType::range_profiler;
  call.chip = chip.c_str();
  call.availability = availability.empty() ? nullptr : availability.data();
  if (const auto result = profiler.host_initialize(&call); result != CuptiResult::success)
    return failed("cuptiProfilerHostInitialize", result, chip);
  return ProfilerHost(profiler, call.host);
}

ProfilerHost::ProfilerHost(ProfilerHost&& other) noexcept
    : profiler_(other.profiler_), host_(std::exchange(other.host_, nullptr)) {}

ProfilerHost& ProfilerHost::operator=(ProfilerHost&& other) noexcept {
  std::swap(profiler_, other.profiler_);
  std::swap(host_, other.host_);
  return *this;
}

ProfilerHost::~ProfilerHost() {
  if (host_ == nullptr) return;
  auto call = sized<HostDeinitialize>();
  call.host = host_;
  profiler_->host_deinitialize(&call);
}

Profiled<std::vector<std::string>> ProfilerHost::base_metrics(MetricType type) const {
  auto call = sized<HostBaseMetrics>();
  call.host = host_;
  call.type = type;
  if (const auto result = profiler_->host_base_metrics(&call); result != CuptiResult::success)
    return failed("cuptiProfilerHostGetBaseMetrics", result);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < call.count; ++i) names.push_back(text_of(call.metrics[i]));
  return names;
}

Profiled<MetricProperties> ProfilerHost::properties(const std::string& metric) const {
  auto call = sized<HostMetricProperties>();
  call.host = host_;
  call.metric = metric.c_str();
  if (const auto result = profiler_->host_metric_properties(&call); result != CuptiResult::success)
    return failed("cuptiProfilerHostGetMetricProperties", result, metric);
  return MetricProperties{.description = text_of(call.description),
                          .unit = text_of(call.unit),
                          .dimension = text_of(call.dimension),
                          .type = call.type};
}

Profiled<void> ProfilerHost::add(std::span<const std::string> metrics) const {
  std::vector<const char*> names = pointers(metrics);
  auto call = sized<HostAddMetrics>();
  call.host = host_;
  call.metrics = names.data();
  call.count = names.size();
  if (const auto result = profiler_->host_add_metrics(&call); result != CuptiResult::success)
    return failed("cuptiProfilerHostConfigAddMetrics", result,
                  metrics.empty() ? std::string() : metrics.front());
  return {};
}

Profiled<std::vector<std::uint8_t>> ProfilerHost::config_image() const {
  auto size = sized<HostConfigImageSize>();
  size.host = host_;
  if (const auto result = profiler_->host_config_image_size(&size); result != CuptiResult::success)
    return failed("cuptiProfilerHostGetConfigImageSize", result);
  std::vector<std::uint8_t> image(size.bytes);
  auto call = sized<HostConfigImage>();
  call.host = host_;
  call.bytes = image.size();
  call.image = image.data();
  if (const auto result = profiler_->host_config_image(&call); result != CuptiResult::success)
    return failed("cuptiProfilerHostGetConfigImage", result);
  return image;
}

Profiled<std::vector<double>> ProfilerHost::evaluate(std::span<const std::uint8_t> counter_data,
                                                     std::size_t range,
                                                     std::span<const std::string> metrics) const {
  std::vector<const char*> names = pointers(metrics);
  std::vector<double> values(metrics.size());
  auto call = sized<HostEvaluate>();
  call.host = host_;
  call.image = counter_data.data();
  call.bytes = counter_data.size();
  call.range = range;
  call.metrics = names.data();
  call.count = names.size();
  call.values = values.data();
  if (const auto result = profiler_->host_evaluate(&call); result != CuptiResult::success)
    return failed("cuptiProfilerHostEvaluateToGpuValues", result);
  return values;
}

Profiled<std::size_t> passes_of(const Profiler& profiler, std::span<const std::uint8_t> image) {
  // The call reads the image, although its parameter is not const.
  std::vector<std::uint8_t> copy(image.begin(), image.end());
  auto call = sized<HostPasses>();
  call.bytes = copy.size();
  call.image = copy.data();
  if (const auto result = profiler.host_passes(&call); result != CuptiResult::success)
    return failed("cuptiProfilerHostGetNumOfPasses", result);
  return call.passes;
}

Profiled<MetricPlan> plan_metrics(const Profiler& profiler, const std::string& chip,
                                  std::span<const std::string> wanted, std::size_t most_passes,
                                  std::span<const std::uint8_t> availability) {
  const Planner planner(profiler, chip, availability);
  MetricPlan plan;
  plan.chip = chip;
  auto known = planner.known(wanted, plan.refused);
  if (!known) return std::unexpected(std::move(known).error());
  auto groups = planner.groups(*std::move(known), most_passes);
  if (!groups) return std::unexpected(std::move(groups).error());
  plan.groups = *std::move(groups);
  return plan;
}

}  // namespace perflab::cuda
