// A ResidentUse is the memory that the whole program held while some work was done. It is measured,
// unlike the bytes that are counted from a plan.
#pragma once

#include <functional>
#include <optional>

namespace fovea {

struct ResidentUse {
  double before = 0, peak = 0;  // bytes
  double rise() const { return peak > before ? peak - before : 0; }
};

/// Samples about every millisecond while `work` runs on this thread, and at its beginning and end,
/// so that a shorter peak is missed. First returns freed memory to the system, kept blocks of
/// matrices included, if the C library can do that; memory that the library keeps can be used again
/// unnoticed. Returns nothing if the system does not report its memory. Rethrows what `work`
/// throws.
std::optional<ResidentUse> resident_use_of(const std::function<void()>& work);

}  // namespace fovea
