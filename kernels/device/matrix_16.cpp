#include "device/matrix_16.h"

namespace fovea::cuda {

void Overflow::require_none(Precision precision, const char* what) const {
  int overflows = 0;
  flag_.download(&overflows, 1);
  device_.wait();
  if (overflows)
    throw UnavailableError("CUDA: precision " + name_of(precision) + ": " + what +
                           " has values beyond its range; fp32 holds them");
}

}  // namespace fovea::cuda
