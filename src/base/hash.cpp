// XXH3-64 through the header-only form of xxHash, SHA-256 through OpenSSL's EVP interface.
#include "base/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "base/error.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace perflab {

std::uint64_t content_hash(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::string key_text(std::string_view bytes) {
  return fmt::format("xxh3:{:016x}", content_hash(bytes));
}

std::string content_hash_text(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes.data(), bytes.size());
  return hash.finish();
}

bool is_hash_of(std::string_view recorded, std::string_view bytes) {
  return recorded == (recorded.starts_with("xxh3:") ? key_text(bytes) : content_hash_text(bytes));
}

struct Sha256::Context {
  Context() : evp(EVP_MD_CTX_new()) { begin(); }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context() { EVP_MD_CTX_free(evp); }

  // Fails only without memory.
  void begin() { PERFLAB_CHECK(evp != nullptr && EVP_DigestInit_ex(evp, EVP_sha256(), nullptr)); }

  EVP_MD_CTX* evp;
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {}
Sha256::Sha256(Sha256&& other) noexcept = default;
Sha256& Sha256::operator=(Sha256&& other) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::add(const void* bytes, std::size_t size) {
  PERFLAB_CHECK(EVP_DigestUpdate(context_->evp, bytes, size) == 1);
}

std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  PERFLAB_CHECK(EVP_DigestFinal_ex(context_->evp, digest.data(), &size) == 1);
  context_->begin();
  std::string text = "sha256:";
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace perflab
