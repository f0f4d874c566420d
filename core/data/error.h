// The errors of Fovea: each says what was found and what was expected. They are caught once, in the
// engine or the command line, and shown; the exit status of the command line is their `status`.
#pragma once

#include <stdexcept>
#include <string>

namespace fovea {

class Error : public std::runtime_error {
 public:
  Error(int status, const std::string& message) : std::runtime_error(message), status_(status) {}
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

/// A back end, display, disk space or memory that was asked for is not to be had.
struct UnavailableError : Error {
  explicit UnavailableError(const std::string& message) : Error(4, message) {}
};

/// A device failed for good: nothing on it can be reached any more, by any operator.
struct DeviceLostError : UnavailableError {
  using UnavailableError::UnavailableError;
};

/// The work was asked to stop. Not a failure: nobody shows it as one.
struct Cancelled : Error {
  Cancelled() : Error(130, "cancelled") {}
};

}  // namespace fovea
