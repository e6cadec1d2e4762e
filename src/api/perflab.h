/* perflab/perflab.h of rocm-perf-lab: recorded traces in, documents out, from C or C++.
 *
 * The same documents as `rocm-perf analyze --out DIR --html FILE` writes: JSON whose formats
 * `rocm-perf schema NAME` and docs/FORMATS.md describe. Nothing is printed and no file is written;
 * llvm-objdump is started for the code of kernels, where there is one. All text is UTF-8 and ends
 * with a zero byte; it belongs to the object that it came from. Any thread may use an object, one
 * at a time. perflab_open() gives the rows of the recording as well, as columns.
 *
 * The search of `rocm-perf autotune` is here as well, for programs that measure by themselves.
 *
 * Functions have the symbol versions PERFLAB_0.1, from perflab_open() on PERFLAB_0.2, and from
 * perflab_search_open() on PERFLAB_0.3.
 *
 * CMake: find_package(rocm-perf-lab) and the target rocm-perf-lab::perflab. */
#ifndef PERFLAB_PERFLAB_H
#define PERFLAB_PERFLAB_H

#include <stddef.h>
#include <stdint.h>

#define PERFLAB_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/* What to analyse. Set everything to zero first, then `size` to sizeof(perflab_inputs): members may
 * be added at the end. */
