// Names are compared whole, and shown as a terminal can take them.
#include "analyze/keep_kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "base/text/pattern.h"
#include "base/text/printable.h"

namespace perflab::analyze {
namespace {

/// Names of kernels that an error lists at most.
constexpr std::size_t kMostNames = 10;

/// Each once, in the order of the roofline: a kernel can have run on several architectures.
std::string names_in(const Roofline& roofline) {
  std::vector<std::string> names;
  for (const KernelRoofline& kernel : roofline.kernels)
    if (std::string name = printable(kernel.kernel); std::ranges::find(names, name) == names.end())
      names.push_back(std::move(name));
  const std::size_t shown = std::min(names.size(), kMostNames);
  std::string text = fmt::format("{}", fmt::join(std::span(names).first(shown), ", "));
  if (shown < names.size()) text += fmt::format(", and {} more", names.size() - shown);
  return text;
}

}  // namespace

Result<void> keep_kernels(const std::string& regex, Analysis& analysis) {
  PERFLAB_TRY(const Pattern pattern, Pattern::compile(regex));
  Roofline& roofline = *analysis.roofline;
  const auto matches = [&](const auto& kernel) { return pattern.found_in(kernel.kernel); };
  if (std::ranges::none_of(roofline.kernels, matches))
    return fail(ErrorCode::usage,
                fmt::format("--kernel {}: no kernel with counters matches", regex),
                fmt::format("there are: {}", names_in(roofline)));
  std::erase_if(roofline.kernels, std::not_fn(matches));
  std::erase_if(analysis.bottlenecks.kernels, std::not_fn(matches));
  return {};
}

}  // namespace perflab::analyze
