// The C interface over analyze/ and report/: what `rocm-perf analyze --out DIR --html FILE` writes,
// in memory. No exception leaves a function; errors become a status and a message, as in the
// program.
#include "api/documents.h"

#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "analyze/pipeline.h"
#include "api/perflab.h"
#include "base/error.h"
#include "base/version.h"
#include "report/analysis/recording_documents.h"
#include "report/critical_path/dag_document.h"
#include "report/kit/document.h"
#include "report/page/page.h"
#include "report/summary/summary.h"

namespace {

using namespace perflab;

using Paths = std::vector<std::filesystem::path>;

Result<Paths> paths_of(const char* const* names, std::size_t count, const char* member) {
  Paths paths;
  for (std::size_t i = 0; i < count; ++i) {
    if (names == nullptr || names[i] == nullptr)
      return fail(ErrorCode::usage, std::string("perflab_inputs: a name in ") + member + " is NULL",
                  "give as many names as the count says");
    paths.emplace_back(names[i]);
  }
  return paths;
}

/// The documents with their summary, and with `keep` the Trace that they are of.
Result<void> add(std::vector<report::NamedDocument> documents, analyze::AnalyzedTrace analyzed,
                 bool keep, perflab_documents& out) {
  documents.emplace_back(std::string(report::kSummary), report::summary_document(documents));
  PERFLAB_TRY(out.entries, report::render_all(std::move(documents)));
  if (!keep) return {};
  PERFLAB_TRY(out.recording, api::Recording::of(std::move(analyzed.trace)));
  return {};
}

Result<void> analyze_inputs(const perflab_inputs* given, bool keep, perflab_documents& out) {
  PERFLAB_TRY(const perflab_inputs inputs, api::inputs_of(given, "perflab_inputs"));
  analyze::AnalyzeOptions options;
  options.threads = inputs.threads;
  options.timeline = options.keep_trace_detail = true;
  options.critical_path.keep_nodes_up_to = report::kMostPageNodes;
  PERFLAB_TRY(const Paths traces, paths_of(inputs.traces, inputs.trace_count, "traces"));
  PERFLAB_TRY(options.counter_files, paths_of(inputs.counters, inputs.counter_count, "counters"));
  PERFLAB_TRY(options.thread_traces,
              paths_of(inputs.thread_traces, inputs.thread_trace_count, "thread_traces"));
  PERFLAB_TRY(options.code_files, paths_of(inputs.code, inputs.code_count, "code"));
  if (!traces.empty()) {
    PERFLAB_TRY(analyze::AnalyzedRuns runs, analyze::analyze_runs({traces}, options));
    auto documents = report::recording_documents(runs, {.roofs = {}, .full = false, .nodes = true});
    return add(std::move(documents), std::move(runs.representative), keep, out);
  }
  if (options.thread_traces.empty() || !options.counter_files.empty() ||
      !options.code_files.empty())
    return fail(ErrorCode::usage, "perflab_inputs: there is no trace",
                "name databases in traces, or thread_traces alone");
  PERFLAB_TRY(analyze::AnalyzedTrace analyzed, analyze::analyze_thread_traces(options));
  auto documents = report::trace_documents(analyzed);
  return add(std::move(documents), std::move(analyzed), keep, out);
}

perflab_documents* documents_of(const perflab_inputs* inputs, bool keep) {
  try {
    auto out = std::make_unique<perflab_documents>();
    Result<void> done;
    try {
      done = analyze_inputs(inputs, keep, *out);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      done = fail(ErrorCode::internal, error.what());
    }
    if (!done) {
      api::set_failed(done.error(), *out);
      out->entries.clear();  // all or none
      out->recording.reset();
    }
    return out.release();
  } catch (...) {
    return nullptr;
  }
}

}  // namespace

void perflab::api::set_failed(const Error& error, perflab_documents& out) {
  out.status = exit_code(error.code);
  out.error_name = to_string(error.code);
  out.message = describe(error);
  out.remedy = error.remedy;
  Error without = error;
  without.remedy.clear();
  out.error_text = describe(without);
}

const char* perflab_version(void) {
  return kProgramVersion.data();
}

perflab_documents* perflab_analyze(const perflab_inputs* inputs) {
  return documents_of(inputs, false);
}

perflab_documents* perflab_open(const perflab_inputs* inputs) {
  return documents_of(inputs, true);
}

int perflab_status(const perflab_documents* documents) {
  return documents->status;
}

const char* perflab_message(const perflab_documents* documents) {
  return documents->message.c_str();
}

const char* perflab_error_name(const perflab_documents* documents) {
  return documents->error_name.data();
}

const char* perflab_error_text(const perflab_documents* documents) {
  return documents->error_text.c_str();
}

const char* perflab_remedy(const perflab_documents* documents) {
  return documents->remedy.c_str();
}

size_t perflab_document_count(const perflab_documents* documents) {
  return documents->entries.size();
}

const char* perflab_document_name(const perflab_documents* documents, size_t index) {
  return index < documents->entries.size() ? documents->entries[index].name.c_str() : nullptr;
}

const char* perflab_document_text(const perflab_documents* documents, const char* name) {
  for (const auto& entry : documents->entries)
    if (name != nullptr && entry.name == name) return entry.text.c_str();
  return nullptr;
}

const char* perflab_page(perflab_documents* documents) {
  if (documents->status != 0) return nullptr;
  if (!documents->page.empty()) return documents->page.c_str();
  try {
    std::vector<report::PageDocument> parts;
    for (const auto& entry : documents->entries)
      if (entry.name != report::kSummary)
        parts.push_back({.name = entry.name, .file = std::nullopt, .text = entry.text});
    auto page = report::html_page(parts);
    if (!page) {  // the documents stay: their texts were handed out
      api::set_failed(page.error(), *documents);
      return nullptr;
    }
    documents->page = std::move(*page);
    return documents->page.c_str();
  } catch (...) {  // no memory
    documents->status = exit_code(ErrorCode::internal);
    documents->error_name = to_string(ErrorCode::internal);
    return nullptr;
  }
}

const char* perflab_schema(const char* name) {
  if (name == nullptr) return nullptr;
  try {
    const auto text = report::schema_text(name);
    return text ? text->data() : nullptr;  // it ends with a zero byte
  } catch (...) {                          // no memory
    return nullptr;
  }
}

void perflab_free(perflab_documents* documents) {
  delete documents;
}
