// What runs beside the threads of a block on devices of compute capability 9.0: copies that count
// at barriers with phases. Each is made when it is waited for, not before, and its destination is
// poisoned until then. Mistakes end the program with a message. Not seen: a fence_async_proxy by
// another thread than the one that wrote, since it is taken as the whole block's; a
// publish_barriers that is missing.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace fovea::emulation {

// ---- Shared memory as instructions see it -----------------------------------------------------

/// Shared memory begins at an address that is no multiple of 1024.
std::uint32_t shared_address(const void* shared);
/// The place of 16 bytes, whose address is permuted as in rows of 128 bytes: bits 4 to 6 by bits 7
/// to 9.
const char* swizzled_piece(std::uint32_t address);

/// As tensor cores see the 16 bytes at a place in shared memory. Ends the program if a copy to
/// them is under way, or if threads or their own copies have written them and nobody has called
/// fence_async_proxy since.
void require_visible(const char* piece);

void fence_async_proxy();

// ---- Barriers with phases ---------------------------------------------------------------------

void init_barrier(std::uint64_t* barrier, int arrivals);
/// `bytes`: which the phase waits for from now on.
void arrive(std::uint64_t* barrier, int bytes, int arrivals = 1);
/// An arrival when the asynchronous copies of this thread are made.
void arrive_after_copies(std::uint64_t* barrier);
/// False only after lose_box.
bool wait_for_phase(std::uint64_t* barrier, unsigned parity);

void copy_box(void* shared, const CUtensorMap& map, int column, int row, std::uint64_t* barrier);
/// The box after so many others never arrives, and what waits for it gives up, as it does on a
/// device after some time. Once.
void lose_box(int after);
/// A wait has been given up in this block: what it computes is nonsense.
bool given_up();

// ---- Registers --------------------------------------------------------------------------------

/// Registers of each lane of the warp: until now `launched`, from now on `kept`.
void set_registers(int launched, int kept);

// ---- For the launch -----------------------------------------------------------------------------

void begin_async(unsigned char* shared, std::size_t bytes, unsigned threads);
void end_async();
/// Ends the products of a thread that returns (products.cpp).
void end_products();

}  // namespace fovea::emulation
