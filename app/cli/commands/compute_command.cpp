// fovea compute: computes one variant of the heads of a source, and reports its cost and error.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>

#include "cli/commands/commands.h"
#include "cli/options/backend_options.h"
#include "cli/options/checks.h"
#include "cli/options/head_options.h"
#include "cli/options/source_options.h"
#include "cli/options/variant_options.h"
#include "cli/reports/report.h"
#include "data/error.h"
#include "data/larger.h"
#include "data/number_text.h"
#include "evaluate/evaluate.h"
#include "io/atomic_file.h"
#include "io/selection_file.h"
#include "io/structure_file.h"
#include "io/structure_origin.h"
#include "report/json_output.h"
#include "report/text_table.h"

namespace fovea {
namespace {

constexpr double dense_limit = 4.0 * 1024 * 1024 * 1024;  // bytes of P that --dense writes

struct ComputeOptions {
  SourceOptions source;
  HeadOptions heads;
  BackendOptions backend;
  ParameterOptions parameters;
  std::string variant, structure, output;
  std::string kept;               // id of a SelectionFormKind; no pairs are written if it is empty
  std::vector<Index> kept_block;  // queries and keys a side, or one number for both
  bool dense = false, no_metrics = false, json = false;

  /// Null if none is written.
  const SelectionFormKind* kept_form() const {
    const auto kinds = selection_forms();
    const auto found = std::ranges::find(kinds, kept, &SelectionFormKind::id);
    return found == kinds.end() ? nullptr : &*found;
  }
};

Lengths block_of(const ComputeOptions& options) {
  const auto& sides = options.kept_block;
  return sides.empty() ? usual_block : Lengths{sides.front(), sides.back()};
}

void check_kept(const ComputeOptions& options) {
  const auto form = options.kept_form();
  if (options.kept_block.size() > 2)
    throw UsageError("--kept-block has " + plural(std::ssize(options.kept_block), "number") +
                     "; expected one, or two for queries and keys");
  if (!options.kept_block.empty() && !(form && form->has_blocks))
    throw UsageError("--kept-block is the side of the blocks of --kept blocks or --kept flex");
  if (form && options.output.empty())
    throw UsageError("--kept writes the pairs to a file; expected -o OUT.safetensors");
}

void require_room(const ComputeOptions& options, Index heads, Lengths lengths) {
  if (!options.dense) return;
  if (options.output.empty())
    throw UsageError("--dense writes P to a file; expected -o OUT.safetensors");
  const double bytes = 4.0 * static_cast<double>(heads) * static_cast<double>(lengths.queries) *
                       static_cast<double>(lengths.keys);
  if (bytes > dense_limit)
    throw UnavailableError("--dense: P of " + plural(heads, "head") + ", " + lengths.text() +
                           ", takes " + format_bytes(bytes) + ", at most " +
                           format_bytes(dense_limit) + " are written");
}

/// The tensors of OUT.safetensors; heads are appended in order.
class OutTensors {
 public:
  explicit OutTensors(bool dense) : dense_(dense) {}

  void add(const Computation& computation, Run& run) {
    const Output& output = computation.output;
    append(z_, output.z);
    lse_.insert(lse_.end(), output.lse.begin(), output.lse.end());
    structures_.push_back(computation.op->plan().structure);
    plans_.push_back(computation.op->shared_plan());
    lengths_ = computation.op->plan().lengths;
    dv_ = output.z.cols();
    ++heads_;
    constexpr Index band = 256;
    for (Index begin = 0; dense_ && begin < lengths_.queries; begin += band)
      append(p_, computation.op->tile({begin, std::min(lengths_.queries, begin + band)},
                                      {0, lengths_.keys}, run));
  }

  std::vector<OutTensor> take() {
    std::vector<OutTensor> tensors;
    if (dv_ > 0) tensors.push_back({"z", {heads_, lengths_.queries, dv_}, std::move(z_)});
    if (!lse_.empty()) tensors.push_back({"lse", {heads_, lengths_.queries}, std::move(lse_)});
    if (dense_) tensors.push_back({"p", {heads_, lengths_.queries, lengths_.keys}, std::move(p_)});
    for (auto& tensor : structure_tensors(structures_)) tensors.push_back(std::move(tensor));
    return tensors;
  }

  SelectionFile kept(SelectionForm form, Lengths block, const std::stop_token& stop) const {
    std::vector<const Plan*> plans;
    for (const auto& plan : plans_) plans.push_back(plan.get());
    return selection_file(plans, form, block, stop);
  }

 private:
  static void append(std::vector<float>& to, MatrixView from) {
    for (Index i = 0; i < from.rows; ++i) to.insert(to.end(), from.row(i), from.row(i) + from.cols);
  }

