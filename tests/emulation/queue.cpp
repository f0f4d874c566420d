// Streams: what a host asks of the device is queued, and is done when the host waits for it, not
// before. On a device it may be done at any time between the two.
//
// Host memory that is yet to be copied from must not change, which is checked when the copy is
// made; host memory that is yet to be copied to holds NaN, and must still hold it then. A host
// buffer therefore takes part in one queued copy at a time.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "memory.h"

using namespace fovea::emulation;

struct fovea_emulated_stream {};

namespace {

using Number = std::uint64_t;  // of a call, ascending from 1
using Time = std::chrono::steady_clock::time_point;
constexpr unsigned char copy_poison = 0xFF;

struct Recorded {
  cudaStream_t stream = nullptr;
  Number number = 0;  // of the call that records it; 0 if none
  bool done = false;
  Time at;
};

struct Call {
  Number number;
  cudaStream_t stream;
  std::function<void()> work;
};

struct Queue {
  std::recursive_mutex mutex;  // a call may queue others
  std::list<Call> calls;
  Number last = 0;
  std::optional<Time> pretended;
  Copies copies;
  cudaError_t failure_of_next_fill = cudaSuccess;
};
Queue& queue() {
  static Queue& q = *new Queue;  // also for what ends after main
  return q;
}

Number append(cudaStream_t stream, std::function<void()> work) {
  Queue& q = queue();
  const std::lock_guard lock(q.mutex);
  q.calls.push_back({++q.last, stream, std::move(work)});
  return q.last;
}

constexpr Number everything = std::numeric_limits<Number>::max();

/// Does the calls of the stream up to number `last`, and those that they wait for: calls of the
/// default stream and all others wait for each other.
void run_until(cudaStream_t stream, Number last) {
  Queue& q = queue();
  const std::lock_guard lock(q.mutex);
  Number own = 0, shared = 0;
  for (const Call& call : q.calls)
    if (call.number <= last && call.stream == stream) own = call.number;
  for (const Call& call : q.calls)
    if (call.number <= own && (!call.stream || !stream)) shared = call.number;
  for (auto call = q.calls.begin(); call != q.calls.end() && call->number <= own;) {
    if (call->number > shared && call->stream != stream) {
      ++call;
      continue;
    }
    const Call due = std::move(*call);
    call = q.calls.erase(call);
    due.work();
  }
}

void run_all() {
  Queue& q = queue();
  const std::lock_guard lock(q.mutex);
  while (!q.calls.empty()) {
    const Call due = std::move(q.calls.front());
    q.calls.pop_front();
    due.work();
  }
}

// ---- Copies -----------------------------------------------------------------------------------

struct Rows {
  unsigned char* at;
  std::size_t pitch, width, height;

  std::size_t extent() const { return height == 0 ? 0 : (height - 1) * pitch + width; }
  unsigned char* row(std::size_t i) const { return at + i * pitch; }
};

std::uint64_t digest(const Rows& rows) {
  std::uint64_t hash = 0;
  const auto add = [&](std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u ^ hash >> 29;
  };
  for (std::size_t i = 0; i < rows.height; ++i)
    for (std::size_t c = 0; c < rows.width; c += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, rows.row(i) + c, std::min<std::size_t>(8, rows.width - c));
      add(word);
    }
  return hash;
}

bool poisoned(const Rows& rows) {
  for (std::size_t i = 0; i < rows.height; ++i)
    if (!std::all_of(rows.row(i), rows.row(i) + rows.width,
                     [](unsigned char byte) { return byte == copy_poison; }))
      return false;
  return true;
}

void copy(const Rows& to, const Rows& from) {
  for (std::size_t i = 0; i < to.height; ++i) std::memcpy(to.row(i), from.row(i), to.width);
}

void count_copy(const Rows& to, const Rows& from) {
  Queue& q = queue();
  const std::lock_guard lock(q.mutex);
  const bool whole = to.width == to.pitch && from.width == from.pitch;
  ++q.copies.count;
  q.copies.pieces += whole ? 1 : static_cast<long>(to.height);
  q.copies.bytes += to.width * to.height;
}

