// The WgmmaShape of a block of attend_wgmma: its threads, their registers, its shared memory.
#pragma once

#include "device/tensor_map.h"
#include "ptx_hopper.h"
#include "tiles/attend_mma.h"
#include "tiles/attend_wgmma.h"
#include "tiles/mma_tiles.cuh"

namespace fovea::cuda {

constexpr int warpgroup = 128;     // threads
constexpr int group_queries = 64;  // of a warpgroup
constexpr int wide_keys = wgmma_kv_tile_keys;
constexpr int wide_tile_bytes = wide_keys * row_bytes;
constexpr int group_tile_bytes = group_queries * row_bytes;
constexpr int tile_alignment = 1024;

// What a consumer must know of a KV tile: few bits, since it reads them in every step.
enum TileKind : int {
  no_tile = 0,
  plain = 1,     // every query has every key, with weight 1
  general = 2,   // weights, masks, or fewer keys than a KV tile has
  gathered = 4,  // beside one of these: its rows were not copied as a box
};

struct WgmmaArgs {
  AttendArgs attend;
  MmaOperands operands;
  CUtensorMap keys, values;
  int* stuck;
};

// Shared memory: Q, the ring of K, the ring of V, aligned to 1024 bytes, and this.
template <int Consumers, int Stages>
struct WgmmaShared {
  static constexpr int places = Stages + 1;  // slots are read after their keys are released
  KeySlots<wide_keys> slots[places];
  KvTile kv_tile[places];
  TileKind kind[places];
  PhaseBarrier slots_full[places];
  PhaseBarrier keys_full[Stages], keys_empty[Stages];
  PhaseBarrier values_full[Stages], values_empty[Stages];
  PhaseBarrier queries[Consumers], turn[Consumers];
  bool give_up;
};

// DepthChunks, ValueChunks: of 64 columns of Q and K, and of V; Consumers: warpgroups of queries.
template <int DepthChunks, int ValueChunks, int Consumers>
struct WgmmaShape {
  static constexpr int depth_chunks = DepthChunks, value_chunks = ValueChunks;
  static constexpr int consumers = Consumers;
  static constexpr bool narrow = DepthChunks == 1 && ValueChunks == 1;
  static constexpr int threads = (Consumers + 1) * warpgroup;
  static constexpr int blocks = narrow && Consumers == 1 ? 2 : 1;  // on a multiprocessor
  // Registers of a thread when the kernel starts, then of a thread that copies and of the others.
  static constexpr int registers = 65536 / (threads * blocks) / 8 * 8;
  static constexpr bool shares = registers < 240;
  static constexpr int copying = 48;
  static constexpr int multiplying =  // what is left of the registers of the launch
      (registers * (Consumers + 1) - copying) / Consumers / 8 * 8;
  // Products of one KV tile with its values run beside those of the next one with its keys, and the
  // consumers take turns with the tensor cores. Narrow heads have fewer products for as many
  // exponentials: there one after the other is faster, and needs so few registers that three
  // consumers fit. Measured on an H200 (README.md of the kernels).
  static constexpr bool overlaps = !narrow, turns = overlaps && Consumers > 1;
  // KV tiles whose K, or V, is in shared memory.
  static constexpr int stages = narrow && Consumers > 1 ? 3 : 2;
  static constexpr int queries_bytes = DepthChunks * Consumers * group_tile_bytes;
  static constexpr int tiles_bytes = stages * (DepthChunks + ValueChunks) * wide_tile_bytes;
  static constexpr std::size_t shared_bytes =
      tile_alignment + queries_bytes + tiles_bytes + sizeof(WgmmaShared<Consumers, stages>);
};

}  // namespace fovea::cuda
