#include "figure/pdf_bytes.h"

#include <QDateTime>
#include <QHashFunctions>
#include <QString>
#include <iostream>

#include "data/utf8.h"

namespace fovea {

void overwrite_in_pdf(QByteArray& pdf, qsizetype begin, qsizetype end, const QByteArray& text) {
  if (text.size() <= end - begin) pdf.replace(begin, end - begin, text.leftJustified(end - begin));
}

void put_date_into_pdf(QByteArray& pdf) {
  const qsizetype begin = pdf.indexOf("/CreationDate ("), end = pdf.indexOf(')', begin) + 1;
  if (begin < 0 || end <= begin) return;
  bool is_set = false;
  const QString stated = qEnvironmentVariable("SOURCE_DATE_EPOCH");
  const qint64 seconds = stated.toLongLong(&is_set);
  if (!is_set && !stated.isEmpty())
    std::cerr << "note: SOURCE_DATE_EPOCH is " << quoted(stated.toStdString())
              << ", not a number of seconds: the PDF has no date\n";
  const QString date = QDateTime::fromSecsSinceEpoch(seconds, Qt::UTC)
                           .toString("'/CreationDate (D:'yyyyMMddHHmmss'Z)'");
  overwrite_in_pdf(pdf, begin, end, is_set ? date.toLatin1() : QByteArray());
}

SameHashes::SameHashes() {
  QHashSeed::setDeterministicGlobalSeed();
}

SameHashes::~SameHashes() {
  QHashSeed::resetRandomGlobalSeed();
}

}  // namespace fovea
