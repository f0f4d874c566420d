#include "data/layer_recurrence.h"

#include "data/error.h"

namespace fovea {
namespace {

void require_plain(const Problem& problem, const std::string& name, const std::string& where) {
  const auto refuse = [&](const std::string& found) {
    throw InputError(where, "head " + std::to_string(problem.head) + " is a recurrence (" + name +
                                ")" + found +
                                "; expected a causal mask and no condition beside its scale");
  };
  if (!problem.causal) refuse(" without a causal mask");
  if (!problem.lengths().equal()) refuse(" with " + problem.lengths().text());
  if (const std::string others = conditions_text(problem); !others.empty())
    refuse(" with" + others.substr(others.find(' ')));
}

}  // namespace

std::shared_ptr<const Recurrence> recurrence_of(const RecurrenceTensors& tensors,
                                                const Problem& problem, const std::string& where,
                                                const std::stop_token& stop) {
  Recurrence out{.erases = tensors.has_delta_rule()};
  const auto read = [&](const HeadTensor& tensor) {
    return tensor.present() ? tensor.read(problem.head, stop) : Matrix();
  };
  const Matrix beta = read(tensors.beta);
  out.beta.assign(beta.data(), beta.data() + beta.rows());
  out.log_decay = read(tensors.log_decay);
  out.level_weights = read(tensors.level_weights);
  require_plain(problem, out.name(), where);
  check_recurrence(out, problem.n(), problem.d(), where + ", head " + std::to_string(problem.head));
  return std::make_shared<const Recurrence>(std::move(out));
}

}  // namespace fovea
