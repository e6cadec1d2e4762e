// The methods that SQLite asks of an immutable file: https://www.sqlite.org/c3ref/io_methods.html,
// https://www.sqlite.org/c3ref/vfs.html.
#include "base/system/nameless_file.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace perflab {
namespace {

/// SQLite has room for it, and knows its first member.
struct OpenFile {
  sqlite3_file base;
  int fd;
};

int fd_of(sqlite3_file* file) {
  return reinterpret_cast<OpenFile*>(file)->fd;
}

int close_file(sqlite3_file* file) {
  ::close(fd_of(file));
  return SQLITE_OK;
}

int read_file_at(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  auto* bytes = static_cast<char*>(to);
  int done = 0;
  while (done < size) {
    const ssize_t got = ::pread(fd_of(file), bytes + done, static_cast<std::size_t>(size - done),
                                static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SQLITE_IOERR_READ;
    if (got == 0) {
      std::memset(bytes + done, 0, static_cast<std::size_t>(size - done));
      return SQLITE_IOERR_SHORT_READ;
    }
    done += static_cast<int>(got);
  }
  return SQLITE_OK;
}

int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
  struct stat info{};
  if (::fstat(fd_of(file), &info) != 0) return SQLITE_IOERR_FSTAT;
  *size = info.st_size;
  return SQLITE_OK;
}

const sqlite3_io_methods kMethods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file_at,
    .xWrite = [](sqlite3_file*, const void*, int, sqlite3_int64) { return SQLITE_READONLY; },
    .xTruncate = [](sqlite3_file*, sqlite3_int64) { return SQLITE_READONLY; },
    .xSync = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xFileSize = size_of_file,
    .xLock = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xUnlock = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xCheckReservedLock =
        [](sqlite3_file*, int* reserved) {
          *reserved = 0;
          return SQLITE_OK;
        },
    .xFileControl = [](sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; },
    .xSectorSize = [](sqlite3_file*) { return 4096; },
    .xDeviceCharacteristics = [](sqlite3_file*) { return SQLITE_IOCAP_IMMUTABLE; },
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* opened_as) {
  file->pMethods = nullptr;  // not to be closed
  // Sorting may want a temporary file, which has no name.
  if (name == nullptr || (flags & SQLITE_OPEN_MAIN_DB) == 0) return SQLITE_CANTOPEN;
  const int fd = ::open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return SQLITE_CANTOPEN;
  reinterpret_cast<OpenFile*>(file)->fd = fd;
  file->pMethods = &kMethods;
  if (opened_as != nullptr) *opened_as = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
  return SQLITE_OK;
}

int as_it_is(sqlite3_vfs*, const char* name, int size, char* to) {
  sqlite3_snprintf(size, to, "%s", name);
  return std::strlen(name) < static_cast<std::size_t>(size) ? SQLITE_OK : SQLITE_CANTOPEN;
}

}  // namespace

const char* nameless_files() {
  static sqlite3_vfs files = [] {
    sqlite3_vfs copy = *sqlite3_vfs_find(nullptr);  // its clock and randomness
    copy.zName = "perflab-nameless";
    copy.pNext = nullptr;
    copy.szOsFile = sizeof(OpenFile);
    copy.xOpen = open_file;
    copy.xFullPathname = as_it_is;
    copy.xAccess = [](sqlite3_vfs*, const char*, int, int* there) {
      *there = 0;
      return SQLITE_OK;
    };
    return copy;
  }();
  static const int kRegistered = sqlite3_vfs_register(&files, 0);
  PERFLAB_CHECK(kRegistered == SQLITE_OK);
  return files.zName;
}

}  // namespace perflab