cudaError_t enqueue_copy(const Rows& to, const Rows& from, cudaMemcpyKind kind,
                         cudaStream_t stream) {
  if (failure() != cudaSuccess) return failure();
  if (to.width == 0 || to.height == 0) return cudaSuccess;
  if (to.width > to.pitch || to.width > from.pitch) return cudaErrorInvalidValue;
  const bool from_host = kind == cudaMemcpyHostToDevice, to_host = kind == cudaMemcpyDeviceToHost;
  if (on_device(from.at, from.extent()) == from_host || on_device(to.at, to.extent()) == to_host)
    return cudaErrorInvalidValue;
  if (kind != cudaMemcpyDeviceToDevice) count_copy(to, from);
  if (to_host)
    for (std::size_t i = 0; i < to.height; ++i) std::memset(to.row(i), copy_poison, to.width);
  const std::uint64_t before = from_host ? digest(from) : 0;
  append(stream, [=] {
    if (from_host && digest(from) != before)
      fault("host memory changed before it was copied to the device");
    if (to_host && !poisoned(to)) fault("host memory changed before results were copied to it");
    copy(to, from);
  });
  return cudaSuccess;
}

unsigned char* bytes_at(const void* at) {
  return const_cast<unsigned char*>(static_cast<const unsigned char*>(at));
}

}  // namespace

struct fovea_emulated_event {
  std::shared_ptr<Recorded> recorded = std::make_shared<Recorded>();
};

namespace fovea::emulation {

void enqueue(cudaStream_t stream, std::function<void()> work) {
  append(stream, std::move(work));
}

PretendedTime::PretendedTime() {
  const std::lock_guard lock(queue().mutex);
  queue().pretended.emplace();
}
PretendedTime::~PretendedTime() {
  const std::lock_guard lock(queue().mutex);
  queue().pretended.reset();
}
void PretendedTime::pass(cudaStream_t stream, double milliseconds) {
  const std::chrono::duration<double, std::milli> time(milliseconds);
  append(stream, [time] {
    if (queue().pretended)
      *queue().pretended += std::chrono::duration_cast<std::chrono::nanoseconds>(time);
  });
}

void fail_next_fill(cudaError_t error) {
  const std::lock_guard lock(queue().mutex);
  queue().failure_of_next_fill = error;
}

Copies copies_so_far() {
  const std::lock_guard lock(queue().mutex);
  return queue().copies;
}

}  // namespace fovea::emulation

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return enqueue_copy({bytes_at(to), bytes, bytes, 1}, {bytes_at(from), bytes, bytes, 1}, kind,
                      stream);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
  return enqueue_copy({bytes_at(to), to_pitch, width, height},
                      {bytes_at(from), from_pitch, width, height}, kind, stream);
}
cudaError_t cudaMemsetAsync(void* at, int byte, std::size_t bytes, cudaStream_t stream) {
  if (failure() != cudaSuccess) return failure();
  {
    const std::lock_guard lock(queue().mutex);
    cudaError_t& fails = queue().failure_of_next_fill;
    if (fails != cudaSuccess) return std::exchange(fails, cudaSuccess);
  }
  if (!on_device(at, bytes)) return cudaErrorInvalidValue;
  append(stream, [=] { std::memset(at, byte, bytes); });
  return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = new fovea_emulated_stream;
  return failure();
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  return cudaStreamCreate(stream);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  *lowest = 0;
  *highest = -5;
  return failure();
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  run_until(stream, everything);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  run_until(stream, everything);
  release_kept_memory();
  return failure();
}
cudaError_t cudaDeviceSynchronize() {
  run_all();
  release_kept_memory();
  return failure();
}

// What is freed after a reset is another's memory.
cudaError_t cudaDeviceReset() {
  run_all();
  if (!allocations().empty()) fault("a device was reset while its memory was used");
  set_failure(cudaSuccess);
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new fovea_emulated_event;
  return failure();
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return cudaEventCreate(event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (failure() != cudaSuccess) return failure();
  auto recorded = std::make_shared<Recorded>();
  recorded->stream = stream;
  recorded->number = append(stream, [recorded] {
    recorded->at = queue().pretended.value_or(std::chrono::steady_clock::now());
    recorded->done = true;
  });
  event->recorded = recorded;
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const Recorded& recorded = *event->recorded;
  if (recorded.number > 0) run_until(recorded.stream, recorded.number);
  return failure();
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const Recorded& recorded = *event->recorded;
  if (recorded.number > 0 && !recorded.done) return cudaErrorNotReady;
  return failure();
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  const Recorded &first = *from->recorded, &second = *to->recorded;
  if (first.number == 0 || second.number == 0) return cudaErrorInvalidResourceHandle;
  if (!first.done || !second.done) return cudaErrorNotReady;
  *milliseconds = std::chrono::duration<float, std::milli>(second.at - first.at).count();
  return failure();
}
