#include "figure/pgf_file.h"

#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>
#include <algorithm>

#include "data/error.h"
#include "io/atomic_file.h"

namespace fovea {
namespace {

constexpr qint64 longest_text = 16 << 20;  // bytes of a NAME.pgf

std::string_view view_of(const QByteArray& bytes) {
  return {bytes.data(), std::size_t(bytes.size())};
}

/// The content of a file; empty if it cannot be read.
QByteArray content_of(const QString& path, qint64 most) {
  QFile file(path);
  if (!QFileInfo(path).isFile() || !file.open(QIODevice::ReadOnly)) return {};
  return file.read(most);
}

QString name_of_body(const QFileInfo& file, const QByteArray& body) {
  constexpr int digits = 8;
  const QByteArray hash = QCryptographicHash::hash(body, QCryptographicHash::Sha256).toHex();
  return file.completeBaseName() + "-body-" + hash.left(digits) + ".pdf";
}

}  // namespace

std::string pgf_body(const std::string& path) {
  const QFileInfo file(QString::fromStdString(path));
  if (file.suffix() != "pgf") return "";
  const QByteArray text = content_of(file.filePath(), longest_text);
  if (!text.startsWith(pgf_begin)) return "";
  const QRegularExpression names("\\\\includegraphics\\[[^]\n]*\\]\\{(" +
                                 QRegularExpression::escape(file.completeBaseName()) +
                                 "-body(-[0-9a-f]{8})?\\.pdf)\\}");
  const auto found = names.match(QString::fromUtf8(text));
  return found.hasMatch() ? file.dir().filePath(found.captured(1)).toStdString() : "";
}

void require_pgf_name(const std::string& path) {
  const QString name = QFileInfo(QString::fromStdString(path)).fileName();
  const auto is_special = [](QChar c) { return c < ' ' || QString("\\{}%#$&~^\"").contains(c); };
  if (name.endsWith(".pgf") && std::ranges::any_of(name, is_special))
    throw UsageError(path +
                     ": LaTeX would not find this name; expected a name of letters, digits, -, _ "
                     "and . for a .pgf file");
}

void write_pgf(const std::string& path, const QByteArray& body,
               const std::function<QByteArray(const QString& body)>& text,
               const std::stop_token& stop) {
  require_pgf_name(path);
  require_writable(path);
  const QFileInfo file(QString::fromStdString(path));
  const QString name = name_of_body(file, body), place = file.dir().filePath(name);
  const std::string before = pgf_body(path), beside = place.toStdString();
  const bool is_new = !QFileInfo::exists(place);
  if (!is_new && content_of(place, body.size() + 1) != body)
    throw UnavailableError(beside +
                           " exists and holds something else: it may be the file of "
                           "another. Remove it, or write the figure under another name");
  if (is_new)
    write_atomically(Directory(file.path().toStdString()), name.toStdString(), view_of(body), stop);
  try {
    write_atomically(path, view_of(text(name)), stop);
  } catch (...) {
    if (is_new) QFile::remove(place);
    throw;
  }
  if (!before.empty() && before != beside) QFile::remove(QString::fromStdString(before));
}

}  // namespace fovea
