// Reads the header of a JPEG to find how much memory its decoder needs.
#pragma once

#include <string_view>

namespace fovea {

/// Bytes of the coefficients of all pixels, which a decoder keeps if the file has several scans, as
/// progressive files do, however small the image will become. 0 for a file of one scan, and for one
/// that is not a JPEG.
double jpeg_coefficient_bytes(std::string_view file);

}  // namespace fovea
