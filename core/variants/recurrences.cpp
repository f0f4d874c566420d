// What has a state in place of a softmax: the delta rule with gates (Gated DeltaNet, KDA), the same
// without its erase term (Mamba-2 SSD, gated linear attention), and log-linear attention. The gates
// are those that are given, or else those of the head, or else the same for all tokens.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "analysis/gate_figures.h"
#include "data/number_text.h"
#include "data/text.h"
#include "variants/variant.h"

namespace fovea {
namespace {

struct Gates {
  double beta = 1;
  Index half_life = 1024;
};

template <class P>
std::vector<TypedField<P>> gate_fields() {
  return {real_field<P>("beta", "Write strength β", "", &P::beta, 0, 2, Axis::linear,
                        "How much of its value a token writes into the state. Heads that are a "
                        "recurrence have their own for each token."),
          size_field<P>("half_life", "Half-life", "tokens", &P::half_life, 1, 1 << 20,
                        "After how many tokens the state has decayed to one half. Heads that are a "
                        "recurrence have their own decay.",
                        [](Index n) { return short_size(n, 1024); })};
}

enum class Vectors { unit, given };

struct DeltaParameters : Gates {
  Vectors vectors = Vectors::unit;

  static std::vector<TypedField<DeltaParameters>> fields() {
    auto fields = gate_fields<DeltaParameters>();
    fields.push_back(choice_field(
        "vectors", "Queries, keys", &DeltaParameters::vectors, {"unit", "as_given"},
        "unit: both are divided by their lengths, without which the state may grow. Those of heads "
        "that erase are taken as given."));
    return fields;
  }
};

struct SsdParameters : Gates {
  static std::vector<TypedField<SsdParameters>> fields() { return gate_fields<SsdParameters>(); }
};

struct LoglinearParameters : Gates {
  double fall = 1;

  static std::vector<TypedField<LoglinearParameters>> fields() {
    auto fields = gate_fields<LoglinearParameters>();
    fields.push_back(real_field<LoglinearParameters>(
        "fall", "Fall of levels", "", &LoglinearParameters::fall, 0, 8, Axis::linear,
        "A pair of level l has the weight (1 + l)^-fall; 0: all levels alike. Heads with level "
        "weights have their own."));
    return fields;
  }
};

/// Collects the gates of a plan, and notes where they are from.
class GateSources {
 public:
  GateSources(const Problem& problem, Planning& planning)
      : n_(problem.n()), head_(problem.recurrence.get()), planning_(planning) {}

  /// Without level weights.
  Recurrence recurrence(bool erases, const Gates& otherwise) {
    Recurrence out{.erases = erases, .beta = beta(otherwise.beta)};
    out.log_decay = log_decay(otherwise.half_life);
    return out;
  }
  Matrix level_weights(double fall) {
    if (const StructureTensor* given = planning_.given.find("level_weights"))
      return from(given_, "level_weights", matrix_of(*given));
    if (head_ && !head_->level_weights.empty()) return of_head(head_->level_weights);
    add_item(chosen_, "level weights (1 + l)^−" + format_number(fall));
    Matrix weights(n_, fenwick_levels(n_));
    for (Index i = 0; i < n_; ++i)
      for (Index l = 0; l < weights.cols(); ++l)
        weights(i, l) = static_cast<float>(std::pow(1 + static_cast<double>(l), -fall));
    return weights;
  }
  /// Notes what the gates are, and what of the head the planned recurrence leaves out.
  void tell(Plan& plan, const Recurrence& planned) const {
    if (of_head_) plan.notes.push_back("with the gates of the head");
    if (!given_.empty()) plan.notes.push_back("given: " + given_);
    if (!chosen_.empty()) plan.notes.push_back("the same for all tokens: " + chosen_);
    if (head_ && head_->erases && !planned.erases)
      plan.notes.push_back(
          "without the delta rule of the head: the error shows what that rule erases");
    if (head_ && !head_->level_weights.empty() && planned.level_weights.empty())
      plan.notes.push_back("without the level weights of the head");
  }

 private:
  std::vector<float> beta(double otherwise) {
    const std::vector<float>& given = planning_.reals("beta", {"n"});
    if (!given.empty()) return from(given_, "beta", given);
    if (head_) {
      of_head_ = true;
      return head_->beta;
    }
    add_item(chosen_, "β = " + format_number(otherwise));
    return std::vector(static_cast<std::size_t>(n_), static_cast<float>(otherwise));
  }
  Matrix log_decay(Index half_life) {
    if (const StructureTensor* given = planning_.given.find("log_decay"))
      return from(given_, "log_decay", matrix_of(*given));
    if (head_) return of_head(head_->log_decay);
    add_item(chosen_, "a half-life of " + plural(half_life, "token"));
    return Matrix(n_, 1, static_cast<float>(-std::numbers::ln2 / static_cast<double>(half_life)));
  }
  Matrix of_head(const Matrix& gates) {
    of_head_ = true;
    return Matrix::copy_of(gates);
  }
  template <class Values>
  Values from(std::string& source, const char* name, Values values) const {
    add_item(source, name);
    return values;
  }
  Matrix matrix_of(const StructureTensor& tensor) const {
    const auto& values = std::get<std::vector<float>>(tensor.values);
    Matrix m(n_, std::ssize(values) / n_);
    std::ranges::copy(values, m.data());
    return m;
  }

