#include "planning/planning.h"

#include <algorithm>
#include <bit>

#include "device/device_matrix.h"
#include "planning/hash.h"
#include "planning/route.h"
#include "planning/sort.h"

namespace fovea::cuda {
namespace {

// Multiply-adds of one launch: a few milliseconds on a large GPU, so that planning can be
// cancelled.
constexpr double multiply_adds_per_launch = 2e10;

std::vector<std::int32_t> download(const Device& device, const Buffer<std::int32_t>& from) {
  std::vector<std::int32_t> values(from.size());
  from.download(values.data(), values.size());
  device.wait();
  return values;
}

// A tree in the form that the kernel reads.
struct DeviceTree {
  DeviceMatrix weight;
  Buffer<float> bias;
  Buffer<RouteLevel> levels;
  double multiply_adds = 0;  // for one row, from the root to its leaf

  DeviceTree(const Device& device, const Tree& tree, Index d) {
    std::vector<RouteLevel> list;
    std::vector<float> biases;
    const Device::WaitAtEnd uploaded(device);
    Index rows = 0;
    for (const TreeLevel& level : tree.levels) {
      list.push_back({rows, level.branching, level.by_sign});
      biases.insert(biases.end(), level.bias.begin(), level.bias.end());
      rows += level.weight.rows();
      multiply_adds += static_cast<double>(d) * (level.by_sign ? 1 : level.branching);
    }
    weight = DeviceMatrix(device, rows, d);
    for (std::size_t l = 0; l < list.size(); ++l)
      weight.upload(device, tree.levels[l].weight, list[l].first_row);
    bias = {device, std::span<const float>(biases)};
    levels = {device, std::span<const RouteLevel>(list)};
  }
};

}  // namespace

std::vector<std::int32_t> lsh_buckets(SharedTensors& tensors, MatrixView x, MatrixView directions) {
  if (x.rows == 0) return {};
  const Device& device = tensors.device();
  const auto rows = tensors.uploaded(tensors.tensor_of(x));
  DeviceMatrix drawn(device, directions.rows, directions.cols);
  drawn.upload(device, directions);
  const Buffer<std::int32_t> bucket(device, static_cast<std::size_t>(x.rows));
  hash({.x = rows->data(),
        .n = x.rows,
        .x_stride = rows->stride(),
        .directions = drawn.data(),
        .count = static_cast<int>(directions.rows),
        .direction_stride = drawn.stride(),
        .bucket = bucket.data()},
       device.stream());
  return download(device, bucket);
}

std::vector<std::int32_t> route(SharedTensors& tensors, MatrixView x, const Tree& tree, Run& run) {
  if (x.rows == 0) return {};
  const Device& device = tensors.device();
  const Device::WaitAtEnd uploaded(device);  // where it is cancelled, x may end with it
  const DeviceTree below(device, tree, x.cols);
  const auto rows = tensors.uploaded(tensors.tensor_of(x));
  const Buffer<std::int32_t> leaf(device, static_cast<std::size_t>(x.rows));
  const Index step = std::max<Index>(
      1024, static_cast<Index>(multiply_adds_per_launch / std::max(below.multiply_adds, 1.0)));
  for (Index first = 0; first < x.rows; first += step) {
    if (first > 0) device.wait();
    run.check();
    route({.x = rows->row(first),
           .count = std::min(step, x.rows - first),
           .x_stride = rows->stride(),
           .d = static_cast<int>(x.cols),
           .weight = below.weight.data(),
           .weight_stride = below.weight.stride(),
           .bias = below.bias.data(),
           .levels = below.levels.data(),
           .height = tree.height(),
           .leaf = leaf.data() + first},
          device.stream());
  }
  return download(device, leaf);
}

void stable_order(const Device& device, const Buffer<std::uint32_t>& keys, std::int32_t key_count,
                  std::int32_t* order) {
  if (keys.size() == 0) return;
  const Buffer<std::uint32_t> sorted_keys(device, keys.size());
  const Buffer<std::int32_t> positions(device, keys.size());
  const SortArgs args{.keys = keys.data(),
                      .sorted_keys = sorted_keys.data(),
                      .positions = positions.data(),
                      .order = order,
                      .n = static_cast<int>(keys.size()),
                      .bits = static_cast<int>(
                          std::bit_width(static_cast<std::uint32_t>(std::max(key_count, 2) - 1)))};
  const Buffer<std::byte> workspace(device, sort_workspace(args));
  sort(args, workspace.data(), workspace.size(), device.stream());
}

std::vector<std::int32_t> stable_order(const Device& device, std::span<const std::int32_t> keys,
                                       std::int32_t key_count) {
  if (keys.empty()) return {};
  const Buffer<std::uint32_t> uploaded(  // no key is negative, so the bits are the same
      device, {reinterpret_cast<const std::uint32_t*>(keys.data()), keys.size()});
  const Buffer<std::int32_t> order(device, keys.size());
  stable_order(device, uploaded, key_count, order.data());
  return download(device, order);
}

}  // namespace fovea::cuda
