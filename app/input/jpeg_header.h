// The header of a JPEG, for what its decoder needs.
#pragma once

#include <string_view>

namespace fovea {

/// Bytes of the coefficients of all pixels, which a decoder keeps where the file tells them in
/// several scans, as progressive ones do, however small the image is to become. 0: in one scan, or
/// not a JPEG.
double jpeg_coefficient_bytes(std::string_view file);

}  // namespace fovea
