// What must hold for any bytes that are given to rocm-perf as a trace: either documents that
// satisfy their schemas, or one error of the kind "bad input". Shared by the fuzz targets of the
// rocpd reader.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <span>
#include <string>

#include "analyze/pipeline.h"
#include "check_rows.h"
#include "report/analysis/analysis_document.h"
#include "report/analysis/analysis_text.h"
#include "report/analysis/profile_document.h"
#include "report/analysis/profile_text.h"
#include "report/kit/document.h"

namespace perflab::fuzz {

/// Aborts unless the document can be rendered.
inline void check_document(std::string_view name, const Json& value) {
  const auto text = report::render(name, value);
  if (!text) std::fprintf(stderr, "%s\n", text.error().message.c_str());
  PERFLAB_CHECK(text.has_value());
}

/// Reads, analyses and reports the bytes. They go through a file, because SQLite and the checks
/// before it work on files.
inline void check_rocpd(std::span<const std::uint8_t> bytes) {
  static const int memory_file = ::memfd_create("rocpd-fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(memory_file);
  if (::ftruncate(memory_file, 0) != 0 ||
      ::pwrite(memory_file, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return;
  // Two threads find what one does not.
  const unsigned threads = 1 + (bytes.size() & 1U);
  const auto runs = analyze::analyze_runs({{std::filesystem::path(path)}},
                                          {.threads = threads, .search_code = false});
  if (!runs) {
    PERFLAB_CHECK(runs.error().code == ErrorCode::bad_input);
    PERFLAB_CHECK(!runs.error().message.empty());
    return;
  }
  const auto& [trace, analysis] = runs->representative;
  check_rows(trace);
  const report::ProfileData profile = report::profile_of_recording(*runs);
  check_document("analysis", report::analysis_document(trace, analysis));
  check_document("profile", report::profile_document(profile));
  PERFLAB_CHECK(!report::analysis_text(trace, analysis, {}).empty());
  PERFLAB_CHECK(!report::profile_text(profile, {}).empty());
}

}  // namespace perflab::fuzz
