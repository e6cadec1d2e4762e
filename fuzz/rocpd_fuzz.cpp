// Fuzzes the rocpd reader and everything behind it: any bytes either give a Trace whose documents satisfy their schemas, or one
// error of the kind "bad input". The bytes go through a file, because SQLite and the checks before it work on files.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "analyze/pipeline.h"
#include "report/analysis_document.h"
#include "report/document.h"
#include "report/profile_document.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int memory_file = ::memfd_create("rocpd-fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(memory_file);
  if (::ftruncate(memory_file, 0) != 0 || ::pwrite(memory_file, data, size, 0) != static_cast<ssize_t>(size)) return 0;

  // Two threads find what one does not; the result must not depend on it.
  const auto runs = perflab::analyze::analyze_runs({{std::filesystem::path(path)}}, 1 + (size & 1));
  if (!runs) {
    PERFLAB_CHECK(runs.error().code == perflab::ErrorCode::bad_input);
    PERFLAB_CHECK(!runs.error().message.empty());
    return 0;
  }
  const auto& [trace, analysis] = runs->representative;
  const auto document = perflab::report::render("analysis", perflab::report::analysis_document(trace, analysis));
  if (!document) std::fprintf(stderr, "%s\n", document.error().message.c_str());
  PERFLAB_CHECK(document.has_value());
  const auto profile = perflab::report::render(
      "profile", perflab::report::profile_document(perflab::report::profile_of_recording(*runs)));
  if (!profile) std::fprintf(stderr, "%s\n", profile.error().message.c_str());
  PERFLAB_CHECK(profile.has_value());
  return 0;
}
