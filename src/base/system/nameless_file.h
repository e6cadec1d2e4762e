// A file system for SQLite in which a database is opened by what leads to it, even where that is a
// link to a file without a name (/proc/self/fd/N): SQLite's own refuses links.
#pragma once

namespace perflab {

/// The name under which sqlite3_open_v2() finds it. Databases in it are only read, and nobody may
/// write to them meanwhile; they have no journals. Registered with the first call, which any thread
/// may make.
const char* nameless_files();

}  // namespace perflab
