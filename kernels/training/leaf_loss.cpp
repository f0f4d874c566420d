#include "training/leaf_loss.h"

#include <vector>

#include "data/group_by.h"
#include "device/device_matrix.h"
#include "training/leaf_kernels.h"

namespace fovea::cuda {
namespace {

std::vector<std::int32_t> narrow(std::span<const Index> values) {
  std::vector<std::int32_t> out;
  for (const Index value : values) out.push_back(static_cast<std::int32_t>(value));
  return out;
}

DeviceMatrix uploaded(const Device& device, MatrixView from) {
  DeviceMatrix out(device, from.rows, from.cols);
  out.upload(device, from);
  return out;
}

}  // namespace

MembershipGradient leaf_loss(const Device& device, const TokenBatch& batch, Run& run) {
  run.check();
  const Index queries = batch.queries.rows, keys = batch.keys.rows, leaves = batch.leaves();
  MembershipGradient out{.queries = Matrix(queries, leaves), .keys = Matrix(keys, leaves)};
  if (queries == 0) return out;
  const Grouped by_leaf = group_by(batch.query_leaf, leaves);
  const std::vector<std::int32_t> admissible = narrow(batch.admissible),
                                  place = narrow(batch.place), begin = narrow(batch.leaf_begin),
                                  query_begin = narrow(by_leaf.begin);
  const std::vector<float> no_sums(static_cast<std::size_t>(queries), -1e30f);
  const Device::WaitAtEnd done(device);
  const auto integers = [&](std::span<const std::int32_t> values) {
    return Buffer<std::int32_t>(device, values);
  };
  const auto floats = [&](Index count) {
    return Buffer<float>(device, static_cast<std::size_t>(count));
  };
  const DeviceMatrix q = uploaded(device, batch.queries), k = uploaded(device, batch.keys),
                     v = uploaded(device, batch.values), t = uploaded(device, batch.targets);
  const Buffer<std::int32_t> query_leaf = integers(batch.query_leaf),
                             admitted = integers(admissible), places = integers(place),
                             leaf_begin = integers(begin), in_order = integers(by_leaf.order),
                             order_begin = integers(query_begin);
  // What a query without a key leaves unwritten: Z = 0 and, as in LeafBatch, no_pair.
  DeviceMatrix z(device, queries, batch.values.cols);
  z.clear();
  const Buffer<float> lse(device, std::span<const float>(no_sums)),
      logits = floats(queries * keys), loss_without = floats(queries),
      by_query = floats(queries * leaves), by_key = floats(keys * leaves);
  const Buffer<std::int32_t> dominant(device, static_cast<std::size_t>(queries));
  const LeafArgs args{.queries = static_cast<int>(queries),
                      .keys = static_cast<int>(keys),
                      .leaves = static_cast<int>(leaves),
                      .d = static_cast<int>(batch.queries.cols),
                      .dv = static_cast<int>(batch.values.cols),
                      .q = q.data(),
                      .k = k.data(),
                      .v = v.data(),
                      .t = t.data(),
                      .q_stride = q.stride(),
                      .k_stride = k.stride(),
                      .v_stride = v.stride(),
                      .scale = batch.scale,
                      .query_leaf = query_leaf.data(),
                      .admissible = admitted.data(),
                      .place = places.data(),
                      .leaf_begin = leaf_begin.data(),
                      .in_order = in_order.data(),
                      .order_begin = order_begin.data(),
                      .logits = logits.data(),
                      .z = z.data(),
                      .lse = lse.data(),
                      .dominant = dominant.data(),
                      .loss_without = loss_without.data(),
                      .by_query = by_query.data(),
                      .by_key = by_key.data()};
  find_logits(args, device.stream());
  find_outputs(args, device.stream());
  find_losses_without(args, device.stream());
  find_key_changes(args, device.stream());
  by_query.download(out.queries.data(), by_query.size());
  by_key.download(out.keys.data(), by_key.size());
  device.wait();
  for (const std::int32_t i : by_leaf.order)
    out.loss += static_cast<double>(out.queries(i, batch.query_leaf[static_cast<std::size_t>(i)]));
  return out;
}

}  // namespace fovea::cuda
