#include "figure/pdf_bytes.h"

#include <QDateTime>
#include <QHashFunctions>
#include <QString>

namespace fovea {

void overwrite_in_pdf(QByteArray& pdf, qsizetype begin, qsizetype end, const QByteArray& text) {
  if (text.size() <= end - begin) pdf.replace(begin, end - begin, text.leftJustified(end - begin));
}

void put_date_into_pdf(QByteArray& pdf) {
  const qsizetype begin = pdf.indexOf("/CreationDate ("), end = pdf.indexOf(')', begin) + 1;
  if (begin < 0 || end <= begin) return;
  bool is_set = false;
  const qint64 seconds = qEnvironmentVariable("SOURCE_DATE_EPOCH").toLongLong(&is_set);
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
