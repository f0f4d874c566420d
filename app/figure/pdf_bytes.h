// What Qt writes into PDF files that would differ from run to run.
#pragma once

#include <QByteArray>

namespace fovea {

/// Writes over a part of a PDF file, whose offsets stay as they are: no more than was there.
void overwrite_in_pdf(QByteArray& pdf, qsizetype begin, qsizetype end, const QByteArray& text);

/// The date that SOURCE_DATE_EPOCH states, in place of the present one; without it none. As
/// https://reproducible-builds.org/specs/source-date-epoch asks.
void put_date_into_pdf(QByteArray& pdf);

/// Qt writes fonts in the order of a hash table: the same one every time, while one of these
/// exists.
struct SameHashes {
  SameHashes();
  ~SameHashes();
  SameHashes(const SameHashes&) = delete;
  SameHashes& operator=(const SameHashes&) = delete;
};

}  // namespace fovea
