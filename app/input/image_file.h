// An image file as the picture that is used: upright, opaque, cut to whole patches. Libraries
// decode it; PictureProcess (picture_process.h) runs them where they can do no harm.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/source.h"

namespace fovea {

/// Given in place of the side of a patch: the picture is not cut, and has no grid.
inline constexpr int whole_picture = 0;

struct ImageFile {
  std::shared_ptr<const Picture> picture;  // sides are multiples of the patch
  ImageGrid grid;                          // patches; empty for the whole picture
  std::vector<std::string> notes;          // what was scaled or cut off
};

/// The bytes of an image. EXIF orientation is applied, transparency laid over white, colours
/// brought to sRGB. Then the picture is scaled down to `max_side` (when not 0) and its middle cut
/// to whole patches, unless `patch` is whole_picture. Sizes are checked before anything is decoded.
/// Throws InputError, which does not name the file, or UnavailableError if the memory budget does
/// not allow it.
ImageFile decode_image(const std::string& bytes, int patch, int max_side);

/// Loads the plugins and the fonts with which these bytes are decoded, and starts the thread, so
/// that decode_image() need not open anything.
void load_image_readers(const std::string& bytes);

/// Whether a file that begins so is an image that can be read, by its signature.
bool begins_like_image(std::string_view head);

/// "png", "jpeg", ...: what the image library reads here.
std::vector<std::string> image_formats();

}  // namespace fovea
