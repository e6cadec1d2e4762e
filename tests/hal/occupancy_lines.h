// One line of text per answer, from types of either namespace: the program's own and those of the
// installed header. install_test.cpp copies this file beside the outside program.
#pragma once

#include <sstream>
#include <string>

namespace occupancy_lines {

template <class Number>
std::string or_dash(const Number& value) {
  return value ? std::to_string(*value) : "-";
}

template <class Step>
void add_step(std::ostream& out, const Step& step) {
  if (!step) {
    out << "none ";
    return;
  }
  for (const auto& change : step->changes)
    out << to_string(change.resource) << ":" << change.from << ">" << change.to << " ";
  out << "= " << step->waves_per_simd << " " << step->occupancy << " " << step->workgroups_per_cu
      << " ";
}

/// Everything of one model's answer.
template <class Occupancy, class NextStep, class Headroom>
std::string line_of(const Occupancy& occupancy, const NextStep& next, const Headroom& room) {
  std::ostringstream out;
  out.precision(17);
  out << occupancy.waves_per_simd << " " << occupancy.waves_per_simd_floor << " "
      << occupancy.waves_per_simd_ceil << " " << occupancy.max_waves_per_simd << " "
      << occupancy.occupancy << " " << occupancy.workgroups_per_cu << " ";
  for (const auto limiter : occupancy.limiters) out << to_string(limiter) << " ";
  out << "| ";
  add_step(out, next.best);
  for (const auto& single : next.alone) {
    add_step(out, single.step);
    out << static_cast<int>(single.reason) << " ";
  }
  out << "| " << room.vgprs << " " << or_dash(room.agprs) << " " << or_dash(room.sgprs) << " "
      << room.lds << " " << room.block << "\n";
  return out.str();
}

}  // namespace occupancy_lines
