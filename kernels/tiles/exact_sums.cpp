#include "tiles/exact_sums.h"

namespace fovea::cuda {
namespace {

// A term has 24 bits and is shifted by up to 2^log2_orders - 1: the widest words that `most` of
// them do not overflow.
int choose_orders(Index most) {
  int log2_orders = 5;
  while (log2_orders > 2 && most > Index{1} << (64 - 24 - (1 << log2_orders))) --log2_orders;
  return log2_orders;
}

}  // namespace

ExactSums::ExactSums(const Device& device, const DeviceMatrix& totals, Index most)
    : log2_orders_(choose_orders(most)),
      words_(device,
             static_cast<std::size_t>(totals.rows() * totals.stride() * (256 >> log2_orders_))) {
  words_.clear();
}

void ExactSums::round_to(const DeviceMatrix& totals, cudaStream_t stream) const {
  round_sums(words(), totals.rows() * totals.stride(), totals.data(), stream);
}

}  // namespace fovea::cuda
