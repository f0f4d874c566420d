#include "effect/inputs_meter.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include "data/error.h"
#include "data/number_text.h"
#include "input/input_folder.h"
#include "input/last_model.h"
#include "input/model_place.h"

namespace fovea {
namespace {

/// Meters that stay open: each of an encoder of Fovea holds the hidden states of all layers.
constexpr std::size_t most_open = 16;

class InputsMeter : public EffectMeter {
 public:
  /// One of the files, whose meter is open already.
  struct Opened {
    std::size_t number = 0;
    std::unique_ptr<EffectMeter> meter;
  };

  InputsMeter(ModelAddress address, InputFolder folder, OpenOptions options,
              std::shared_ptr<LastModel> own_model, Opened first)
      : EffectMeter(first.meter->layers(), first.meter->heads()),
        address_(std::move(address)),
        folder_(std::move(folder)),
        options_(std::move(options)),
        own_model_(std::move(own_model)) {
    open_.emplace(first.number, std::move(first.meter));
  }

  ModelEffect measure(std::span<const ReplacedPart> parts, Run& run) override {
    std::vector<InputEffect> effects;
    std::exception_ptr first_error;
    bool any = false;
    for (std::size_t i = 0; i < folder_.files.size(); ++i) {
      run.check();
      InputEffect& one = effects.emplace_back();
      one.input = folder_.files[i];
      try {
        with_meter(i, run, [&](EffectMeter& meter) {
          one.effect = std::make_shared<const ModelEffect>(meter.measure_numbers(parts, run));
        });
      } catch (const Cancelled&) {
        throw;
      } catch (const DeviceLostError&) {  // it would fail for all
        throw;
      } catch (const Error& error) {
        one.failure = error.what();
        if (!first_error) first_error = std::current_exception();
      }
      any |= one.effect != nullptr;
    }
    if (!any) std::rethrow_exception(first_error);
    ModelEffect out = effect_over(parts, std::move(effects));
    out.model = title_of(address_, find_model(address_.folder).name);
    out.notes.insert(out.notes.end(), folder_.notes.begin(), folder_.notes.end());
    return out;
  }

  void time(std::span<const ReplacedPart> parts, Run& run, EffectTimes& times) override {
    // Only models that stayed open since measure() are timed: the first pass of others is slow.
    std::vector<EffectMeter*> open;
    for (const auto& [number, meter] : open_) open.push_back(meter.get());
    std::exception_ptr error;
    for (std::size_t tried = 0; tried < open.size(); ++tried) {
      const std::size_t turn = static_cast<std::size_t>(times.rounds()) + tried;
      try {
        return open[turn % open.size()]->time(parts, run, times);
      } catch (const Cancelled&) {
        throw;
      } catch (const DeviceLostError&) {
        throw;
      } catch (const Error&) {  // these parts do not fit this input; perhaps they fit the next
        error = std::current_exception();
      }
    }
    std::rethrow_exception(error);
  }

  Index inputs() const override { return std::ssize(folder_.files); }

 private:
  /// Opens the meter of an input if it is not open.
  void with_meter(std::size_t number, Run& run, const std::function<void(EffectMeter&)>& use) {
    if (const auto known = open_.find(number); known != open_.end()) return use(*known->second);
    OpenOptions options = options_;
    options.stop = run.stop;
    ModelAddress its = address_;
    its.input = folder_.files[number];
    auto meter = effect_meter(to_text(its), options);
    use(*meter);
    if (open_.size() < most_open) open_.emplace(number, std::move(meter));
  }

