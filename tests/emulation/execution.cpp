// Launches: blocks one after another, each isolated from the others, threads of a block side by
// side.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "async.h"
#include "crew.h"
#include "isolation.h"
#include "unseen.h"

namespace fovea::emulation {

struct Warp {
  std::optional<Barrier> barrier;
  std::uint64_t slot[2][32] = {};
  Factors factors[2][32];
};

struct Block {
  std::optional<Barrier> barrier;
  std::deque<Warp> warps;
  std::vector<unsigned char> shared;
  std::size_t shared_bytes = 0;
  std::mutex ending;  // guards `atomics`
  std::vector<Thread::AtomicUse> atomics;

  unsigned char* shared_begin();
  void begin(unsigned threads);
  void check_guard();
};

namespace {

constexpr unsigned warp_size = 32;
constexpr std::size_t shared_without_asking = 48 << 10;
constexpr std::size_t shared_guard = 64;
constexpr unsigned char shared_guard_byte = 0xA5;

std::mutex launching;  // one launch at a time, because __shared__ variables are static
std::map<const void*, std::size_t> allowed_shared;
cudaError_t failure_of_next = cudaSuccess;
bool descending_blocks = false;

}  // namespace

void fail_next_launch(cudaError_t error) {
  const std::lock_guard lock(launching);
  failure_of_next = error;
}
void set_descending_blocks(bool descending) {
  const std::lock_guard lock(launching);
  descending_blocks = descending;
}

void fault(const char* what) {
  std::fprintf(stderr, "emulated device: %s\n", what);
  std::abort();
}

unsigned char* Block::shared_begin() {
  const auto address = reinterpret_cast<std::uintptr_t>(shared.data());
  return shared.data() + (128 - address % 128) % 128;
}

// At the beginning no thread has returned, and shared memory is poisoned.
void Block::begin(unsigned threads) {
  barrier.emplace(threads);
  for (unsigned w = 0; w < warps.size(); ++w)
    warps[w].barrier.emplace(std::min(warp_size, threads - w * warp_size));
  std::memset(shared_begin(), 0xFF, shared_bytes);
  std::memset(shared_begin() + shared_bytes, shared_guard_byte, shared_guard);
  begin_async(shared_begin(), shared_bytes, threads);
}

void Block::check_guard() {
  for (std::size_t i = 0; i < shared_guard; ++i)
    if (shared_begin()[shared_bytes + i] != shared_guard_byte)
      fault("a write beyond the dynamic shared memory of the launch");
}

void sync_block() {
  self->block->barrier->arrive_and_wait();
}
void sync_warp() {
  self->warp->barrier->arrive_and_wait();
}
void* dynamic_shared_memory() {
  return self->block->shared_begin();
}

// Lanes pass values in registers: that does not order what they do in memory, as a barrier would.
// The thread sanitizer therefore sees neither the barrier nor the slots of an exchange.
Lanes gather(std::uint64_t value) {
  const Unseen unseen;
  std::uint64_t* slot = self->warp->slot[self->parity];
  self->parity ^= 1;
  slot[self->lane] = value;
  self->warp->barrier->arrive_and_wait();
  Lanes all;
  std::memcpy(all.value, slot, sizeof all.value);
  return all;
}

const Factors* gather(const Factors& its) {
  const Unseen unseen;
  Factors* const factors = self->warp->factors[self->parity];
  self->parity ^= 1;
  factors[self->lane] = its;
  self->warp->barrier->arrive_and_wait();
  return factors;
}

std::uint64_t exchange(std::uint64_t value, int source) {
  const Unseen unseen;
  std::uint64_t* slot = self->warp->slot[self->parity];
  self->parity ^= 1;
  slot[self->lane] = value;
  self->warp->barrier->arrive_and_wait();
  return slot[source];
}

cudaError_t allow_shared_memory(const void* kernel, std::size_t bytes) {
  if (bytes > shared_memory()) return cudaErrorInvalidValue;
  const std::lock_guard lock(launching);
  allowed_shared[kernel] = bytes;
  return cudaSuccess;
}

namespace {

// Bytes of device memory that are compared for each block: about as long as a block takes.
constexpr std::size_t compared_for_a_block = 64 << 10;

// What a thread does after its part of a block.
void end_thread(Block& block, Thread& thread) {
  if (!thread.copies.empty() || !thread.group_ends.empty())
    fault("a block ended before its asynchronous copies were waited for");
  end_products();
  if (!thread.atomics.empty()) {
    const std::lock_guard lock(block.ending);
    block.atomics.insert(block.atomics.end(), thread.atomics.begin(), thread.atomics.end());
    thread.atomics.clear();
  }
  // A thread that has returned is not waited for at the barriers of the others.
  block.barrier->arrive_and_drop();
  thread.warp->barrier->arrive_and_drop();
}

uint3 place_in(const dim3& grid, std::uint64_t number) {
  return {static_cast<unsigned>(number % grid.x), static_cast<unsigned>(number / grid.x % grid.y),
          static_cast<unsigned>(number / grid.x / grid.y)};
}

void run(const cudaLaunchConfig_t& config, const std::function<void()>& body) {
  const std::lock_guard lock(launching);
  const dim3 grid = config.gridDim, threads_of = config.blockDim;
  const unsigned threads = threads_of.x * threads_of.y * threads_of.z;
  const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
  Block block;
  block.shared_bytes = config.dynamicSmemBytes;
  block.shared.resize(config.dynamicSmemBytes + shared_guard + 128);
  block.warps.resize((threads + warp_size - 1) / warp_size);
  block.begin(threads);
  Isolation isolation(blocks, compared_for_a_block);
  Barrier ended(threads), begun(threads);
  blockDim = threads_of;
  gridDim = grid;
  run_crew(threads, [&](unsigned t) {
    Thread& thread = *self;
    thread.index = {t % threads_of.x, t / threads_of.x % threads_of.y,
                    t / (threads_of.x * threads_of.y)};
    thread.block = &block;
    thread.warp = &block.warps[t / warp_size];
    thread.lane = static_cast<int>(t % warp_size);
    for (std::uint64_t number = 0; number < blocks; ++number) {
      thread.block_index = place_in(grid, descending_blocks ? blocks - 1 - number : number);
      thread.parity = 0;
      body();
      end_thread(block, thread);
      ended.arrive_and_wait();
      if (t == 0) {
        block.check_guard();
        end_async();
        isolation.end_block(block.atomics);
        block.atomics.clear();
        block.begin(threads);
      }
      begun.arrive_and_wait();
    }
  });
}

}  // namespace

cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel,
                   const std::function<void()>& body) {
  const dim3 grid = config.gridDim, threads_of = config.blockDim;
  const unsigned threads = threads_of.x * threads_of.y * threads_of.z;
  if (threads < 1 || threads > 1024 || grid.x < 1 || grid.y < 1 || grid.z < 1 ||
      grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535)
    return cudaErrorInvalidValue;
  if (failure() != cudaSuccess) return failure();
  {
    const std::lock_guard lock(launching);
    if (failure_of_next != cudaSuccess) return std::exchange(failure_of_next, cudaSuccess);
    const auto allowed = allowed_shared.find(kernel);
    if (config.dynamicSmemBytes > (allowed == allowed_shared.end()
                                       ? shared_without_asking
                                       : std::max(shared_without_asking, allowed->second)))
      return cudaErrorInvalidValue;
  }
  enqueue(config.stream, [config, body] { run(config, body); });
  return cudaSuccess;
}

}  // namespace fovea::emulation
