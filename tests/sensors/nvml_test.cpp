// NVML's readings from the stand-in library.
#include <gmock/gmock.h>

#include "base/temp_folder.h"
#include "sensors/sensors.h"

namespace perflab::sensors {
namespace {

using ::testing::HasSubstr;

constexpr const char* kFake = PERFLAB_NVML_SIM_FOLDER "/libnvidia-ml.so.1";

TEST(Nvml, ReadsClocksTemperaturePowerAndThrottling) {
  const test::ScopedVariable script("NVML_SIM_SCRIPT", "1410/ec");
  const Opened opened = detail::open_nvml("0000:17:00.0", kFake);
  ASSERT_NE(opened.sensors, nullptr) << opened.missing_because;
  EXPECT_EQ(opened.sensors->source(), "nvml");
  const Reading reading = opened.sensors->read();
  EXPECT_EQ(reading.core_mhz, 1410);
  EXPECT_EQ(reading.memory_mhz, 2619);
  EXPECT_EQ(reading.temperature_c, 41);
  EXPECT_EQ(reading.power_w, 312.5);
  ASSERT_TRUE(reading.throttled.has_value());
  EXPECT_THAT(reading.throttled->list(),
              ::testing::ElementsAre(Throttle::power, Throttle::temperature, Throttle::power_brake,
                                     Throttle::hardware));
  EXPECT_TRUE(opened.sensors->missing().empty());
}

TEST(Nvml, CountsEnergyInJoules) {
  const Opened opened = detail::open_nvml("0000:17:00.0", kFake);
  ASSERT_NE(opened.sensors, nullptr) << opened.missing_because;
  EXPECT_EQ(opened.sensors->read_energy(), 12.5);
  EXPECT_EQ(opened.sensors->read_energy(), 25);
  EXPECT_EQ(opened.sensors->energy_missing(), "");
  const test::ScopedVariable fail("NVML_SIM_FAIL", "nvmlDeviceGetTotalEnergyConsumption=3");
  EXPECT_EQ(opened.sensors->read_energy(), std::nullopt);
  EXPECT_EQ(opened.sensors->energy_missing(), "NVML: Not Supported");
  EXPECT_TRUE(opened.sensors->missing().empty());
}

TEST(Nvml, IdleAndSettingsAreNoThrottling) {
  const test::ScopedVariable script("NVML_SIM_SCRIPT", "345/113");
  const Opened opened = detail::open_nvml("", kFake);
  ASSERT_NE(opened.sensors, nullptr) << opened.missing_because;
  const Reading reading = opened.sensors->read();
  ASSERT_TRUE(reading.throttled.has_value());
  EXPECT_FALSE(reading.throttled->any());
}

TEST(Nvml, WhatAGpuDoesNotGiveIsMissingWithItsReason) {
  const test::ScopedVariable fail("NVML_SIM_FAIL",
                                  "nvmlDeviceGetPowerUsage=3,nvmlDeviceGetClockInfo=3");
  const Opened opened = detail::open_nvml("0000:17:00.0", kFake);
  ASSERT_NE(opened.sensors, nullptr);
  const Reading reading = opened.sensors->read();
  EXPECT_FALSE(reading.power_w || reading.core_mhz || reading.memory_mhz);
  EXPECT_EQ(reading.temperature_c, 41);
  EXPECT_EQ(opened.sensors->missing().at("power_w"), "NVML: Not Supported");
}

TEST(Nvml, SaysWhyThereIsNone) {
  EXPECT_THAT(detail::open_nvml("", "libno-such-nvml.so.1").missing_because,
              HasSubstr("libno-such-nvml.so.1 is not here"));
  EXPECT_THAT(detail::open_nvml("", "libc.so.6").missing_because, HasSubstr("has no nvmlInit_v2"));
  EXPECT_THAT(detail::open_nvml("0000:99:00.0", kFake).missing_because, HasSubstr("Not Found"));
  {
    const test::ScopedVariable two("NVML_SIM_GPUS", "2");
    EXPECT_THAT(detail::open_nvml("", kFake).missing_because, HasSubstr("2 GPUs"));
    EXPECT_NE(detail::open_nvml("0000:18:00.0", kFake).sensors, nullptr);
  }
  const test::ScopedVariable fail("NVML_SIM_FAIL", "nvmlInit_v2=9");
  EXPECT_THAT(detail::open_nvml("", kFake).missing_because, HasSubstr("does not start"));
}

}  // namespace
}  // namespace perflab::sensors
