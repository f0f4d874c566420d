// What a figure or report holds, for a search of its text: also what PDF, PNG and HTML pack.
#pragma once

#include <doctest/doctest.h>

#include <QByteArray>
#include <QProcess>
#include <QStandardPaths>
#include <QXmlStreamReader>
#include <string>

namespace fovea::test {

/// Each part follows the one that holds it: deflated streams of PDF and PNG, data URLs of HTML and
/// SVG. What `pdftotext` and `pdfinfo` read of a PDF is appended where they are installed.
inline QByteArray everything_in(const QByteArray& bytes) {
  QByteArray all = bytes;
  const auto add_inflated = [&](const QByteArray& deflated) {
    if (!deflated.startsWith('x')) return;                       // not of zlib
    all += qUncompress(QByteArray("\0\x10\0\0", 4) + deflated);  // begins with its size, or less
  };
  if (bytes.startsWith("%PDF-")) {
    for (qsizetype at = 0; (at = bytes.indexOf("\nstream\n", at)) >= 0;) {
      at += qsizetype(qstrlen("\nstream\n"));
      add_inflated(bytes.mid(at, bytes.indexOf("endstream", at) - at));
    }
    for (const char* program : {"pdftotext", "pdfinfo"}) {
      if (QStandardPaths::findExecutable(program).isEmpty()) continue;
      QProcess process;
      process.start(program,
                    program == std::string("pdftotext") ? QStringList{"-", "-"} : QStringList{"-"});
      process.write(bytes);
      process.closeWriteChannel();
      if (process.waitForFinished()) all += process.readAllStandardOutput();
    }
  }
  if (bytes.startsWith("\x89PNG"))
    for (qsizetype at = 0; (at = bytes.indexOf("zTXt", at)) >= 0;) {
      at = bytes.indexOf('\0', at) + 2;  // behind the keyword and the method
      add_inflated(bytes.mid(at));
    }
  for (qsizetype at = 0; (at = bytes.indexOf(";base64,", at)) >= 0;) {
    at += qsizetype(qstrlen(";base64,"));
    all += everything_in(QByteArray::fromBase64(bytes.mid(at, bytes.indexOf('"', at) - at)));
  }
  return all;
}

/// Also where PDF writes them in UTF-16, or LaTeX with its underscores escaped.
inline bool holds(const QByteArray& bytes, const QString& words) {
  QByteArray wide;
  for (const QChar c : words) (wide += char(c.unicode() >> 8)) += char(c.unicode() & 0xff);
  const QByteArray all = everything_in(bytes).replace("\\_", "_");
  return all.contains(words.toUtf8()) || all.contains(wide);
}

/// An XML parser finds no fault in it, and nothing but a drawing: no script, no link elsewhere.
inline void check_svg(const std::string& bytes) {
  QXmlStreamReader reader(QByteArray::fromStdString(bytes));
  while (!reader.atEnd()) {
    if (reader.readNext() != QXmlStreamReader::StartElement) continue;
    CHECK(reader.name() != u"script");
    for (const QXmlStreamAttribute& attribute : reader.attributes()) {
      CHECK_FALSE(attribute.name().startsWith(u"on"));
      if (attribute.name() == u"href")
        CHECK((attribute.value().startsWith(u"data:image/") || attribute.value().startsWith(u"#")));
    }
  }
  CHECK_MESSAGE(!reader.hasError(), reader.errorString().toStdString());
}

}  // namespace fovea::test
