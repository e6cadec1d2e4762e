// Runs the simulator's sample program with the tools library in it, and looks at the capture.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/system/environment.h"
#include "base/temp_folder.h"
#include "capture/capture_reader.h"
#include "isolate/launch.h"

namespace perflab::test {

/// What is asked of one run.
struct Ask {
  std::vector<std::string> options;  ///< of hsa_sim_app
  std::string kernel = "^inplace$";
  std::uint64_t dispatch = 1;
  std::vector<std::pair<const char*, std::string>> environment{};
  bool stop = false;
  std::optional<capture::Platform> platform{};
};

/// One run and its capture.
class Isolated {
 public:
  explicit Isolated(const Ask& ask) {
    plan.command = {PERFLAB_HSA_SIM_FOLDER "/hsa_sim_app"};
    plan.command.insert(plan.command.end(), ask.options.begin(), ask.options.end());
    run(ask);
  }
  /// The same with another program.
  Isolated(std::vector<std::string> command, const Ask& ask) {
    plan.command = std::move(command);
    run(ask);
  }

  TempFolder folder;
  isolate::LaunchPlan plan;
  isolate::LaunchOutcome outcome;
  std::optional<capture::Capture> capture;
  std::optional<Error> problem;  ///< of judge()

  /// The program found its own result right and ended as usual.
  [[nodiscard]] bool program_is_fine() const { return outcome.process.succeeded(); }
  [[nodiscard]] const capture::Description& description() const { return capture->description(); }
  [[nodiscard]] const capture::Dispatch& dispatch() const { return description().dispatch; }

  /// An argument of the kernel.
  template <class T>
  [[nodiscard]] T argument(std::size_t offset) const {
    T value{};
    if (offset + sizeof(T) <= capture->kernarg().size())
      std::memcpy(&value, capture->kernarg().data() + offset, sizeof(T));
    return value;
  }

  /// The number of the region that holds an address; missing when there is none.
  [[nodiscard]] std::optional<std::size_t> region_of(std::uint64_t address) const {
    const auto& regions = description().regions;
    for (std::size_t i = 0; i < regions.size(); ++i)
      if (regions[i].captured() && address - regions[i].base < regions[i].bytes) return i;
    return std::nullopt;
  }
  /// The region that the kernel's first argument points to.
  [[nodiscard]] const capture::MemoryRegion& first_region() const {
    static const capture::MemoryRegion none;
    const auto number = region_of(argument<std::uint64_t>(0));
    return number ? description().regions[*number] : none;
  }

  /// Bytes of a region before the dispatch.
  [[nodiscard]] std::vector<std::byte> before(std::size_t region) const {
    std::vector<std::byte> bytes(description().regions[region].bytes);
    const auto read = capture->read_at(region, 0, bytes);
    EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().message);
    return bytes;
  }
  /// And after it: the write set laid over them.
  [[nodiscard]] std::vector<std::byte> after(std::size_t region) const {
    std::vector<std::byte> bytes = before(region);
    const auto read = capture->read_writes(
        region, [&](std::uint64_t offset, std::span<const std::byte> pages) -> Result<void> {
          std::memcpy(bytes.data() + offset, pages.data(),
                      std::min<std::size_t>(pages.size(), bytes.size() - offset));
          return {};
        });
    EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().message);
    return bytes;
  }

  /// `count` floats of the array that the argument at `offset` points to.
  [[nodiscard]] std::vector<float> array(bool behind, std::size_t count = 8,
                                         std::size_t offset = 0) const {
    const auto address = argument<std::uint64_t>(offset);
    const auto number = region_of(address);
    if (!number) return {};
    const std::vector<std::byte> bytes = behind ? after(*number) : before(*number);
    std::vector<float> floats(count);
    std::memcpy(floats.data(), bytes.data() + (address - description().regions[*number].base),
                count * sizeof(float));
    return floats;
  }

  /// Numbers of the regions that the dispatch changed.
  [[nodiscard]] std::vector<std::size_t> written() const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < description().regions.size(); ++i)
      if (!description().regions[i].written.empty()) out.push_back(i);
    return out;
  }

  [[nodiscard]] const capture::MemoryRegion* variable(const std::string& name) const {
    for (const auto& region : description().regions)
      if (region.origin == capture::Origin::variable && region.symbol == name) return &region;
    return nullptr;
  }
  [[nodiscard]] std::vector<const capture::MemoryRegion*> of_origin(capture::Origin origin) const {
    std::vector<const capture::MemoryRegion*> out;
    for (const auto& region : description().regions)
      if (region.origin == origin) out.push_back(&region);
    return out;
  }

 private:
  void run(const Ask& ask) {
    plan.kernel = ask.kernel;
    plan.dispatch = ask.dispatch;
    plan.folder = folder / "capture";
    plan.stop = ask.stop;
    plan.platform = ask.platform;
    std::vector<std::unique_ptr<ScopedVariable>> variables;
    for (const auto& [name, value] : ask.environment)
      variables.push_back(std::make_unique<ScopedVariable>(name, value));
    plan.library = PERFLAB_ISOLATE_LIBRARY_FILE;
    auto launched = isolate::launch(plan);
    ASSERT_TRUE(launched.has_value()) << describe(launched.error());
    outcome = std::move(*launched);
    if (const auto judged = isolate::judge(outcome, plan); !judged) problem = judged.error();
    if (!outcome.events.captured) return;
    auto opened = capture::Capture::open(outcome.folder);
    ASSERT_TRUE(opened.has_value()) << describe(opened.error());
    capture = std::move(*opened);
    const auto whole = capture->verify();
    EXPECT_TRUE(whole.has_value()) << (whole ? "" : describe(whole.error()));
  }
};

}  // namespace perflab::test

/// Ends the test unless the run left a capture and the program was fine.
#define ASSERT_CAPTURED(run)                                                                 \
  ASSERT_TRUE((run).capture.has_value()) << ((run).problem ? describe(*(run).problem) : ""); \
  EXPECT_TRUE((run).program_is_fine()) << describe_end((run).outcome.process)
