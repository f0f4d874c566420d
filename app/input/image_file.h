// An image file as the picture that is used: upright, opaque, cut to whole patches.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "data/source.h"
#include "io/file_bytes.h"

namespace fovea {

struct ImageFile {
  std::shared_ptr<const Picture> picture;  // sides are multiples of the patch
  ImageGrid grid;                          // patches
  std::vector<std::string> notes;          // what was scaled or cut off
};

/// EXIF orientation is applied, transparency laid over white, colours brought to sRGB. Then the
/// picture is scaled down to `max_side` (when not 0) and its middle cut to whole patches. Sizes are
/// judged before anything is decoded. Throws InputError, UsageError for a bad patch or max_side, or
/// UnavailableError for what the memory budget does not allow, Cancelled.
ImageFile read_image(const FileBytes& file, int patch, int max_side,
                     const std::stop_token& stop = {});

/// Whether the file's first bytes are those of an image that can be read.
bool looks_like_image(const std::string& path);

/// "png", "jpeg", ...: what the image library reads here.
std::vector<std::string> image_formats();

}  // namespace fovea
