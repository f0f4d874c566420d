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

/// Looks about every millisecond while `work` is done on this thread, at its begin and at its end:
/// what lasts shorter is missed. Memory that was freed before is given back first where the C
/// library can; what it keeps all the same is used again unseen. Nothing where the system does not
/// tell. What `work` throws goes on.
std::optional<ResidentUse> resident_use_of(const std::function<void()>& work);

}  // namespace fovea
