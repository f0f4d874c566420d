#include "io/fit_file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "data/error.h"
#include "data/shape.h"
#include "data/stop.h"
#include "io/json.h"
#include "io/structure_file.h"
#include "io/tensor_file.h"

namespace fovea {
namespace {

using StateArray = std::vector<float> TrainerState::*;
constexpr std::pair<const char*, StateArray> arrays[] = {
    {"fit_parameters", &TrainerState::parameters},
    {"fit_first", &TrainerState::first},
    {"fit_second", &TrainerState::second},
    {"fit_best", &TrainerState::best}};

/// JSON has no NaN, which the held-out error is if no row is held out.
Json number(double value) {
  return std::isnan(value) ? Json(nullptr) : Json(value);
}
double number_of(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}
/// Before the first step there is no gradient; earlier versions did not write its norm.
Json number(std::optional<double> value) {
  return value ? Json(*value) : Json(nullptr);
}
std::optional<double> optional_of(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional(json.get<double>());
}

Json state_json(const TrainerState& state) {
  Json curve = Json::array();
  for (const CurvePoint& p : state.curve)
    curve.push_back({p.step, number(p.loss), number(p.error), number(p.held_out_error),
                     number(p.chi), number(p.effective_leaves), number(p.gradient_norm)});
  return {{"step", state.step},
          {"adam_steps", state.adam_steps},
          {"best_step", state.best_step},
          {"height", state.height},
          {"diverged", state.diverged},
          {"loss", number(state.loss)},
          {"gradient_norm", number(state.gradient_norm)},
          {"multiplier", number(state.multiplier)},
          {"parameters", state.parameters.size()},
          {"curve", std::move(curve)}};
}

/// Reads the state without the values of its arrays, which only get their lengths.
TrainerState state_of(const Json& json, std::size_t longest) {
  TrainerState state{.step = json.at("step").get<Index>(),
                     .adam_steps = json.at("adam_steps").get<Index>(),
                     .best_step = json.at("best_step").get<Index>(),
                     .height = json.at("height").get<int>(),
                     .diverged = json.at("diverged").get<bool>(),
                     .loss = number_of(json.at("loss")),
                     .multiplier = number_of(json.at("multiplier")),
                     .gradient_norm = optional_of(json.value("gradient_norm", Json(nullptr)))};
  const auto count = std::min(json.at("parameters").get<std::size_t>(), longest);
  state.parameters.resize(count);
  state.first.resize(count);
  state.second.resize(count);
  state.best.resize(longest);
  for (const Json& p : json.at("curve"))
    state.curve.push_back({.step = p.at(0).get<Index>(),
                           .loss = number_of(p.at(1)),
                           .gradient_norm = p.size() > 6 ? optional_of(p.at(6)) : std::nullopt,
                           .error = number_of(p.at(2)),
                           .held_out_error = number_of(p.at(3)),
                           .chi = number_of(p.at(4)),
                           .effective_leaves = number_of(p.at(5))});
  if (state.step < 0 || state.adam_steps < 0 || state.curve.empty() ||
      !std::isfinite(state.multiplier))
    throw InputError("", "steps, curve or multiplier are not those of a trainer");
  return state;
}

OutTensor array_tensor(const std::vector<TrainerState>& states, const char* name,
                       StateArray member) {
  std::size_t longest = 0;
  for (const TrainerState& state : states) longest = std::max(longest, state.best.size());
  std::vector<float> values;
  for (const TrainerState& state : states) {
    values.insert(values.end(), (state.*member).begin(), (state.*member).end());
    values.resize(values.size() + longest - (state.*member).size());
  }
  return {
      name, {static_cast<Index>(states.size()), static_cast<Index>(longest)}, std::move(values)};
}

const NamedTensor& require_array(const TensorFile& file, const char* name, Index heads) {
  const auto found = std::ranges::find(file.tensors, name, &NamedTensor::name);
  if (found == file.tensors.end())
    throw InputError(file.path, "'" + std::string(name) +
                                    "' is missing; expected a file that "
                                    "fovea fit has written");
  if (found->dtype != "F32" || found->shape.size() != 2 || found->shape[0] != heads ||
      found->shape[1] < 1)
    throw InputError(file.path, "'" + std::string(name) + "' is " + found->dtype + " " +
                                    shape_text(found->shape) + "; expected F32 [" +
                                    std::to_string(heads) + ",P]");
  return *found;
}

void read_array(const TensorFile& file, const char* name, StateArray member,
                std::vector<TrainerState>& states, const std::stop_token& stop) {
  const auto heads = static_cast<Index>(states.size());
  const NamedTensor& tensor = require_array(file, name, heads);
  const Index count = tensor.shape[1], element = sizeof(float);
  const HeadTensor view{.bytes = tensor.bytes,
                        .begin = tensor.begin,
                        .heads = heads,
                        .rows = 1,
                        .cols = count,
                        .head_stride = count * element,
                        .row_stride = count * element,
                        .col_stride = element};
  for (Index h = 0; h < heads; ++h) {
    const Matrix values = view.read(h, stop);
    std::vector<float>& to = states[h].*member;
    if (static_cast<Index>(to.size()) > count ||
        !std::all_of(values.data(), values.data() + count,
                     [](float x) { return std::isfinite(x); }))
      throw InputError(file.path, "'" + std::string(name) + "' of head " + std::to_string(h) +
                                      " is too short or holds NaN or Inf");
    std::copy_n(values.data(), to.size(), to.begin());
  }
}

}  // namespace

void write_fit(const std::string& path, const FitFile& fit, std::stop_token stop) {
  std::vector<OutTensor> tensors = structure_tensors(fit.trees);
  for (const auto& [name, member] : arrays)
    tensors.push_back(array_tensor(fit.states, name, member));
  Json json{{"about", Json::array()}, {"heads", Json::array()}};
  for (const auto& [name, text] : fit.about) json["about"].push_back({name, text});
  for (const TrainerState& state : fit.states) json["heads"].push_back(state_json(state));
  write_safetensors(path, tensors,
                    {{"fit", json.dump(-1, ' ', false, Json::error_handler_t::replace)}}, stop);
}

FitFile read_fit(const std::string& path, const std::stop_token& stop) {
  const TensorFile file = read_safetensors(path, stop);
  const auto text = file.metadata.find("fit");
  if (text == file.metadata.end())
    throw InputError(path, "has no metadata 'fit'; expected a file that fovea fit has written");
  FitFile out;
  const Json json = parse_json(path + ": metadata 'fit'", text->second, stop);
  try {
    for (const Json& fact : json.at("about"))
      out.about.emplace_back(fact.at(0).get<std::string>(), fact.at(1).get<std::string>());
    const Json& heads = json.at("heads");
    const NamedTensor& best = require_array(file, "fit_best", heads.size());
    for (const Json& head : heads) {
      check_stop(stop);
      out.states.push_back(state_of(head, best.shape[1]));
    }
  } catch (const Json::exception& error) {
    throw InputError(path, std::string("metadata 'fit' is damaged: ") + error.what());
  } catch (const InputError& error) {
    if (std::string(error.what()).starts_with(path)) throw;
    throw InputError(path, std::string("metadata 'fit' is damaged: ") + error.what());
  }
  for (const auto& [name, member] : arrays) read_array(file, name, member, out.states, stop);
  return out;
}

void check_about(const std::string& path, const FitFile& fit,
                 const std::vector<std::pair<std::string, std::string>>& expected) {
  for (const auto& [name, text] : expected) {
    const auto found =
        std::ranges::find(fit.about, name, &std::pair<std::string, std::string>::first);
    if (found == fit.about.end() || found->second != text)
      throw InputError(path, "was fitted with " + name + " " +
                                 (found == fit.about.end() ? "unknown" : found->second) +
                                 "; expected " + text);
  }
}

}  // namespace fovea
