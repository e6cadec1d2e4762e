// Checks of verdicts whose answer is known.
#include "analyze/bottleneck/known_kernels_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "analyze/pipeline.h"
#include "hal/counter_catalogue.h"

namespace perflab::analyze {

namespace fs = std::filesystem;

std::vector<std::vector<std::string>> sets_of_mi300x() {
  const hal::CounterTable* const table = hal::find_counter_table("gfx942");
  auto sets = table->sets;
  for (auto& set : sets) set.push_back(table->in_every_pass);
  return sets;
}

std::vector<fs::path> joined(const std::vector<fs::path>& a, const std::vector<fs::path>& b) {
  std::vector<fs::path> all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

Analysis analysis_of(const std::vector<fs::path>& files, const std::vector<fs::path>& traces,
                     unsigned threads) {
  AnalyzeOptions options{.threads = threads, .search_code = false, .thread_traces = traces};
  const auto analyzed =
      files.empty() ? analyze_thread_traces(options) : analyze_files(files, options);
  EXPECT_TRUE(analyzed) << describe(analyzed.error());
  return analyzed ? analyzed->analysis : Analysis{};
}

const KernelBottleneck& verdict_of(const Analysis& analysis, std::string_view kernel) {
  static const KernelBottleneck kNone;
  const auto& all = analysis.bottlenecks.kernels;
  const auto found = std::ranges::find(all, kernel, &KernelBottleneck::kernel);
  EXPECT_NE(found, all.end()) << kernel;
  return found == all.end() ? kNone : *found;
}

const HeldRule* held(const KernelBottleneck& kernel, std::string_view rule) {
  for (const ScoredBottleneck& candidate : kernel.candidates)
    for (const HeldRule& one : candidate.held)
      if (one.rule->id == rule) return &one;
  return nullptr;
}

bool equal(double a, double b) {
  return std::abs(a - b) <= 1e-6 * std::abs(b) + 1e-12;
}

void expect_figures(const KernelBottleneck& kernel, const Figures& expected) {
  for (const auto& [id, value] : expected) {
    const Feature& feature = kernel.features[id];
    ASSERT_TRUE(feature.value) << kernel.kernel << " " << info(id).name << ": " << feature.reason;
    EXPECT_TRUE(equal(*feature.value, value)) << fmt::format(
        "{} {}: {:.12g}, expected {:.12g}", kernel.kernel, info(id).name, *feature.value, value);
    EXPECT_FALSE(feature.from.empty()) << kernel.kernel << " " << info(id).name;
  }
}

void expect_evidence(const KernelBottleneck& kernel, const Figures& expected) {
  const auto check = [&](const Evidence& evidence) {
    const auto found = expected.find(evidence.condition.feature);
    ASSERT_NE(found, expected.end()) << kernel.kernel << ": " << evidence.rule;
    EXPECT_TRUE(equal(evidence.value, found->second)) << kernel.kernel << ": " << evidence.rule;
    EXPECT_EQ(evidence.condition.comparison == Relation::at_least,
              evidence.value >= evidence.condition.threshold)
        << kernel.kernel << ": " << evidence.rule;
  };
  for (const ScoredBottleneck& candidate : kernel.candidates)
    for (const HeldRule& rule : candidate.held) {
      std::ranges::for_each(rule.evidence, check);
      std::ranges::for_each(rule.against, check);
    }
}

void expect_missing(const KernelBottleneck& kernel, FeatureSource source) {
  for (const Feature& feature : kernel.features.all()) {
    if (info(feature.id).source != source) continue;
    EXPECT_FALSE(feature.value) << kernel.kernel << " " << info(feature.id).name;
    EXPECT_FALSE(feature.reason.empty()) << kernel.kernel << " " << info(feature.id).name;
  }
}

void expect_sound(const KernelBottleneck& kernel) {
  SCOPED_TRACE(kernel.kernel);
  EXPECT_NE(kernel.summary.find(label_of(kernel.verdict)), std::string::npos) << kernel.summary;
  EXPECT_EQ(kernel.verdict == Bottleneck::insufficient_data, kernel.advice.empty());
  EXPECT_TRUE(kernel.confidence == Confidence::high || !kernel.confidence_reasons.empty());
  for (const Feature& feature : kernel.features.all()) {
    EXPECT_NE(feature.value.has_value(), !feature.reason.empty()) << info(feature.id).name;
    EXPECT_TRUE(!feature.value || std::isfinite(*feature.value)) << info(feature.id).name;
  }
  for (const GainBound& part : kernel.bound.parts) EXPECT_GE(part.factor.value_or(1), 1);
  ASSERT_FALSE(kernel.history.empty());
  EXPECT_EQ(kernel.history.back().verdict, kernel.verdict);
  for (std::size_t i = 1; i < kernel.history.size(); ++i) {
    const HistoryStep& step = kernel.history[i];
    const Bottleneck before = kernel.history[i - 1].verdict;
    if (step.verdict == before) continue;
    // A change names both labels, and a figure of what was added.
    EXPECT_NE(step.change.find(label_of(step.verdict)), std::string::npos) << step.change;
    EXPECT_NE(step.change.find(label_of(before)), std::string::npos) << step.change;
    EXPECT_TRUE(std::ranges::any_of(kernel.features.all(), [&](const Feature& feature) {
      return info(feature.id).source == step.with && feature.value &&
             step.change.find(info(feature.id).label) != std::string::npos;
    })) << step.change;
  }
}

Bottleneck verdict_at(const KernelBottleneck& kernel, FeatureSource last) {
  Bottleneck verdict = Bottleneck::insufficient_data;
  for (const HistoryStep& step : kernel.history)
    if (step.with <= last) verdict = step.verdict;
  return verdict;
}

std::string dump(const Analysis& analysis) {
  std::string text = fmt::format("{} left out\n", analysis.bottlenecks.left_out);
  const auto quote = [&](const Evidence& e) {
    text += fmt::format("    {} {} {}\n", e.rule, info(e.condition.feature).name, e.value);
  };
  for (const KernelBottleneck& k : analysis.bottlenecks.kernels) {
    text += fmt::format("{} {} {} {} {}\n{}\n", k.kernel, k.architecture, to_string(k.verdict),
                        to_string(k.confidence), fmt::join(k.confidence_reasons, ";"), k.summary);
    for (const ScoredBottleneck& candidate : k.candidates) {
      text += fmt::format("  {} {}\n", to_string(candidate.verdict), candidate.score);
      for (const HeldRule& rule : candidate.held) {
        std::ranges::for_each(rule.evidence, quote);
        std::ranges::for_each(rule.against, quote);
      }
      for (const Rule* const rule : candidate.open) text += fmt::format("    open {}\n", rule->id);
    }
    for (const Feature& f : k.features.all())
      text += fmt::format("  {} {} {} {} {}\n", info(f.id).name, f.value.value_or(-1), f.from,
                          f.reason, f.remedy);
    for (const GainBound& part : k.bound.parts)
      text += fmt::format("  {} {} {}\n", part.from, part.factor.value_or(-1), part.text);
    for (const Advice& advice : k.advice)
      text += fmt::format("  {} {} {}\n", advice.rule, advice.text, fmt::join(advice.lines, ";"));
    for (const HistoryStep& step : k.history)
      text += fmt::format("  {} {} {} {}\n", to_string(step.with), to_string(step.verdict),
                          step.score, step.change);
    text += fmt::format("  next {}\n", k.next ? k.next->command + k.next->why : "");
  }
  return text;
}

Figures all_figures(const KernelPhysics& kernel) {
  Figures all = dispatch_figures(kernel);
  all.merge(counter_figures(kernel));
  all.merge(thread_trace_figures(kernel));
  return all;
}

}  // namespace perflab::analyze
