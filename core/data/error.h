// The errors of Fovea: each says what was found and what was expected. They are caught in one
// place, the engine or the command line, and shown; `status` is the exit status of the command
// line.
#pragma once

#include <stdexcept>
#include <string>

#include "data/utf8.h"

namespace fovea {

/// Messages may quote names and bytes of files that cannot be trusted. A message is therefore
/// always valid UTF-8 without control characters.
class Error : public std::runtime_error {
 public:
  Error(int status, const std::string& message)
      : std::runtime_error(printable(message)), status_(status) {}
  int status() const { return status_; }

 private:
  int status_;
};

/// The command line or a parameter is wrong.
struct UsageError : Error {
  explicit UsageError(const std::string& message) : Error(2, message) {}
};

/// A file or the data in it is bad. `where` names the file, tensor or head.
struct InputError : Error {
  InputError(const std::string& where, const std::string& message)
      : Error(3, where.empty() ? message : where + ": " + message) {}
};

/// A file was changed or replaced after it was opened.
struct ChangedError : InputError {
  using InputError::InputError;
};

/// A back end, a display, disk space or memory is needed and not available.
struct UnavailableError : Error {
  explicit UnavailableError(const std::string& message) : Error(4, message) {}
};

/// A device failed for good: no operator can use it any more.
struct DeviceLostError : UnavailableError {
  using UnavailableError::UnavailableError;
};

/// The work was cancelled. This is not a failure, and is not shown as one.
struct Cancelled : Error {
  Cancelled() : Error(130, "cancelled") {}
};

}  // namespace fovea
