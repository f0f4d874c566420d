#include "device/tensor_map.h"

#include <cuda_runtime.h>

#include "data/error.h"
#include "device/wgmma.h"

namespace fovea::cuda {
namespace {

using Encode = decltype(&cuTensorMapEncodeTiled);

// The function of the driver, which has it since CUDA 12.0; null where there is none.
Encode encode_function() {
  static const auto found = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult result{};
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                         cudaEnableDefault, &result) != cudaSuccess ||
        result != cudaDriverEntryPointSuccess) {
      cudaGetLastError();  // otherwise the next call would report it again
      function = nullptr;
    }
    return reinterpret_cast<Encode>(function);
  }();
  return found;
}

}  // namespace

bool has_tensor_maps() {
  return encode_function() != nullptr;
}

CUtensorMap tensor_map(Rows16 matrix, Index rows, Precision precision, int box_rows) {
  CUtensorMap map{};
  const cuuint64_t size[] = {static_cast<cuuint64_t>(matrix.stride), static_cast<cuuint64_t>(rows)},
                   row_bytes[] = {2 * static_cast<cuuint64_t>(matrix.stride)};
  const cuuint32_t box[] = {64, static_cast<cuuint32_t>(box_rows)}, every[] = {1, 1};
  const Encode encode = encode_function();
  const CUresult result =
      encode ? encode(&map,
                      precision == Precision::bf16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                   : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                      2, const_cast<std::uint16_t*>(matrix.data), size, row_bytes, box, every,
                      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                      CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
             : CUDA_ERROR_NOT_FOUND;
  if (result != CUDA_SUCCESS)
    throw UnavailableError("CUDA: the driver has no tensor map for " + std::to_string(rows) +
                           " rows of " + std::to_string(matrix.stride) + " columns (error " +
                           std::to_string(static_cast<int>(result)) + ")");
  return map;
}

}  // namespace fovea::cuda
