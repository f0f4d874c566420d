// The bandwidth of copies between the memory of the host and that of the device.
#pragma once

#include <map>
#include <string>

namespace fovea::bench {

/// Gigabytes a second of copies of 64 MB, the best of a few: "pageable up", "pageable down", and
/// "pinned up" and "pinned down" where the runtime pins memory.
std::map<std::string, double> bandwidths();

}  // namespace fovea::bench
