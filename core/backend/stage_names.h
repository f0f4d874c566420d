// Names of stages (backend/profile.h) that other code looks for than the code that adds them.
#pragma once

namespace fovea {

/// Products of warpgroups timed out, and products of warps replaced them. Takes no time itself.
inline constexpr const char* wgmma_timed_out = "wgmma timed out";

}  // namespace fovea