  Index n_;
  const Recurrence* head_;
  Planning& planning_;
  bool of_head_ = false;  // some are the head's own
  std::string given_, chosen_;
};

void set_matrix(Structure& structure, const char* name, const Matrix& m, bool as_list = false) {
  if (m.empty()) return;
  std::vector<Index> shape{m.rows(), m.cols()};
  if (as_list) shape.pop_back();
  structure.set({name, std::move(shape), std::vector(m.data(), m.data() + m.rows() * m.cols())});
}

Plan plan_of(const Problem& problem, Recurrence recurrence, const GateSources& sources,
             bool unit_vectors) {
  check_recurrence(recurrence, problem.n(), problem.d(), "gates");
  Plan plan{.lengths = problem.lengths(), .causal = true, .form = {}};
  if (!recurrence.beta.empty()) plan.structure.set("beta", recurrence.beta);
  const bool of_all_channels = recurrence.log_decay.cols() == 1;
  set_matrix(plan.structure, "log_decay", recurrence.log_decay, of_all_channels);
  set_matrix(plan.structure, "level_weights", recurrence.level_weights);
  sources.tell(plan, recurrence);
  plan.form = RecurrentPlan{.recurrence = std::make_shared<const Recurrence>(std::move(recurrence)),
                            .unit_vectors = unit_vectors};
  return plan;
}

Plan plan_delta(const Problem& problem, const DeltaParameters& p, Planning& planning) {
  GateSources sources(problem, planning);
  // A head that has a delta rule itself has keys of the length that it needs.
  const bool has_own_delta_rule = problem.recurrence && problem.recurrence->erases;
  return plan_of(problem, sources.recurrence(true, p), sources,
                 !has_own_delta_rule && p.vectors == Vectors::unit);
}

Plan plan_ssd(const Problem& problem, const SsdParameters& p, Planning& planning) {
  GateSources sources(problem, planning);
  return plan_of(problem, sources.recurrence(false, p), sources, false);
}

Plan plan_loglinear(const Problem& problem, const LoglinearParameters& p, Planning& planning) {
  GateSources sources(problem, planning);
  Recurrence recurrence = sources.recurrence(false, p);
  recurrence.level_weights = sources.level_weights(p.fall);
  return plan_of(problem, std::move(recurrence), sources, false);
}

TensorField beta_tensor() {
  return {.name = "beta",
          .element = Element::real,
          .shapes = {{"n"}},
          .meaning = "The write strength of each token."};
}
TensorField decay_tensor() {
  return {.name = "log_decay",
          .element = Element::real,
          .shapes = {{"n"}, {"n", "d"}},
          .meaning =
              "The logarithm, at most 0, of what each token leaves of the state: of all its "
              "channels, or of each."};
}
TensorField level_tensor() {
  return {.name = "level_weights",
          .element = Element::real,
          .shapes = {{"n", "levels"}},
          .meaning = "The weight of each Fenwick level for each query: levels = ⌈log₂ n⌉ + 1."};
}

/// The fields that all three variants share.
Variant recurrence(Variant row) {
  row.mask = Mask::causal_only;
  row.conditions = Conditions::none;
  row.why_not_all = "its state takes up every token, whoever may attend it";
  row.group = Group::recurrences;
  row.quick = true;
  row.rows_sum_to_one = false;
  row.signed_entries = true;
  row.has_recurrent_form = true;
  row.diagnostics = {gate_figures};
  return row;
}

}  // namespace

Variant delta_variant() {
  return make_variant<DeltaParameters>(
      recurrence(
          {.id = "delta",
           .label = "Gated delta rule",
           .paper = "Yang et al. 2025 (Gated DeltaNet); Kimi Team 2025 (Kimi Delta Attention)",
           .formula = "Pᵢⱼ = βⱼ r·kⱼ,  r = s·qᵢ at j = i,  r ← Aⱼ (r − βⱼ (r·kⱼ) kⱼ)",
           .summary = "A state that decays, and erases what it holds under a key before it "
                      "takes up the key's value.",
           .structure = {beta_tensor(), decay_tensor()}}),
      plan_delta);
}

Variant ssd_variant() {
  return make_variant<SsdParameters>(
      recurrence({.id = "ssd",
                  .label = "SSD",
                  .paper = "Dao and Gu 2024 (Mamba-2, state-space duality); Yang et al. 2024 "
                           "(gated linear attention)",
                  .formula = "Pᵢⱼ = βⱼ exp(Gᵢ − Gⱼ) s·qᵢ·kⱼ,  G = Σ log decay",
                  .summary = "A state that decays and takes up the value of each key.",
                  .structure = {beta_tensor(), decay_tensor()}}),
      plan_ssd);
}

Variant loglinear_variant() {
  return make_variant<LoglinearParameters>(
      recurrence({.id = "loglinear",
                  .label = "Log-linear",
                  .paper = "Guo et al. 2025 (Log-Linear Attention)",
                  .formula = "Pᵢⱼ = λᵢ(l) βⱼ exp(Gᵢ − Gⱼ) s·qᵢ·kⱼ,  l: the Fenwick level",
                  .summary = "A decaying state for each of about log₂ n stretches of the past, "
                             "weighted by the query.",
                  .structure = {beta_tensor(), decay_tensor(), level_tensor()}}),
      plan_loglinear);
}

}  // namespace fovea
