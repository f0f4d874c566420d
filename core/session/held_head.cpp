#include "session/held_head.h"

#include "data/error.h"

namespace fovea {

HeadChoice choice_of(const Session& session) {
  return {.layer = session.layer, .head = session.head, .conditions = session.conditions};
}

bool is_causal(const Session& session, const Source& source) {
  return session.conditions.causal.value_or(stated_causal(source, session.layer).value_or(false));
}

bool is_opened(const HeldHead& held, const Session& session) {
  return held.source.empty() && held.layer == session.layer && held.head == session.head;
}

HeadChoice choice_of(const HeldHead& held, const Session& session) {
  const bool own = held.source.empty();
  return {.layer = held.layer,
          .head = held.head,
          .conditions = own ? session.conditions : held.conditions};
}

void require_tokens(const Problem& problem, const Source& source, const HeldHead& held,
                    Lengths lengths) {
  if (problem.lengths() == lengths) return;
  throw InputError(source.path, layer_label(source, held.layer) + " has " +
                                    problem.lengths().text() + "; expected " + lengths.text() +
                                    ", as the opened head has");
}

std::string label_of(const HeldHead& held, const Source* its) {
  const bool known = its && held.layer < std::ssize(its->layers);
  const std::string layer =
      known ? layer_label(*its, held.layer) : "layer " + std::to_string(held.layer);
  const std::string head = layer + ", head " + std::to_string(held.head);
  if (held.source.empty()) return head;
  return head + " of " + (its ? its->name : held.source);
}

}  // namespace fovea
