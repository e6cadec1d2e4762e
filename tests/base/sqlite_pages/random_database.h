// Databases of random tables: page sizes, every width of integers, texts where numbers belong,
// holes, overflow, columns that were added later, and what cannot be read from pages at all.
#pragma once

#include <cstdint>
#include <filesystem>

namespace perflab::test {

/// What a random database has.
struct RandomDatabase {
  bool plain = false;  ///< nothing in it needs SQLite: all of it can be read from pages
};

/// Writes the database that a seed makes. Failures are reported to GoogleTest.
RandomDatabase write_random_database(const std::filesystem::path& path, std::uint64_t seed);

}  // namespace perflab::test
