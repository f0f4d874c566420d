// One instruction set of gemm_baseline. Eigen is renamed for each: its inline functions would
// otherwise be merged by the linker, and machines without the instructions would run them.
#define Eigen FOVEA_EIGEN
#include <Eigen/Core>

namespace fovea::gemm {

/// rows x size of C = A B, all row-major.
void FOVEA_ISA(const float* a, const float* b, float* c, int rows, int size) {
  using Rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Eigen::Map<Rows>(c, rows, size).noalias() =
      Eigen::Map<const Rows>(a, rows, size) * Eigen::Map<const Rows>(b, size, size);
}

}  // namespace fovea::gemm
