// The functions of the C interface over tables: a status, never an exception.
#include <algorithm>
#include <cstring>
#include <exception>

#include "api/arrow_stream.h"
#include "api/documents.h"
#include "api/perflab.h"

namespace {

using namespace perflab;

/// Calls `use` with a table of the object. The status is told, not kept: the documents are good.
template <class Use>
int with_table(perflab_documents* documents, const char* name, const Use& use) {
  try {
    if (documents == nullptr || documents->recording == nullptr || name == nullptr)
      return exit_code(ErrorCode::usage);
    const api::Table* table = documents->recording->table(name);
    return table == nullptr ? exit_code(ErrorCode::usage) : use(*table);
  } catch (const std::exception&) {  // no memory, or names of more than 2 GiB
    return exit_code(ErrorCode::internal);
  }
}

}  // namespace

const char* perflab_table_name(const perflab_documents* documents, size_t index) {
  return documents->recording ? api::Recording::table_name(index) : nullptr;
}

int perflab_table_size(perflab_documents* documents, const char* table, size_t* rows,
                       size_t* columns) {
  return with_table(documents, table, [&](const api::Table& found) {
    if (rows != nullptr) *rows = found.rows;
    if (columns != nullptr) *columns = found.columns.size();
    return 0;
  });
}

int perflab_table_column(perflab_documents* documents, const char* table, size_t index,
                         perflab_column* out) {
  return with_table(documents, table, [&](const api::Table& found) {
    if (out == nullptr || out->size < sizeof out->size || index >= found.columns.size())
      return exit_code(ErrorCode::usage);
    const api::Column& column = found.columns[index];
    perflab_column filled{};
    filled.size = out->size;  // the caller's: an older one has fewer members, a newer one more
    filled.name = column.name;
    filled.unit = column.unit;
    filled.type = column.type;
    filled.may_be_none = column.may_be_none ? 1 : 0;
    filled.data = column.data;
    filled.length = found.rows;
    filled.refers_to = column.of;
    if (column.names) {
      filled.name_offsets = column.names->offsets.data();
      filled.name_bytes = column.names->bytes.data();
      filled.name_count = column.names->size();
    }
    std::memset(out, 0, out->size);
    std::memcpy(out, &filled, std::min(filled.size, sizeof filled));
    return 0;
  });
}

int perflab_table_stream(perflab_documents* documents, const char* table,
                         struct ArrowArrayStream* out) {
  return with_table(documents, table, [&](const api::Table& found) {
    if (out == nullptr) return exit_code(ErrorCode::usage);
    api::make_arrow_stream(documents->recording, found, *out);
    return 0;
  });
}