typedef struct perflab_inputs {
  size_t size;
  /* rocpd databases or traces of PyTorch's profiler: the processes of one run. */
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

/* ---- PERFLAB_0.2: columns, and errors in parts ---- */

/* As perflab_analyze(), and keeps what was read: the same object with the same documents, of the
 * same reading, and the tables of the recording. Memory: that of the rows, until perflab_free(). */
PERFLAB_API perflab_documents* perflab_open(const perflab_inputs* inputs);

/* Name of the status: "usage" (2), "bad_input" (3), "missing_tool" (4), "internal" (70), and what
 * else `rocm-perf` ends with; "" when it is 0. */
PERFLAB_API const char* perflab_error_name(const perflab_documents* documents);

/* Why the status is not 0, without what to do about it: perflab_message() has both. */
PERFLAB_API const char* perflab_error_text(const perflab_documents* documents);

/* What the caller can do about it; "" when nothing is known. */
PERFLAB_API const char* perflab_remedy(const perflab_documents* documents);

/* Types of a column's values; PERFLAB_BOOL8 is a byte, 0 or 1. */
enum {
  PERFLAB_INT8 = 1,
  PERFLAB_INT16 = 2,
  PERFLAB_INT32 = 3,
  PERFLAB_INT64 = 4,
  PERFLAB_BOOL8 = 5,
  PERFLAB_UINT32 = 6,
  PERFLAB_UINT64 = 7,
  PERFLAB_FLOAT64 = 8
};

/* A column of a table. Set `size` to sizeof(perflab_column) before it is filled: members may be
 * added at the end. What it points to must not be written to, and lives as long as the object. */
typedef struct perflab_column {
  size_t size;
  const char* name;
  const char* unit; /* "ns" (of the trace clock of the node), "bytes", "work-items"; "" */
  int type;         /* PERFLAB_INT8, ... */
  int may_be_none;  /* not 0: the value -1 stands for none */
  const void* data; /* `length` values, one behind the other; may be NULL when there is none */
  size_t length;
  /* The table whose rows the values are numbers of, from 0; NULL: they are no row numbers. */
  const char* refers_to;
  /* Values are codes of names: name i is name_bytes[name_offsets[i], name_offsets[i + 1]), without
   * a zero byte. Each occurs in the column, once in the list, in the order of their bytes. NULL:
   * values are no codes. */
  const int32_t* name_offsets;
  const char* name_bytes;
  size_t name_count;
} perflab_column;

/* Name of a table ("dispatches", "api_calls", "copies", "counters", ...); NULL from `index` = their
 * number on, and for an object that is not of perflab_open() or whose status is not 0. Every
 * recording has the same tables, without rows where nothing was recorded. */
PERFLAB_API const char* perflab_table_name(const perflab_documents* documents, size_t index);

/* How many rows and columns a table has. The first call for a table makes codes of its names; all
 * numbers stay as they were read. 0, or a status as above: 2 there is no such table, 70 no memory;
 * that of the object stays as it is. */
PERFLAB_API int perflab_table_size(perflab_documents* documents, const char* table, size_t* rows,
                                   size_t* columns);

/* One of the columns of a table; the order is always the same. Returns as perflab_table_size(), 2
 * also for an `index` that is too large and a `size` that is not set. */
PERFLAB_API int perflab_table_column(perflab_documents* documents, const char* table, size_t index,
                                     perflab_column* out);

/* A table as a stream of the Arrow C stream interface (its struct ArrowArrayStream): one record
 * batch over the same memory, names as dictionaries, none as null. The consumer calls its
 * release(); what came from it stays valid after perflab_free(). Returns as perflab_table_size().
 */
struct ArrowArrayStream;
PERFLAB_API int perflab_table_stream(perflab_documents* documents, const char* table,
                                     struct ArrowArrayStream* out);

/* ---- PERFLAB_0.3: which configuration to measure next ---- */

/* Where to search, and how. Set everything to zero first, then `size` to
 * sizeof(perflab_search_inputs): members may be added at the end. */
typedef struct perflab_search_inputs {
  size_t size;
  /* The space as JSON text, in any form of docs/AUTOTUNE.md "The space"; or a file with it, plain
   * or gzip. One of both. */
  const char* space;
  const char* space_file;
  const char* effort;       /* when it stops: "quick", "auto", "full"; NULL: "auto" */
  const char* architecture; /* whose limits rule configurations out ("gfx942"); NULL: of none */
  uint64_t seed;            /* the same seed and the same values give the same search */
  uint64_t budget;          /* configurations told, failing ones included; 0: no limit */
  int maximize;             /* not 0: the largest value is the best */
} perflab_search_inputs;

/* A search. It starts no process and needs no GPU: the caller measures. Any thread may use it, one
 * at a time; different searches do not know of each other. Configurations have numbers, from 0;
 * those of a list are in its order, each once. */
typedef struct perflab_search perflab_search;

/* Lists the space. NULL only when there is no memory left; perflab_search_error() tells the rest.
 */
PERFLAB_API perflab_search* perflab_search_open(const perflab_search_inputs* inputs);

/* How the last call that returns a status ended, or the opening: an object for perflab_status(),
 * perflab_message(), perflab_error_name(), perflab_error_text() and perflab_remedy(). It belongs to
 * the search. A search that could not be opened answers every call with that status. */
PERFLAB_API const perflab_documents* perflab_search_error(const perflab_search* search);

/* How many configurations there are; 0 when it could not be opened. */
PERFLAB_API size_t perflab_search_size(const perflab_search* search);

/* The next configurations to measure, different from all before: at most `count`, as many as can
 * be measured at once. `asked`: how many were put into `ids`; 0: finished. The first one is the
 * default. Tell each before you ask again: what is told later still counts, but the search has not
 * known of it. Returns 0, or a status as perflab_status(). */
PERFLAB_API int perflab_search_ask(perflab_search* search, size_t count, uint32_t* ids,
                                   size_t* asked);

/* Why the search is finished; "" while it is not. */
PERFLAB_API const char* perflab_search_why_finished(const perflab_search* search);

/* The parameters of a configuration as a JSON object; NULL: there is none of this number. The text
 * lives until the next call of this function. */
PERFLAB_API const char* perflab_search_configuration(perflab_search* search, uint32_t id);

/* The number of the configuration with these parameters (a JSON object), in any order. Returns as
 * perflab_search_ask(), 2 also when the space has no such configuration. */
PERFLAB_API int perflab_search_find(perflab_search* search, const char* configuration,
                                    uint32_t* id);

/* The result of a configuration, asked for or measured before. `outcome` is NULL or "correct", with
 * one or more samples in any one unit, of which the median counts; or, without samples, why there
 * are none: "compile", "runtime", "timeout", "correctness" (a wrong result), "device_limit".
 * Returns as perflab_search_ask(), 2 also for one that was told before. */
PERFLAB_API int perflab_search_tell(perflab_search* search, uint32_t id, const char* outcome,
                                    const double* samples, size_t count);

/* The best configuration told so far and its value: 1, or 0 while none has worked. */
PERFLAB_API size_t perflab_search_best(const perflab_search* search, uint32_t* id, double* value);

/* Frees the search and every text that came from it. NULL is allowed. */
PERFLAB_API void perflab_search_close(perflab_search* search);

#ifdef __cplusplus
}
#endif

#endif
