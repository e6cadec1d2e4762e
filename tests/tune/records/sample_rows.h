// Evaluated configurations made up from a seed, with everything that is awkward to write and to
// read back: texts with commas, quotes and line breaks, texts that look like numbers, extreme
// numbers, every outcome.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/prng.h"
#include "tune/records/recording.h"

namespace perflab::tune::test {

using perflab::test::Prng;

/// Any finite number.
inline double any_number(Prng& prng) {
  constexpr std::array<double, 8> kSpecial = {0.0, -0.0,   1e308, 5e-324,
                                              0.1, 1e-300, 3.0,   123456789.125};
  if (prng.below(4) == 0) return kSpecial[static_cast<std::size_t>(prng.below(8))];
  while (true)
    if (const double number = std::bit_cast<double>(prng.next()); std::isfinite(number))
      return number;
}

inline Value any_value(Prng& prng) {
  constexpr std::array<const char*, 16> kTexts = {
      "a,b", "say \"x\"", "two\nlines", "16", "0.5", "true", "True", "",
      "'",   "'16'",      "\r\n",       " ",  "é",   "inf",  "007",  "x;y"};
  switch (prng.below(4)) {
    case 0:
      return prng.below(2) == 0;
    case 1:
      return static_cast<std::int64_t>(prng.next()) >> prng.below(64);
    case 2:
      return any_number(prng);
    default:
      return std::string(kTexts[static_cast<std::size_t>(prng.below(16))]);
  }
}

inline std::vector<double> numbers(Prng& prng, std::int64_t most) {
  std::vector<double> list;
  for (std::int64_t left = prng.below(most + 1); left > 0; --left) list.push_back(any_number(prng));
  return list;
}

inline Evaluation correct(double value, std::vector<double> samples) {
  Evaluation evaluation;
  evaluation.outcome = Outcome::correct;
  evaluation.value = value;
  evaluation.samples = std::move(samples);
  return evaluation;
}

inline Evaluation failed(Outcome outcome, std::string detail = {}) {
  Evaluation evaluation;
  evaluation.outcome = outcome;
  evaluation.detail = std::move(detail);
  return evaluation;
}

inline CompiledKernel any_kernel(Prng& prng) {
  CompiledKernel kernel;
  kernel.kernel = "_Z1k\"\\";
  kernel.target = "gfx942";
  kernel.vgprs = prng.below(512);
  kernel.lds_bytes = prng.below(65'536);
  kernel.spills = prng.below(3);
  if (prng.below(2) == 0) kernel.occupancy = 0.1 * static_cast<double>(prng.below(11));
  if (prng.below(2) == 0)
    kernel.mix = {.instructions = prng.below(9999), .valu = prng.below(999), .lds = prng.below(99)};
  else
    kernel.why_no_mix = "no \"llvm-objdump\"";
  return kernel;
}

inline Evaluation any_evaluation(Prng& prng) {
  Evaluation evaluation;
  evaluation.outcome = static_cast<Outcome>(prng.below(6));
  if (evaluation.outcome == Outcome::correct) {
    evaluation.value = any_number(prng);
    evaluation.samples = numbers(prng, 4);
    if (prng.below(2) == 0) evaluation.cv = any_number(prng);
    evaluation.unstable = prng.below(2) == 0;
  } else {
    evaluation.detail = "exit code 1, \"error\": x < 0\n\ttab";
  }
  evaluation.warm_up = numbers(prng, 2);
  evaluation.build_seconds = 0.001 * static_cast<double>(prng.below(100'000));
  evaluation.run_seconds = 0.001 * static_cast<double>(prng.below(100'000));
  if (prng.below(2) == 0) evaluation.longest_run_seconds = any_number(prng);
  while (prng.below(3) == 0) evaluation.compiled.push_back(any_kernel(prng));
  return evaluation;
}

/// Configurations of the same parameters, no two with the same values.
inline std::vector<ResultRow> any_rows(Prng& prng) {
  constexpr std::array<const char*, 6> kNames = {"BLOCK_M", "value", "a,b", "cv", "\"q\"", "time"};
  const auto width = static_cast<std::size_t>(1 + prng.below(6));
  std::vector<ResultRow> rows;
  for (std::int64_t i = 1 + prng.below(8); i > 0; --i) {
    ResultRow row;
    for (std::size_t p = 0; p < width; ++p)
      row.configuration.emplace_back(kNames[p], any_value(prng));
    row.configuration.emplace_back("row", i);
    row.evaluation = any_evaluation(prng);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace perflab::tune::test
