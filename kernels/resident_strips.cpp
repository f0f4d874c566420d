#include "resident_strips.h"

#include "attend.h"
#include "attend_mma.h"

namespace fovea::cuda {
namespace {

std::size_t shared_bytes(int height, Index d, Precision precision) {
  return precision == Precision::fp32 ? attend_shared_bytes(height, static_cast<int>(d))
                                      : attend_mma_shared_bytes(height, static_cast<int>(d));
}

int choose_height(const TileList& tiles, Index d, Index dv, Precision precision,
                  const Device& device) {
  for (const int height : {128, 64}) {
    if (shared_bytes(height, d, precision) > device.shared_per_block()) continue;
    if (height == 128 && dv > columns_per_pass(height, precision)) continue;
    Index rows = 0, strips = 0;
    for (const Layer& layer : tiles.layers)
      for (const RowGroup& group : layer.groups) {
        rows += group.rows.size();
        strips += (group.rows.size() + height - 1) / height;
      }
    if (strips >= 2 * device.multiprocessors() && 4 * rows >= 3 * strips * height) return height;
  }
  return 16;
}

}  // namespace

ResidentStrips::ResidentStrips(const TileList& tiles, Index d, Index dv, Precision precision,
                               const Device& device)
    : height(choose_height(tiles, d, dv, precision, device)),
      list(cut_strips(tiles, height)),
      strips(device, std::span<const Strip>(list.strips)),
      runs(device, std::span<const ColumnRun>(list.runs)) {}

// In fp32 the registers of a tall strip hold no more.
Index columns_per_pass(int height, Precision precision) {
  return precision == Precision::fp32 && height == 128 ? 64 : 256;
}

}  // namespace fovea::cuda
