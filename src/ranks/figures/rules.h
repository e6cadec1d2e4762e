// The numbers by which figures of ranks are judged, in one place. What each means and why it is so
// large: docs/models/ranks.md "Rules". Measured origins: docs/facts/ranks.md.
#pragma once

#include <cstdint>

namespace perflab::ranks::rules {

/// How far exits of one operation may lie apart, where no clock says: the larger of a time and a
/// share of the shortest duration. Measured: 1 to 7 us of up to 86 us on 8 V100; 3.6 of 18.6 us,
/// 337 (at most 566) of 6042 us, 291 of 11663 us on 8 MI300.
inline constexpr std::int64_t kExitsApart = 8'000;  ///< ns
inline constexpr double kExitsApartShare = 0.2;

/// Slow or waiting: from this share of the time in communication kernels on, waiting dominates;
/// up to the other one, transfer. The whole interval of the share has to lie on that side.
inline constexpr double kWaitDominates = 2.0 / 3, kTransferDominates = 1.0 / 3;

/// A pattern of late ranks needs so many operations whose last arriver is decided, and these so
/// much of all lateness seen.
inline constexpr std::uint64_t kFewestDecided = 5;
inline constexpr double kLeastDecidedShare = 0.5;
/// Persistent: one rank has so much of the delay and of last arrivals; of two ranks the larger.
inline constexpr double kPersistentShare = 0.5, kPersistentShareOfTwo = 0.9;
/// By node: the ranks of one node have so much of the delay, and this many times their even share.
inline constexpr double kNodeShare = 0.7, kNodeTimesEven = 1.5;
/// Imbalance: work before an operation and lateness correlate so much, and one ns more work means
/// between these many ns more lateness.
inline constexpr double kImbalanceCorrelation = 0.7, kImbalanceSlopeLow = 0.5,
                        kImbalanceSlopeHigh = 2;
/// Rotating: no rank has more than its even share of last arrivals by so many standard deviations
/// of chance.
inline constexpr double kRotatingDeviations = 3;

/// A straggler's cause is looked for where its delay is this share of all delay, in this many
/// ranks at most.
inline constexpr double kStragglerShare = 0.1;
inline constexpr std::size_t kMostStragglers = 4;
/// A part of the excess is its cause from this share on.
inline constexpr double kCauseShare = 0.5;
/// Excess that explains less than this share of the lateness explains nothing.
inline constexpr double kLeastExplained = 0.5;
/// Clock: so many kernels with such a share of the kernel time each are all slower by this factor
/// or more, and their factors are this much apart at most (as shares of the smallest excess).
inline constexpr std::size_t kClockKernels = 3;
inline constexpr double kClockKernelShare = 0.02, kClockFactor = 1.03, kClockApart = 0.5;
/// The share of the kernel time that these kernels have together.
inline constexpr double kClockCovers = 0.7;

}  // namespace perflab::ranks::rules
