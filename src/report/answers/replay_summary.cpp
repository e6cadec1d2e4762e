// The answers of isolate, replay reserve-check, replay full-vm and replay verify, each of which
// ends with the next command of the chain: capture, check, replay, prove, compare.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text/command_line.h"
#include "base/text/pattern.h"
#include "report/answers/answers.h"
#include "report/excerpt/parts.h"
#include "report/kit/text_table.h"
#include "stats/summary.h"

namespace perflab::report {
namespace {

using Words = std::vector<std::string>;

/// A sentence of the document, which a name's length would cut in the middle.
std::string whole_text(const DocumentPlace& sentence) {
  return fit(sentence.text(), kMostReasonColumns);
}

/// "rocm-perf replay verify capture --hsaco new.hsaco" and what follows. A code object only where
/// another than the captured one ran.
std::string replay_command(const char* what, const DocumentPlace& folder, const std::string& hsaco,
                           const Words& more = {}) {
  Words words = {"rocm-perf", "replay", what, folder.text()};
  if (!hsaco.empty()) words.insert(words.end(), {"--hsaco", hsaco});
  words.insert(words.end(), more.begin(), more.end());
  return join_command_line(words);
}

/// How the other code object is timed against the captured one.
void add_timing_steps(const DocumentPlace& folder, const std::string& hsaco, Json& summary) {
  const Words iterations = {"--iterations", "100", "--out"};
  const auto timed = [&](const std::string& code, const char* out) {
    Words more = iterations;
    more.emplace_back(out);
    return replay_command("full-vm", folder, code, more);
  };
  add_next(summary, {timed("", "base"), "times the captured code"});
  add_next(summary, {timed(hsaco, "new"), "times the other one"});
  add_next(summary, {"rocm-perf compare base/replay.json new/replay.json",
                     "whether it is faster, with an interval"});
}

/// Places of the regions, the one that differs most first.
std::vector<DocumentPlace> by_difference(const DocumentPlace& regions) {
  std::vector<DocumentPlace> out;
  for (std::size_t i = 0; i < regions.size(); ++i) out.push_back(regions[i]);
  std::ranges::stable_sort(out, [](const DocumentPlace& left, const DocumentPlace& right) {
    for (const char* const field : {"beyond_tolerance", "different", "compared_bytes"})
      if (left[field].number() != right[field].number())
        return left[field].number() > right[field].number();
    return false;
  });
  return out;
}

/// A variable's name, else the address.
std::string region_title(const DocumentPlace& region) {
  return fit(region["symbol"] ? region["symbol"].text() : region["base"].text(), kMostNameColumns);
}

Part differences_part(const std::vector<DocumentPlace>& regions) {
  Part part{.part = "regions", .title = "Worst differences", .details = "regions"};
  for (const DocumentPlace& region : regions) {
    if (part.rows.size() == kMostSummaryRows) {
      ++part.left_out;
      continue;
    }
    Json row = region.excerpt({"verdict", "type", "elements", "different", "beyond_tolerance"},
                              region_title(region));
    row["largest"] = region["largest"].excerpt({"ulp", "relative", "absolute"});
    part.rows.push_back(std::move(row));
  }
  return part;
}

/// What a code object does that only looks right: it writes elsewhere, or leaves outputs as they
/// were.
Part cheats_part(const DocumentPlace& certificate, const std::vector<DocumentPlace>& regions) {
  Part part{.part = "cheats", .title = "Cheats", .details = "regions"};
  bool poisoned = false;
  for (const DocumentPlace& region : regions) {
    poisoned = poisoned || region["not_rewritten_bytes"];
    const bool found = std::ranges::any_of(
        std::array{"unexpected_bytes", "not_rewritten_bytes", "wrong_on_poison_bytes"},
        [&](const char* field) { return region[field].number() > 0; });
    if (!found) continue;
    if (part.rows.size() == kMostSummaryRows)
      ++part.left_out;
    else
      part.rows.push_back(
          region.excerpt({"unexpected_bytes", "not_rewritten_bytes", "wrong_on_poison_bytes"},
                         region_title(region)));
  }
  const DocumentPlace note = certificate["method"]["poison_note"];
  if (!poisoned)
    part.missing = note ? "whether outputs are left unwritten: " + note.text()
                        : "whether outputs are left unwritten: nothing was poisoned";
  else if (part.rows.empty())
    part.rows.push_back(certificate["method"].excerpt({"poison"}, "none found"));
  return part;
}

/// What to do after a verification that proves nothing, or the contrary.
void add_steps_after_failure(const DocumentPlace& certificate, const std::string& hsaco,
                             Json& summary) {
  const DocumentPlace folder = certificate["environment"]["capture_folder"];
  const std::string write_set = certificate["write_set"].text();
  if (certificate["verdict"].text() == "proves_nothing") {
    if (write_set == "unknown" && certificate["method"]["poison"].text() == "none")
      add_next(summary, {replay_command("verify", folder, hsaco, {"--poison", "arguments"}),
                         "outputs can be found by overwriting the buffers of the arguments"});
    else
      add_next(summary, {"",
                         "capture an earlier dispatch, which has outputs that can be seen: "
                         "rocm-perf isolate --dispatch 1"});
    return;
  }
  if (!certificate["original_reproduces"].holds())
    add_next(summary, {join_command_line({"rocm-perf", "capture", "check", folder.text()}),
                       "what of the capture a replay cannot restore"});
  else
    add_next(summary, {replay_command("verify", folder, hsaco, {"--details", "regions"}),
                       "where it differs, with the first values; --type, --max-ulp, --rtol and "
                       "--atol say what counts as equal"});
}

/// Whether more iterations would make the times steadier.
bool wants_iterations(const DocumentPlace& replay) {
  constexpr double kEnough = 100;
  const DocumentPlace cv = replay["timing"]["cv"];
  return replay["execution"]["iterations"].number() < kEnough &&
         (!cv || stats::classify(cv.number()) != stats::Stability::stable);
}

/// Places of the kernels that a program launched, the most dispatched first.
std::vector<DocumentPlace> by_dispatches(const DocumentPlace& kernels) {
  std::vector<DocumentPlace> out;
  for (std::size_t i = 0; i < kernels.size(); ++i) out.push_back(kernels[i]);
  std::ranges::stable_sort(out, std::ranges::greater{}, [](const DocumentPlace& kernel) {
    return kernel["dispatches"].number();
  });
  return out;
}

/// What would capture something, where nothing was.
void add_steps_to_capture(const DocumentPlace& isolate, const std::vector<DocumentPlace>& kernels,
                          Json& summary) {
  if (kernels.empty()) return;
  const std::string pattern = isolate["request"]["kernel"].text();
  const auto compiled = Pattern::compile(pattern);
  double matching = 0;
  for (const DocumentPlace& kernel : kernels)
    if (compiled && compiled->found_in(kernel["kernel"].text()))
      matching += kernel["dispatches"].number();
  if (matching >= isolate["request"]["dispatch"].number()) {
    add_next(summary, {"", "run it again; when it repeats, take another dispatch: --dispatch N"});
    return;
  }
  Words words = {"rocm-perf", "isolate", "--kernel",
                 matching > 0 ? pattern : quoted_pattern(kernels.front()["kernel"].text())};
  if (isolate["request"]["stop"].holds()) words.emplace_back("--stop");
  words.emplace_back("--");
  const Words command = isolate["environment"]["command"].texts();
  words.insert(words.end(), command.begin(), command.end());
  add_next(summary, {join_command_line(words),
                     matching > 0 ? "takes the first dispatch of what matches"
                                  : "takes the first dispatch of the kernel with the most"});
}

}  // namespace

void summarise_certificate(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace certificate = document_of(documents, "certificate");
  take_warnings(summary, certificate["notes"], certificate["notes"].texts());
  const std::string verdict = certificate["verdict"].text();
  const bool proven = verdict != "differs" && verdict != "proves_nothing";
  const bool other = !certificate["code_object"]["captured"].holds();
  Part proof{.part = "proof", .title = fmt::format("Proof (exit code {})", proven ? 0 : 1)};
  Json row = certificate.excerpt({"verdict", "write_set"}, whole_text(certificate["sentence"]));
  row["kernel"] = certificate["kernel"].excerpt({"name", "demangled"});
  row["code_object"] = certificate["code_object"].excerpt({"captured"});
  row["method"] =
      certificate["method"].excerpt({"runs", "poison", "max_ulp", "max_relative", "max_absolute"});
  proof.rows.push_back(std::move(row));
  add_part(summary, proof);
  const std::vector<DocumentPlace> regions = by_difference(certificate["regions"]);
  add_part(summary, differences_part(regions));
  const std::string hsaco = certificate["environment"]["hsaco_path"].text();
  const DocumentPlace folder = certificate["environment"]["capture_folder"];
  if (other && !regions.empty()) add_part(summary, cheats_part(certificate, regions));
  if (other)
    add_part(summary, {.part = "faster",
                       .title = "Is it faster",
                       .missing = "verify takes no times; replay full-vm does"});
  if (!proven)
    add_steps_after_failure(certificate, hsaco, summary);
  else if (other)
    add_timing_steps(folder, hsaco, summary);
  else
    add_next(summary, {replay_command("full-vm", folder, "", {"--iterations", "100"}),
                       "times it; replay verify --hsaco FILE proves another code object"});
}

void summarise_replay(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace replay = document_of(documents, "replay");
  take_warnings(summary, replay["notes"], replay["notes"].texts());
  const DocumentPlace kernel = replay["kernel"], execution = replay["execution"];
  const bool other = !kernel["captured_code_object"].holds();
  Part replayed{.part = "replayed", .title = "Replayed"};
  Json row = kernel.excerpt({"name", "demangled", "captured_code_object"});
  row["execution"] = execution.excerpt(
      {"iterations", "mode", "warmup", "restored_bytes_per_iteration", "restored_on_device"});
  row["environment"] = replay["environment"].excerpt({"gpu_agent", "product_name"});
  replayed.rows.push_back(std::move(row));
  add_part(summary, replayed);
  Part times{.part = "times", .title = "GPU time of a dispatch", .details = "times"};
  times.rows.push_back(replay["timing"].excerpt(
      {"unit", "median", "min", "max", "cv", "captured", "ratio_to_captured"}));
  add_part(summary, times);
  Part faithful{.part = "faithful",
                .title = "Does it compute what was captured",
                .missing = "full-vm compares no memory; replay verify does"};
  if (execution["learned_pages"].number() > 0)
    faithful.rows.push_back(execution.excerpt({"learned_pages"}));
  add_part(summary, faithful);
  const DocumentPlace folder = replay["environment"]["capture_folder"];
  const std::string hsaco = other ? kernel["hsaco_path"].text() : std::string();
  if (wants_iterations(replay))
    add_next(summary,
             {replay_command("full-vm", folder, hsaco, {"--iterations", "100"}), "steadier times"});
  add_next(summary,
           {replay_command("verify", folder, hsaco), "proves that it computes what was captured"});
  if (other) add_timing_steps(folder, hsaco, summary);
}

void summarise_reservation(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace reservation = document_of(documents, "reservation");
  const DocumentPlace around = reservation["environment"], ranges = reservation["ranges"];
  const std::string verdict = reservation["verdict"].text();
  const int code = verdict == "exact" ? 0 : verdict == "failed" ? 1 : 2;
  Part answer{.part = "reserved",
              .title = fmt::format("Verdict (exit code {})", code),
              .details = "ranges"};
  Json row = reservation.excerpt({"verdict", "source", "through"});
  row["summary"] =
      reservation["summary"].excerpt({"ranges", "bytes", "exact", "relocated", "failed"});
  answer.rows.push_back(std::move(row));
  add_part(summary, answer);
  Part taken{.part = "taken", .title = "Ranges that are not at their address", .details = "ranges"};
  std::size_t others = 0;  // environment.not_exact has them in the same order
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i]["outcome"].text() == "exact") continue;
    const DocumentPlace why = around["not_exact"][others++];
    if (taken.rows.size() == kMostSummaryRows) {
      ++taken.left_out;
      continue;
    }
    Json one = ranges[i].excerpt({"base", "bytes", "memory", "outcome"});
    one["why"] = why.excerpt({"in_the_way", "returned", "status"});
    taken.rows.push_back(std::move(one));
  }
  add_part(summary, taken);
  if (around["no_runtime"])
    take_warnings(summary, around["no_runtime"], {around["no_runtime"].text()});
  if (verdict != "exact")
    add_next(summary,
             {"", std::string("run it again: a process has other addresses at each start") +
                      (reservation["through"].text() == "cuda"
                           ? ""
                           : ". A capture that is taken with HSA_RESERVE_SVM=1 is the "
                             "surest to replay")});
  else if (around["capture_folder"])
    add_next(summary, {replay_command("full-vm", around["capture_folder"], ""),
                       "runs the captured dispatch there"});
}

