#include "window/docks/source_facts.h"

#include "input/open_source.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

QString shape_text(const char* name, const HeadTensor& t) {
  return QString("%1 [%2, %3, %4] %5")
      .arg(name)
      .arg(t.heads)
      .arg(t.rows)
      .arg(t.cols)
      .arg(to_qt(to_text(t.type)).toUpper());
}

/// "341 tokens"; of other queries than keys both.
QStringList tokens_of(const Source& source, Index layer) {
  QStringList lines;
  const auto add = [&](const Sequence& sequence, const char* noun) {
    if (!sequence.tokens.empty()) lines << to_qt(plural(std::ssize(sequence.tokens), noun));
  };
  const Layer& its = source.layers[layer];
  const bool same = its.queries() == its.tokens();
  add(sequence_of(source, layer), same ? "token" : "query token");
  if (!same) add(key_sequence_of(source, layer), "key token");
  return lines;
}

}  // namespace

QString facts_of(const Source& source, Index opened) {
  const Layer& layer = source.layers[opened];
  QStringList lines;
  lines << to_qt(source.kind) +
               (source.layers.size() > 1 ? QString(", %1 layers").arg(source.layers.size()) : "");
  const bool alike = layer.k.heads == layer.q.heads && layer.lengths().equal() &&
                     (!layer.has_values() || layer.v.cols == layer.q.cols);
  if (!layer.has_qk())
    lines << shape_text("attention", layer.attention);
  else if (alike)
    lines << shape_text(layer.has_values() ? "q k v" : "q k", layer.q);
  else
    lines << shape_text("q", layer.q) << shape_text("k", layer.k);
  if (layer.has_values() && !alike) lines << shape_text("v", layer.v);
  if (const auto& grid = source.sequence.grid)
    lines << QString("image grid %1 × %2").arg(grid->rows).arg(grid->cols);
  else
    lines += tokens_of(source, opened);
  if (!source.order.empty()) lines << to_qt(source.order);
  if (!source.layout.empty()) lines << "layout " + to_qt(source.layout);
  return lines.join("\n");
}

QString conditions_of(const Source& source, const Session& session, const Problem& problem) {
  QString statement = to_qt(statement_text(source));
  if (source.kind == "text" || source.kind == "image")
    if (!source.content.empty()) statement += " for this " + to_qt(source.kind);
  const auto known = [&](bool by_hand, bool stated) {
    return by_hand ? QString("set by hand") : stated ? statement : "not stated";
  };
  const Layer& layer = source.layers[session.layer];
  QStringList lines;
  const bool mask = stated_causal(source, session.layer).has_value(),
             scale = stated_scale(source, session.layer).has_value();
  const bool by_hand = session.conditions.causal.has_value();
  if (problem.is_causal() || by_hand || mask || mask_is_assumed(source, session.layer))
    lines << QString("mask %1: %2")
                 .arg(problem.is_causal() ? "causal" : "none (bidirectional)",
                      known(by_hand, mask || !mask_is_assumed(source, session.layer)));
  else
    lines << "mask: none (bidirectional)";
  lines << QString("scale %1: %2%3")
               .arg(number_text(problem.scale), session.conditions.scale || scale ? "" : "1/√d, ",
                    known(session.conditions.scale.has_value(), scale));
  const Index window = *fovea::conditions_of(problem).window;
  if (window > 0 || session.conditions.window)
    lines << QString("sliding window %1: %2")
                 .arg(window > 0 ? to_qt(plural(window, "key")) : "none",
                      known(session.conditions.window.has_value(),
                            layer.conditions.window.has_value()));
  const double cap = problem.rule ? problem.rule->soft_cap : 0;
  if (cap > 0 || session.conditions.soft_cap)
    lines << QString("soft cap %1: %2")
                 .arg(cap > 0 ? number_text(cap) : "none",
                      known(session.conditions.soft_cap.has_value(),
                            layer.conditions.soft_cap.has_value()));
  LayerConditions others = layer.conditions;
  others.window.reset();
  others.soft_cap.reset();
  if (const std::string text = others.text(); !text.empty())
    lines << to_qt(text) + ": " + statement;
  if (layer.k.heads != layer.q.heads)
    lines << QString("%1 for %2")
                 .arg(to_qt(plural(layer.k.heads, "key/value head")),
                      to_qt(plural(layer.q.heads, "query head")));
  return lines.join("\n");
}

QString facts_in_short(const Source& source, Index opened, bool causal) {
  const Layer& layer = source.layers[opened];
  QStringList words = tokens_of(source, opened);
  if (words.isEmpty()) words << to_qt(plural(layer.queries(), "token"));
  if (const auto& compressed = layer.conditions.compressed)
    words << to_qt(compressed->count_text());
  words << (causal ? "causal" : "no mask");
  return words.join(", ");
}

}  // namespace fovea
