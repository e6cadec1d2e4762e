// The amdgpu driver's files, in a made-up tree.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/system/files.h"
#include "base/temp_folder.h"
#include "sensors/sensors.h"

namespace perflab::sensors {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

/// A tree with GPUs.
class Tree {
 public:
  void put(const std::string& address, const std::string& file, const std::string& text) const {
    const fs::path path = root_.path() / "bus/pci/devices" / address / file;
    fs::create_directories(path.parent_path());
    ASSERT_TRUE(write_file_atomically(path, text));
  }
  /// An MI300X with gpu_metrics of a version.
  void add(const std::string& address, const std::string& metrics) const {
    put(address, "vendor", "0x1002\n");
    put(address, "hwmon/hwmon3/name", "amdgpu\n");
    put(address, "hwmon/hwmon3/freq1_input", "2100000000\n");
    put(address, "hwmon/hwmon3/freq2_input", "1300000000\n");
    put(address, "hwmon/hwmon3/temp1_input", "35000\n");
    put(address, "hwmon/hwmon3/temp2_input", "48500\n");
    put(address, "hwmon/hwmon3/power1_average", "563000000\n");
    put(address, "gpu_metrics", metrics);
  }
  [[nodiscard]] Opened open(const std::string& address) const {
    return open_sensors(address, {.sysfs = root_.path(), .nvml = "libno-such-nvml.so.1"});
  }

 private:
  test::TempFolder root_;
};

/// gpu_metrics: the header, then zeros, with values put somewhere.
std::string metrics(unsigned content, std::size_t bytes,
                    std::initializer_list<std::pair<std::size_t, std::uint64_t>> values) {
  std::string out(bytes, '\0');
  out[0] = static_cast<char>(bytes & 0xffU);
  out[1] = static_cast<char>(bytes >> 8U);
  out[2] = 1;
  out[3] = static_cast<char>(content);
  for (const auto& [at, value] : values)
    for (std::size_t i = 0; i < 8 && at + i < bytes; ++i)
      out[at + i] = static_cast<char>(out[at + i] | static_cast<char>(value >> (8 * i) & 0xffU));
  return out;
}

TEST(Amdgpu, ReadsClocksTemperaturePowerAndThrottling) {
  const Tree tree;
  // The power limit 1, the current limit of the chip, the temperature of the memory.
  tree.add("0000:c1:00.0", metrics(3, 120, {{112, 1ULL << 1U | 1ULL << 16U | 1ULL << 34U}}));
  const Opened opened = tree.open("0000:c1:00.0");
  ASSERT_NE(opened.sensors, nullptr) << opened.missing_because;
  EXPECT_EQ(opened.sensors->source(), "sysfs");
  const Reading reading = opened.sensors->read();
  EXPECT_EQ(reading.core_mhz, 2100);
  EXPECT_EQ(reading.memory_mhz, 1300);
  EXPECT_EQ(reading.temperature_c, 48.5);
  EXPECT_EQ(reading.power_w, 563);
  ASSERT_TRUE(reading.throttled.has_value());
  EXPECT_THAT(reading.throttled->list(),
              ::testing::ElementsAre(Throttle::power, Throttle::temperature, Throttle::current));
  EXPECT_TRUE(opened.sensors->missing().empty());
}

TEST(Amdgpu, NewerTablesCountHowLongItWasThrottled) {
  const Tree tree;
  for (const auto& [content, first] : {std::pair{6U, 36U}, {7U, 44U}, {8U, 44U}}) {
    tree.add("0000:c1:00.0", metrics(content, 1664,
                                     {{first, 1},
                                      {first + 4, 20},
                                      {first + 8, 300},
                                      {first + 12, 4000},
                                      {first + 16, 50000}}));
    const Opened opened = tree.open("");  // the only one
    ASSERT_NE(opened.sensors, nullptr) << opened.missing_because;
    const Reading reading = opened.sensors->read();
    EXPECT_FALSE(reading.throttled.has_value());
    ASSERT_TRUE(reading.throttled_for.has_value()) << content;
    EXPECT_THAT(*reading.throttled_for, ::testing::ElementsAre(20, 54300, 0, 0, 1)) << content;
  }
}

TEST(Amdgpu, NewerTablesCountEnergy) {
  const Tree tree;
  for (const auto& [content, at] : {std::pair{6U, 16U}, {7U, 24U}, {8U, 24U}}) {
    tree.add("0000:c1:00.0", metrics(content, 1664, {{at, 3U << 15U}}));
    EXPECT_EQ(tree.open("").sensors->read_energy(), 1.5) << content;
  }
  tree.add("0000:c1:00.0", metrics(6, 1664, {{16, ~std::uint64_t{0}}}));
  const Opened none = tree.open("");
  EXPECT_EQ(none.sensors->read_energy(), std::nullopt);
  EXPECT_THAT(none.sensors->energy_missing(), HasSubstr("counts no energy"));
  tree.add("0000:c1:00.0", metrics(3, 120, {}));
  const Opened old = tree.open("");
  EXPECT_EQ(old.sensors->read_energy(), std::nullopt);
  EXPECT_THAT(old.sensors->energy_missing(), HasSubstr("no counter of energy"));
}

TEST(Amdgpu, WhatCannotBeReadIsMissingWithItsReason) {
  const Tree tree;
  tree.add("0000:c1:00.0", metrics(4, 120, {}));
  tree.put("0000:c1:00.0", "hwmon/hwmon3/freq2_input", "what?\n");
  const Opened opened = tree.open("0000:c1:00.0");
  ASSERT_NE(opened.sensors, nullptr);
  const Reading reading = opened.sensors->read();
  EXPECT_FALSE(reading.memory_mhz || reading.throttled || reading.throttled_for);
  EXPECT_THAT(opened.sensors->missing().at("throttled"), HasSubstr("of version 1.4"));
  EXPECT_THAT(opened.sensors->missing().at("memory_mhz"), HasSubstr("freq2_input"));
  tree.add("0000:c1:00.0", metrics(3, 60, {}));
  const Opened cut = tree.open("0000:c1:00.0");
  EXPECT_FALSE(cut.sensors->read().throttled);
  EXPECT_THAT(cut.sensors->missing().at("throttled"), HasSubstr("cut short"));
}

TEST(Amdgpu, SaysWhyThereAreNone) {
  const Tree tree;
  EXPECT_THAT(tree.open("").missing_because,
              ::testing::AllOf(HasSubstr("no-such-nvml"), HasSubstr("no sensors of the amdgpu")));
  tree.add("0000:c1:00.0", metrics(3, 120, {}));
  tree.add("0000:c6:00.0", metrics(3, 120, {}));
  EXPECT_THAT(tree.open("").missing_because, HasSubstr("2 AMD GPUs"));
  EXPECT_NE(tree.open("0000:c6:00.0").sensors, nullptr);
  EXPECT_EQ(tree.open("0000:c7:00.0").sensors, nullptr);
}

}  // namespace
}  // namespace perflab::sensors
