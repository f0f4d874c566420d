// A Selection says which pairs of query and key were kept, in blocks of queries and keys: as a file
// says it in one of several forms, and read for one head.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "data/band.h"
#include "data/head_tensor.h"
#include "data/lengths.h"
#include "data/pair_mask.h"

namespace fovea {

/// Lists of the blocks of keys that each block of queries keeps, in the types of their file. A
/// tensor of h heads is shared by heads of the layer: head i has list i h / heads.
struct ListTensors {
  std::string where;       // file and tensor, for messages
  HeadTensor entries;      // [h, rows, most] numbers of blocks of keys; of CSR [h, 1, all entries]
  HeadTensor counts = {};  // [h, rows, 1] how many of a row count; absent: those that are not -1
  HeadTensor begins = {};  // [h, 1, rows + 1] of CSR: where the entries of a row begin
  bool present() const { return entries.present(); }
};

/// As a file says it: a mask or lists. A block of 1 x 1 is a pair.
struct SelectionTensors {
  Lengths block = {1, 1};    // queries and keys a side of a block; the last ones may be cut off
  Index heads = 1;           // of the layer
  HeadTensor mask = {};      // [h, rows, cols] 0 where a block is left out
  ListTensors lists = {};    // of blocks whose pairs are all meant
  ListTensors partial = {};  // of blocks of which those pairs are meant that the head admits

  bool present() const { return mask.present() || lists.present() || partial.present(); }
  /// "a mask of pairs", "a mask of 128 x 64 blocks", "lists of keys", "lists of 64 x 64 blocks".
  std::string text() const;
};

/// Entries of lists that add no block.
struct ListFaults {
  Index repeats = 0, outside = 0;
  std::int64_t first_outside = 0;  // and the row of blocks that lists it
  Index row_of_first = 0;

  /// Adds the faults of later rows.
  void add(const ListFaults& later);
};

class ListReader;

/// The blocks that one head keeps.
struct Selection {
  Lengths lengths, block;
  BitRows blocks;        // [rows, cols]
  BitRows partial = {};  // the blocks that keep only pairs which the head admits
  ListFaults faults = {};
  /// The maker of `blocks`; null if they are held. With a maker, `faults` is empty: faults_of
  /// counts them.
  std::shared_ptr<const ListReader> reader = {};

  Index rows() const { return blocks.rows(); }
  IndexRange queries_of(Index row) const;
  /// The kept keys of a row of blocks, as ascending runs; without partial blocks if `whole`.
  std::vector<IndexRange> runs(Index row, bool whole = false) const;
};

/// Calls a function for each of a number of turns, in any order and on any threads.
using ShareOut = std::function<void(Index turns, const std::function<void(Index turn)>&)>;
/// One turn after another on this thread. Throws Cancelled between two.
ShareOut on_this_thread(const std::stop_token& stop);

/// The blocks are held if their bits take no more than two bytes for each entry of the lists; else
/// each row is read again when it is asked for, so that memory is at most in proportion to the
/// lists. Throws InputError for lists that do not fit, UnavailableError if the blocks do not fit
/// into memory, Cancelled, and what HeadTensor::read throws.
Selection read_selection(const SelectionTensors& tensors, Index head, Lengths lengths,
                         const std::stop_token& stop = {});

/// What its lists hold that adds no block. Throws what Bytes::read throws, and Cancelled.
ListFaults list_faults(const Selection& selection, const std::stop_token& stop = {});

/// What the selection keeps and the head does not count, each kind in a clause: entries that are
/// repeated or out of range, pairs beyond the causal mask, the window (`band`) or `mask` (null
/// admits all); and queries of which no key is left.
std::vector<std::string> faults_of(const Selection& selection, const Band& band,
                                   const PairMask* mask,
                                   const ShareOut& share_out = on_this_thread({}));

/// The pairs that are kept and that `mask` admits (null admits all). Those of larger blocks are
/// made row by row.
std::shared_ptr<const PairMask> pairs_of(Selection selection,
                                         const std::shared_ptr<const PairMask>& mask);

}  // namespace fovea
