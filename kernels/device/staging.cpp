#include "device/staging.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "device/check.h"

namespace fovea::cuda {
namespace {

constexpr Index buffer_floats = Index{1} << 20;
constexpr Index least_floats = buffer_floats;  // that are staged
constexpr unsigned most_lanes = 4;             // meant to keep a bus busy; not measured

std::size_t bytes_of(Index floats) {
  return static_cast<std::size_t>(floats) * sizeof(float);
}

}  // namespace

struct Staging::Lane {
  float* buffer = nullptr;
  cudaEvent_t copied = nullptr;

  Lane() = default;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() {
    if (copied) cudaEventDestroy(copied);
    if (buffer) cudaFreeHost(buffer);
  }
};

Staging::Staging() = default;
Staging::~Staging() = default;

bool Staging::ready(Index rows, Index pitch) {
  if (refused_ || rows * pitch < least_floats || pitch > buffer_floats) return false;
  const unsigned wanted = std::clamp(std::thread::hardware_concurrency(), 1u, most_lanes);
  while (lanes_.size() < wanted) {
    auto lane = std::make_unique<Lane>();
    if (cudaMallocHost(reinterpret_cast<void**>(&lane->buffer), bytes_of(buffer_floats)) !=
        cudaSuccess) {
      cudaGetLastError();  // clears it: later calls succeed
      refused_ = true;
      lanes_.clear();
      return false;
    }
    check(cudaEventCreateWithFlags(&lane->copied, cudaEventDisableTiming), "creating an event");
    lanes_.push_back(std::move(lane));
  }
  return true;
}

template <class Work>
void Staging::share_out(Index rows, Index pitch, Work work) {
  const Index at_once = buffer_floats / pitch, step = at_once * static_cast<Index>(lanes_.size());
  std::exception_ptr failure;
  std::mutex failing;
  {
    std::vector<std::jthread> threads;
    for (std::size_t l = 0; l < lanes_.size(); ++l)
      threads.emplace_back([&, l] {
        try {
          for (Index first = static_cast<Index>(l) * at_once; first < rows; first += step)
            work(*lanes_[l], IndexRange{first, std::min(first + at_once, rows)});
        } catch (...) {
          const std::scoped_lock lock(failing);
          failure = std::current_exception();
        }
      });
  }
  if (failure) std::rethrow_exception(failure);
}

bool Staging::upload(MatrixView from, float* to, Index pitch, cudaStream_t stream) {
  if (!ready(from.rows, pitch)) return false;
  share_out(from.rows, pitch, [&](Lane& lane, IndexRange rows) {
    check(cudaEventSynchronize(lane.copied), "waiting for a copy");
    for (Index i = rows.begin; i < rows.end; ++i) {
      float* const row = lane.buffer + (i - rows.begin) * pitch;
      std::fill(std::copy_n(from.row(i), from.cols, row), row + pitch, 0.0f);
    }
    check(cudaMemcpyAsync(to + rows.begin * pitch, lane.buffer, bytes_of(rows.size() * pitch),
                          cudaMemcpyHostToDevice, stream),
          "uploading");
    check(cudaEventRecord(lane.copied, stream), "recording a copy");
  });
  return true;
}

bool Staging::download(const float* from, Index pitch, float* to, Index to_stride, Index rows,
                       Index cols, cudaStream_t stream) {
  if (!ready(rows, pitch)) return false;
  share_out(rows, pitch, [&](Lane& lane, IndexRange its) {
    check(cudaEventSynchronize(lane.copied), "waiting for a copy");
    check(cudaMemcpyAsync(lane.buffer, from + its.begin * pitch, bytes_of(its.size() * pitch),
                          cudaMemcpyDeviceToHost, stream),
          "downloading");
    check(cudaEventRecord(lane.copied, stream), "recording a copy");
    check(cudaEventSynchronize(lane.copied), "waiting for a copy");
    for (Index i = its.begin; i < its.end; ++i)
      std::copy_n(lane.buffer + (i - its.begin) * pitch, cols, to + i * to_stride);
  });
  return true;
}

}  // namespace fovea::cuda
