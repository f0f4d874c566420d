// A ContentHash is the SHA-256 of a source's content, found piece by piece.
#pragma once

#include <QByteArray>
#include <QFile>
#include <QStringList>
#include <memory>
#include <string>

struct evp_md_ctx_st;  // of OpenSSL

namespace fovea {

class ContentHash {
 public:
  /// Of a file; of a directory, of its .npy files by name. An address has no content.
  explicit ContentHash(const std::string& source);

  /// Reads a piece; false: that was all. Throws InputError when a file cannot be read.
  bool advance();
  /// Hexadecimal, once advance() has returned false; empty: the source has no content.
  std::string text() const;

 private:
  void list_files();
  void open_next();

  std::string source_;
  bool listed_ = false;
  QStringList files_;  // not opened yet
  QFile file_;
  QByteArray piece_;
  std::shared_ptr<evp_md_ctx_st> hash_;  // OpenSSL has the instructions of the processor for it
};

/// The same in one go.
std::string content_hash_of(const std::string& source);

}  // namespace fovea
