// A ContentHash is the SHA-256 of a source's content as it was when it was opened, found piece by
// piece.
#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "data/source.h"

struct evp_md_ctx_st;  // of OpenSSL

namespace fovea {

class ContentHash {
 public:
  /// Hashes a file, or the content of several one after the other.
  explicit ContentHash(SourceFiles files);

  /// Reads a piece; false if that was all. Throws InputError if a file cannot be read or has
  /// changed since it was opened.
  bool advance();
  /// Hexadecimal, once advance() has returned false; empty if there are no files.
  std::string text() const;
  /// Whether `expected` is the hash of the same content. Older sessions have the hash of the opened
  /// file alone, without the files beside it; in that case only the opened file is compared.
  bool is(const std::string& expected) const;

 private:
  SourceFiles files_;
  std::size_t file_ = 0;  // being read
  Index at_ = 0;          // bytes of it read so far
  std::vector<std::byte> piece_;
  std::shared_ptr<evp_md_ctx_st> hash_;  // OpenSSL uses the processor's instructions for it
  std::string of_first_;                 // of the first file alone
};

/// Finds the hash in one go. Throws Cancelled, too.
ContentHash content_hash_of(const SourceFiles& files, const std::stop_token& stop = {});

}  // namespace fovea
