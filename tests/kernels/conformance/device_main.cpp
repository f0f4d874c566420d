// The main function of the conformance tests: without a device they are skipped, not passed. They
// need nothing of Fovea but the header under test, and are built in seconds.
#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <cstdio>

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (!context.shouldExit() && (error != cudaSuccess || count == 0)) {  // listing needs no device
    std::printf("skipped: %s\n", error != cudaSuccess ? cudaGetErrorString(error) : "no device");
    return 77;
  }
  return context.run();
}
