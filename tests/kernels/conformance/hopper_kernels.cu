#include <cuda_runtime.h>

#include "kernels/conformance/hopper_kernels.h"
#include "kernels/conformance/on_device.h"
#include "ptx_hopper.h"

namespace fovea::test {
namespace {

using cuda::Precision;

constexpr int row_values = 64, box_rows = 128, queries = 64, group = 128;
constexpr int box_bytes = box_rows * row_values * 2, query_bytes = queries * row_values * 2;

__device__ char* aligned(char* shared) {
  return shared + (1024 - cuda::shared_address(shared) % 1024) % 1024;
}

__global__ void box_kernel(const __grid_constant__ CUtensorMap map, int row, int column,
                           int next_row, int next_column, std::uint16_t* out) {
  char* const tile = aligned(cuda::dynamic_shared<char>());
  auto* const barrier = reinterpret_cast<cuda::PhaseBarrier*>(tile + box_bytes);
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    cuda::init_barrier(barrier, group);
    cuda::publish_barriers();
  }
  __syncthreads();
  for (int phase = 0; phase < 2; ++phase) {
    if (t == 0) {
      cuda::arrive_expecting(barrier, box_bytes);
      cuda::copy_box_async(tile, &map, phase == 0 ? column : next_column,
                           phase == 0 ? row : next_row, barrier);
    } else {
      cuda::arrive(barrier);
    }
    if (!cuda::wait_for_phase(barrier, static_cast<unsigned>(phase))) return;
    for (int i = t; i < box_rows * row_values; i += group)
      out[phase * box_rows * row_values + i] = reinterpret_cast<const std::uint16_t*>(tile)[i];
    cuda::fence_async_proxy();  // what was read is written again
    __syncthreads();
  }
}

// Rows of 64 values, permuted as copy_box_async does it.
__device__ void gather(char* tile, const std::uint16_t* from, int stride, int rows, int thread) {
  for (int i = thread; i < rows * 8; i += group) {
    const int row = i / 8, piece = i % 8;
    cuda::copy_16_async(tile + row * 128 + (piece ^ row % 8) * 16, from + row * stride + piece * 8,
                        true);
  }
}

template <Precision P>
__device__ void start_columns(float (&s)[16][4], const char* a, const char* b, int depth) {
  for (int i = 0; i < depth / 16; ++i)
    cuda::multiply_columns<P>(
        s, cuda::columns_of(cuda::shared_address(a) + static_cast<unsigned>(32 * i)),
        cuda::columns_of(cuda::shared_address(b) + static_cast<unsigned>(32 * i)), i > 0);
  cuda::commit_products();
}

// ValueGroups: of 8 columns of v.
template <Precision P, int ValueGroups>
__global__ void __launch_bounds__(2 * group, 2)
    product_kernel(const std::uint16_t* a, const std::uint16_t* b, const std::uint16_t* v,
                   int depth, float* out_s, float* out_z) {
  char* const a_tile = aligned(cuda::dynamic_shared<char>());
  char *const b_tile = a_tile + query_bytes, *const v_tile = b_tile + box_bytes;
  auto* const barrier = reinterpret_cast<cuda::PhaseBarrier*>(v_tile + 2 * box_bytes);
  const int t = static_cast<int>(threadIdx.x) % group;
  const int which = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / group, 0);
  if (threadIdx.x == 0) {
    cuda::init_barrier(barrier, group);
    cuda::publish_barriers();
  }
  __syncthreads();
  if (which == 1) {
    cuda::set_registers<128, 64>();
    gather(a_tile, a, row_values, queries, t);
    gather(b_tile, b, row_values, box_rows, t);
    for (int part = 0; part < 2; ++part)
      gather(v_tile + part * box_bytes, v + part * row_values, 2 * row_values, box_rows, t);
    cuda::arrive_after_copies(barrier);
    return;
  }
  cuda::set_registers<128, 192>();
  if (!cuda::wait_for_phase(barrier, 0)) return;
  cuda::fence_async_proxy();
  float s[16][4], z[ValueGroups][4];
  for (auto& sums : z)
    for (float& sum : sums) sum = 1;
  cuda::fence_products();
  start_columns<P>(s, a_tile, b_tile, depth);
  cuda::wait_products<0>(s);
  std::uint32_t p[8][4];
#pragma unroll
  for (int j = 0; j < 16; ++j)
#pragma unroll
    for (int h = 0; h < 2; ++h)
      p[j / 2][j % 2 * 2 + h] = cuda::pack_16<P>(s[j][2 * h], s[j][2 * h + 1]);
  // Both products at once, as in the kernel of attention: s is found again.
  cuda::fence_products();
  start_columns<P>(s, a_tile, b_tile, depth);
#pragma unroll
  for (int i = 0; i < 8; ++i)
    cuda::multiply_rows<P>(
        z, p[i],
        cuda::rows_of(cuda::shared_address(v_tile) + static_cast<unsigned>(16 * 128 * i),
                      box_bytes));
  cuda::commit_products();
  cuda::wait_products<1>(s);
  cuda::wait_products<0>(z);
  const int row = t / 32 * 16 + t % 32 / 4, column = t % 4 * 2;
#pragma unroll
  for (int j = 0; j < 16; ++j)
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const int at = (row + c / 2 * 8) * box_rows + 8 * j + column + c % 2;
      out_s[at] = s[j][c];
      if (j < ValueGroups) out_z[at] = z[j % ValueGroups][c];
    }
}

