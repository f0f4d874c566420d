#include "input/content_hash.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <new>
#include <span>
#include <utility>

#include "data/stop.h"
#include "io/file_bytes.h"

namespace fovea {
namespace {

constexpr Index piece_bytes = 4 << 20;  // some ms of hashing, during which other work waits

std::string hexadecimal(std::span<const unsigned char> bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

/// The digest of what was put in so far.
std::string digest_of(const EVP_MD_CTX* hash) {
  // Works on a copy, since finding the result ends a hash.
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> copy(EVP_MD_CTX_new(),
                                                                     EVP_MD_CTX_free);
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  if (!copy || EVP_MD_CTX_copy_ex(copy.get(), hash) != 1 ||
      EVP_DigestFinal_ex(copy.get(), bytes.data(), &size) != 1)
    throw std::bad_alloc();
  return hexadecimal({bytes.data(), size});
}

}  // namespace

ContentHash::ContentHash(SourceFiles files)
    : files_(std::move(files)), hash_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  if (!hash_ || EVP_DigestInit_ex(hash_.get(), EVP_sha256(), nullptr) != 1) throw std::bad_alloc();
}

bool ContentHash::advance() {
  if (file_ == files_.size()) return false;
  const FileBytes& file = *files_[file_];
  piece_.resize(std::min(piece_bytes, file.size() - at_));
  file.read(at_, piece_);
  EVP_DigestUpdate(hash_.get(), piece_.data(), piece_.size());
  at_ += std::ssize(piece_);
  if (at_ < file.size()) return true;
  // All arrays of a directory were always hashed.
  if (file_ == 0 && !file.path().ends_with(".npy")) of_first_ = digest_of(hash_.get());
  ++file_;
  at_ = 0;
  return file_ < files_.size();
}

std::string ContentHash::text() const {
  return files_.empty() ? "" : digest_of(hash_.get());
}

bool ContentHash::is(const std::string& expected) const {
  return expected == text() || (!expected.empty() && expected == of_first_);
}

ContentHash content_hash_of(const SourceFiles& files, const std::stop_token& stop) {
  ContentHash hash(files);
  while (hash.advance()) check_stop(stop);
  return hash;
}

}  // namespace fovea