void summarise_capture_run(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace isolate = document_of(documents, "isolate");
  const DocumentPlace capture = isolate["capture"];
  const std::vector<DocumentPlace> kernels = by_dispatches(isolate["kernels"]);
  if (capture) {
    std::vector<std::string> warnings;
    const DocumentPlace findings = capture["findings"];
    for (std::size_t i = 0; i < findings.size(); ++i) {
      const std::string remedy = findings[i]["remedy"].text();
      warnings.push_back(findings[i]["sentence"].text() + (remedy.empty() ? "" : "; ") + remedy);
    }
    for (const std::string& limit : capture["limits"].texts()) warnings.push_back(limit);
    take_warnings(summary, capture, warnings);
    Part part{.part = "captured", .title = "Captured", .details = "capture"};
    part.rows.push_back(capture.excerpt({"kernel", "ordinal", "isa", "captured_ns", "regions",
                                         "regions_not_captured", "variables", "memory_bytes",
                                         "stored_bytes", "written_pages"}));
    part.rows.back()["run"] = isolate.excerpt({"program"});
    add_part(summary, part);
    add_next(summary, {join_command_line({"rocm-perf", "capture", "check",
                                          isolate["environment"]["folder"].text()}),
                       "whether it is whole and can be replayed; then replay full-vm times it, "
                       "and replay verify proves that it computes the same"});
    return;
  }
  add_part(summary,
           {.part = "captured",
            .title = "Not captured",
            .rows = {isolate.excerpt({"captured", "program"}, whole_text(isolate["reason"]))}});
  Part launched{.part = "launched", .title = "Kernels that it launched", .details = "capture"};
  for (const DocumentPlace& kernel : kernels)
    if (launched.rows.size() < kMostSummaryRows)
      launched.rows.push_back(kernel.excerpt({"kernel", "dispatches"}));
    else
      ++launched.left_out;
  add_part(summary, launched);
  add_steps_to_capture(isolate, kernels, summary);
}

}  // namespace perflab::report
