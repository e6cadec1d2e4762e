// A table as a stream of the Arrow C stream interface: one record batch, a struct of its columns.
#pragma once

#include <memory>

#include "api/arrow_abi.h"
#include "api/table.h"

namespace perflab::api {

/// Fills `out` with a stream over a table of `recording`, which lives until the stream and all that
/// came from it are released. Values stay where they are; what is made is a bit per row for columns
/// where something is none.
void make_arrow_stream(std::shared_ptr<const Recording> recording, const Table& table,
                       ArrowArrayStream& out);

}  // namespace perflab::api
