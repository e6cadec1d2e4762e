// See command_documents.h.
#include "report/summary/command_documents.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/autotune_app_samples.h"
#include "report/certificate_samples.h"
#include "report/comparison/comparison_document.h"
#include "report/dispatch_table_samples.h"
#include "report/report_cases.h"
#include "support/prng.h"

namespace perflab::report {
namespace {

/// Kernels of 1000 us x 1, 2, ..., each with its factor and a spread of 1 %.
compare::SampleSide answer_side(const ComparedKernels& kernels, bool with_factors,
                                std::uint64_t seed) {
  test::Prng prng(seed);
  compare::SampleSide side;
  side.files = {with_factors ? "new/profile.json" : "base/profile.json"};
  side.kind = kernels.only_first ? "profile" : "rocpd";
  side.unit = "ns";
  side.larger_is_better = false;
  side.samples_are = kernels.only_first ? compare::SampleKind::run : compare::SampleKind::dispatch;
  side.runs = kernels.runs;
  side.run_totals.assign(kernels.only_first ? kernels.runs : 0, 0.0);
  for (std::size_t k = 0; k < kernels.factors.size(); ++k) {
    compare::SampleSeries series;
    series.name = fmt::format("k{}", k);
    const double middle =
        1e6 * static_cast<double>(k + 1) * (with_factors ? kernels.factors[k] : 1);
    for (std::size_t run = 0; run < kernels.runs; ++run) {
      const auto time = static_cast<double>(prng.spread(static_cast<std::int64_t>(middle), 10));
      series.run_sums.emplace_back(time);
      if (kernels.only_first) side.run_totals[run] += time;
      if (!kernels.only_first) series.samples.push_back(time);
    }
    if (k == 0 || !kernels.only_first) side.series.push_back(std::move(series));
  }
  side.part_of_kernels = kernels.only_first;
  side.other_kernels = kernels.others;
  if (kernels.only_first) side.other_share = 0.625;
  return side;
}

NamedDocument numbers_against_numbers(std::size_t count) {
  compare::SampleSide side;
  side.files = {"a.txt", "more.txt"};
  side.kind = "numbers";
  for (std::size_t i = 0; i < count; ++i) {
    if (i == 0) side.series.emplace_back();
    side.series[0].samples.push_back(5 + 0.001 * static_cast<double>(i));
  }
  const auto result = compare::compare_sides(side, side, {});
  EXPECT_TRUE(result.has_value());
  return {"comparison", comparison_document(*result, {})};
}

ReplayData replayed_sample(bool original) {
  ReplayData data;
  data.result.kernel = "_Z7softmaxPf";
  data.result.demangled = "softmax(float*)";
  data.result.iterations = 4;
  for (const std::int64_t time : {10'000, 12'000, 10'500, 18'000})
    data.result.times.push_back(Nanos{time});
  data.result.captured_ns = 10'400;
  data.result.restored_bytes_per_iteration = 12'000;
  data.result.restored_on_device = true;
  data.result.learned_pages = 3;
  data.result.notes = {"a signal could not be restored"};
  data.warmup = 1;
  data.device.agent_name = "gfx942";
  data.device.product_name = "AMD Instinct MI300X";
  data.original = original;
  data.code_object = original ? "kernel.hsaco" : "faster.hsaco";
  data.code_object_hash = "sha256:" + std::string(64, '0');
  data.capture_folder = "my capture";
  return data;
}

ReservationData reserved_sample(std::size_t ranges, std::size_t exact) {
  ReservationData data;
  data.capture_folder = "capture";
  data.report.through = "hsa";
  data.report.granule = 4096;
  for (std::size_t i = 0; i < ranges; ++i) {
    replay::RangeCheck one;
    one.range.base = 0x7f0000000000 + i * 0x10000;
    one.range.bytes = 4096;
    one.outcome = i < exact ? replay::Reservation::exact : replay::Reservation::relocated;
    if (i >= exact) one.returned = 0x7e0000000000;
    if (i == exact) one.holder = "/usr/lib/libstdc++.so.6 (r--p 7f0000000000-7f0000001000)";
    data.report.ranges.push_back(one);
    data.report.bytes += 4096;
  }
  data.report.exact = exact;
  data.report.relocated = ranges - exact;
  return data;
}

/// What isolate says; `dispatch` of the kernels that the program launched.
Json isolated_sample(bool captured, std::string kernel, std::uint64_t dispatch) {
  isolate::LaunchPlan plan;
  plan.command = {"./app", "--size", "4 K"};
  plan.kernel = std::move(kernel);
  plan.dispatch = dispatch;
  isolate::LaunchOutcome outcome;
  outcome.folder = "/tmp/capture";
  for (std::size_t i = 0; i < 8; ++i) {
    isolate::SeenKernel seen;
    seen.symbol = fmt::format("_Z2k{}v", i);
    seen.demangled = fmt::format("k{}()", i);
    seen.dispatches = 10 + i;
    outcome.events.kernels.push_back(seen);
  }
  IsolateData data{.plan = &plan, .outcome = &outcome, .capture = {}, .problem = {}};
  if (captured) {
    capture::Description description;
    description.dispatch.kernel = "_Z2k1v";
    description.dispatch.demangled = "k1()";
    description.dispatch.ordinal = dispatch;
    description.dispatch.captured_ns = 2'500;
    description.machine.isa = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-";
    description.limits = {"one queue could not be watched"};
    data.capture = description;
  } else {
    data.problem = Error{.code = ErrorCode::refused,
                         .message = "no dispatch number of a kernel that matches",
                         .notes = {},
                         .remedy = {}};
  }
  return isolate_document(data);
}

NamedDocument proven_candidate() {
  CertificateData data = wrong_candidate();
  data.certificate.verdict = replay::ProofVerdict::within_tolerance;
  data.certificate.sentence = "The other code object computes the same within the tolerance.";
  data.certificate.regions.resize(1);
  return {"certificate", certificate_document(data)};
}

NamedDocument proof_of_nothing() {
  CertificateData data = plain_original();
  data.certificate.verdict = replay::ProofVerdict::proves_nothing;
  data.certificate.write_set = replay::WriteSet::unknown;
  data.certificate.regions.clear();
  return {"certificate", certificate_document(data)};
}

}  // namespace

NamedDocument compared_kernels(const ComparedKernels& kernels,
                               const compare::CompareOptions& options) {
  const auto result = compare::compare_sides(answer_side(kernels, false, 1),
                                             answer_side(kernels, true, 2), options);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  return {"comparison", comparison_document(*result, options)};
}

const std::vector<CommandDocument>& command_documents() {
  static const std::vector<CommandDocument> kAll = {
      {"same", [] { return compared_kernels({.factors = {1, 1, 1}}); }},
      {"regression", [] { return compared_kernels({.factors = {1, 1.1, 1, 1.3, 0.8, 1, 1.002}}); }},
      {"undecided", [] { return compared_kernels({.factors = {1.01, 1}, .runs = 3}); }},
      {"alone",
       [] { return compared_kernels({.factors = {1, 1}, .only_first = true, .others = 13}); }},
      {"older", [] { return compared_kernels({.factors = {1, 1.2}, .only_first = true}); }},
      {"numbers", [] { return numbers_against_numbers(12); }},
      {"few", [] { return numbers_against_numbers(2); }},
      {"wrong",
       [] { return NamedDocument{"certificate", certificate_document(wrong_candidate())}; }},
      {"proven", proven_candidate},
      {"original",
       [] { return NamedDocument{"certificate", certificate_document(plain_original())}; }},
      {"nothing", proof_of_nothing},
      {"replayed", [] { return NamedDocument{"replay", replay_document(replayed_sample(true))}; }},
      {"other_code",
       [] { return NamedDocument{"replay", replay_document(replayed_sample(false))}; }},
      {"reserved",
       [] { return NamedDocument{"reservation", reservation_document(reserved_sample(3, 3))}; }},
      {"relocated",
       [] { return NamedDocument{"reservation", reservation_document(reserved_sample(9, 1))}; }},
      {"application",
       [] {
         const AutotuneAppSample sample = sample_autotune_app();
         return NamedDocument{"autotune_app", autotune_app_document(sample.data())};
       }},
      {"application_alone",
       [] {
         const AutotuneAppSample sample = sample_autotune_app_alone();
         return NamedDocument{"autotune_app", autotune_app_document(sample.data())};
       }},
      {"table",
       [] {
         const DispatchTableSample sample = sample_dispatch_table();
         return NamedDocument{"dispatch_table", dispatch_table_document(sample.data("gemm.h"))};
       }},
      {"uncovered",
       [] {
         const DispatchTableSample sample = sample_uncovered_table();
         return NamedDocument{"dispatch_table", dispatch_table_document(sample.data())};
       }},
      {"captured", [] { return NamedDocument{"isolate", isolated_sample(true, "k1", 3)}; }},
      {"unmatched", [] { return NamedDocument{"isolate", isolated_sample(false, "gemm", 1)}; }},
      {"beyond", [] { return NamedDocument{"isolate", isolated_sample(false, "k7", 99)}; }}};
  return kAll;
}

NamedDocument written_document(const CommandDocument& one) {
  NamedDocument made = one.make();
  made.value = rendered_json(made.name, made.value);
  return made;
}

NamedDocument command_document(const std::string& name) {
  const auto& all = command_documents();
  const auto found = std::ranges::find(all, name, &CommandDocument::name);
  EXPECT_NE(found, all.end()) << name;
  return written_document(*found);
}

}  // namespace perflab::report