  ModelAddress address_;
  InputFolder folder_;
  OpenOptions options_;
  std::shared_ptr<LastModel> own_model_;  // what `options_` points to, if the caller keeps none
  std::map<std::size_t, std::unique_ptr<EffectMeter>> open_;  // by the number of the file
};

/// What the inputs say, and which of them have failed.
std::vector<std::string> notes_of(const std::vector<InputEffect>& inputs) {
  std::vector<std::vector<std::string>> of_inputs;
  for (const InputEffect& input : inputs)
    if (input.effect) of_inputs.push_back(input.effect->notes);
  std::vector<std::string> notes = notes_over(of_inputs);
  for (const InputEffect& input : inputs)
    if (!input.effect)
      notes.push_back(std::filesystem::path(input.input).filename().string() +
                      " is left out: " + input.failure);
  return notes;
}

/// The parameters that not all of these values share.
std::vector<std::string> differing_in(const Variant& variant, const std::vector<Values>& all) {
  std::vector<std::string> out;
  for (std::size_t f = 0; f < variant.schema.size(); ++f)
    if (std::ranges::any_of(all, [&](const Values& one) { return one[f] != all.front()[f]; }))
      out.push_back(variant.schema[f].id);
  return out;
}

MeasuredPart part_over(const std::vector<const ModelEffect*>& measured, std::size_t number,
                       const Variant& variant) {
  const auto count = static_cast<double>(measured.size());
  MeasuredPart out = measured.front()->parts[number];
  out.cost = out.multiply_adds = out.exact_multiply_adds = 0;
  std::vector<Values> all;
  for (const ModelEffect* one : measured) {
    const MeasuredPart& part = one->parts[number];
    out.cost += part.cost / count;
    out.multiply_adds += part.multiply_adds / count;
    out.exact_multiply_adds += part.exact_multiply_adds / count;
    all.push_back(part.values);
  }
  out.differing = differing_in(variant, all);
  return out;
}

Drift drift_over(const ModelEffect& all, std::size_t layer) {
  const auto mean = [&](double Drift::*which) {
    return over_inputs(
               all, [&](const ModelEffect& one) { return std::optional(one.drift[layer].*which); })
        .mean;
  };
  Drift out{.relative = mean(&Drift::relative),
            .cosine = mean(&Drift::cosine),
            .least_cosine = mean(&Drift::least_cosine)};
  for (const InputEffect& input : all.inputs)
    if (input.effect) out.rows_not_finite += input.effect->drift[layer].rows_not_finite;
  return out;
}

}  // namespace

ModelEffect effect_over(std::span<const ReplacedPart> parts, std::vector<InputEffect> inputs) {
  std::vector<const ModelEffect*> measured;
  for (const InputEffect& input : inputs)
    if (input.effect) measured.push_back(input.effect.get());
  const ModelEffect& first = *measured.front();
  ModelEffect out;
  out.model = first.model;
  out.computed_by = first.computed_by;
  out.heads_of_model = first.heads_of_model;
  out.predicts = first.predicts;
  out.notes = notes_of(inputs);
  out.inputs = std::move(inputs);
  for (const ModelEffect* one : measured) out.tokens += one->tokens;
  for (std::size_t i = 0; i < parts.size(); ++i)
    out.parts.push_back(part_over(measured, i, *parts[i].variant));
  for (const EffectNumber& number : effect_numbers())
    if (const MeanOverInputs all =
            over_inputs(out, [&](const ModelEffect& one) { return one.*number.of; });
        all.inputs > 0)
      out.*number.of = all.mean;
  for (std::size_t layer = 0; layer < first.drift.size(); ++layer)
    out.drift.push_back(drift_over(out, layer));
  return out;
}

std::unique_ptr<EffectMeter> inputs_meter(const ModelAddress& address, const OpenOptions& options) {
  InputFolder folder = files_in_folder(*address.input);
  auto own_model = options.last_model ? nullptr : std::make_shared<LastModel>();
  OpenOptions kept = options;
  kept.reached = {};
  if (own_model) kept.last_model = own_model.get();
  std::exception_ptr first_error;
  for (std::size_t i = 0; i < folder.files.size(); ++i) {
    ModelAddress its = address;
    its.input = folder.files[i];
    try {
      InputsMeter::Opened first{i, effect_meter(to_text(its), kept)};
      return std::make_unique<InputsMeter>(address, std::move(folder), std::move(kept),
                                           std::move(own_model), std::move(first));
    } catch (const Cancelled&) {
      throw;
    } catch (const DeviceLostError&) {
      throw;
    } catch (const Error&) {
      if (!first_error) first_error = std::current_exception();
    }
  }
  std::rethrow_exception(first_error);
}

}  // namespace fovea
