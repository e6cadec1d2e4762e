// Owners of what the Arrow structs point to. Each array owns a share of the recording: the
// specification lets a consumer move a child out and release its parent first (docs/facts/arrow.md
// "C data interface").
#include "api/arrow_stream.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace perflab::api {
namespace {

/// A struct of the interface on the heap that is released with its owner, unless a consumer moved
/// it out, which sets `release` to null.
template <class T>
struct ReleaseAndDelete {
  void operator()(T* held) const {
    if (held->release != nullptr) held->release(held);
    delete held;
  }
};
template <class T>
using Held = std::unique_ptr<T, ReleaseAndDelete<T>>;

template <class T>
Held<T> empty() {
  return Held<T>(new T{});
}

const char* format_of(int type) {
  switch (type) {
    case PERFLAB_INT8:
      return "c";
    case PERFLAB_INT16:
      return "s";
    case PERFLAB_INT32:
      return "i";
    case PERFLAB_INT64:
      return "l";
    case PERFLAB_BOOL8:
      return "C";
    case PERFLAB_UINT32:
      return "I";
    case PERFLAB_UINT64:
      return "L";
    case PERFLAB_FLOAT64:
      return "g";
    default:
      check_failed("a column has a known type", __FILE__, __LINE__);
  }
}

struct SchemaOwner {
  std::vector<Held<ArrowSchema>> children;
  std::vector<ArrowSchema*> pointers;
  Held<ArrowSchema> dictionary;
};

void release_schema(ArrowSchema* schema) {
  delete static_cast<SchemaOwner*>(schema->private_data);
  schema->release = nullptr;
}

/// Names and formats are constants of the program.
void fill_schema(ArrowSchema& out, const char* name, const char* format, bool nullable,
                 std::unique_ptr<SchemaOwner> owner) {
  for (const auto& child : owner->children) owner->pointers.push_back(child.get());
  out = {.format = format,
         .name = name,
         .metadata = nullptr,
         .flags = nullable ? ARROW_FLAG_NULLABLE : 0,
         .n_children = static_cast<std::int64_t>(owner->children.size()),
         .children = owner->pointers.empty() ? nullptr : owner->pointers.data(),
         .dictionary = owner->dictionary.get(),
         .release = release_schema,
         .private_data = nullptr};
  out.private_data = owner.release();
}

void fill_schema(ArrowSchema& out, const Table& table) {
  auto owner = std::make_unique<SchemaOwner>();
  for (const Column& column : table.columns) {
    auto inner = std::make_unique<SchemaOwner>();
    if (column.names) {
      inner->dictionary = empty<ArrowSchema>();
      fill_schema(*inner->dictionary, "", "u", false, std::make_unique<SchemaOwner>());
    }
    owner->children.push_back(empty<ArrowSchema>());
    fill_schema(*owner->children.back(), column.name, format_of(column.type), column.may_be_none,
                std::move(inner));
  }
  fill_schema(out, "", "+s", false, std::move(owner));
}

struct ArrayOwner {
  std::shared_ptr<const Recording> recording;
  std::shared_ptr<const Names> names;
  std::vector<std::uint8_t> validity;  ///< a bit per row, lowest first; empty: all are valid
  std::array<const void*, 3> buffers{};
  std::vector<Held<ArrowArray>> children;
  std::vector<ArrowArray*> pointers;
  Held<ArrowArray> dictionary;
};

void release_array(ArrowArray* array) {
  delete static_cast<ArrayOwner*>(array->private_data);
  array->release = nullptr;
}

void fill_array(ArrowArray& out, std::size_t length, std::int64_t nulls, std::int64_t buffers,
                std::unique_ptr<ArrayOwner> owner) {
  for (const auto& child : owner->children) owner->pointers.push_back(child.get());
  out = {.length = static_cast<std::int64_t>(length),
         .null_count = nulls,
         .offset = 0,
         .n_buffers = buffers,
         .n_children = static_cast<std::int64_t>(owner->children.size()),
         .buffers = owner->buffers.data(),
         .children = owner->pointers.empty() ? nullptr : owner->pointers.data(),
         .dictionary = owner->dictionary.get(),
         .release = release_array,
         .private_data = nullptr};
  out.private_data = owner.release();
}

/// Sets the bits of the rows that are not -1; returns how many are.
template <class T>
std::int64_t mark_valid(const void* data, std::size_t rows, std::vector<std::uint8_t>& validity) {
  const T* values = static_cast<const T*>(data);
  std::int64_t nulls = 0;
  for (std::size_t row = 0; row < rows; ++row) nulls += values[row] == T{-1} ? 1 : 0;
  if (nulls == 0) return 0;
  validity.assign((rows + 7) / 8, 0);
  for (std::size_t row = 0; row < rows; ++row)
    if (values[row] != T{-1})
      validity[row / 8] = static_cast<std::uint8_t>(validity[row / 8] | (1U << (row % 8)));
  return nulls;
}

std::int64_t mark_valid(const Column& column, std::size_t rows,
                        std::vector<std::uint8_t>& validity) {
  if (!column.may_be_none) return 0;
  switch (column.type) {
    case PERFLAB_INT8:
      return mark_valid<std::int8_t>(column.data, rows, validity);
    case PERFLAB_INT16:
      return mark_valid<std::int16_t>(column.data, rows, validity);
    case PERFLAB_INT32:
      return mark_valid<std::int32_t>(column.data, rows, validity);
    case PERFLAB_INT64:
      return mark_valid<std::int64_t>(column.data, rows, validity);
    default:
      check_failed("none is told by signed types", __FILE__, __LINE__);
  }
}

Held<ArrowArray> dictionary_of(const std::shared_ptr<const Recording>& recording,
                               const std::shared_ptr<const Names>& names) {
  auto owner = std::make_unique<ArrayOwner>();
  owner->recording = recording;
  owner->names = names;
  owner->buffers = {nullptr, names->offsets.data(), names->bytes.data()};
  auto array = empty<ArrowArray>();
  fill_array(*array, names->size(), 0, 3, std::move(owner));
  return array;
}

void fill_array(ArrowArray& out, const std::shared_ptr<const Recording>& recording,
                const Table& table) {
  auto owner = std::make_unique<ArrayOwner>();
  owner->recording = recording;
  for (const Column& column : table.columns) {
    auto inner = std::make_unique<ArrayOwner>();
    inner->recording = recording;
    const std::int64_t nulls = mark_valid(column, table.rows, inner->validity);
    inner->buffers = {nulls > 0 ? inner->validity.data() : nullptr, column.data, nullptr};
    if (column.names) inner->dictionary = dictionary_of(recording, column.names);
    owner->children.push_back(empty<ArrowArray>());
    fill_array(*owner->children.back(), table.rows, nulls, 2, std::move(inner));
  }
  fill_array(out, table.rows, 0, 1, std::move(owner));
}

struct StreamOwner {
  std::shared_ptr<const Recording> recording;
  const Table* table;
  bool given = false;  ///< the one batch
  std::string error = {};
};

StreamOwner& owner_of(ArrowArrayStream* stream) {
  return *static_cast<StreamOwner*>(stream->private_data);
}

/// Runs `fill`, and makes an errno of what it throws.
template <class Fill>
int guarded(ArrowArrayStream* stream, const Fill& fill) {
  StreamOwner& owner = owner_of(stream);
  owner.error.clear();
  try {
    fill(owner);
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  } catch (const std::exception& error) {
    owner.error = error.what();
    return EIO;
  }
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  return guarded(stream, [&](const StreamOwner& owner) { fill_schema(*out, *owner.table); });
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
  return guarded(stream, [&](StreamOwner& owner) {
    *out = ArrowArray{};  // released: the end of the stream
    if (owner.given) return;
    fill_array(*out, owner.recording, *owner.table);
    owner.given = true;
  });
}

const char* get_last_error(ArrowArrayStream* stream) {
  const StreamOwner& owner = owner_of(stream);
  return owner.error.empty() ? nullptr : owner.error.c_str();
}

void release_stream(ArrowArrayStream* stream) {
  delete &owner_of(stream);
  stream->release = nullptr;
}

}  // namespace

void make_arrow_stream(std::shared_ptr<const Recording> recording, const Table& table,
                       ArrowArrayStream& out) {
  auto owner = std::make_unique<StreamOwner>(
      StreamOwner{.recording = std::move(recording), .table = &table});
  out = {.get_schema = get_schema,
         .get_next = get_next,
         .get_last_error = get_last_error,
         .release = release_stream,
         .private_data = owner.release()};
}

}  // namespace perflab::api
