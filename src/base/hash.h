// Hashes of contents. SHA-256 (OpenSSL's libcrypto) stands in documents, ledgers and captures as
// evidence: who alters what was hashed cannot keep the hash. XXH3 (64 bit, xxHash) is for keys,
// names of our own files and frames of a capture, where speed counts and nobody gains by a
// collision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace perflab {

/// XXH3-64 of the bytes.
std::uint64_t content_hash(std::string_view bytes);

/// That as text, for keys and names: "xxh3:" and 16 lower-case hex digits.
std::string key_text(std::string_view bytes);

/// SHA-256 of the bytes as documents carry it: "sha256:" and 64 lower-case hex digits.
std::string content_hash_text(std::string_view bytes);

/// Whether a recorded hash is that of the bytes. Older documents, and captures of format 1, have
/// key_text()'s form.
bool is_hash_of(std::string_view recorded, std::string_view bytes);

/// SHA-256 of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&& other) noexcept;
  Sha256& operator=(Sha256&& other) noexcept;
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  ~Sha256();

  void add(const void* bytes, std::size_t size);
  /// The hash of all pieces, in the form of content_hash_text(); it begins anew.
  [[nodiscard]] std::string finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace perflab
