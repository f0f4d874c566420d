// A Buffer owns device memory, which is allocated and freed in the order of the device's stream.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/error.h"
#include "data/matrix.h"
#include "device/check.h"
#include "device/device.h"

namespace fovea::cuda {

template <class T>
class Buffer {
 public:
  Buffer() = default;
  /// Uninitialised. Throws UnavailableError with the memory that is needed and available.
  Buffer(const Device& device, std::size_t count) : Buffer() {  // freed also if filling it fails
    allocate(device, count);
    if (count > 0 && device.poison())
      check(cudaMemsetAsync(data_, 0xFF, bytes(), stream_), "filling memory");  // NaN
  }
  /// A copy of `values`.
  Buffer(const Device& device, std::span<const T> values) : Buffer(device, values.size()) {
    if (count_ > 0)
      check(cudaMemcpyAsync(data_, values.data(), bytes(), cudaMemcpyHostToDevice, stream_),
            "uploading");
  }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Buffer() {
    if (data_) cudaFreeAsync(data_, stream_);
  }

  T* data() const { return data_; }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }

  void clear() {
    if (count_ > 0) check(cudaMemsetAsync(data_, 0, bytes(), stream_), "clearing memory");
  }
  /// Copies `values`, which must live until Device::wait, to the elements from `first` on.
  void upload(std::size_t first, std::span<const T> values) {
    if (!values.empty())
      check(cudaMemcpyAsync(data_ + first, values.data(), values.size_bytes(),
                            cudaMemcpyHostToDevice, stream_),
            "uploading");
  }
  /// In the order of the stream: `to` is valid after Device::wait.
  void download(T* to, std::size_t count) const {
    if (count > 0)
      check(cudaMemcpyAsync(to, data_, count * sizeof(T), cudaMemcpyDeviceToHost, stream_),
            "downloading");
  }

 private:
  void allocate(const Device& device, std::size_t count) {
    stream_ = device.stream();
    if (count == 0) return;
    const cudaError_t error =
        cudaMallocAsync(reinterpret_cast<void**>(&data_), count * sizeof(T), stream_);
    if (error == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // clears it: later calls succeed
      const auto free = static_cast<std::size_t>(device.free_bytes());
      throw UnavailableError("CUDA: " + device.name() + " has " + std::to_string(free >> 20) +
                             " MiB of memory left, " +
                             std::to_string((count * sizeof(T) >> 20) + 1) + " MiB needed");
    }
    check(error, "allocating memory");
    count_ = count;
  }
  void swap(Buffer& other) {
    std::swap(stream_, other.stream_);
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
  }

  cudaStream_t stream_ = nullptr;
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace fovea::cuda
