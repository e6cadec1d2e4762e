// What a GPU's sensors say while something runs: the highest power, and the energy of it all.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "sensors/sensors.h"

namespace perflab::sensors {

struct Sensed {
  std::optional<double> power_w, energy_j;
};

/// A thread that reads the power every 20 ms, from its construction to stop().
class PowerReadings {
 public:
  /// The sensors must outlive it.
  explicit PowerReadings(Sensors& sensors);
  PowerReadings(const PowerReadings&) = delete;
  PowerReadings& operator=(const PowerReadings&) = delete;
  ~PowerReadings() { end(); }

  /// The highest power, and the energy: the difference of the GPU's counter where it has one, else
  /// the integral of the readings (trapezoids).
  Sensed stop();

 private:
  using Clock = std::chrono::steady_clock;

  void read_on();
  void end();

  Sensors& sensors_;
  std::optional<double> energy_before_;
  std::vector<std::pair<Clock::time_point, double>> watts_;  ///< of the thread until it ended
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::jthread thread_;
};

}  // namespace perflab::sensors
