// The C interface over analyze/ and report/: what `rocm-perf analyze --out DIR --html FILE` writes,
// in memory. No exception leaves a function; errors become a status and a message, as in the
// program.
#include "api/perflab.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "analyze/pipeline.h"
#include "base/error.h"
#include "base/version.h"
#include "report/analysis/recording_documents.h"
#include "report/critical_path/dag_document.h"
#include "report/kit/document.h"
#include "report/page/page.h"

struct perflab_documents {
  int status = 0;
  std::string message;
  std::vector<perflab::report::RenderedDocument> entries;
  std::string page;  // once it was asked for
};

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

Result<void> add(std::vector<report::NamedDocument> documents, perflab_documents& out) {
  PERFLAB_TRY(out.entries, report::render_all(std::move(documents)));
  return {};
}

Result<void> analyze_inputs(const perflab_inputs* given, perflab_documents& out) {
  if (given == nullptr || given->size < sizeof(std::size_t))
    return fail(ErrorCode::usage, "perflab_inputs: size is not set",
                "set everything to zero, then size to sizeof(perflab_inputs)");
  // A caller that was built with fewer members has zero in the rest; one with more has to leave
  // them zero, since this library does not know them.
  perflab_inputs inputs{};
  std::memcpy(&inputs, given, std::min(given->size, sizeof inputs));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof inputs; i < given->size; ++i)
    if (bytes[i] != 0)
      return fail(ErrorCode::usage, "perflab_inputs: a member is set that this version has not",
                  "use the library of the header's version, or a newer one");

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
    PERFLAB_TRY(const analyze::AnalyzedRuns runs, analyze::analyze_runs({traces}, options));
    return add(report::recording_documents(runs, {.roofs = {}, .full = false, .nodes = true}), out);
  }
  if (options.thread_traces.empty() || !options.counter_files.empty() ||
      !options.code_files.empty())
    return fail(ErrorCode::usage, "perflab_inputs: there is no trace",
                "name databases in traces, or thread_traces alone");
  PERFLAB_TRY(const analyze::AnalyzedTrace analyzed, analyze::analyze_thread_traces(options));
  return add(report::trace_documents(analyzed), out);
}

void set_failed(int status, const std::string& message, perflab_documents& out) {
  out.status = status;
  out.message = message;
  out.entries.clear();  // all or none
}

}  // namespace

const char* perflab_version(void) {
  return kProgramVersion.data();
}

perflab_documents* perflab_analyze(const perflab_inputs* inputs) {
  try {
    auto out = std::make_unique<perflab_documents>();
    try {
      if (const auto done = analyze_inputs(inputs, *out); !done)
        set_failed(exit_code(done.error().code), describe(done.error()), *out);
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const std::exception& error) {
      set_failed(exit_code(ErrorCode::internal), error.what(), *out);
    }
    return out.release();
  } catch (...) {
    return nullptr;
  }
}

int perflab_status(const perflab_documents* documents) {
  return documents->status;
}

const char* perflab_message(const perflab_documents* documents) {
  return documents->message.c_str();
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
      parts.push_back({.name = entry.name, .file = std::nullopt, .text = entry.text});
    auto page = report::html_page(parts);
    if (!page) {  // the documents stay: their texts were handed out
      documents->status = exit_code(page.error().code);
      documents->message = describe(page.error());
      return nullptr;
    }
    documents->page = std::move(*page);
    return documents->page.c_str();
  } catch (...) {  // no memory
    documents->status = exit_code(ErrorCode::internal);
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
