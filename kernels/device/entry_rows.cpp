#include "device/entry_rows.h"

namespace fovea::cuda {

EntryRows EntryRows::part(IndexRange places) const {
  if (drawn.empty()) return {{range.begin + places.begin, range.begin + places.end}};
  EntryRows out{{}, {drawn.begin() + places.begin, drawn.begin() + places.end}};
  out.range = {out.drawn.front(), Index{out.drawn.back()} + 1};
  return out;
}

EntryRows entry_rows(IndexRange rows, const Pool& pool) {
  EntryRows out{rows};
  if (pool.one_row)
    for (Index pixel = 0; pixel < pool.rows; ++pixel)
      out.drawn.push_back(static_cast<std::int32_t>(drawn_row(rows, pool, pixel)));
  return out;
}

}  // namespace fovea::cuda
