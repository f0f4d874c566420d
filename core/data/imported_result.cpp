#include "data/imported_result.h"

#include "data/error.h"
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
    result.lse.reserve(lse.rows());
    for (Index i = 0; i < lse.rows(); ++i) result.lse.push_back(lse(i, 0));
  }
  if (tensors.p.present()) result.p = tensors.p.read(head, stop);
  return result;
}

}  // namespace fovea
