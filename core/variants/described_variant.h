// Which variant's words describe a column.
#pragma once

#include "variants/variant.h"

namespace fovea {

/// The variant whose formula, summary and paper are true of a column: for exact attention of a head
/// that is a recurrence the variant of such recurrences, else the column's own. `head` may be null.
inline const Variant& described_variant(const Variant& variant, const Problem* head) {
  if (!variant.reference || !head || !head->recurrence) return variant;
  const Recurrence& recurrence = *head->recurrence;
  return find_variant(recurrence.erases                  ? "delta"
                      : recurrence.level_weights.empty() ? "ssd"
                                                         : "loglinear");
}

}  // namespace fovea
