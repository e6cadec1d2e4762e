// What must hold for any bytes that are given to rocm-perf as a trace: either documents that
// satisfy their schemas, or one error of the kind "bad input". Shared by the fuzz targets of the
// rocpd reader.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>
#include <string_view>

#include "analyze/pipeline.h"
#include "check_rows.h"
#include "report/analysis/analysis_document.h"
#include "report/analysis/analysis_text.h"
#include "report/analysis/profile_document.h"
#include "report/analysis/profile_text.h"
#include "report/kit/document.h"
#include "scratch_file.h"

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
  static const ScratchFile file("rocpd-fuzz");
  PERFLAB_CHECK(file.fill(bytes.data(), bytes.size()));
  // Two threads find what one does not.
  const unsigned threads = 1 + (bytes.size() & 1U);
  const auto runs =
      analyze::analyze_runs({{file.path()}}, {.threads = threads, .search_code = false});
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
