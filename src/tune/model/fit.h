// Hyper-parameters of the model: the most probable ones for what was measured. Facts:
// docs/models/autotuning.md "Gaussian process".
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tune/model/covariance.h"
#include "tune/model/encoding.h"

namespace perflab::tune {

/// Configurations with their standardised targets.
struct Observations {
  std::vector<ConfigId> ids;
  std::vector<double> targets;
};

/// Log of likelihood times priors, without constants; -infinity when the covariance matrix is not
/// positive definite. Rasmussen and Williams equation 5.8.
double log_posterior(const Encoding& encoding, const Observations& data, const Hyper& hyper);

/// The part of it that is of the lengths (length_prior).
double log_prior_of_lengths(const Encoding& encoding, const Hyper& hyper);

/// The hyper-parameters of a local maximum of log_posterior, searched from `start` with its
/// gradient (equation 5.9; BFGS, Nocedal and Wright algorithm 6.1), at most `most` evaluations.
Hyper fit(const Encoding& encoding, const Observations& data, const Hyper& start, std::size_t most);

}  // namespace perflab::tune
