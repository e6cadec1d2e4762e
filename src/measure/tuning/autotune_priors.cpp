// Files to what the model learns from. The digest is of the bytes as they are, packed or not.
#include "measure/tuning/autotune_priors.h"

#include <utility>

#include "base/hash.h"
#include "base/system/files.h"
#include "tune/records/recording.h"

namespace perflab::measure {

Result<tune::Priors> read_priors(const std::vector<std::string>& files, const tune::Space& space,
                                 bool maximize) {
  tune::Priors priors;
  for (const std::string& file : files) {
    PERFLAB_TRY(const std::string bytes, read_file(file));
    PERFLAB_TRY(const tune::Recording recording, tune::read_recording(file));
    tune::PriorDescription named;
    named.file = file;
    named.digest = key_text(bytes);
    PERFLAB_TRY(auto prior, tune::PriorTask::make(space, recording, maximize, std::move(named)));
    priors.push_back(std::move(prior));
  }
  return priors;
}

std::string priors_key(const tune::Priors& priors) {
  std::string key;
  for (const auto& prior : priors) key += (key.empty() ? "" : ", ") + prior->description().digest;
  return key;
}

}  // namespace perflab::measure
