// Which words describe a column on a head: the variant's own, or those of the head's recurrence.
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

/// The place of the first parameter of a variant that counts. A head that is a recurrence has gates
/// of its own, which replace the parameters before that place. `recurrence`: of the head, or null.
std::size_t first_parameter(const Variant& variant, const Recurrence* recurrence);

}  // namespace fovea
