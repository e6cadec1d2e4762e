// The corpus of cheats as text (README.md describes the files), and the inputs that all of them are
// judged on.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/temp_folder.h"
#include "replay/cuda/cuda_capture.h"
#include "replay/sample_capture.h"

namespace perflab::test {

/// One proposal.
struct Cheat {
  std::string name;
  std::vector<std::string> expected;  ///< reasons, any of which is right; or "accepted"
  std::string source;                 ///< what is proposed
  std::string guard;                  ///< that alone refuses it; empty: not said
};

/// `text` with one occurrence of `old` replaced; a failed test when there is not exactly one.
inline std::string replaced_once(std::string text, const std::string& old, const std::string& by,
                                 const std::string& name) {
  const std::size_t at = text.find(old);
  EXPECT_TRUE(at != std::string::npos && text.find(old, at + 1) == std::string::npos)
      << name << ": not exactly once in original.hip: " << old;
  return at == std::string::npos ? text : text.replace(at, old.size(), by);
}

/// Reads one file of the corpus.
inline Cheat read_cheat(const std::filesystem::path& file, const std::string& original) {
  Cheat cheat{.name = file.stem().string(), .expected = {}, .source = original, .guard = {}};
  const std::string text = text_of(file);
  const std::string guard = "\nguard: ";
  if (const std::size_t at = text.find(guard); at != std::string::npos)
    cheat.guard = text.substr(at + guard.size(), text.find('\n', at + 1) - at - guard.size());
  std::istringstream reasons(text.substr(8, text.find('\n') - 8));
  for (std::string reason; reasons >> reason;) cheat.expected.push_back(reason);
  const std::string replace = "---- replace\n", with = "\n---- with\n", whole = "---- whole\n";
  if (const std::size_t at = text.find(whole); at != std::string::npos) {
    cheat.source = text.substr(at + whole.size());
    return cheat;
  }
  for (std::size_t at = text.find(replace); at != std::string::npos;) {
    const std::size_t old_at = at + replace.size(), by = text.find(with, old_at);
    const std::size_t new_at = by + with.size(), next = text.find(replace, new_at);
    const std::size_t end = next == std::string::npos ? text.size() : next;
    cheat.source = replaced_once(cheat.source, text.substr(old_at, by - old_at),
                                 text.substr(new_at, end - 1 - new_at), cheat.name);
    at = next;
  }
  return cheat;
}

/// Those of a folder beside this file, by name.
inline std::vector<Cheat> read_cheats(const std::string& folder, const std::string& original) {
  std::vector<Cheat> cheats;
  for (const auto& entry :
       std::filesystem::directory_iterator(PERFLAB_SOURCE_DIR "/tests/cheats/" + folder))
    if (entry.path().extension() == ".txt") cheats.push_back(read_cheat(entry.path(), original));
  std::ranges::sort(cheats, {}, &Cheat::name);
  return cheats;
}

/// All of the corpus, and one of 10 MB.
inline std::vector<Cheat> read_corpus(const std::string& original) {
  std::vector<Cheat> corpus = read_cheats("corpus", original);
  corpus.push_back({.name = "ten_megabytes",
                    .expected = {"too_large"},
                    .source = original + "// " + std::string(10'000'000, 'x') + "\n",
                    .guard = {}});
  return corpus;
}

/// The numbers that original.hip makes of a seed.
inline std::vector<float> corpus_matrix(std::uint32_t seed, std::size_t count) {
  std::vector<float> matrix(count);
  for (float& value : matrix) {
    seed = seed * 1664525U + 1013904223U;
    value = static_cast<float>(seed >> 8U) / 8388608.0F - 0.5F;
  }
  return matrix;
}

/// row_sums of 60 rows of 1021 columns, captured: {matrix, sums, shape}. Behind the sums there are
/// numbers that nobody may touch. `begun`: a capture with its machine and nothing else; `base`:
/// where memory lies; `hidden_bytes`: behind the arguments.
inline SampleCapture corpus_capture(SampleCapture begun, std::uint64_t base,
                                    std::size_t hidden_bytes) {
  constexpr std::int32_t kRows = 60, kColumns = 1021;
  SampleCapture sample = std::move(begun);
  sample.regions.clear();
  sample.kernarg.clear();
  const std::vector<float> matrix = corpus_matrix(1, 64 * kColumns);
  std::vector<float> before(128, -1.0F), after = before;
  for (std::int32_t row = 0; row < kRows; ++row) {
    float sum = 0;
    for (std::int32_t column = 0; column < kColumns; ++column)
      sum += matrix[static_cast<std::size_t>(row * kColumns + column)];
    after[static_cast<std::size_t>(row)] = sum;
  }
  const std::uint64_t sums = base + (64U << 20U);
  sample.add(base, bytes_of_values(matrix), bytes_of_values(matrix));
  sample.add(sums, bytes_of_values(before), bytes_of_values(after));
  sample.push<std::uint64_t>(base);
  sample.push<std::uint64_t>(sums);
  sample.push<std::int32_t>(kRows);
  sample.push<std::int32_t>(kColumns);
  sample.kernarg.resize(24 + hidden_bytes);
  capture::Dispatch& dispatch = sample.description.dispatch;
  dispatch.kernel = dispatch.demangled = "row_sums";
  dispatch.grid = {64, 1, 1};
  dispatch.workgroup = {64, 1, 1};
  dispatch.kernarg_bytes = static_cast<std::uint32_t>(sample.kernarg.size());
  return sample;
}

/// On an AMD GPU, with this code object.
inline SampleCapture corpus_capture(std::string code_object) {
  SampleCapture sample = inplace_sample();
  sample.code_object = std::move(code_object);
  return corpus_capture(std::move(sample), kSampleBase, 256);
}

/// On an NVIDIA GPU, with this cubin.
inline SampleCapture corpus_capture_of_cuda(std::string cubin) {
  SampleCapture sample = cuda_launch("inplace", 64);
  sample.code_object = std::move(cubin);
  sample.description.dispatch.cuda->parameters = {{0, 8}, {8, 8}, {16, 8}};
  sample = corpus_capture(std::move(sample), kCudaBase, 0);
  for (SampleRegion& one : sample.regions)
    one.region.pool_flags = 0, one.region.granule = 0, one.region.recommended_granule = 0;
  return sample;
}

}  // namespace perflab::test