  bool dense_;
  Index heads_ = 0, dv_ = 0;
  Lengths lengths_;
  std::vector<float> z_, lse_, p_;
  std::vector<Structure> structures_;
  std::vector<std::shared_ptr<const Plan>> plans_;
};

ComputeRequest request_of(const ComputeOptions& options, const Source& source, Index head,
                          const std::stop_token& stop) {
  const Variant& variant = find_variant(options.variant);
  const Layer& layer = source.layers[options.heads.layer_in(source)];
  ComputeRequest request{.variant = &variant,
                         .values = options.parameters.applied(variant, layer.keys()),
                         .seed = options.parameters.seed};
  if (!options.structure.empty())
    request.given = read_structure(options.structure, head, layer.heads(), stop);
  return request;
}

/// Adds the name of the structure file to errors about the given structure.
std::shared_ptr<const Computation> compute_with(const ComputeOptions& options,
                                                const Problem& problem,
                                                const ComputeRequest& request,
                                                const Backend& backend, Run& run) {
  try {
    return std::make_shared<const Computation>(compute(problem, request, backend, run));
  } catch (const InputError& error) {
    if (options.structure.empty()) throw;
    throw InputError(options.structure, error.what());
  }
}

/// Largest |Z - z| over the largest |z|, where z is the model's output in the file. Rows without a
/// key are left out, as models may leave anything there. NaN if another row is not finite.
std::optional<double> from_own_output(const Output& ours, const Layer& layer, Index head,
                                      const std::stop_token& stop) {
  const auto result = std::ranges::find(layer.imported, "", &ImportedTensors::name);
  if (result == layer.imported.end() || !result->z.present()) return {};
  const Matrix own = result->z.read(head, stop);
  double apart = 0, largest = 0;
  for (Index i = 0; i < own.rows(); ++i) {
    const bool has_sum = !ours.lse.empty();
    if (has_sum && ours.lse[i] == -HUGE_VALF) continue;
    for (Index c = 0; c < own.cols(); ++c) {
      const double here =
          std::abs(static_cast<double>(own(i, c)) - static_cast<double>(ours.z(i, c)));
      apart = larger_or_nan(apart, here);
      largest = std::max(largest, std::abs(static_cast<double>(own(i, c))));
    }
  }
  return largest > 0 ? apart / largest : apart;
}

/// Puts the back end that computed it, which may be the CPU's in place of a GPU's, into `all`.
HeadReport compute_head(const ComputeOptions& options, const Source& source, Index head,
                        const Backend& backend, OutTensors& tensors, ComputeReport& all, Run& run) {
  Reference reference{options.heads.problem(source, head, run.stop)};
  const ComputeRequest request = request_of(options, source, head, run.stop);
  const auto computed = compute_with(options, reference.problem, request, backend, run);
  const Computation& computation = *computed;
  all.backend = computation.backend;
  all.device = computation.device;
  all.precision = computation.precision;
  HeadReport report{
      .head = head, .first_run = computation.first_run, .cost = computation.cost, .notes = {}};
  if (!is_read(computation.op->plan()))
    report.from_own_output = from_own_output(
        computation.output, source.layers[options.heads.layer_in(source)], head, run.stop);
  if (!options.output.empty()) tensors.add(computation, run);
  const bool compared = !options.no_metrics;
  // Exact attention is computed once more even for itself: measures of its rows, such as those with
  // equal weights, are found only if two operators are compared.
  if (compared) reference = reference_of(std::move(reference.problem), backend, run);
  Evaluated found = evaluate(
      reference, request, computed,
      {.metrics = compared, .diagnostics = compared, .times = RepeatOptions{}}, backend, run);
  report.notes = notes_of(computation, reference.exact.get());
  report.metrics = std::move(found.metrics);
  report.diagnostics = std::move(found.diagnostics);
  report.rounds = std::move(found.rounds);
  return report;
}

ComputeReport begin_report(const ComputeOptions& options, const Source& source,
                           const Backend& backend) {
  const Variant& variant = find_variant(options.variant);
  const Index layer = options.heads.layer_in(source);
  const Layer& of = source.layers[layer];
  return {.source = source.path,
          .source_notes = notes_of(source, {layer}),
          .layer = layer,
          .layer_label = layer_label(source, layer),
          .variant = &variant,
          .values = options.parameters.applied(variant, of.keys()),
          .seed = options.parameters.seed,
          .backend = backend.id(),
          .device = backend.device(),
          .precision = backend.precision(),
          .lengths = of.lengths(),
          .d = of.d(),
          .dv = of.dv()};
}

/// A note that a given structure was made for other heads; empty if it was not, or if that is not
/// known.
std::string structure_note(const ComputeOptions& options, const Source& source,
                           const std::vector<Index>& heads, const std::stop_token& stop) {
  if (options.structure.empty()) return "";
  const Index layer = options.heads.layer_in(source);
  const auto origin = origin_of_structure(options.structure, stop);
  return origin ? note_of_origin(options.structure, *origin, layer, heads,
                                 source.layers[layer].heads())
                : "";
}

/// Writes OUT.safetensors. The pairs that a form of blocks adds are a note of the report.
void write_output(const ComputeOptions& options, OutTensors& heads, ComputeReport& report,
                  const std::stop_token& stop) {
  SelectionFile kept;
  if (const auto form = options.kept_form()) {
    kept = heads.kept(form->form, block_of(options), stop);
    if (std::string note = note_of_added(kept, report.variant->label); !note.empty())
      report.source_notes.push_back(std::move(note));
  }
  std::vector<OutTensor> tensors = heads.take();
  std::ranges::move(kept.tensors, std::back_inserter(tensors));
  kept.metadata["fovea"] = text_of(to_json(report));
  write_safetensors(options.output, tensors, kept.metadata, stop);
  report.output = options.output;
}

void run_compute(const ComputeOptions& options, const Console& console) {
  find_variant(options.variant);
  check_kept(options);
  if (!options.output.empty()) {
    const auto ending = std::filesystem::path(options.output).extension();
    if (!ending.empty() && ending != ".safetensors")
      throw UsageError("-o " + options.output + "; expected a name that ends in .safetensors");
    require_writable(options.output);
  }
  const Source source = options.source.load(console.stop, options.backend.threads);
  options.heads.tell_layer(source, console.err);
  refuse_to_replace("-o", options.output, source, {options.structure});
  const std::vector<Index> heads = options.heads.heads_in(source);
  const auto backend = options.backend.make(console.err);
  ComputeReport report = begin_report(options, source, *backend);
  if (auto note = structure_note(options, source, heads, console.stop); !note.empty())
    report.source_notes.push_back(std::move(note));
  require_room(options, heads.size(), report.lengths);
  const Problem first = options.heads.problem(source, heads.front(), console.stop);
  report.scale = first.scale;
  report.causal = first.is_causal();
  report.conditions = conditions_text(first);
  if (first.recurrence) report.recurrence = first.recurrence->name();

  OutTensors tensors(options.dense);
  for (const Index head : heads) {
    Profile profile;
    Run run{profile, console.stop};
    report.heads.push_back(compute_head(options, source, head, *backend, tensors, report, run));
  }
  if (!options.output.empty()) write_output(options, tensors, report, console.stop);
  if (options.json)
    print(console.out, to_json(report));
  else
    print(console.out, report);
}

}  // namespace

void add_compute_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand(
      "compute", "One variant of the heads of a source: output, cost and error");
  auto options = std::make_shared<ComputeOptions>();
  options->source.add_to(*command);
  command->add_option("--variant", options->variant, "Id of the variant; fovea variants lists them")
      ->required();
  options->parameters.add_to(*command);
  options->heads.add_to(*command, "all", true);
  options->backend.add_to(*command);
  command
      ->add_option("--structure", options->structure,
                   "Use the orders, samples, leaves or tree in this .safetensors file instead of "
                   "deriving them")
      ->check(refuse_empty);
  command
      ->add_option("-o,--output", options->output,
                   "Write z, lse and the structure used to this .safetensors file")
      ->check(refuse_empty);
  std::vector<std::string> forms;
  for (const SelectionFormKind& kind : selection_forms()) forms.emplace_back(kind.id);
  command
      ->add_option("--kept", options->kept,
                   "Write the pairs that the variant keeps, too, in a form that --mask reads: a "
                   "mask of pairs, a mask of blocks, the lists of FlexAttention's BlockMask, keys "
                   "of each query, or compressed rows of one head")
      ->type_name("FORM")
      ->check(CLI::IsMember(forms));
  command
      ->add_option("--kept-block", options->kept_block,
                   "With --kept blocks or flex, tokens of a block: 128, or 128,64 for queries and "
                   "keys (default: 128)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("Q[,K]")
      ->check(CLI::Range(1, 131072));
  command->add_flag("--dense", options->dense, "Write P too, up to 4 GiB");
  command->add_flag("--no-metrics", options->no_metrics, "Do not compare with exact attention");
  command->add_flag("--json", options->json,
                    "One JSON document on standard output, the same as the file's metadata "
                    "`fovea`; infinity is written as the text \"infinite\"");
  command->callback([&chosen, options] {
    chosen = [options](const Console& console) { run_compute(*options, console); };
  });
}

}  // namespace fovea
