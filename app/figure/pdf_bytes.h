// Removes from PDF files of Qt what would differ from run to run.
#pragma once

#include <QByteArray>

namespace fovea {

/// Writes over a part of a PDF file with no more bytes than were there, so that offsets stay valid.
void overwrite_in_pdf(QByteArray& pdf, qsizetype begin, qsizetype end, const QByteArray& text);

/// Replaces the present date by that of SOURCE_DATE_EPOCH, or removes it if the variable is not set
/// (https://reproducible-builds.org/specs/source-date-epoch).
void put_date_into_pdf(QByteArray& pdf);

/// Qt writes fonts in the order of a hash table. While one of these exists, that order is always
/// the same.
struct SameHashes {
  SameHashes();
  ~SameHashes();
  SameHashes(const SameHashes&) = delete;
  SameHashes& operator=(const SameHashes&) = delete;
};

}  // namespace fovea
