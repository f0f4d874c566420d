// Pictures are decoded in a process of their own: the libraries that do it read what strangers
// wrote, and what they do on a crafted file must not be done to this program. The process is
// `fovea read-picture`. It gets the bytes on a pipe and no path, opens nothing, and has limits of
// time and memory.
#pragma once

#include <chrono>
#include <istream>
#include <ostream>
#include <stop_token>
#include <string>

#include "input/image_file.h"
#include "io/file_bytes.h"

namespace fovea {

struct PictureLimits {
  int processor_seconds = 30;
  std::chrono::seconds all = std::chrono::minutes(10);  // also while the machine is busy
};

/// What decode_image() makes of the file, decoded by another process. Throws InputError, also where
/// that process crashes or takes too long, UsageError for a bad patch or max_side, UnavailableError
/// where it needs more memory than the budget, or cannot be started, Cancelled.
ImageFile read_image(const FileBytes& file, int patch, int max_side,
                     const std::stop_token& stop = {}, const PictureLimits& limits = {});

/// What that process does: confines itself, and answers on `out` to the bytes of `in`.
void read_picture_for_other(std::istream& in, std::ostream& out, int patch, int max_side,
                            int processor_seconds);

}  // namespace fovea
