// Which parameters matter, by the model's prediction.
#pragma once

#include <vector>

#include "tune/model/model_figures.h"
#include "tune/model/posterior.h"
#include "tune/model/targets.h"

namespace perflab::tune {

/// Shares of the parameters in the variance of the predicted loss over the space, most important
/// first: total-effect Sobol indices by Jansen's estimator (Saltelli and others, Computer Physics
/// Communications 181, 2010, table 2), from 256 fixed pairs of configurations: one parameter of the
/// first is changed to the second's value, whether or not the space has that combination. A
/// prediction that is the same everywhere gives shares of 0. `best`: the best found.
std::vector<Importance> importance_of(const Encoding& encoding, const Posterior& posterior,
                                      const Targets& targets, ConfigId best);

}  // namespace perflab::tune
