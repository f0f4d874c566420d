// The kinds of error that an error map shows, and their numbers.
#pragma once

#include <string>

namespace fovea {

enum class ErrorKind { signed_difference, absolute, squared, relative, log10_absolute };

inline constexpr double least_logged_error = 1e-12;  // of |P~ - P| under a logarithm
/// The logarithm of |P~ - P|, or of the least logged error if that is larger; NaN stays.
double logged(double error);
/// "P̃ − P".
std::string quantity_of(ErrorKind kind);
/// The error of one pair.
double error_of(double approximate, double exact, ErrorKind kind);

}  // namespace fovea
