// A kernel that multiplies by warpgroups what a box and gathered rows bring, with one mistake,
// chosen by the argument: does the emulated device report it? Without a mistake it prints "right".
#include <cuda_runtime.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "kernels/round_16.h"
#include "ptx_hopper.h"

using namespace fovea;

namespace {

constexpr int keys = 128, queries = 64, row_values = 64, groups = keys / 8;

struct Shared {
  cuda::PhaseBarrier box, gathered;
};

enum class Mistake {
  none,
  too_many_arrivals,
  phase_that_cannot_come,
  too_few_bytes,
  too_many_bytes,
  barrier_without_init,
  barrier_written_over,
  product_before_copy,
  no_fence_of_memory,
  no_fence_of_registers,
  read_before_wait,
  sums_changed,
  never_wait_for_products,
  never_wait_for_copies,
  tile_reused_too_early,
  pieces_not_permuted,
  box_not_aligned,
  map_of_host_memory,
  too_many_registers,
};
constexpr const char* names[] = {"none",
                                 "too-many-arrivals",
                                 "phase-that-cannot-come",
                                 "too-few-bytes",
                                 "too-many-bytes",
                                 "barrier-without-init",
                                 "barrier-written-over",
                                 "product-before-copy",
                                 "no-fence-of-memory",
                                 "no-fence-of-registers",
                                 "read-before-wait",
                                 "sums-changed",
                                 "never-wait-for-products",
                                 "never-wait-for-copies",
                                 "tile-reused-too-early",
                                 "pieces-not-permuted",
                                 "box-not-aligned",
                                 "map-of-host-memory",
                                 "too-many-registers"};

// out[64][128] = q k^T of the first 16 columns; k comes as a box, q row by row.
__global__ void multiply(const std::uint16_t* q, const __grid_constant__ CUtensorMap k, float* out,
                         Mistake mistake) {
  using M = Mistake;
  const auto is = [&](M m) { return mistake == m; };
  char* shared = cuda::dynamic_shared<char>();
  shared += (1024 - cuda::shared_address(shared) % 1024) % 1024;
  char *const k_tile = shared, *const q_tile = shared + keys * 2 * row_values;
  auto* barriers = reinterpret_cast<Shared*>(q_tile + queries * 2 * row_values);
  const int t = static_cast<int>(threadIdx.x);
  if (t == 0) {
    if (!is(M::barrier_without_init)) cuda::init_barrier(&barriers->box, 1);
    cuda::init_barrier(&barriers->gathered, 128);
    cuda::publish_barriers();
    if (is(M::barrier_written_over)) barriers->box = 0;
  }
  __syncthreads();
  if (is(M::too_many_registers)) cuda::set_registers<168, 240>();

  constexpr int bytes = keys * 2 * row_values;
  if (t == 0) {
    cuda::arrive_expecting(&barriers->box, is(M::too_few_bytes)    ? bytes / 2
                                           : is(M::too_many_bytes) ? 2 * bytes
                                                                   : bytes);
    if (is(M::too_many_arrivals)) cuda::arrive(&barriers->box);
    cuda::copy_box_async(k_tile + (is(M::box_not_aligned) ? 128 : 0), &k, 0, 0, &barriers->box);
  }
  for (int i = t; i < queries * 8; i += 128) {
    const int row = i / 8, piece = i % 8, to = is(M::pieces_not_permuted) ? piece : piece ^ row % 8;
    cuda::copy_16_async(q_tile + row * 2 * row_values + 16 * to, q + row * row_values + 8 * piece,
                        true);
  }
  cuda::arrive_after_copies(&barriers->gathered);
  if (is(M::never_wait_for_copies)) return;
  if (!is(M::product_before_copy)) cuda::wait_for_phase(&barriers->box, 0);
  if (is(M::phase_that_cannot_come)) cuda::wait_for_phase(&barriers->box, 1);
  cuda::wait_for_phase(&barriers->gathered, 0);
  if (!is(M::no_fence_of_memory)) cuda::fence_async_proxy();

  float sums[groups][4];
  if (!is(M::no_fence_of_registers)) cuda::fence_products();
  cuda::multiply_columns<cuda::Precision::bf16>(
      sums, cuda::columns_of(cuda::shared_address(q_tile)),
      cuda::columns_of(cuda::shared_address(k_tile)), false);
  cuda::commit_products();
  if (is(M::tile_reused_too_early)) {
    __syncthreads();  // all have waited for the first box
    if (t == 0) {
      cuda::arrive_expecting(&barriers->box, bytes);
      cuda::copy_box_async(k_tile, &k, 0, 0, &barriers->box);
    }
    __syncthreads();
  }
  if (is(M::sums_changed)) sums[3][1] = 1;
  const float early = sums[0][0];
  if (is(M::never_wait_for_products)) return;
  cuda::wait_products<0>(sums);
  if (is(M::tile_reused_too_early)) cuda::wait_for_phase(&barriers->box, 1);
  if (is(M::read_before_wait)) sums[0][0] = early;
  const int row = t / 32 * 16 + t % 32 / 4, column = t % 4 * 2;
  for (int j = 0; j < groups; ++j)
    for (int c = 0; c < 4; ++c) out[(row + c / 2 * 8) * keys + 8 * j + column + c % 2] = sums[j][c];
}

template <class T>
T* on_device(const std::vector<T>& values) {
  T* at = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&at), values.size() * sizeof(T));
  cudaMemcpyAsync(at, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, nullptr);
  cudaStreamSynchronize(nullptr);  // the values may end now
  return at;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGABRT, [](int) { std::_Exit(EXIT_FAILURE); });  // a fault only ends the program
  int chosen = 0;
  const int count = static_cast<int>(std::size(names));
  while (chosen < count && (argc != 2 || std::string(argv[1]) != names[chosen])) ++chosen;
  if (chosen == count) return EXIT_FAILURE;
  // Row r of q takes column r % 16 of k, and k (n, c) = n + c.
  std::vector<std::uint16_t> q(queries * row_values), k(keys * row_values);
  for (int r = 0; r < queries; ++r)
    q[static_cast<std::size_t>(r * row_values + r % 16)] = test::to_bf16(1);
  for (int n = 0; n < keys; ++n)
    for (int c = 0; c < row_values; ++c)
      k[static_cast<std::size_t>(n * row_values + c)] = test::to_bf16(static_cast<float>(n + c));
  const std::uint16_t *on_q = on_device(q), *on_k = on_device(k);
  if (names[chosen] == std::string("map-of-host-memory")) on_k = k.data();
  float* const out = on_device(std::vector<float>(queries * keys));
  CUtensorMap map;
  const cuuint64_t size[] = {row_values, keys}, row_bytes[] = {2 * row_values};
  const cuuint32_t box[] = {row_values, keys}, every[] = {1, 1};
  if (cuTensorMapEncodeTiled(
          &map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<std::uint16_t*>(on_k), size,
          row_bytes, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
          CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    return EXIT_FAILURE;
  cudaLaunchConfig_t config{};
  config.blockDim = dim3(128);
  config.dynamicSmemBytes = 2048 + (keys + queries) * 2 * row_values;
  if (cudaLaunchKernelEx(&config, multiply, on_q, map, out, static_cast<Mistake>(chosen)) !=
      cudaSuccess)
    std::puts("not launched");
  cudaDeviceSynchronize();
  bool right = true;
  for (int r = 0; r < queries; ++r)
    for (int n = 0; n < keys; ++n)
      right = right && out[r * keys + n] == static_cast<float>(n + r % 16);
  std::puts(right ? "right" : "wrong");
}
