#include "cli/fit_validation.h"

#include "data/error.h"
#include "data/utf8.h"
#include "input/last_model.h"
#include "report/text_table.h"

namespace fovea {
namespace {

Document tried_json(const TriedTree& tree) {
  return {{"error", number_json(tree.error)}, {"ratio_to_exact", number_json(tree.cost)}};
}

std::vector<std::string> row_of(const std::string& head, const ValidatedHead& its) {
  std::vector<std::string> row{head};
  for (const TriedTree& tree : {its.learned, its.median})
    row.insert(row.end(), {format_plain(tree.error), format_percent(tree.cost)});
  return row;
}

ValidatedHead mean_of(const std::vector<ValidatedHead>& heads) {
  ValidatedHead mean;
  const auto count = static_cast<double>(heads.size());
  for (const ValidatedHead& head : heads)
    for (const auto tree : {&ValidatedHead::learned, &ValidatedHead::median}) {
      (mean.*tree).error += (head.*tree).error / count;
      (mean.*tree).cost += (head.*tree).cost / count;
    }
  return mean;
}

}  // namespace

Document to_json(const std::vector<ValidatedSource>& validated) {
  Document out = Document::array();
  for (const ValidatedSource& source : validated) {
    Document heads = Document::array();
    for (const ValidatedHead& head : source.heads)
      heads.push_back({{"head", head.head},
                       {"learned", tried_json(head.learned)},
                       {"median", tried_json(head.median)}});
    out.push_back({{"source", source.source},
                   {"learned_from", source.learned_from},
                   {"heads", std::move(heads)}});
  }
  return out;
}

void print(std::ostream& out, const std::vector<ValidatedSource>& validated) {
  if (validated.empty()) return;
  for (const ValidatedSource& source : validated) {
    out << "\n  Tried on " << printable(short_name(source.source))
        << (source.learned_from ? ", from which the trees were learned\n" : "\n");
    TextTable table{{"head", "learned tree", "of exact's cost", "median tree", "of exact's cost"},
                    {}};
    for (const ValidatedHead& head : source.heads)
      table.rows.push_back(row_of(std::to_string(head.head), head));
    if (source.heads.size() > 1) table.rows.push_back(row_of("mean", mean_of(source.heads)));
    print(out, table);
  }
  out << "\n  relative output error over all rows; the median tree is that of the head's own "
         "keys\n";
}

FitValidation::FitValidation(const std::vector<std::string>& files, const SourceOptions& from,
                             const HeadOptions& heads, const Source& learned, int threads,
                             const std::stop_token& stop)
    : options_(heads), learned_(learned) {
  LastModel model;
  SourceOptions other = from;
  other.open.last_model = &model;
  other.open.tensors.clear();
  const Layer& layer = learned.layers[heads.layer_in(learned)];
  for (const std::string& file : files) {
    Source& source = sources_.emplace_back(
        other.load_from(address_of_other(file, from.address()), stop, threads));
    const Layer& its = source.layers[heads.layer_in(source)];
    if (its.heads() != layer.heads())
      throw InputError(file, plural(its.heads(), "head") + " found; expected " +
                                 std::to_string(layer.heads()) +
                                 ", as where the trees are learned");
    for (const Index head : heads.heads_in(source))
      if (const auto why = why_not_tried_on(heads.problem(source, head, stop), layer.d());
          !why.empty())
        throw InputError(file, "no learned tree can be tried on it: " + why);
  }
}

std::vector<ValidatedSource> FitValidation::measure(const std::vector<ComputeRequest>& trees,
                                                    const Backend& backend,
                                                    const std::stop_token& stop) const {
  std::vector<ValidatedSource> out;
  const auto add = [&](const Source& source, bool learned_from) {
    ValidatedSource& its = out.emplace_back(
        ValidatedSource{.source = source.path, .learned_from = learned_from, .heads = {}});
    for (const Index head : options_.heads_in(source)) {
      Profile profile;
      Run run{profile, stop};
      const ComputeRequest& request = trees[its.heads.size()];
      const TreeTrial trial(options_.problem(source, head, stop), request, backend, run);
      its.heads.push_back({.head = head,
                           .learned = trial.tried(request.given, backend, run),
                           .median = trial.median()});
    }
  };
  add(learned_, true);
  for (const Source& source : sources_) add(source, false);
  return out;
}

}  // namespace fovea
