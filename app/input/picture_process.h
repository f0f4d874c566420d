// Pictures are decoded in a process of their own: the libraries that do it read what strangers
// wrote, and what they do on a crafted file must not be done to this program. The process is
// `fovea read-picture`. It gets the bytes on a pipe and no path, opens nothing, and has limits of
// time and memory.
#pragma once

#include <chrono>
#include <istream>
#include <stop_token>
#include <string>

#include "input/image_file.h"
#include "input/own_files.h"
#include "io/file_bytes.h"

namespace fovea {

/// The program that decodes pictures, and its limits.
struct PictureDecoder {
  int processor_seconds = 30;
  std::chrono::seconds all = std::chrono::minutes(10);  // also while the machine is busy
  std::string program = own_program();
};

/// What decode_image() makes of the file, decoded by another process. Throws InputError, also where
/// that process crashes or takes too long, UsageError for a bad patch or max_side, UnavailableError
/// where it cannot be started or confined, needs more memory than the budget, or was ended by
/// somebody else, Cancelled.
ImageFile read_image(const FileBytes& file, int patch, int max_side,
                     const std::stop_token& stop = {}, const PictureDecoder& decoder = {});

/// What that process does: confines itself, and answers on standard output to the bytes of `in`.
void read_picture_for_other(std::istream& in, int patch, int max_side, int processor_seconds);

}  // namespace fovea
