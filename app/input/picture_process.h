// Pictures are decoded in a process of their own: the decoding libraries read strangers' files, and
// a crafted file must not harm this program. The process is `fovea read-picture`. It gets the bytes
// on a pipe and no path, opens nothing, and has limits of time and memory.
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
  std::chrono::seconds all = std::chrono::minutes(10);  // long enough for a busy machine
  std::string program = own_program();
};

/// The result of decode_image() for the file, from another process. Throws InputError, also if that
/// process crashes or takes too long; UsageError for a bad patch or max_side; UnavailableError if
/// the process cannot be started or confined, needs more memory than the budget, or was ended by
/// somebody else; Cancelled.
ImageFile read_image(const FileBytes& file, int patch, int max_side,
                     const std::stop_token& stop = {}, const PictureDecoder& decoder = {});

/// The work of that process: it confines itself, and answers on standard output to the bytes of
/// `in`.
void read_picture_for_other(std::istream& in, int patch, int max_side, int processor_seconds);

}  // namespace fovea
