// A PictureAnswer is what the process that decodes pictures writes: a line of JSON, and the pixels.
// Its reader trusts none of it.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "data/error.h"
#include "input/image_file.h"

namespace fovea {

inline constexpr std::size_t longest_answer_line = 16 << 10;

void write_picture_answer(std::FILE* out, const ImageFile& image);
void write_picture_answer(std::FILE* out, const Error& error);

/// The line before the pixels: the sides of the picture, and notes. Reading it takes the `path` and
/// the `patch` that were asked for. It throws the error that the process wrote, naming the file, or
/// InputError for a line that the process does not write.
struct PictureHead {
  Index width = 0, height = 0;  // pixels, multiples of the patch
  std::vector<std::string> notes;
};
PictureHead read_picture_answer(std::string_view line, const std::string& path, int patch);

}  // namespace fovea
