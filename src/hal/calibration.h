// What a calibration found out about one GPU: which counters and which formulas of its table count
// what kernels of known work did, and the rates that kernels reached. `rocm-perf calibrate` makes
// it (calibrate/), calibration.json is its file (schemas/calibration.schema.json).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text/json.h"
#include "hal/arch.h"
#include "hal/measured_roofs.h"

namespace perflab::hal {

/// What is to be thought of a counter or formula on this GPU.
enum class CalibrationVerdict {
  confirmed,        ///< every proof is within its tolerance
  wrong_by_factor,  ///< measured = factor x expected in all proofs, of different sizes and kernels
  wrong,            ///< off, and by no common factor
  zero,             ///< 0 where it must be above 0
  noisy,            ///< repetitions differ by more than a verdict can bear
  not_measured,     ///< nothing proves it here: see the reason
};

/// "confirmed", "wrong_by_factor", ...: as in the document.
std::string_view to_string(CalibrationVerdict verdict);

/// One launch of one kernel of known work, held against what it must count.
struct CalibrationProof {
  std::string kernel;            ///< "copy_16"
  std::string launch;            ///< "1024 x 256 threads, 16 rounds"
  std::string formula;           ///< what must be counted, as a formula of the launch
  double expected = 0;           ///< above 0
  std::vector<double> measured;  ///< one per repetition, at least one
  double tolerance = 0;          ///< share of `expected`, 0 for what must be exact
};

/// What was found about one counter ("SQ_INSTS_VALU") or one formula ("fabric.read_bytes").
struct CalibratedFigure {
  std::string name;
  CalibrationVerdict verdict = CalibrationVerdict::not_measured;
  std::optional<double> factor;          ///< measured over expected; of wrong_by_factor only
  std::optional<double> spread;          ///< the largest of its proofs, (max - min) / median
  int runs = 0;                          ///< repetitions behind the verdict
  std::string reason;                    ///< of wrong, noisy and not_measured, in words; else empty
  std::vector<CalibrationProof> proofs;  ///< none of not_measured, else at least one

  /// Whether figures made with it say something false: wrong_by_factor, wrong or zero.
  [[nodiscard]] bool disproved() const {
    return verdict == CalibrationVerdict::wrong_by_factor || verdict == CalibrationVerdict::wrong ||
           verdict == CalibrationVerdict::zero;
  }
};

/// Where bytes come from, of a measured bandwidth.
enum class CalibratedLevel { memory, infinity_cache, l2, l1, lds };

/// "memory", "infinity_cache", ...: as in the document.
std::string_view to_string(CalibratedLevel level);

/// The arithmetic whose rate was measured.
struct CalibratedRate {
  Pipe pipe = Pipe::vector;
  Precision precision = Precision::fp32;
};

/// The most that a kernel reached: a bandwidth of a level, or a rate of a pipe at a precision.
struct CalibratedCeiling {
  std::optional<CalibratedLevel> level;  ///< this or `rate`
  std::optional<CalibratedRate> rate;
  double value = 0;  ///< the best repetition; GB/s, GFLOP/s or GOP/s, with 1e9
  std::string unit;
  double spread = 0;              ///< (max - min) / median of the repetitions
  int runs = 0;                   ///< repetitions
  std::optional<double> nominal;  ///< the peak of the tables, in `unit`
  std::string nominal_formula;    ///< how it is computed; empty without one
  std::string kernel;             ///< that reached it
  std::string stream;  ///< its hot loop in instructions: "16 v_fma_f32, 2 SALU, 1 branch"
};

/// The GPU and the software that a calibration is good for.
struct CalibratedGpu {
  std::string architecture;  ///< "gfx942", "sm_90"
  std::string name;          ///< "AMD Instinct MI300X"; empty: not told
  std::string uuid;          ///< empty: not told
  std::string driver;        ///< "580.159.04"; empty: not told
  std::string runtime;       ///< "ROCm 7.1.1", "CUDA 13.0"; empty: not told
  std::string profiler;      ///< "rocprofv3 1.1.0", "CUPTI 13.0"; empty: not told
  std::string compiler;      ///< first line of its version
};

/// How a kernel's code was held against its claim.
enum class KernelCheck {
  agrees,         ///< its disassembly has what the claim says: it proves counters
  refused,        ///< the compiler made something else: it proves nothing
  not_compiled,   ///< the compiler refused it
  not_here,       ///< the architecture has no such instructions
  wrong_results,  ///< it ran, and what it computed is wrong: it proves nothing
};

/// "agrees", "refused", ...: as in the document.
std::string_view to_string(KernelCheck check);

struct CalibrationKernel {
  std::string name;
  std::string shows;  ///< what it is for, one clause
  KernelCheck check = KernelCheck::agrees;
  std::string stream;  ///< its hot loop in instructions; empty: not compiled
  std::string reason;  ///< why it proves nothing; empty: it agrees
};

/// A calibration as found, or as its file has it.
struct Calibration {
  CalibratedGpu gpu;
  std::string date;                        ///< "2026-11-27T00:31:05Z"; when it was made
  int runs = 0;                            ///< repetitions that were asked for
  std::vector<CalibratedFigure> counters;  ///< by name, those of the table
  std::vector<CalibratedFigure> formulas;  ///< in the table's order
  std::vector<CalibratedCeiling> ceilings;
  std::vector<CalibrationKernel> kernels;

  /// nullptr: it says nothing of it.
  [[nodiscard]] const CalibratedFigure* counter(std::string_view name) const;
  [[nodiscard]] const CalibratedFigure* formula(std::string_view name) const;
  [[nodiscard]] const CalibratedCeiling* ceiling(CalibratedLevel level) const;
  [[nodiscard]] const CalibratedCeiling* ceiling(Pipe pipe, Precision precision) const;

  /// Its ceilings as those of a benchmark's file; a roof's `column` is the kernel that reached it.
  [[nodiscard]] MeasuredRoofs roofs() const;
};

/// The members of calibration.json but for schema_version, document and generator.
Json calibration_json(const Calibration& calibration);

/// The calibration in a parsed document. Errors (bad_input, `what` begins the message): it is no
/// calibration, of another major version, a member is missing or cannot be.
Result<Calibration> calibration_from_json(const Json& document, std::string_view what);

/// Where `rocm-perf calibrate` keeps that of an architecture unless it is told otherwise:
/// $XDG_STATE_HOME/rocm-perf/calibration-gfx942.json, or in ~/.local/state; empty: neither is
/// known.
std::filesystem::path calibration_place(std::string_view architecture);

/// Reads a calibration.json. Errors: those of read_file and calibration_from_json.
Result<Calibration> read_calibration(const std::filesystem::path& file);

}  // namespace perflab::hal
