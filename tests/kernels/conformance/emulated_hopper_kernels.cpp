// The kernels for the emulated device, compiled for the host.
#include "hopper_kernels.cu"