using Encode = decltype(&cuTensorMapEncodeTiled);

Encode encode_function() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result{};
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                       cudaEnableDefault, &result) != cudaSuccess)
    return nullptr;
  return reinterpret_cast<Encode>(function);
}

}  // namespace

bool has_hopper() {
#ifdef __CUDACC__
  cudaDeviceProp properties{};
  require(cudaGetDeviceProperties(&properties, 0), "reading the properties of the device");
  return properties.major == 9 && properties.minor == 0 && encode_function();
#else
  return true;  // the emulated device has the instructions, whatever it reports
#endif
}

std::vector<std::uint16_t> run_boxes(const Boxes& boxes) {
  const OnDevice<std::uint16_t> matrix(boxes.matrix),
      out(static_cast<std::size_t>(2 * box_rows * row_values));
  CUtensorMap map{};
  const cuuint64_t size[] = {static_cast<cuuint64_t>(boxes.stride),
                             static_cast<cuuint64_t>(boxes.rows)},
                   row_bytes[] = {2 * static_cast<cuuint64_t>(boxes.stride)};
  const cuuint32_t box[] = {row_values, box_rows}, every[] = {1, 1};
  if (encode_function()(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, matrix.data(), size, row_bytes,
                        box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                        CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    return {};
  launch(box_kernel, 1, group, 2048 + box_bytes, map, boxes.row[0], boxes.column[0], boxes.row[1],
         boxes.column[1], out.data());
  return out.download();
}

template <Precision P, int ValueGroups>
Products run_products(const Warpgroup& in) {
  const OnDevice<std::uint16_t> a(in.a), b(in.b), v(in.v);
  const OnDevice<float> s(static_cast<std::size_t>(queries * box_rows)), z(s.download().size());
  constexpr std::size_t bytes = 2048 + query_bytes + 3 * box_bytes;
  require(
      cudaFuncSetAttribute(product_kernel<P, ValueGroups>,
                           cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
      "reserving shared memory");
  launch(product_kernel<P, ValueGroups>, 1, 2 * group, bytes,
         static_cast<const std::uint16_t*>(a.data()), static_cast<const std::uint16_t*>(b.data()),
         static_cast<const std::uint16_t*>(v.data()), in.depth, s.data(), z.data());
  return {s.download(), z.download()};
}
template Products run_products<Precision::bf16, 8>(const Warpgroup&);
template Products run_products<Precision::bf16, 16>(const Warpgroup&);
template Products run_products<Precision::fp16, 8>(const Warpgroup&);
template Products run_products<Precision::fp16, 16>(const Warpgroup&);

}  // namespace fovea::test
