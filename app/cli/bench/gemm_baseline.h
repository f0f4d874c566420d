// Measures the rate of a plain matrix product, which shows what float32 arithmetic reaches on this
// machine.
#pragma once

namespace fovea {

/// GFLOP/s of Eigen's product of two size x size float matrices, rows shared among `threads`
/// threads, compiled for the best instruction set of this machine. The median of `rounds` after a
/// warm-up.
double gemm_rate(int size, int threads, int rounds);

}  // namespace fovea
