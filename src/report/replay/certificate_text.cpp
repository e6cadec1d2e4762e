// Layout of a certificate.
#include "report/replay/certificate_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/enum_names.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"
#include "report/replay/left_memory_json.h"

namespace perflab::report {
namespace {

using replay::Bucket;
using replay::ProofVerdict;
using replay::RegionVerdict;
using Align = TextTable::Align;

std::string_view colour_of(ProofVerdict verdict, const Paint& paint) {
  switch (verdict) {
    case ProofVerdict::bitwise:
    case ProofVerdict::within_tolerance:
      return paint.good;
    case ProofVerdict::not_deterministic:
      return paint.warning;
    case ProofVerdict::differs:
    case ProofVerdict::proves_nothing:
      break;
  }
  return paint.bad;
}

std::string tolerance_words(const replay::DiffOptions& compare) {
  std::vector<std::string> parts;
  if (compare.max_ulp) parts.push_back(fmt::format("{} ULP", *compare.max_ulp));
  if (compare.max_absolute && compare.max_relative)
    parts.push_back(
        fmt::format("{} + {} of the value", *compare.max_absolute, *compare.max_relative));
  else if (compare.max_absolute)
    parts.push_back(fmt::format("{}", *compare.max_absolute));
  else if (compare.max_relative)
    parts.push_back(fmt::format("{} of the value", *compare.max_relative));
  if (parts.empty()) return "none";
  return fmt::format("{}", fmt::join(parts, ", or "));
}

std::string poison_words(const replay::Certificate& certificate) {
  switch (certificate.poison) {
    case replay::Poison::none:
      return "nothing";
    case replay::Poison::written:
      return "what the captured dispatch changed";
    case replay::Poison::arguments:
      break;
  }
  return "the buffers that the arguments point to";
}

/// A count in at most 8 columns.
std::string short_count(std::uint64_t count) {
  return count < 10'000'000 ? fmt::format("{}", count)
                            : fmt::format("{:.2g}", static_cast<double>(count));
}

std::string_view verdict_word(ProofVerdict verdict) {
  using enum ProofVerdict;
  static constexpr auto kNames = enum_names<ProofVerdict>({{bitwise, "bitwise"},
                                                           {within_tolerance, "tolerance"},
                                                           {differs, "DIFFERS"},
                                                           {not_deterministic, "varies"},
                                                           {proves_nothing, "nothing"}});
  return kNames[verdict];
}

std::string region_table(const CertificateData& data, const TerminalStyle& style) {
  TextTable table({{"region", Align::left, true},
                   {"type", Align::left},
                   {"elements"},
                   {"differ"},
                   {"beyond"},
                   {"stray bytes"},
                   {"unwritten"},
                   {"max ULP"},
                   {"verdict", Align::left}});
  const auto& regions = data.certificate.regions;
  const std::size_t shown = std::min(regions.size(), style.most_rows);
  for (std::size_t i = 0; i < shown; ++i) {
    const RegionVerdict& verdict = regions[i];
    const replay::ElementDiff& comparison = verdict.comparison;
    const bool both = verdict.poisoned && !data.certificate.original;
    table.add(
        {region_name(data.description.regions.at(verdict.region)),
         comparison.type ? std::string(to_string(*comparison.type)) : "bytes",
         short_count(comparison.elements), short_count(comparison.different),
         short_count(comparison.beyond_tolerance), short_count(verdict.unexpected_bytes),
         both ? short_count(verdict.not_rewritten_bytes + verdict.wrong_on_poison_bytes) : kDash,
         comparison.largest_ulp ? short_count(*comparison.largest_ulp) : kDash,
         std::string(verdict_word(verdict.verdict))});
  }
  return table.text(style.width) + cut_note(regions.size(), shown);
}

/// Where the outputs are known from, when the captured dispatch does not show them.
std::string_view write_set_words(replay::WriteSet write_set) {
  using enum replay::WriteSet;
  static constexpr auto kNames = enum_names<replay::WriteSet>(
      {{captured, "what the captured dispatch changed"},
       {poisoned, "found by running the original on poisoned arguments"},
       {in_place, "none that do not depend on what was there"},
       {nothing, "none: nothing was written, not even on poisoned memory"},
       {unknown, "not known: the captured dispatch changed nothing"}});
  return kNames[write_set];
}

/// "1: 12, 2: 3, 4: 1", the largest distance of each bucket with its elements.
std::string histogram_words(const std::vector<Bucket>& buckets) {
  std::string out;
  for (const Bucket& bucket : buckets)
    out += fmt::format("{}up to {}: {}", out.empty() ? "" : ", ", bucket.upto, bucket.elements);
  return out;
}

std::string ranges_words(const RegionVerdict& verdict) {
  constexpr std::size_t kMostNamed = 8;
  std::string out = fmt::format(
      "{} bytes in {} that differ between runs of the original:", verdict.not_deterministic_bytes,
      counted(verdict.not_deterministic_ranges, "range"));
  const std::size_t shown = std::min(kMostNamed, verdict.not_deterministic.size());
  for (std::size_t i = 0; i < shown; ++i)
    out += fmt::format("{} {:#x}+{}", i == 0 ? "" : ",", verdict.not_deterministic[i].offset,
                       verdict.not_deterministic[i].bytes);
  if (verdict.not_deterministic_ranges > shown)
    out += fmt::format(" and {} more", verdict.not_deterministic_ranges - shown);
  return out;
}

std::string region_details(const CertificateData& data, const RegionVerdict& verdict,
                           const TerminalStyle& style, const Paint& paint) {
  std::string out;
  const auto line = [&](std::string_view label, const std::string& text) {
    if (!text.empty()) out += labelled(label, text, style.width);
  };
  const replay::ElementDiff& comparison = verdict.comparison;
  line("ULP", histogram_words(comparison.ulp));
  line("relative", histogram_words(comparison.relative));
  line("absolute", histogram_words(comparison.absolute));
  if (comparison.nan_expected + comparison.nan_found + comparison.infinity_mismatches > 0)
    line("special",
         fmt::format("NaN expected {}, found {}; infinite on one side {}", comparison.nan_expected,
                     comparison.nan_found, comparison.infinity_mismatches));
  for (const auto& example : comparison.examples)
    line(fmt::format("+{:#x}", example.offset),
         fmt::format("{} expected, {} found", example.expected, example.found));
  if (verdict.not_deterministic_ranges > 0) line("varying", ranges_words(verdict));
  if (verdict.poisoned && !data.certificate.original && verdict.not_rewritten_bytes > 0)
    line("poison", fmt::format("{} of {} bytes of outputs still poisoned",
                               verdict.not_rewritten_bytes, verdict.pure_output_bytes));
  if (out.empty()) return out;
  return heading(paint, region_name(data.description.regions.at(verdict.region))) + out;
}

}  // namespace

std::string certificate_verdict_text(const CertificateData& data, const TerminalStyle& style) {
  const Paint paint(style.colour);
  const replay::Certificate& certificate = data.certificate;
  std::string out = fmt::format(
      "{}{}{}\n", paint.heading,
      fit(certificate.demangled.empty() ? certificate.kernel : certificate.demangled, style.width),
      paint.end);
  for (const std::string& line : wrapped(certificate.sentence, style.width))
    out += fmt::format("{}{}{}\n", colour_of(certificate.verdict, paint), line, paint.end);
  out += "\n";
  const auto line = [&](std::string_view label, const std::string& text) {
    out += labelled(label, text, style.width);
  };
  line("capture", fmt::format("{}, of {}", certificate.capture_hash, data.description.machine.isa));
  line("code", fmt::format("{}{}", certificate.code_object_hash,
                           certificate.original ? ", the captured one" : ""));
  line("runs", fmt::format("{} of the original", certificate.runs));
  line("poisoned", poison_words(certificate));
  line("dirtied", left_memory_words(certificate.left_memory));
  if (certificate.write_set != replay::WriteSet::captured)
    line("outputs", std::string(write_set_words(certificate.write_set)));
  line("tolerance", tolerance_words(data.options.compare));
  return out;
}

std::string certificate_regions_text(const CertificateData& data, const TerminalStyle& style) {
  if (data.certificate.regions.empty()) return {};
  const Paint paint(style.colour);
  std::string out = "\n" + region_table(data, style);
  std::size_t shown = 0;
  for (const RegionVerdict& verdict : data.certificate.regions) {
    if (shown == style.most_rows) break;
    const std::string text = region_details(data, verdict, style, paint);
    shown += !text.empty();
    out += text;
  }
  return out;
}

std::string certificate_notes_text(const CertificateData& data, const TerminalStyle& style) {
  const replay::Certificate& certificate = data.certificate;
  std::vector<std::string> notes = certificate.notes;
  if (!certificate.poison_note.empty()) notes.insert(notes.begin(), certificate.poison_note);
  return warnings_section(notes, style.width, Paint(style.colour));
}

std::string certificate_text(const CertificateData& data, const TerminalStyle& style) {
  return certificate_verdict_text(data, style) + certificate_regions_text(data, style) +
         certificate_notes_text(data, style);
}

}  // namespace perflab::report
