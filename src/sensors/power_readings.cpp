// See power_readings.h. The sensors are read by one thread at a time: by this one until it ended.
#include "sensors/power_readings.h"

#include <algorithm>
#include <cstddef>

namespace perflab::sensors {
namespace {

constexpr std::chrono::milliseconds kReadingPeriod{20};

}  // namespace

PowerReadings::PowerReadings(Sensors& sensors)
    : sensors_(sensors), energy_before_(sensors.read_energy()), thread_([this] { read_on(); }) {}

Sensed PowerReadings::stop() {
  end();
  Sensed sensed;
  double joules = 0;
  for (std::size_t i = 0; i < watts_.size(); ++i) {
    sensed.power_w = std::max(sensed.power_w.value_or(watts_[i].second), watts_[i].second);
    if (i > 0)
      joules += 0.5 * (watts_[i].second + watts_[i - 1].second) *
                std::chrono::duration<double>(watts_[i].first - watts_[i - 1].first).count();
  }
  const std::optional<double> after = sensors_.read_energy();
  if (energy_before_ && after && *after >= *energy_before_)
    sensed.energy_j = *after - *energy_before_;
  else if (watts_.size() > 1)
    sensed.energy_j = joules;
  return sensed;
}

void PowerReadings::end() {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void PowerReadings::read_on() {
  std::unique_lock lock(mutex_);
  while (true) {
    const bool last = ended_;
    lock.unlock();
    if (const auto watts = sensors_.read().power_w) watts_.emplace_back(Clock::now(), *watts);
    lock.lock();
    if (last) return;
    changed_.wait_for(lock, kReadingPeriod, [this] { return ended_; });
  }
}

}  // namespace perflab::sensors
