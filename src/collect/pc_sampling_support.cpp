// The profiler's answer about PC sampling, the choice of method and interval, and the table of
// known faults. The answer's forms: rocprofiler-sdk's documents for ROCm 7.0 ("Minimum_Interval",
// ROCPROFILER_PC_SAMPLING_METHOD_...) and of 2026 ("Min_Interval", "host_trap").
#include "collect/pc_sampling_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>

#include "base/system/subprocess.h"
#include "base/text/numbers.h"
#include "base/text/text.h"
#include "collect/log_sentences.h"

namespace perflab::collect {
namespace {

using pc_sampling::Method;

constexpr std::chrono::milliseconds kAskTimeout{60'000};
constexpr std::uint64_t kCycles = 65'536;     // below it, AMD's tools warn of losses
constexpr std::uint64_t kMicroseconds = 512;  // the least that gfx12 takes

constexpr std::string_view kPcSamplingRemedy =
    "PC sampling needs an Instinct MI200 or newer (or RX 9000), ROCm 6.4 or newer (stochastic: "
    "7.0), and AMD's own kernel driver (amdgpu-dkms) with recent firmware";

std::string lower_text(std::string_view text) {
  std::string low(text.size(), ' ');
  std::ranges::transform(text, low.begin(), lower);
  return low;
}

std::optional<Method> method_of(std::string_view value) {
  if (value.ends_with("stochastic")) return Method::stochastic;
  if (value.ends_with("host_trap")) return Method::host_trap;
  return std::nullopt;
}

/// Reads "key : value" lines; a method begins an offer, a name or number of a GPU ends the one
/// before.
class OfferReader {
 public:
  void read(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      if (line.find("Configurations for") != std::string_view::npos) gpu_.clear();
      return;
    }
    const std::string key = lower_text(trimmed(line.substr(0, colon)));
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (key == "gpu")
      gpu_.clear();
    else if (key == "name" && value.starts_with("gfx"))
      gpu_ = value;
    else if (key == "method")
      begin(lower_text(value));
    else if (!offers_.empty() && open_)
      add(key, value);
  }

  [[nodiscard]] std::vector<PcSamplingOffer> take() { return std::move(offers_); }

 private:
  void begin(std::string_view value) {
    const std::optional<Method> method = method_of(value);
    open_ = method.has_value();
    if (method) offers_.push_back({.gpu = gpu_, .method = *method, .least = 1, .most = UINT64_MAX});
  }

  void add(std::string_view key, std::string_view value) {
    PcSamplingOffer& offer = offers_.back();
    if (key.starts_with("min"))
      offer.least = number_of(value).value_or(offer.least);
    else if (key.starts_with("max"))
      offer.most = number_of(value).value_or(offer.most);
    else if (key == "flags")
      offer.power_of_two = lower_text(value).find("pow2") != std::string::npos;
  }

  std::string gpu_;
  std::vector<PcSamplingOffer> offers_;
  bool open_ = false;
};

/// Of the offers for this GPU the one with that method.
const PcSamplingOffer* offer_of(const std::vector<PcSamplingOffer>& offers,
                                std::string_view architecture, Method method) {
  const auto found = std::ranges::find_if(offers, [&](const PcSamplingOffer& offer) {
    return offer.method == method &&
           (offer.gpu.empty() || architecture.empty() || offer.gpu == architecture);
  });
  return found == offers.end() ? nullptr : &*found;
}

Result<std::uint64_t> interval_of(const PcSamplingOffer& offer,
                                  const std::optional<std::uint64_t>& wanted,
                                  std::vector<std::string>& notes) {
  const std::string_view unit = interval_unit(offer.method);
  if (wanted) {
    if (*wanted < offer.least || *wanted > offer.most)
      return fail(ErrorCode::usage,
                  fmt::format("--pc-sampling-interval: the GPU takes {} to {} {}, not {}",
                              offer.least, offer.most, unit, *wanted),
                  "leave it out, or give one in between");
    if (offer.power_of_two && !std::has_single_bit(*wanted))
      return fail(ErrorCode::usage,
                  fmt::format("--pc-sampling-interval: {} is no power of two, and the GPU takes no "
                              "other",
                              *wanted),
                  fmt::format("give {}", std::bit_floor(*wanted)));
    if (offer.method == Method::stochastic && *wanted < kCycles)
      notes.push_back(
          fmt::format("fewer than {} cycles from sample to sample lose samples on "
                      "recorded GPUs",
                      kCycles));
    return *wanted;
  }
  const std::uint64_t usual = offer.method == Method::stochastic ? kCycles : kMicroseconds;
  const std::uint64_t chosen = std::clamp(usual, offer.least, offer.most);
  if (chosen != usual)
    notes.push_back(fmt::format("the GPU takes {} to {} {}: the interval is {}", offer.least,
                                offer.most, unit, chosen));
  return chosen;
}

/// A fault that users or AMD reported. Versions are rocprofiler-sdk's; empty: not known, so any.
struct KnownFault {
  PcSamplingSymptom symptom;
  std::string_view gpus;  ///< names separated by spaces; empty: all
  std::optional<Method> method;
  std::string_view since, before;
  std::string_view text;
  std::string_view link;
};

#define PERFLAB_ISSUE "https://github.com/ROCm/rocm-systems/issues/"
constexpr std::array kKnownFaults = {
    KnownFault{PcSamplingSymptom::always, "gfx942", std::nullopt, "", "1.0.0",
               "before ROCm 7.0 queues of an MI300X can hang or fail under PC sampling",
               "rocprofiler-sdk's CHANGELOG, 1.0.0"},
    KnownFault{PcSamplingSymptom::always, "gfx950", Method::host_trap, "", "",
               "host traps on gfx950 left 23 % of their records undecoded", PERFLAB_ISSUE "10782"},
    KnownFault{PcSamplingSymptom::no_samples, "gfx1200 gfx1201", Method::host_trap, "1.3.2", "",
               "host traps on gfx12 give no sample since buffers are per XCC",
               PERFLAB_ISSUE "11706"},
    KnownFault{PcSamplingSymptom::no_samples, "gfx942", std::nullopt, "", "",
               "an MI300A dropped a quarter of its records as invalid", PERFLAB_ISSUE "1141"},
    KnownFault{PcSamplingSymptom::no_samples, "", std::nullopt, "", "",
               "samples can stop after the first buffer, with exit code 0", PERFLAB_ISSUE "11588"},
    KnownFault{PcSamplingSymptom::hang, "", std::nullopt, "", "",
               "programs were seen to hang under PC sampling, with both methods",
               PERFLAB_ISSUE "9531"},
    KnownFault{PcSamplingSymptom::hang, "", std::nullopt, "", "",
               "a configuration that the GPU does not support can hang instead of failing",
               "https://github.com/ROCm/rocm-libraries/issues/10056"},
};
#undef PERFLAB_ISSUE

/// "1.3.2" as numbers; nullopt: it is none.
std::optional<std::array<int, 3>> version_of(std::string_view text) {
  std::array<int, 3> version{};
  for (std::size_t i = 0; i < version.size(); ++i) {
    const auto part = take_number<int>(text);
    if (!part) return std::nullopt;
    version[i] = *part;
    if (i + 1 < version.size()) {
      if (!text.starts_with('.')) return std::nullopt;
      text.remove_prefix(1);
    }
  }
  return version;
}

bool applies(const KnownFault& fault, std::string_view architecture, Method method,
             std::string_view version) {
  if (fault.method && *fault.method != method) return false;
  if (!fault.gpus.empty()) {
    if (architecture.empty() || fault.gpus.find(architecture) == std::string_view::npos)
      return false;
  }
  const auto ours = version_of(version);
  if (!ours) return fault.since.empty() && fault.before.empty();
  if (const auto since = version_of(fault.since); since && *ours < *since) return false;
  if (const auto before = version_of(fault.before); before && *ours >= *before) return false;
  return true;
}

}  // namespace

std::string_view interval_unit(Method method) {
  return method == Method::host_trap ? "us" : "cycles";
}

std::vector<PcSamplingOffer> pc_sampling_offers(std::string_view answer) {
  OfferReader reader;
  while (!answer.empty()) {
    const std::size_t end = answer.find('\n');
    reader.read(trimmed(answer.substr(0, end)));
    answer.remove_prefix(end == std::string_view::npos ? answer.size() : end + 1);
  }
  return reader.take();
}

Result<std::vector<PcSamplingOffer>> ask_for_pc_sampling(const Rocprofv3& tool) {
  ProcessOptions options;
  options.empty_input = true;
  options.standard_output = StreamMode::capture;
  options.standard_error = StreamMode::capture;
  options.timeout = kAskTimeout;
  options.set_environment.emplace_back("ROCPROFILER_PC_SAMPLING_BETA_ENABLED", "1");
  OfferReader reader;
  constexpr std::size_t kLongestOffer = 1 << 12;
  LogLines lines(kLongestOffer);
  const auto take = [&](std::string_view line) { reader.read(trimmed(line)); };
  // Counters are listed too: more than the tail of an output that is kept.
  options.on_stream = [&](int stream, std::string_view text) {
    if (stream == 1) lines.read(text, take);
  };
  PERFLAB_TRY(const ProcessResult asked, run_program({tool.path.string(), "-L"}, options));
  if (asked.interrupted)
    return fail(ErrorCode::interrupted, fmt::format("{}: interrupted", tool.path.string()));
  lines.finish(take);
  if (!asked.succeeded())
    return fail(ErrorCode::missing_tool,
                fmt::format("rocprofv3 -L, which lists how the GPU can be sampled, {}",
                            describe_end(asked)),
                "run it by hand: what it says is the reason");
  return reader.take();
}

Result<PcSamplingChoice> choose_pc_sampling(const std::vector<PcSamplingOffer>& offers,
                                            std::string_view architecture,
                                            const PcSamplingWish& wish) {
  const std::string gpu = architecture.empty() ? "the GPU" : std::string(architecture);
  const PcSamplingOffer* offer = nullptr;
  for (const Method method : {Method::stochastic, Method::host_trap})
    if (offer == nullptr && (!wish.method || *wish.method == method))
      offer = offer_of(offers, architecture, method);
  if (offer == nullptr && wish.method &&
      (offer_of(offers, architecture, Method::stochastic) != nullptr ||
       offer_of(offers, architecture, Method::host_trap) != nullptr))
    return fail(ErrorCode::missing_tool,
                fmt::format("rocprofv3 does not offer {} sampling on {}",
                            pc_sampling::to_string(*wish.method), gpu),
                "leave out --pc-sampling-method: the other one is there");
  if (offer == nullptr)
    return fail(ErrorCode::missing_tool,
                fmt::format("rocprofv3 -L offers no PC sampling on {}", gpu),
                std::string(kPcSamplingRemedy));
  PcSamplingChoice choice{.method = offer->method, .interval = 0, .notes = {}};
  PERFLAB_TRY(choice.interval, interval_of(*offer, wish.interval, choice.notes));
  return choice;
}

Result<PcSamplingChoice> choose_cuda_pc_sampling(const PcSamplingWish& wish) {
  constexpr std::uint64_t kLeast = 1 << 5, kMost = std::uint64_t{1} << 31;  // cupti_pcsampling.h
  if (wish.method)
    return fail(ErrorCode::usage,
                "--pc-sampling-method: it is rocprofv3's choice, and this program is sampled by "
                "CUPTI, which has one method",
                "leave it out, or add --platform amd");
  PcSamplingChoice choice{.method = Method::cupti, .interval = 0, .notes = {}};
  if (!wish.interval) return choice;
  if (*wish.interval < kLeast || *wish.interval > kMost || !std::has_single_bit(*wish.interval))
    return fail(ErrorCode::usage,
                fmt::format("--pc-sampling-interval: CUPTI takes powers of two from {} to {} "
                            "cycles, not {}",
                            kLeast, kMost, *wish.interval),
                fmt::format("give {}, or leave it out",
                            std::clamp(std::bit_floor(*wish.interval), kLeast, kMost)));
  choice.interval = *wish.interval;
  return choice;
}

std::vector<std::string> known_pc_sampling_faults(PcSamplingSymptom symptom,
                                                  std::string_view architecture, Method method,
                                                  std::string_view version) {
  std::vector<std::string> out;
  for (const KnownFault& fault : kKnownFaults)
    if (fault.symptom == symptom && applies(fault, architecture, method, version))
      out.push_back(fmt::format("{} ({})", fault.text, fault.link));
  return out;
}

}  // namespace perflab::collect
