#include "panels/error_kind.h"

#include <algorithm>
#include <cmath>

namespace fovea {

double logged(double error) {
  return std::log10(
      std::max(error, least_logged_error));  // std::max returns its first argument if that is NaN
}

std::string quantity_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::signed_difference:
      return "P̃ − P";
    case ErrorKind::absolute:
      return "|P̃ − P|";
    case ErrorKind::squared:
      return "(P̃ − P)²";
    case ErrorKind::relative:
      return "(P̃ − P) / P";
    case ErrorKind::log10_absolute:
      return "log10 |P̃ − P|";
  }
  return "";
}

double error_of(double approximate, double exact, ErrorKind kind) {
  const double difference = approximate - exact;
  switch (kind) {
    case ErrorKind::signed_difference:
      break;
    case ErrorKind::absolute:
      return std::abs(difference);
    case ErrorKind::squared:
      return difference * difference;
    case ErrorKind::relative:
      return difference == 0 ? 0 : difference / exact;
    case ErrorKind::log10_absolute:
      return logged(std::abs(difference));
  }
  return difference;
}

}  // namespace fovea
