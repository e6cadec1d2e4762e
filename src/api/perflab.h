/* perflab/perflab.h of rocm-perf-lab: recorded traces in, documents out, from C or C++.
 *
 * The same documents as `rocm-perf analyze --out DIR --html FILE` writes: JSON whose formats
 * `rocm-perf schema NAME` and docs/FORMATS.md describe. Nothing is printed and no file is written;
 * llvm-objdump is started for the code of kernels, where there is one. All text is UTF-8 and ends
 * with a zero byte; it belongs to the object that it came from. Any thread may use an object, one
 * at a time.
 *
 * CMake: find_package(rocm-perf-lab) and the target rocm-perf-lab::perflab. */
#ifndef PERFLAB_PERFLAB_H
#define PERFLAB_PERFLAB_H

#include <stddef.h>

#define PERFLAB_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* What to analyse. Set everything to zero first, then `size` to sizeof(perflab_inputs): members may
 * be added at the end. */
typedef struct perflab_inputs {
  size_t size;
  /* rocpd databases: the processes of one run. */
  const char* const* traces;
  size_t trace_count;
  /* Counter passes of the same command: databases, or counter_collection.csv. */
  const char* const* counters;
  size_t counter_count;
  /* Thread traces of the same command: ui_output folders or stats files; also without traces. */
  const char* const* thread_traces;
  size_t thread_trace_count;
  /* Binaries or code objects that hold the kernels. */
  const char* const* code;
  size_t code_count;
  /* Threads to read with, 0: all cores. The result does not depend on it. */
  unsigned threads;
} perflab_inputs;

/* The documents of one analysis, or why there are none. */
typedef struct perflab_documents perflab_documents;

/* "MAJOR.MINOR.PATCH" of this library, as documents carry it. */
PERFLAB_API const char* perflab_version(void);

/* Analyses. NULL only when there is no memory left; everything else is told by perflab_status(). */
PERFLAB_API perflab_documents* perflab_analyze(const perflab_inputs* inputs);

/* 0, or the exit code that `rocm-perf analyze` would end with: 2 usage, 3 bad input, 4 something is
 * missing, 70 a bug. */
PERFLAB_API int perflab_status(const perflab_documents* documents);

/* Why the status is not 0, and what to do about it, a line each; "" when it is 0. */
PERFLAB_API const char* perflab_message(const perflab_documents* documents);

/* How many documents there are: analysis and, with a recording, profile, dag, and what else the
 * inputs allow. */
PERFLAB_API size_t perflab_document_count(const perflab_documents* documents);

/* Name of one of them ("analysis"), which is also its schema's; NULL from `index` = count on. */
PERFLAB_API const char* perflab_document_name(const perflab_documents* documents, size_t index);

/* The JSON text of a document by name; NULL when there is none of that name. */
PERFLAB_API const char* perflab_document_text(const perflab_documents* documents, const char* name);

/* One self-contained HTML page of all of them, as `rocm-perf analyze --html` writes; NULL when the
 * status is not 0, or becomes so. */
PERFLAB_API const char* perflab_page(perflab_documents* documents);

/* The JSON Schema of a kind of document; NULL for an unknown name. Lives as long as the program. */
PERFLAB_API const char* perflab_schema(const char* name);

/* Frees the object and every text that came from it. NULL is allowed. */
PERFLAB_API void perflab_free(perflab_documents* documents);

#ifdef __cplusplus
}
#endif

#endif
