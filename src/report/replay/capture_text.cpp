// Layout of a capture's description and of what a check found in it.
#include "report/replay/capture_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

using capture::MemoryRegion;
using Column = TextTable::Column;
using enum TextTable::Align;

template <class Size>
std::string sizes(const std::array<Size, 3>& values) {
  return fmt::format("{}", fmt::join(values, " x "));
}

std::string size_text(std::uint64_t bytes) {
  return bytes_text(static_cast<double>(bytes));
}

std::string changed_text(const MemoryRegion& region) {
  if (!region.captured()) return kDash;
  return size_text(region.writes.pages * capture::kPageBytes);
}

std::string device_text(const MemoryRegion& region) {
  const std::string device =
      region.on_gpu ? fmt::format("GPU {}", region.agent_index) : std::string("host");
  return fmt::format("{} {}", device, capture::to_string(region.origin));
}

/// What is odd about a region, and how its pages are kept.
std::string about(const MemoryRegion& region) {
  if (!region.captured()) return "not captured: " + region.not_captured;
  std::vector<std::string> parts;
  if (!region.symbol.empty()) parts.push_back(region.symbol);
  const capture::Blob& image = region.image;
  const auto share = [&](std::uint64_t pages, std::string_view kind) {
    if (pages == 0) return;
    const double part = static_cast<double>(pages) / static_cast<double>(image.pages);
    parts.push_back(pages == image.pages ? fmt::format("all {}", kind)
                                         : fmt::format("{} {}", percent(part), kind));
  };
  share(image.zero_pages, "zero");
  share(image.shared_pages, "shared");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string regions_text(const CaptureData& data, const TerminalStyle& style) {
  const auto& regions = data.capture->description().regions;
  const std::size_t shown = std::min(regions.size(), style.most_rows);
  TextTable table({Column{"address"}, Column{"size"}, Column{"memory", left}, Column{"changed"},
                   Column{"on disk"}, Column{"contents", left, true}});
  for (const MemoryRegion& region : std::span(regions).first(shown))
    table.add(
        {fmt::format("{:#x}", region.base), size_text(region.bytes), device_text(region),
         changed_text(region),
         region.captured() ? size_text(region.image.file_bytes + region.writes.file_bytes) : kDash,
         about(region)});
  if (table.empty()) return "";
  return table.text(style.width) + cut_note(regions.size(), shown);
}

/// Columns of a hash: enough to tell captures apart; the document has all of it.
constexpr std::size_t kHashWidth = 48;

std::string cuda_text(const capture::CudaLaunch& launch) {
  std::string text = counted(launch.registers, "register");
  if (launch.cooperative) text += ", cooperative";
  if (launch.cluster != std::array<std::uint32_t, 3>{})
    text += fmt::format(", clusters of {} blocks", sizes(launch.cluster));
  return text + fmt::format(", at most {} bytes of dynamic shared memory",
                            launch.max_dynamic_shared_bytes);
}

std::string runtime_text(const capture::Machine& machine) {
  if (machine.platform == capture::Platform::cuda)
    return fmt::format("CUDA {}{}", machine.runtime_version,
                       machine.driver_version.empty() ? "" : ", driver " + machine.driver_version);
  return fmt::format("HSA {}{}", machine.runtime_version,
                     machine.rocm_version.empty() ? "" : ", ROCm " + machine.rocm_version);
}

std::string header_text(const CaptureData& data, const Paint& paint, std::size_t width) {
  const capture::Description& description = data.capture->description();
  const capture::Dispatch& dispatch = description.dispatch;
  const capture::Machine& machine = description.machine;
  const CaptureTotals totals = totals_of(*data.capture);
  std::string out = fmt::format(
      "{}{}{}\n", paint.heading,
      fit(dispatch.demangled.empty() ? dispatch.kernel : dispatch.demangled, width), paint.end);
  const auto line = [&](std::string_view label, const std::string& text) {
    out += labelled(label, text, width);
  };
  line("symbol", dispatch.kernel);
  const hal::Terms& t = terms_of(machine.platform);
  line(t.dispatch,
       fmt::format("number {} of this kernel; GPU time {}", dispatch.ordinal,
                   dispatch.captured_ns ? duration_text(static_cast<double>(*dispatch.captured_ns))
                                        : "not measured"));
  line("grid", fmt::format("{} {} in {} of {}", sizes(dispatch.grid), t.work_items, t.workgroups,
                           sizes(dispatch.workgroup)));
  line("memory",
       fmt::format("{} bytes of {} ({} static), {} bytes of {}, {} bytes of arguments",
                   dispatch.group_segment_bytes, t.lds, dispatch.static_group_segment_bytes,
                   dispatch.private_segment_bytes, t.scratch, data.capture->kernarg().size()));
  if (dispatch.cuda) line("launch with", cuda_text(*dispatch.cuda));
  line("GPU", fmt::format("{}{}, number {} of {}", machine.isa,
                          machine.product_name.empty() ? "" : " (" + machine.product_name + ")",
                          machine.gpu_index, machine.gpu_count));
  line("runtime", runtime_text(machine));
  line("code", fmt::format("{}, {}", size_text(description.code_object_bytes),
                           fit(description.code_object_hash, kHashWidth)));
  line("regions",
       fmt::format("{}, {}; {} not captured", counted(description.regions.size(), "region"),
                   size_text(totals.bytes), totals.not_captured));
  line("pages",
       fmt::format("{} zero, {} shared, {} stored; {} changed by the {}", totals.zero_pages,
                   totals.shared_pages, totals.stored_pages, totals.changed_pages, t.dispatch));
  line("on disk", size_text(totals.file_bytes));
  for (const std::string& limit : description.limits) line("limit", limit);
  return out;
}

std::string check_text(const CaptureCheck& check, const Paint& paint, std::size_t width) {
  if (!check.problem.empty())
    return fmt::format("\n{}Damaged:{}\n{}", paint.bad, paint.end,
                       labelled("", check.problem, width));
  std::string out = "\nEvery file is the one that was written.\n";
  std::size_t errors = 0;
  for (const replay::Finding& finding : check.findings) {
    const bool error = finding.severity == replay::Severity::error;
    errors += error;
    const std::string_view colour = error ? paint.bad
                                    : finding.severity == replay::Severity::warning
                                        ? paint.warning
                                        : std::string_view();
    out += fmt::format("\n{}{}{} {}\n", colour, replay::to_string(finding.severity),
                       colour.empty() ? std::string_view() : paint.end, finding.rule);
    out += labelled("", finding.sentence, width);
    if (!finding.remedy.empty()) out += labelled("remedy", finding.remedy, width);
  }
  out += errors == 0 ? fmt::format("\n{}It can be replayed.{}\n", paint.good, paint.end)
                     : fmt::format("\n{}{}: a replay would not be the captured dispatch.{}\n",
                                   paint.bad, counted(errors, "error"), paint.end);
  return out;
}

}  // namespace

std::string captured_dispatch_text(const CaptureData& data, const TerminalStyle& style) {
  return header_text(data, Paint(style.colour), style.width);
}

std::string captured_regions_text(const CaptureData& data, const TerminalStyle& style) {
  const std::string regions = regions_text(data, style);
  return regions.empty() ? regions : "\n" + regions;
}

std::string capture_findings_text(const CaptureCheck& check, const TerminalStyle& style) {
  return check_text(check, Paint(style.colour), style.width);
}

}  // namespace perflab::report
