// What proposers are told beside the source: architecture, roofline, bottleneck and hot lines of
// the kernel, out of recordings or documents. And, for an application, which kernel to work on.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyze/pipeline.h"
#include "base/error.h"
#include "base/text/json.h"
#include "optimize/model/source_model.h"

namespace perflab::optimize {

/// Documents about a run; null: there is none.
struct RunDocuments {
  Json analysis, roofline;
};
/// Of an analysed trace.
RunDocuments documents_of(const analyze::AnalyzedTrace& analyzed);
/// analysis.json (or the folder that holds it), and roofline.json beside it when there is one.
/// Errors (bad_input): no such file, another document.
Result<RunDocuments> read_documents(const std::filesystem::path& place);

/// "architecture", "roofline", "bottleneck", "hot_lines": what is not known is null. `arch`: a gfx
/// name; empty: not known.
Json facts_for_proposer(const RunDocuments& documents, const std::string& kernel,
                        const std::string& arch);

/// A recording: a database, or the folder of a run with all that are below it.
struct RecordedRun {
  std::filesystem::path place;
  std::vector<std::filesystem::path> databases;
};
/// The recording at a place, of a profile's folder collect::latest_run. Error (bad_input): there is
/// no database.
Result<RecordedRun> recorded_run(const std::filesystem::path& place);

/// The kernel of the source that is most worth the work, with the reason in a sentence.
struct ChosenKernel {
  std::string name;  ///< qualified
  std::string why;
};
/// By what the run would gain if the kernel were infinitely fast, times the share of its time that
/// could go at most (1 - 1/factor of its bound; 1 when nothing bounds it). Error (usage): none of
/// the source's kernels ran, or there is no critical path to judge by.
Result<ChosenKernel> choose_kernel(const analyze::AnalyzedTrace& analyzed,
                                   const SourceModel& model);

}  // namespace perflab::optimize
