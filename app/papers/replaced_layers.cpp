// A model's perplexity when HyperAttention replaces attention in more and more of its last layers
// (HyperAttention, Figure 3).
#include <cmath>

#include "effect/effect_panels.h"
#include "effect/layer_curve.h"
#include "papers/paper_figure.h"
#include "session/settings.h"

namespace fovea {
namespace {

constexpr double published_exact = 5.6, published_replaced = 6.3;  // abstract
constexpr const char* apart =
    "the paper's is ChatGLM2-6B on 32768 tokens; its abstract does not say how many layers";

void add_perplexities(PaperResult& result, const std::vector<LayerPoint>& points) {
  const ModelEffect& any = points.front().effect;
  result.numbers.push_back({"perplexity_exact", "Perplexity with exact attention", published_exact,
                            any.exact_perplexity.value_or(NAN), apart});
  for (const LayerPoint& point : points) {
    const Index layers = points.back().replaced;
    const bool half = point.replaced == (layers + 1) / 2;
    result.numbers.push_back({"perplexity_" + std::to_string(point.replaced),
                              "Perplexity with the last " + std::to_string(point.replaced) +
                                  " of " + plural(layers, "layer") + " replaced",
                              half ? std::optional(published_replaced) : std::nullopt,
                              point.effect.perplexity.value_or(NAN), half ? apart : ""});
  }
}

void add_changes(PaperResult& result, const std::vector<LayerPoint>& points) {
  for (const LayerPoint& point : points)
    result.numbers.push_back({"change_" + std::to_string(point.replaced),
                              "Relative change of the last hidden states, the last " +
                                  plural(point.replaced, "layer") + " replaced",
                              {},
                              point.effect.change()});
}

PaperResult replaced_layers(const PaperTask& task, Run& run) {
  const auto meter = effect_meter(
      task.model,
      {.backend = task.backend.id() == "cpu" ? &task.backend : nullptr, .stop = run.stop});
  const Variant& hyper = find_variant("hyper");
  constexpr Index points = 6;  // so that one is half of an even number of layers
  LayerCurve curve({.variant = &hyper, .settings = {}, .seed = 0, .heads = "all"}, meter->layers(),
                   points);
  while (!curve.complete()) {
    const double done = curve.found().size(), all = curve.count();
    Run part = run.part(done / all, (done + 1) / all);
    curve.step(*meter, part);
  }
  PaperResult result;
  const std::vector<LayerPoint>& found = curve.found();
  const ModelEffect& all = found.back().effect;
  if (all.predicts)
    add_perplexities(result, found);
  else
    add_changes(result, found);
  result.notes = {
      all.model + ", " + plural(all.tokens, "token") + ", computed by " + all.computed_by +
          "; HyperAttention with " + setting_text(hyper, all.parts.front().values, all.tokens) +
          ", in all heads of the replaced layers. Each layer's queries and keys are those of the "
          "changed model.",
      all.predicts
          ? "The paper replaces the last layers of ChatGLM2-6B and phi-1.5 on the long texts of "
            "LongBench, with b = m = 256; --model, --input and --max-tokens choose others here."
          : "An encoder predicts no next token, so that the change of its last hidden states "
            "stands "
            "in place of a perplexity. --model PATH --input FILE measures a language model, as the "
            "paper does."};
  result.rows = {{layer_curve_panel(found, hyper.label)}};
  return result;
}

}  // namespace

PaperFigure replaced_layer_figure() {
  return {.id = "replaced-layers",
          .paper = "HyperAttention (Han et al. 2023), Figure 3",
          .title = "Replaced layers",
          .sentence = "A model whose last layers compute HyperAttention, more and more of them",
          .reads_model = true,
          .make = replaced_layers};
}

}  // namespace fovea
