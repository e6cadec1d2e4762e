// Reading the faults: CUDA_SIM_CUPTI_FAIL="cuptiActivityEnable:36=21,cuptiSubscribe=39" and the
// other variables of README.md.
#include "cuda_sim/faults.h"

#include <algorithm>
#include <cstdlib>

namespace perflab::cuda_sim {
namespace {

std::string value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

std::uint32_t number_in(std::string_view text) {
  return static_cast<std::uint32_t>(std::strtoul(std::string(text).c_str(), nullptr, 10));
}

}  // namespace

const Faults& Faults::get() {
  static const auto* faults = new Faults;
  return *faults;
}

Faults::Faults() {
  if (const std::string every = value_of("CUDA_SIM_DROP_EVERY"); !every.empty())
    drop_every = number_in(every);
  if (const std::string wanted = value_of("CUDA_SIM_CUPTI_VERSION"); !wanted.empty())
    version = number_in(wanted);
  second_client = value_of("CUDA_SIM_SECOND_CLIENT");
  const std::string all = value_of("CUDA_SIM_CUPTI_FAIL");
  std::string_view rest = all;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view what = one.substr(0, equals);
    const std::size_t colon = what.find(':');
    Fault fault{.call = std::string(what.substr(0, colon)),
                .argument = std::nullopt,
                .answer = cuda::CuptiResult{number_in(one.substr(equals + 1))}};
    if (colon != std::string_view::npos) fault.argument = number_in(what.substr(colon + 1));
    faults_.push_back(std::move(fault));
  }
}

std::optional<cuda::CuptiResult> Faults::answer(std::string_view call,
                                                std::uint32_t argument) const {
  for (const Fault& fault : faults_)
    if (fault.call == call && fault.argument.value_or(argument) == argument) return fault.answer;
  return std::nullopt;
}

}  // namespace perflab::cuda_sim
