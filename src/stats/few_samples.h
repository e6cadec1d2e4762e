// How many samples it takes at least to tell two sides apart, whatever the samples are.
#pragma once

#include <cstddef>

namespace perflab::stats {

/// Whether so few samples of each side can reach the confidence at all: the clearest outcome, all
/// of one side below all of the other, has a chance of 2 / (a + b over a) when there is no
/// difference. It has to be half of what the confidence allows: others leave 1 out of their
/// interval, too. `confidence` is above 0 and below 1.
bool can_decide(std::size_t a, std::size_t b, double confidence);

/// The fewest samples of each side that can: 5 for 95 %, 6 for 99.5 %.
std::size_t fewest_to_decide(double confidence);

}  // namespace perflab::stats
