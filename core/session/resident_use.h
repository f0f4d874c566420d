// A ResidentUse is how much memory this program held while some work was done: measured, of the
// whole program, unlike the bytes that are counted from a plan.
#pragma once

#include <functional>
#include <optional>

namespace fovea {

struct ResidentUse {
  double before = 0, peak = 0;  // bytes
  double rise() const { return peak > before ? peak - before : 0; }
};

/// Samples about every millisecond while `work` runs on this thread, and at its beginning and end:
/// a shorter peak is missed. Memory that was freed earlier is returned to the system first, blocks
/// of matrices that are kept for the next too, where the C library can do that; what it keeps can
/// be used again unseen. Returns nothing where the system does not report its memory. Rethrows what
/// `work` throws.
std::optional<ResidentUse> resident_use_of(const std::function<void()>& work);

}  // namespace fovea
