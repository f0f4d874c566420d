#include "tiles/resident_strips.h"

#include <algorithm>

#include "tiles/attend.h"
#include "tiles/attend_mma.h"

namespace fovea::cuda {
namespace {

std::size_t shared_bytes(int height, Index d, Precision precision) {
  return precision == Precision::fp32 ? attend_shared_bytes(height, static_cast<int>(d))
                                      : attend_mma_shared_bytes(height, static_cast<int>(d));
}

// `strips_of`: how many strips of a height the `rows` make.
template <class StripsOf>
int choose_height(Index rows, StripsOf strips_of, Index d, Index dv, Precision precision,
                  const Device& device) {
  for (const int height : {128, 64}) {
    if (shared_bytes(height, d, precision) > device.shared_per_block()) continue;
    if (height == 128 && dv > columns_per_pass(height, precision)) continue;
    const Index strips = strips_of(height);
    if (strips >= 2 * device.multiprocessors() && 4 * rows >= 3 * strips * height) return height;
  }
  return 16;
}

int choose_height(const TileList& tiles, Index d, Index dv, Precision precision,
                  const Device& device) {
  const auto sum = [&](auto of) {
    Index all = 0;
    for (const Layer& layer : tiles.layers)
      for (const RowGroup& group : layer.groups) all += of(group.rows.size());
    return all;
  };
  return choose_height(
      sum([](Index rows) { return rows; }),
      [&](int height) {
        return sum([height](Index rows) { return (rows + height - 1) / height; });
      },
      d, dv, precision, device);
}

}  // namespace

ResidentStrips::ResidentStrips(const TileList& tiles, Index d, Index dv, Precision its_precision,
                               const Device& device)
    : precision(its_precision),
      rows{0, tiles.lengths.queries},
      height(choose_height(tiles, d, dv, precision, device)),
      list(cut_strips(tiles, height)),
      strips(device, std::span<const Strip>(list.strips)),
      runs(device, std::span<const ColumnRun>(list.runs)) {}

ResidentStrips::ResidentStrips(const TileList& tiles, IndexRange its_rows, Index d, Index dv,
                               Precision its_precision, const Device& device)
    : precision(its_precision),
      rows(its_rows),
      height(strip_height(rows.size(), d, dv, precision, device)),
      list(cut_strips(tiles, rows, height)),
      strips(device, std::span<const Strip>(list.strips)),
      runs(device, std::span<const ColumnRun>(list.runs)) {}

int strip_height(Index rows, Index d, Index dv, Precision precision, const Device& device) {
  return choose_height(
      rows, [rows](int height) { return (rows + height - 1) / height; }, d, dv, precision, device);
}

Index widest_head(Precision precision, const Device& device) {
  constexpr Index step = 64;  // shared memory grows by so many columns at once
  const int least = strip_heights.front();
  Index d = 0;
  while (std::max(shared_bytes(least, d + step, Precision::fp32),
                  shared_bytes(least, d + step, precision)) <= device.shared_per_block())
    d += step;
  return d;
}

// In fp32 the registers cannot hold more columns of a tall strip.
Index columns_per_pass(int height, Precision precision) {
  return precision == Precision::fp32 && height == 128 ? 64 : 256;
}

}  // namespace fovea::cuda
