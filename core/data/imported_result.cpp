#include "data/imported_result.h"

#include <algorithm>
#include <cmath>

#include "data/error.h"
#include "data/memory.h"
#include "data/stop.h"
#include "data/text.h"

namespace fovea {

const ImportedTensors& ImportedResults::named(const std::string& name) const {
  std::string known;
  for (const ImportedTensors& result : all) {
    if (result.name == name || name.empty()) return result;
    add_item(known, result.name.empty() ? "one without a name" : fovea::quoted(result.name));
  }
  throw UsageError("result is " + fovea::quoted(name) + "; the file holds " + known);
}

ImportedResult read_imported(const ImportedTensors& tensors, Index head,
                             const std::stop_token& stop) {
  ImportedResult result{.name = tensors.name, .type = tensors.z.type, .z = {}, .lse = {}, .p = {}};
  if (tensors.z.present()) result.z = tensors.z.read(head, stop);
  if (tensors.lse.present()) {
    const Matrix lse = tensors.lse.read(head, stop);
    result.lse.reserve(static_cast<std::size_t>(lse.rows()));
    for (Index i = 0; i < lse.rows(); ++i) result.lse.push_back(lse(i, 0));
  }
  if (tensors.p.present()) result.p = tensors.p.read(head, stop);
  return result;
}

std::shared_ptr<const PairMask> kept_pairs(const ImportedTensors& tensors, Index head,
                                           Lengths lengths,
                                           const std::shared_ptr<const PairMask>& mask,
                                           const std::stop_token& stop) {
  const Index queries = lengths.queries, keys = lengths.keys;
  const Matrix kept = tensors.kept.read(tensors.kept.heads == 1 ? 0 : head, stop);
  const Index block = tensors.kept_block;
  require_memory(static_cast<double>(queries) * static_cast<double>(keys) / 8,
                 "the kept pairs of " + std::to_string(queries) + " queries and " +
                     std::to_string(keys) + " keys");
  BitMatrix pairs(queries, keys);
  for_each_row(queries, stop, [&](Index i) {
    for (Index j = 0; j < keys; ++j)
      if (kept(i / block, j / block) != 0 && (!mask || !mask->has_pairs() || mask->pairs()(i, j)))
        pairs.set(i, j);
  });
  if (!mask)
    return std::make_shared<const PairMask>(std::vector<std::int32_t>(),
                                            std::vector<std::int32_t>(), std::move(pairs));
  return std::make_shared<const PairMask>(mask->query_document(), mask->key_document(),
                                          std::move(pairs));
}

}  // namespace fovea
