#include "input/content_hash.h"

#include <openssl/evp.h>

#include <QDir>
#include <QFileInfo>
#include <new>

#include "data/address.h"
#include "data/error.h"

namespace fovea {
namespace {

constexpr qint64 piece_bytes = 4 << 20;  // some ms of hashing, for which other work waits

bool has_content(const std::string& source) {
  return !source.empty() && !is_address(source);
}

}  // namespace

ContentHash::ContentHash(const std::string& source)
    : source_(source), hash_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
  if (!hash_ || EVP_DigestInit_ex(hash_.get(), EVP_sha256(), nullptr) != 1) throw std::bad_alloc();
}

void ContentHash::list_files() {
  listed_ = true;
  const QString path = QString::fromStdString(source_);
  if (!QFileInfo(path).isDir()) {
    files_ << path;
    return;
  }
  for (const QFileInfo& entry : QDir(path).entryInfoList({"*.npy"}, QDir::Files, QDir::Name))
    files_ << entry.filePath();
  if (files_.isEmpty())
    throw InputError(source_, "no .npy file found; expected those that were opened");
}

void ContentHash::open_next() {
  file_.setFileName(files_.takeFirst());
  if (!file_.open(QIODevice::ReadOnly))
    throw InputError(file_.fileName().toStdString(), "cannot be read for its hash (" +
                                                         file_.errorString().toStdString() +
                                                         "); expected the file that was opened");
}

bool ContentHash::advance() {
  if (!has_content(source_)) return false;
  if (!listed_) list_files();
  if (!file_.isOpen()) open_next();
  piece_.resize(piece_bytes);
  const qint64 read = file_.read(piece_.data(), piece_bytes);
  if (read < 0)
    throw InputError(file_.fileName().toStdString(), "cannot be read for its hash (" +
                                                         file_.errorString().toStdString() +
                                                         "); expected a whole file");
  EVP_DigestUpdate(hash_.get(), piece_.constData(), static_cast<std::size_t>(read));
  if (read == 0) file_.close();
  return file_.isOpen() || !files_.isEmpty();
}

std::string ContentHash::text() const {
  if (!has_content(source_)) return "";
  // A copy, since finding the result ends a hash.
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> copy(EVP_MD_CTX_new(),
                                                                     EVP_MD_CTX_free);
  QByteArray bytes(EVP_MAX_MD_SIZE, 0);
  unsigned size = 0;
  if (!copy || EVP_MD_CTX_copy_ex(copy.get(), hash_.get()) != 1 ||
      EVP_DigestFinal_ex(copy.get(), reinterpret_cast<unsigned char*>(bytes.data()), &size) != 1)
    throw std::bad_alloc();
  return bytes.left(size).toHex().toStdString();
}

std::string content_hash_of(const std::string& source) {
  ContentHash hash(source);
  while (hash.advance()) {
  }
  return hash.text();
}

}  // namespace fovea
