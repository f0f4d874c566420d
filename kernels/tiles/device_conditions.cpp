#include "tiles/device_conditions.h"

#include <algorithm>
#include <numbers>
#include <vector>

namespace fovea::cuda {

DeviceConditions::DeviceConditions(const Problem& problem, const Device& device) {
  fixed_.keys = static_cast<std::int32_t>(problem.k.rows);
  if (const LogitRule* rule = problem.rule.get()) {
    fixed_.changes = rule->soft_cap > 0 || rule->has_bias();
    fixed_.log2_cap = static_cast<float>(rule->soft_cap * std::numbers::log2e);
    by_distance_ = {device, std::span<const float>(rule->by_distance)};
    by_key_ = {device, std::span<const float>(rule->by_key)};
    if (!rule->bias.empty()) {
      const auto size = static_cast<std::size_t>(rule->bias.rows() * rule->bias.stride());
      bias_ = {device, std::span<const float>(rule->bias.data(), size)};
      fixed_.bias_stride = rule->bias.stride();
    }
  }
  if (const PairMask* mask = problem.mask.get()) {
    fixed_.excludes = true;
    query_document_ = {device, std::span<const std::int32_t>(mask->query_document())};
    key_document_ = {device, std::span<const std::int32_t>(mask->key_document())};
    upload(mask->pairs(), device);
    fixed_.bits_stride = mask->pairs().stride();
  }
}

void DeviceConditions::upload(const BitRows& pairs, const Device& device) {
  const Index stride = pairs.stride();
  bits_ = {device, static_cast<std::size_t>(pairs.rows() * stride)};
  constexpr Index most_words = Index{1} << 18;  // 1 MiB
  const Index most_rows = std::max<Index>(1, most_words / std::max<Index>(1, stride));
  std::vector<std::uint32_t> words;
  for (Index begin = 0; begin < pairs.rows(); begin += most_rows) {
    const Index rows = std::min(most_rows, pairs.rows() - begin);
    words.resize(static_cast<std::size_t>(rows * stride));
    for (Index r = 0; r < rows; ++r) pairs.copy_row(begin + r, words.data() + r * stride);
    bits_.upload(static_cast<std::size_t>(begin * stride), words);
    device.wait();
  }
}

HeadConditions DeviceConditions::head() const {
  HeadConditions head = fixed_;  // an empty buffer is null
  head.by_distance = by_distance_.data();
  head.by_key = by_key_.data();
  head.bias = bias_.data();
  head.query_document = query_document_.data();
  head.key_document = key_document_.data();
  head.bits = bits_.data();
  return head;
}

}  // namespace fovea::cuda
