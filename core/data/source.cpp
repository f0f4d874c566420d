#include "data/source.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "data/error.h"
#include "data/memory.h"

namespace fovea {
namespace {

std::string where_of(const Source& source, const Layer& layer) {
  return layer.name.empty() ? source.path : source.path + ", " + layer.name;
}

void check_index(const char* what, Index found, Index count) {
  if (found < 0 || found >= count)
    throw UsageError(std::string(what) + " " + std::to_string(found) + "; expected 0 to " +
                     std::to_string(count - 1));
}

double float_bytes(Index rows, Index cols) {
  return sizeof(float) * static_cast<double>(rows) * static_cast<double>(cols);
}

}  // namespace

const Sequence& sequence_of(const Source& source, Index layer) {
  const auto& own = source.layers[layer].sequence;
  return own ? *own : source.sequence;
}

const Sequence& key_sequence_of(const Source& source, Index layer) {
  static const Sequence unknown;
  const Layer& of = source.layers[layer];
  if (of.key_sequence) return *of.key_sequence;
  return of.lengths().equal() ? sequence_of(source, layer) : unknown;
}

bool has_own_keys(const Source& source, Index layer) {
  const Layer& of = source.layers[layer];
  return !of.lengths().equal() ||
         (of.key_sequence && of.key_sequence->tokens != sequence_of(source, layer).tokens);
}

void name_keys_of_compressed(Source& source) {
  for (Index l = 0; l < std::ssize(source.layers); ++l) {
    Layer& layer = source.layers[l];
    if (!layer.conditions.compressed || !layer.key_sequence->tokens.empty()) continue;
    if (layer.queries() == layer.tokens())
      layer.key_sequence->tokens = sequence_of(source, l).tokens;
  }
}

HeadConditions stated_conditions(const Source& source, Index layer) {
  return source.layers[layer].conditions.or_else({.causal = source.causal, .scale = source.scale});
}

std::string statement_text(const Source& source) {
  if (!source.content.empty()) return "chosen by Fovea";
  if (source.kind == "model") return "stated by the model";
  return source.files.empty() ? "stated by the program that sent it" : "stated in the file";
}

bool mask_is_assumed(const Source& source, Index layer) {
  const Layer& its = source.layers[layer];
  return !stated_causal(source, layer) && source.content.empty() && source.kind != "synthetic" &&
         its.has_qk() && its.conditions.mask.rows <= 1;  // a mask of pairs says it all
}

std::string layer_label(const Source& source, Index layer) {
  const std::string& name = source.layers[layer].name;
  if (name.empty()) return "layer " + std::to_string(layer);
  const bool number = name.find_first_not_of("0123456789") == std::string::npos;
  return number ? "layer " + name : name;
}

Problem problem_of(const Source& source, const HeadChoice& choice, const std::stop_token& stop) {
  check_index("layer", choice.layer, std::ssize(source.layers));
  const Layer& layer = source.layers[choice.layer];
  const std::string where = where_of(source, layer);
  if (!layer.has_qk())
    throw InputError(
        where, "an attention matrix without q and k; expected them, to compute attention from");
  check_index("head", choice.head, layer.heads());
  if (!layer.k.present() || layer.heads() % layer.k.heads != 0 ||
      (layer.has_values() && layer.v.heads != layer.k.heads))
    throw InputError(where, std::to_string(layer.heads()) + " query heads, " +
                                std::to_string(layer.k.heads) + " key heads and " +
                                std::to_string(layer.v.heads) +
                                " value heads; expected as many key as value heads, and a number "
                                "that divides the query heads");
  if (const std::string fault = fault_of(choice.conditions); !fault.empty())
    throw UsageError(fault);
  require_memory(
      float_bytes(layer.queries(), layer.d()) + float_bytes(layer.keys(), layer.d() + layer.dv()),
      where + ": Q, K and V of a head, " + layer.lengths().text());
  const Index group = choice.head / (layer.heads() / layer.k.heads);
  Matrix q = layer.q.read(choice.head, stop), k = layer.k.read(group, stop),
         v = layer.has_values() ? layer.v.read(group, stop) : Matrix(layer.keys(), 0);
  if (choice.allow_non_finite)
    for (Matrix* m : {&q, &k, &v}) replace_unusable_numbers(*m, stop);
  if (layer.conditions.recurrence.before_the_norm)
    for (Matrix* m : {&q, &k}) normalise_rows(*m);
  const HeadConditions conditions =
      choice.conditions.or_else(stated_conditions(source, choice.layer));
  if (!source.order.empty() &&
      (conditions.causal.value_or(false) || conditions.window.value_or(0) > 0))
    throw InputError(where,
                     "its tokens are in another order, along which a causal mask and a window mean "
                     "nothing; expected neither, or the order of the file");
  Problem problem =
      make_problem(std::move(q), std::move(k), std::move(v), conditions.scale.value_or(0),
                   conditions.causal.value_or(false), choice.head);
  problem.window = conditions.window.value_or(0);
  problem.reordered = !source.order.empty();
  add_conditions(problem, layer.conditions, conditions.soft_cap.value_or(0), where, stop);
  if (!layer.imported.empty())
    problem.imported =
        std::make_shared<const ImportedResults>(ImportedResults{.all = layer.imported,
                                                                .head = choice.head,
                                                                .heads = layer.heads(),
                                                                .k = layer.k,
                                                                .v = layer.v});
  if (!choice.allow_non_finite) require_usable_numbers(problem, where, stop);
  require_usable_scale(problem, where, stop);
  return problem;
}

}  // namespace fovea
