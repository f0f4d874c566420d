// The kernels for the emulated device, compiled for the host.
#include "ptx_kernels.cu"
