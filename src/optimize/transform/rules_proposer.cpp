// The transforms as proposals, one by one.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/hash.h"
#include "optimize/transform/transforms.h"

namespace perflab::optimize {
namespace {

class RuleList final : public RulesProposer {
 public:
  RuleList(ParseOptions parse, TransformFacts facts) : parse_(std::move(parse)), facts_(facts) {}

  [[nodiscard]] std::string name() const override { return "rules"; }
  [[nodiscard]] bool repairs() const override { return false; }
  [[nodiscard]] const std::vector<ForbiddenTransform>& forbidden() const override {
    return forbidden_;
  }
  [[nodiscard]] std::string why_ended() const override {
    if (!ended_) return {};
    return fmt::format(
        "the built-in rules have no more transforms: {} were proposed, {} are "
        "forbidden by guards",
        proposals_, forbidden_.size());
  }

  Result<std::optional<llm::Proposal>> next(const llm::Task& task) override {
    // A source that did not compile is not mended: the next transform is another proposal.
    if (!source_ || *source_ != task.source) {
      PERFLAB_TRY_VOID(begin(task));
    }
    while (at_ < offered_.size()) {
      TransformedSource& transform = offered_[at_++];
      if (!proposed_.emplace(content_hash(transform.text)).second) continue;
      ++proposals_;
      llm::Proposal proposal;
      proposal.text = std::move(transform.text);
      proposal.summary = fmt::format("{}: {}", transform.id, transform.summary);
      return proposal;
    }
    ended_ = true;
    return std::nullopt;
  }

 private:
  Result<void> begin(const llm::Task& task) {
    PERFLAB_TRY(const SourceModel model, parse_source(task.source, parse_, task.kernel));
    PERFLAB_TRY(const std::size_t kernel, find_kernel(model, task.kernel));
    Transforms transforms = transforms_of(model, kernel, facts_of(task.context));
    source_ = task.source;
    proposed_.insert(content_hash(task.source));
    offered_ = std::move(transforms.offered);
    at_ = 0;
    ended_ = false;
    for (ForbiddenTransform& one : transforms.forbidden) {
      if (std::ranges::find(forbidden_, one.id, &ForbiddenTransform::id) == forbidden_.end())
        forbidden_.push_back(std::move(one));
    }
    return {};
  }

  [[nodiscard]] TransformFacts facts_of(const Json& context) const {
    TransformFacts facts = facts_;
    if (!context.is_object()) return facts;
    const auto whole = [&](const char* key) -> std::optional<std::int64_t> {
      const auto found = context.find(key);
      if (found == context.end() || !found->is_number_integer()) return {};
      return found->get<std::int64_t>();
    };
    if (const auto size = whole("workgroup_size")) facts.workgroup_size = size;
    if (const auto wave = whole("wave_size"); wave && (*wave == 32 || *wave == 64))
      facts.wave_size = static_cast<int>(*wave);
    return facts;
  }

  ParseOptions parse_;
  TransformFacts facts_;
  std::optional<std::string> source_;  ///< that offered_ belongs to
  std::vector<TransformedSource> offered_;
  std::size_t at_ = 0, proposals_ = 0;
  std::set<std::uint64_t> proposed_;  ///< hashes of texts, and of the sources themselves
  std::vector<ForbiddenTransform> forbidden_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<RulesProposer> make_rules_proposer(ParseOptions parse, TransformFacts facts) {
  return std::make_unique<RuleList>(std::move(parse), facts);
}

}  // namespace perflab::optimize
