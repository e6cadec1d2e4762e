// One side of a comparison: samples of kernels, whatever they were read from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace perflab::compare {

/// What one sample is.
enum class SampleKind : std::uint8_t {
  dispatch,   ///< one dispatch of a kernel
  run,        ///< the sum over a kernel's dispatches in one run of the program
  iteration,  ///< one replay of a captured dispatch
  repeat,     ///< one repeat of a configuration in a tuning, or of an accepted source
  value,      ///< a number of a text file
};
/// "dispatch", "run", "iteration", "repeat", "value".
std::string_view to_string(SampleKind kind);

/// The samples of one kernel, or of whatever else was measured.
struct SampleSeries {
  std::string name;               ///< as people know it; empty: it has none
  std::string mangled_name = {};  ///< empty: not known
  std::vector<double> samples;    ///< in the order measured, run after run; may be empty
  std::vector<std::optional<double>> run_sums;     ///< by run; nullopt: the run has none of it
  std::vector<trace::LaunchConfig> launches = {};  ///< distinct ones, ascending; empty: not known
};

/// One side of a comparison.
struct SampleSide {
  std::vector<std::string> files;                 ///< as given
  std::vector<std::filesystem::path> read_files;  ///< all that were read: no output may replace one
  /// Of these, the recordings of a program's runs, run after run; a set of tables is one of them.
  std::vector<std::filesystem::path> recordings = {};
  /// "rocpd", "rocprofv3", "kineto", "profile", "analysis", "replay", "journal", "numbers", ...
  std::string kind;
  std::string unit;  ///< "ns", "us", "ms", "s", or a metric's own; empty: not said
  std::optional<bool> larger_is_better;  ///< nullopt: not said
  SampleKind samples_are = SampleKind::value;
  std::size_t runs = 0;          ///< of the program; 0: not known
  bool part_of_kernels = false;  ///< there were others, whose samples are not here
  /// Of these others, where there are any: how many, and their share of the time; missing: not
  /// known.
  std::optional<std::size_t> other_kernels = {};
  std::optional<double> other_share = {};
  /// Sums of all kernels by run, these others among them; empty: not known.
  std::vector<double> run_totals = {};
  std::string synthetic;             ///< note of made-up samples; empty: recorded
  std::vector<SampleSeries> series;  ///< names are distinct
  std::vector<std::string> notes;    ///< what to know about these samples
};

}  // namespace perflab::compare
