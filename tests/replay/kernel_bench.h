// A capture of one kernel k(float const* in, float* out, unsigned n) on the fake device: what the
// tests of verification and of the optimiser's proofs stand on.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/system/files.h"
#include "base/temp_folder.h"
#include "replay/fake_device.h"
#include "replay/sample_capture.h"
#include "replay/session/session.h"

namespace perflab::test {

using KernelBody = std::function<void(const replay::Launch&)>;

inline constexpr std::uint32_t kCount = 4096;  ///< floats of a buffer: four pages
inline constexpr std::uint64_t kOut = kSampleBase + 0x100000;

/// Buffer 0 or 1 of k().
inline std::span<float> buffer(const replay::Launch& launch, std::size_t number) {
  return {reinterpret_cast<float*>(argument<std::uint64_t>(launch, number * 8)),
          argument<std::uint32_t>(launch, 16)};
}

/// A capture of k() that turned `before` into `after` in its output; its input holds 1, 2, 3, ...
class KernelBench {
 public:
  KernelBench(const std::vector<float>& before, const std::vector<float>& after,
              KernelBody original,
              std::string demangled = "k(float const*, float*, unsigned int)") {
    sample_ = inplace_sample(kCount);
    sample_.regions.clear();
    std::vector<float> in(kCount);
    for (std::uint32_t i = 0; i < kCount; ++i) in[i] = static_cast<float>(i) + 1;
    sample_.add(kSampleBase, bytes_of_values(in), bytes_of_values(in));
    sample_.add(kOut, bytes_of_values(before), bytes_of_values(after));
    sample_.kernarg.clear();
    sample_.push<std::uint64_t>(kSampleBase);
    sample_.push<std::uint64_t>(kOut);
    sample_.push<std::uint32_t>(kCount);
    sample_.code_object = object("");
    sample_.description.dispatch.kernel = "k";
    sample_.description.dispatch.demangled = std::move(demangled);
    sample_.description.dispatch.kernarg_bytes = 20;
    device.kernels["k"] = {.body = std::move(original)};
  }

  SampleCapture& sample() { return sample_; }
  [[nodiscard]] const TempFolder& folder() const { return folder_; }

  /// Another code object whose k() has this body: its file. `name` tells it from others.
  std::filesystem::path define(const KernelBody& other, std::string_view name = "other") {
    const std::string bytes = object(name);
    device.define(bytes, "k", {.body = other});
    const std::filesystem::path file = folder_ / (std::string(name) + ".hsaco");
    EXPECT_TRUE(write_file_atomically(file, bytes));
    return file;
  }
  /// Writes the capture, once.
  const capture::Capture& written() {
    if (!capture_) capture_ = sample_.write(folder_ / "capture");
    return *capture_;
  }
  /// Opens the session, once.
  void open() {
    if (session) return;
    auto opened = replay::Session::open(written(), device, {});
    ASSERT_TRUE(opened) << opened.error().message;
    session.emplace(std::move(*opened));
  }

  static std::string object(std::string_view code) {
    return one_kernel_object(
        "k", {{0, 8, "global_buffer"}, {8, 8, "global_buffer"}, {16, 4, "by_value"}}, 20, code);
  }

  FakeDevice device;
  std::optional<replay::Session> session;

 private:
  TempFolder folder_;
  SampleCapture sample_;
  std::optional<capture::Capture> capture_;
};

}  // namespace perflab::test
