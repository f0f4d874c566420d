// Launches: blocks in turn, threads of a block side by side.
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

namespace fovea::emulation {
namespace {

constexpr unsigned warp_size = 32;
constexpr std::size_t shared_without_asking = 48 << 10, shared_at_most = 227 << 10;
constexpr std::size_t guard = 64;
constexpr unsigned char guard_byte = 0xA5;

struct Warp {
  std::optional<std::barrier<>> barrier;
  std::uint64_t slot[2][warp_size] = {};
};

struct Block {
  std::optional<std::barrier<>> barrier;
  std::deque<Warp> warps;
  std::vector<unsigned char> shared;
  std::size_t shared_bytes = 0;

  unsigned char* shared_begin() {
    const auto address = reinterpret_cast<std::uintptr_t>(shared.data());
    return shared.data() + (128 - address % 128) % 128;
  }

  // As a block begins: nobody has returned, shared memory holds nothing of use.
  void begin(unsigned threads) {
    barrier.emplace(threads);
    for (unsigned w = 0; w < warps.size(); ++w)
      warps[w].barrier.emplace(std::min(warp_size, threads - w * warp_size));
    std::memset(shared_begin(), 0xFF, shared_bytes);
    std::memset(shared_begin() + shared_bytes, guard_byte, guard);
  }

  void check_guard() {
    for (std::size_t i = 0; i < guard; ++i)
      if (shared_begin()[shared_bytes + i] != guard_byte)
        fault("a write beyond the dynamic shared memory of the launch");
  }
};

thread_local Block* block = nullptr;
thread_local Warp* warp = nullptr;
thread_local int own_lane = 0;
thread_local int parity = 0;  // of exchanges: two slots make one barrier an exchange enough

std::mutex launching;  // one launch at a time: __shared__ variables are the process's
std::map<const void*, std::size_t> allowed_shared;

}  // namespace

void fault(const char* what) {
  std::fprintf(stderr, "emulated device: %s\n", what);
  std::abort();
}

void sync_block() { block->barrier->arrive_and_wait(); }
void sync_warp() { warp->barrier->arrive_and_wait(); }
int lane() { return own_lane; }
void* dynamic_shared_memory() { return block->shared_begin(); }

std::uint64_t exchange(std::uint64_t value, int source) {
  std::uint64_t* slot = warp->slot[parity];
  parity ^= 1;
  slot[own_lane] = value;
  warp->barrier->arrive_and_wait();
  return slot[source];
}

Lanes gather(std::uint64_t value) {
  std::uint64_t* slot = warp->slot[parity];
  parity ^= 1;
  slot[own_lane] = value;
  warp->barrier->arrive_and_wait();
  Lanes all;
  std::memcpy(all.value, slot, sizeof all.value);
  return all;
}

cudaError_t allow_shared_memory(const void* kernel, std::size_t bytes) {
  if (bytes > shared_at_most) return cudaErrorInvalidValue;
  const std::lock_guard lock(launching);
  allowed_shared[kernel] = bytes;
  return cudaSuccess;
}

cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel,
                   const std::function<void()>& body) {
  const dim3 grid = config.gridDim, threads_of = config.blockDim;
  const unsigned threads = threads_of.x * threads_of.y * threads_of.z;
  if (threads < 1 || threads > 1024 || grid.x < 1 || grid.y < 1 || grid.z < 1 ||
      grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
    return cudaErrorInvalidValue;
  const std::lock_guard lock(launching);
  const auto allowed = allowed_shared.find(kernel);
  if (config.dynamicSmemBytes >
      (allowed == allowed_shared.end() ? shared_without_asking
                                       : std::max(shared_without_asking, allowed->second)))
    return cudaErrorInvalidValue;

  Block state;
  state.shared_bytes = config.dynamicSmemBytes;
  state.shared.resize(config.dynamicSmemBytes + guard + 128);
  for (unsigned w = 0; w * warp_size < threads; ++w) {
    state.warps.emplace_back();
    for (auto& slots : state.warps.back().slot)
      for (std::uint64_t& slot : slots) slot = 0;
  }
  state.begin(threads);
  const auto next_block = [&]() noexcept {
    state.check_guard();
    state.begin(threads);
  };
  std::barrier end_of_block(threads, next_block);

  const auto run_thread = [&](unsigned t) {
    block = &state;
    warp = &state.warps[t / warp_size];
    own_lane = static_cast<int>(t % warp_size);
    parity = 0;
    blockDim = threads_of;
    gridDim = grid;
    threadIdx = {t % threads_of.x, t / threads_of.x % threads_of.y,
                 t / (threads_of.x * threads_of.y)};
    for (unsigned z = 0; z < grid.z; ++z)
      for (unsigned y = 0; y < grid.y; ++y)
        for (unsigned x = 0; x < grid.x; ++x) {
          blockIdx = {x, y, z};
          parity = 0;
          body();
          // A thread that returned no longer counts at the barriers of those that go on.
          state.barrier->arrive_and_drop();
          warp->barrier->arrive_and_drop();
          end_of_block.arrive_and_wait();
        }
  };
  std::vector<std::thread> others;
  for (unsigned t = 1; t < threads; ++t) others.emplace_back(run_thread, t);
  const auto outer = std::tuple{threadIdx, blockIdx, blockDim, gridDim};
  run_thread(0);
  for (std::thread& other : others) other.join();
  std::tie(threadIdx, blockIdx, blockDim, gridDim) = outer;
  return cudaSuccess;
}

}  // namespace fovea::emulation
