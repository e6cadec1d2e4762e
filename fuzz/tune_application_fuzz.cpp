// Fuzzes application files. What must hold: one error of the right kind, or kernels with distinct
// names that can be file names, each with one source of its times and patterns that compile.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/text/pattern.h"
#include "tune/records/read_application.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using perflab::Pattern;
  using namespace perflab::tune;  // NOLINT(google-build-using-namespace): all of it is used
  const auto read =
      parse_application(std::string_view(reinterpret_cast<const char*>(data), size), "app.json");
  PERFLAB_CHECK(read || read.error().code == perflab::ErrorCode::bad_input);
  if (!read) return 0;
  PERFLAB_CHECK(!read->kernels.empty() && read->kernels.size() <= kMostApplicationKernels);
  std::set<std::string> names;
  for (const ApplicationKernel& kernel : read->kernels) {
    PERFLAB_CHECK(names.insert(kernel.name).second);
    PERFLAB_CHECK(!kernel.name.empty() && kernel.name.front() != '.' &&
                  kernel.name.find_first_of("/ \n") == std::string::npos);
    PERFLAB_CHECK(Pattern::compile(kernel.pattern).has_value());
    const bool simulated = kernel.source == KernelSource::simulate;
    PERFLAB_CHECK(simulated != kernel.recording.empty());
    PERFLAB_CHECK((kernel.source == KernelSource::capture) != kernel.capture.empty());
    PERFLAB_CHECK(simulated || !kernel.space.empty() || kernel.described);
    PERFLAB_CHECK(kernel.space.empty() || !kernel.described);
  }
  PERFLAB_CHECK(!read->command.empty() || (read->metric_pattern.empty() && !read->maximize));
  return 0;
}
