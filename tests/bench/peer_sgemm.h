// A PeerSgemm is the fastest float32 matrix product available on this machine: OpenBLAS, loaded if
// it is installed. Only for comparison.
#pragma once

#include <memory>

#include "backend/workers.h"
#include "data/matrix.h"

namespace fovea::bench {

class PeerSgemm {
 public:
  /// libopenblas.so.0 with the kernels of OPENBLAS_CORETYPE, or, where that is not set, of SkylakeX
  /// on a machine with AVX-512 (OpenBLAS itself may take it for a Haswell). Null: not installed.
  static std::unique_ptr<PeerSgemm> load();

  /// Multiply-adds of C[rows, cols] = A[rows, depth] B, row-major; B is [depth, cols], or
  /// transposed [cols, depth].
  struct Shape {
    Index rows, cols, depth;
    bool transposed = false;
    double multiply_adds() const { return static_cast<double>(rows * cols * depth); }
  };
  /// Computes it, with the rows divided among the workers.
  void multiply(const Shape& shape, const float* a, const float* b, float* c,
                Workers& workers) const;

  const char* kernels() const { return kernels_; }  // "SkylakeX"

 private:
  using Sgemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k,
                         float alpha, const float* a, int lda, const float* b, int ldb, float beta,
                         float* c, int ldc);
  Sgemm sgemm_ = nullptr;
  const char* kernels_ = "";
};

}  // namespace fovea::bench
