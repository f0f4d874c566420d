#include "async.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "crew.h"
#include "memory.h"
#include "unseen.h"

namespace fovea::emulation {
namespace {

constexpr std::uint32_t window = 0x480;  // where shared memory begins
constexpr int registers_of_device = 65536;

struct Landing {
  std::vector<Thread::Copy> pieces;  // of 16 bytes
  bool arrives = false;
  bool box = false;  // written as tensor cores see memory
};

struct Phases {
  int arrivals = 0, pending = 0;
  std::int64_t bytes = 0;
  unsigned ended = 0;
  std::vector<Landing> landings;
};

// The state of the block that runs.
struct Async {
  unsigned char* shared = nullptr;
  std::size_t bytes = 0;
  unsigned threads = 0;
  std::map<std::uint64_t*, Phases> barriers;
  std::vector<unsigned char> seen;    // shared memory as tensor cores see it
  std::vector<unsigned char> coming;  // of each 16 bytes: a copy is under way
  int launched = 0;                   // registers of a thread
  std::int64_t free_registers = 0;
  bool given_up = false;
};
Async block;
std::mutex mutex;
int boxes_until_loss = -1;

// Most kernels need no notes of what tensor cores see.
void begin_notes() {
  if (!block.coming.empty()) return;
  block.seen.assign(block.bytes, 0xFF);
  block.coming.assign(block.bytes / 16 + 1, 0);
}

// After a wait was given up nothing else is a mistake of its own.
void mistake(const char* what) {
  if (!block.given_up) fault(what);
}

Phases& phases_of(std::uint64_t* barrier) {
  const auto found = block.barriers.find(barrier);
  if (found == block.barriers.end()) fault("a barrier that nobody has initialised");
  if (*barrier != reinterpret_cast<std::uintptr_t>(barrier))
    fault("a barrier that something was written over");
  return found->second;
}

std::size_t offset_of(const void* at) {
  const auto offset = static_cast<const unsigned char*>(at) - block.shared;
  if (offset < 0 || offset + 16 > static_cast<std::ptrdiff_t>(block.bytes))
    fault("an address outside the shared memory of the block");
  return static_cast<std::size_t>(offset);
}

void end_phase_if_complete(Phases& phases) {
  if (phases.pending > 0 || phases.bytes != 0) return;
  ++phases.ended;
  phases.pending = phases.arrivals;
  note_progress();
}

void count_arrival(Phases& phases) {
  if (phases.pending == 0) return mistake("more arrivals at a barrier than a phase of it has");
  --phases.pending;
}

// Makes the copies that count at a barrier.
void land(Phases& phases) {
  for (const Landing& landing : phases.landings) {
    for (const auto& [to, from] : landing.pieces) {
      if (from)
        std::memcpy(to, from, 16);
      else
        std::memset(to, 0, 16);
      const std::size_t offset = offset_of(to);
      if (landing.box) std::memcpy(block.seen.data() + offset, to, 16);
      block.coming[offset / 16] = 0;
    }
    if (landing.box) phases.bytes -= static_cast<std::int64_t>(16 * landing.pieces.size());
    if (landing.arrives) count_arrival(phases);
  }
  phases.landings.clear();
  end_phase_if_complete(phases);
}

void start(Phases& phases, Landing landing) {
  begin_notes();
  for (const auto& copy : landing.pieces) {
    unsigned char& coming = block.coming[offset_of(copy.to) / 16];
    if (coming != 0) mistake("two copies are under way to one place in shared memory");
    coming = 1;
    std::memset(copy.to, 0xFF, 16);
  }
  phases.landings.push_back(std::move(landing));
}

}  // namespace

std::uint32_t shared_address(const void* shared) {
  return window +
         static_cast<std::uint32_t>(static_cast<const unsigned char*>(shared) - block.shared);
}

const char* swizzled_piece(std::uint32_t address) {
  address ^= (address >> 7 & 7) << 4;
  if (address < window || address + 16 > window + block.bytes)
    fault("a matrix outside the shared memory of the block");
  return reinterpret_cast<const char*>(block.shared) + (address - window);
}

void require_visible(const char* piece) {
  if (block.given_up) return;
  const Unseen unseen;
  begin_notes();
  const std::size_t offset = offset_of(piece);
  if (block.coming[offset / 16] != 0) fault("a product of what a copy has not brought yet");
  if (std::memcmp(piece, block.seen.data() + offset, 16) != 0)
    fault("a product of what threads have written, with no fence_async_proxy after it");
}

void fence_async_proxy() {
  const Unseen unseen;
  const std::lock_guard lock(mutex);
  begin_notes();
  std::memcpy(block.seen.data(), block.shared, block.bytes);
}

void init_barrier(std::uint64_t* barrier, int arrivals) {
  const Unseen unseen;
  const std::lock_guard lock(mutex);
  if (arrivals < 1) fault("a barrier without arrivals");
  if (!block.barriers.emplace(barrier, Phases{arrivals, arrivals}).second)
    fault("a barrier that is initialised twice");
  offset_of(barrier);
  *barrier = reinterpret_cast<std::uintptr_t>(barrier);
}

void arrive(std::uint64_t* barrier, int bytes, int arrivals) {
  order_before(barrier);
  const Unseen unseen;
  const std::lock_guard lock(mutex);
  Phases& phases = phases_of(barrier);
  phases.bytes += bytes;
  for (int i = 0; i < arrivals; ++i) count_arrival(phases);
  end_phase_if_complete(phases);
}

void arrive_after_copies(std::uint64_t* barrier) {
  order_before(barrier);
  const Unseen unseen;
  const std::lock_guard lock(mutex);
  Landing landing{.arrives = true};
  landing.pieces.swap(self->copies);
  self->group_ends.clear();
  start(phases_of(barrier), std::move(landing));
}

void copy_box(void* shared, const CUtensorMap& map, int column, int row, std::uint64_t* barrier) {
  if (reinterpret_cast<std::uintptr_t>(&map) % 64 != 0 || !map.data)
    fault("a tensor map that is not encoded, or not aligned to 64 bytes");
  const std::uint32_t to = shared_address(shared);
  if (to % 1024 != 0) fault("a box for rows of 128 bytes that is not aligned to 1024 bytes");
  order_before(barrier);
  const Unseen unseen;
  const std::lock_guard lock(mutex);
  if (!on_device(map.data,
                 static_cast<std::size_t>((map.rows - 1) * map.row_bytes + 2 * map.columns)))
    fault("a tensor map of memory that is not the device's");
  Landing landing{.box = true};
  for (int r = 0; r < map.box_rows; ++r)
    for (int c = 0; c < map.box_columns; c += 8) {
      const std::int64_t at_row = row + r, at_column = column + c;
      const bool inside =
          at_row >= 0 && at_row < map.rows && at_column >= 0 && at_column + 8 <= map.columns;
      landing.pieces.push_back(
          {const_cast<char*>(
               swizzled_piece(to + static_cast<std::uint32_t>(r * 2 * map.box_columns + 2 * c))),
           inside ? map.data + at_row * map.row_bytes + 2 * at_column : nullptr});
    }
  if (boxes_until_loss >= 0 && boxes_until_loss-- == 0) landing.pieces.clear();
  start(phases_of(barrier), std::move(landing));
}

void lose_box(int after) {
  const std::lock_guard lock(mutex);
  boxes_until_loss = after;
  give_up_waits(true);
}

bool given_up() {
  return block.given_up;
}

static bool phase_has_ended(std::uint64_t* barrier, unsigned parity) {
  {
    const Unseen unseen;
    const std::lock_guard lock(mutex);
    Phases& phases = phases_of(barrier);
    land(phases);
    if ((phases.ended & 1) == parity) return false;
  }
  order_after(barrier);
  return true;
}

bool wait_for_phase(std::uint64_t* barrier, unsigned parity) {
  while (!phase_has_ended(barrier, parity))
    if (!pause()) {
      const Unseen unseen;
      const std::lock_guard lock(mutex);
      block.given_up = true;
      return false;
    }
  return true;
}

void set_registers(int launched, int kept) {
  if (lane() == 0) {
    for (bool done = false; !done;) {
      {
        const Unseen unseen;
        const std::lock_guard lock(mutex);
        if (block.launched != 0 && block.launched != launched)
          fault("warps that disagree on the registers with which they were launched");
        block.launched = launched;
        if (launched * static_cast<int>(block.threads) > registers_of_device)
          fault("more registers than a multiprocessor has");
        const std::int64_t given_back = 32 * (launched - kept);
        done = block.free_registers + given_back >= 0;
        if (done) block.free_registers += given_back;
        if (done) note_progress();
      }
      if (!done && !pause()) return;
    }
  }
  sync_warp();
}

void begin_async(unsigned char* shared, std::size_t bytes, unsigned threads) {
  Async next{.shared = shared, .bytes = bytes, .threads = threads};
  next.seen.swap(block.seen);  // for their memory
  next.coming.swap(block.coming);
  block = std::move(next);
  block.seen.clear();
  block.coming.clear();
}

void end_async() {
  if (block.given_up) return;
  for (const auto& [barrier, phases] : block.barriers)
    if (!phases.landings.empty() || phases.bytes != 0)
      fault("a block ended before what is copied at a barrier was waited for");
}

}  // namespace fovea::emulation

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType, cuuint32_t rank,
                                void* address, const cuuint64_t* size, const cuuint64_t* row_bytes,
                                const cuuint32_t* box, const cuuint32_t* every,
                                CUtensorMapInterleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  const bool right = rank == 2 && reinterpret_cast<std::uintptr_t>(address) % 16 == 0 &&
                     size[0] > 0 && size[1] > 0 && row_bytes[0] % 16 == 0 &&
                     row_bytes[0] >= 2 * size[0] && box[0] == 64 && box[1] >= 1 && box[1] <= 256 &&
                     every[0] == 1 && every[1] == 1 && swizzle == CU_TENSOR_MAP_SWIZZLE_128B;
  if (!right) return CUDA_ERROR_INVALID_VALUE;
  *map = {.data = static_cast<const char*>(address),
          .columns = static_cast<std::int64_t>(size[0]),
          .rows = static_cast<std::int64_t>(size[1]),
          .row_bytes = static_cast<std::int64_t>(row_bytes[0]),
          .box_columns = static_cast<int>(box[0]),
          .box_rows = static_cast<int>(box[1])};
  return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  const bool known = std::strcmp(symbol, "cuTensorMapEncodeTiled") == 0;
  *function = known ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled) : nullptr;
  *result = known ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
