// The words with which the docks name what they read: queries, keys, weights, the compared columns.
#pragma once

#include <QString>

#include "data/matrix.h"

namespace fovea {

class Study;

/// Stands for a number or a name that is not known.
inline const QString not_known = "–";

/// A weight, or a dash where those of a column are not known.
QString weight_text(double value, int digits = 4);
/// "145: the", of the head that the selected column shows.
QString query_text(const Study& study, Index query);
QString key_text(const Study& study, Index key);
/// "16–31".
QString range_text(IndexRange range);
/// What the numbers of the selected column are of: "exact", or "exact → HyperAttention".
QString compared(const Study& study);

}  // namespace fovea
