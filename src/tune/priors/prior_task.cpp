// Rows of the recording that agree in the shared parameters are one: the best of them. A failure is
// a bad result there (the 90th percentile), not a reason to leave the configuration out here.
#include "tune/priors/prior_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

#include "tune/model/fit.h"

namespace perflab::tune {
namespace {

/// Results that predict where nothing was measured: the best for one half, others at even ranks.
constexpr std::size_t kSmoothPoints = 160;
constexpr std::size_t kSmoothEvaluations = 25;

using Levels = std::unordered_map<Value, Level, ValueHash, ValueEqual>;

/// A parameter of both: values of the space, then those that only the recording has.
struct SharedParameter {
  Parameter values;
  std::size_t in_space = 0, in_recording = 0;
  Levels level;
};

std::unexpected<Error> useless(const PriorDescription& described, std::string_view why) {
  return fail(ErrorCode::bad_input, fmt::format("--prior {}: {}", described.file, why),
              "name a recording of the same kernel: another GPU, size or version of it");
}

/// Error (bad_input): more values than a parameter can have.
Result<std::vector<SharedParameter>> shared_parameters(const Space& space,
                                                       const Recording& recording,
                                                       const PriorDescription& described) {
  std::vector<SharedParameter> shared;
  for (std::size_t p = 0; p < space.width(); ++p) {
    const auto found = std::ranges::find(recording.parameters, space.parameters()[p].name);
    if (found == recording.parameters.end()) continue;
    SharedParameter one{
        .values = space.parameters()[p],
        .in_space = p,
        .in_recording = static_cast<std::size_t>(found - recording.parameters.begin()),
        .level = {}};
    one.values.default_level.reset();
    for (std::size_t v = 0; v < one.values.values.size(); ++v)
      one.level.emplace(one.values.values[v], static_cast<Level>(v));
    for (const RecordedConfiguration& row : recording.configurations) {
      const Value& value = row.values[one.in_recording];
      if (one.values.values.size() > std::numeric_limits<Level>::max())
        return useless(described, fmt::format("{} has too many values", one.values.name));
      if (one.level.emplace(value, static_cast<Level>(one.values.values.size())).second)
        one.values.values.push_back(value);
    }
    shared.push_back(std::move(one));
  }
  return shared;
}

/// The best result of every combination of shared values, in the order of the recording.
struct Groups {
  std::vector<std::vector<Level>> rows;
  std::vector<Told> results;
};

Groups groups_of(const Recording& recording, const std::vector<SharedParameter>& shared,
                 bool maximize) {
  Groups groups;
  std::map<std::vector<Level>, std::size_t> index;
  for (const RecordedConfiguration& recorded : recording.configurations) {
    std::vector<Level> row;
    for (const SharedParameter& one : shared)
      row.push_back(one.level.at(recorded.values[one.in_recording]));
    const auto [at, fresh] = index.emplace(row, groups.rows.size());
    if (fresh) {
      groups.rows.push_back(std::move(row));
      groups.results.push_back({.id = static_cast<ConfigId>(at->second),
                                .outcome = recorded.outcome,
                                .value = std::nullopt});
    }
    if (recorded.outcome != Outcome::correct || !recorded.value || !std::isfinite(*recorded.value))
      continue;
    Told& result = groups.results[at->second];
    const double value = *recorded.value;
    if (!result.value || is_better(value, *result.value, maximize))
      result = {.id = result.id, .outcome = Outcome::correct, .value = value};
  }
  return groups;
}

void name_parameters(const Space& space, const Recording& recording,
                     const std::vector<SharedParameter>& shared, PriorDescription& described) {
  for (const SharedParameter& one : shared) described.shared.push_back(one.values.name);
  const auto is_shared = [&](const std::string& name) {
    return std::ranges::find(described.shared, name) != described.shared.end();
  };
  for (const std::string& name : recording.parameters)
    if (!is_shared(name)) described.only_in_prior.push_back(name);
  for (const Parameter& parameter : space.parameters())
    if (!is_shared(parameter.name)) described.only_in_space.push_back(parameter.name);
}

}  // namespace

Result<std::shared_ptr<const PriorTask>> PriorTask::make(const Space& space,
                                                         const Recording& recording, bool maximize,
                                                         PriorDescription described) {
  PERFLAB_TRY(std::vector<SharedParameter> shared, shared_parameters(space, recording, described));
  name_parameters(space, recording, shared, described);
  if (shared.empty()) return useless(described, "it has no parameter of the space");
  described.format = recording.format;
  described.device = recording.device;
  described.evaluations = recording.configurations.size();
  for (const RecordedConfiguration& one : recording.configurations)
    described.worked += one.outcome == Outcome::correct && one.value ? 1U : 0U;
  Groups groups = groups_of(recording, shared, maximize);
  SpaceDescription own;
  for (SharedParameter& one : shared) own.parameters.push_back(std::move(one.values));
  own.listed = std::move(groups.rows);
  PERFLAB_TRY(Space listed, Space::list(std::move(own)));
  std::shared_ptr<PriorTask> task(new PriorTask(space, std::move(listed)));
  task->targets_ = targets_of(groups.results, maximize, TargetForm::compressed);
  if (task->targets_.correct < kLeastOfPrior)
    return useless(described,
                   fmt::format("fewer than {} different configurations worked", kLeastOfPrior));
  if (task->encoding_.dimensions().empty())
    return useless(described, "no parameter of the space has two values in it");
  for (const SharedParameter& one : shared) task->parameters_.push_back(one.in_space);
  const auto [least, most] = std::ranges::minmax(task->targets_.standardised);
  task->least_ = static_cast<float>(least);
  task->most_ = static_cast<float>(most);
  task->known_.assign(space.size(), std::numeric_limits<float>::quiet_NaN());
  for (std::size_t id = 0; id < space.size(); ++id)
    described.covered += task->own_.find(task->levels(static_cast<ConfigId>(id))) ? 1U : 0U;
  task->description_ = std::move(described);
  return task;
}

std::vector<Level> PriorTask::levels(ConfigId id) const {
  const auto all = of_->levels(id);
  std::vector<Level> row;
  for (const std::size_t p : parameters_) row.push_back(all[p]);
  return row;
}

float PriorTask::at(ConfigId id) const {
  float& known = known_[id];
  if (std::isnan(known)) {
    const std::vector<Level> row = levels(id);
    const auto measured = own_.find(row);
    known = measured ? static_cast<float>(targets_.standardised[*measured]) : predicted(row);
  }
  return known;
}

float PriorTask::predicted(const std::vector<Level>& row) const {
  if (!smoothed_) smooth();
  const float mean = static_cast<float>(smoothed_->mean_at(encoding_.codes(row)));
  return std::clamp(mean, least_, most_);
}

void PriorTask::smooth() const {
  std::vector<ConfigId> order(own_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<ConfigId>(i);
  std::ranges::stable_sort(order, {}, [&](ConfigId id) { return targets_.standardised[id]; });
  Observations data;
  const std::size_t count = std::min(order.size(), kSmoothPoints);
  const std::size_t best = order.size() > count ? count / 2 : count;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t rank =
        i < best ? i : best + (i - best) * (order.size() - best) / (count - best);
    data.ids.push_back(order[rank]);
    data.targets.push_back(targets_.standardised[order[rank]]);
  }
  smoothed_.emplace(encoding_, fit(encoding_, data, Hyper::prior(encoding_), kSmoothEvaluations));
  for (const ConfigId id : data.ids) smoothed_->append(id);
  smoothed_->set_targets(data.targets);
}

}  // namespace perflab::tune
