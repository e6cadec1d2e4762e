// A vote weighs exp(-d^2 / (2 width^2)), d the distance in scaled coordinates; the share of valid
// configurations so far has one vote of weight 1.
#include "tune/model/feasibility.h"

#include <cmath>

namespace perflab::tune {
namespace {

constexpr double kVoteWidth = 0.35;
constexpr double kBaseWeight = 1;

Table votes_of(const Dimension& dimension) {
  Table table{.codes = dimension.codes, .values = {}};
  const auto square = [](double x) { return x * x; };
  for (std::size_t a = 0; a < dimension.codes; ++a)
    for (std::size_t b = 0; b < dimension.codes; ++b) {
      double distance = dimension.categorical ? static_cast<double>(a != b)
                                              : square(dimension.size[a] - dimension.size[b]);
      if (!dimension.valuation.empty())
        distance += square(dimension.valuation[a] - dimension.valuation[b]);
      table.values.push_back(std::exp(-distance / (2 * kVoteWidth * kVoteWidth)));
    }
  return table;
}

}  // namespace

Feasibility::Feasibility(const Encoding& encoding) : encoding_(&encoding) {
  for (const Dimension& dimension : encoding.dimensions()) tables_.push_back(votes_of(dimension));
}

void Feasibility::set_pool(const std::vector<ConfigId>& pool) {
  pool_codes_.assign(tables_.size(), {});
  for (std::size_t d = 0; d < tables_.size(); ++d)
    for (const ConfigId id : pool) pool_codes_[d].push_back(encoding_->code(id, d));
  counted_ = 0;
  weight_.assign(pool.size(), 0);
  valid_weight_.assign(pool.size(), 0);
  count_votes();
}

void Feasibility::clear() {
  voters_.clear();
  valid_.clear();
  failed_ = counted_ = 0;
  weight_.assign(weight_.size(), 0);
  valid_weight_.assign(valid_weight_.size(), 0);
}

void Feasibility::add(ConfigId id, bool valid) {
  voters_.push_back(id);
  valid_.push_back(valid);
  if (!valid) ++failed_;
  count_votes();
}

void Feasibility::count_votes() {
  if (failed_ == 0) return;
  std::vector<float> votes;
  for (; counted_ < voters_.size(); ++counted_) {
    votes.assign(weight_.size(), 1);
    for (std::size_t d = 0; d < tables_.size(); ++d) {
      const double* row = tables_[d].row(encoding_->code(voters_[counted_], d));
      for (std::size_t i = 0; i < votes.size(); ++i)
        votes[i] *= static_cast<float>(row[pool_codes_[d][i]]);
    }
    for (std::size_t i = 0; i < votes.size(); ++i) weight_[i] += votes[i];
    if (!valid_[counted_]) continue;
    for (std::size_t i = 0; i < votes.size(); ++i) valid_weight_[i] += votes[i];
  }
}

double Feasibility::at(std::size_t index) const {
  if (failed_ == 0) return 1;
  const auto voters = static_cast<double>(voters_.size());
  const double base = (voters - static_cast<double>(failed_) + 1) / (voters + 2);
  return (double{valid_weight_[index]} + kBaseWeight * base) /
         (double{weight_[index]} + kBaseWeight);
}

}  // namespace perflab::tune
