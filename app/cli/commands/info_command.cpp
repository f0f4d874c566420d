// fovea info: lists what a source holds, as Fovea reads it.
#include "cli/commands/commands.h"
#include "cli/options/source_options.h"
#include "cli/reports/devices_report.h"
#include "data/text.h"
#include "report/json_output.h"
#include "report/text_table.h"

namespace fovea {
namespace {

struct InfoOptions {
  SourceOptions source;
  bool json = false, devices = false, test_again = false;
};

Document shape_json(const HeadTensor& tensor) {
  if (!tensor.present()) return nullptr;
  return {{"type", to_text(tensor.type)}, {"shape", {tensor.heads, tensor.rows, tensor.cols}}};
}

Document selection_json(const SelectionTensors& kept) {
  const HeadTensor& tensor = kept.mask.present()    ? kept.mask
                             : kept.lists.present() ? kept.lists.entries
                                                    : kept.partial.entries;
  Document out = shape_json(tensor);
  out["form"] = kept.mask.present() ? "mask" : "lists";
  out["block"] = {kept.block.queries, kept.block.keys};
  return out;
}

/// The gradients of a result, by the names that they have in files.
std::vector<std::pair<std::string, const HeadTensor*>> gradients_of(const ImportedTensors& result) {
  const GradientTensors& its = result.gradients;
  return {{"dz", &its.dz}, {"dq", &its.dq}, {"dk", &its.dk}, {"dv", &its.dv}};
}

Document layer_json(const Layer& layer) {
  Document tensors = Document::object();
  const auto put = [&](const std::string& name, const HeadTensor& tensor) {
    if (tensor.present()) tensors[name] = shape_json(tensor);
  };
  put("q", layer.q);
  for (const auto& [name, tensor] : {std::pair{std::string("k"), &layer.k}, {"v", &layer.v}}) {
    put(name, tensor->own_rows());
    if (tensor->more) put(name + "_extra", *tensor->more);
  }
  put("attention", layer.attention);
  Document out{{"name", layer.name}, {"heads", layer.heads()}, {"n", layer.keys()}};
  out["queries"] = layer.queries();
  out["keys"] = layer.keys();
  if (layer.has_qk()) {
    out["key_value_heads"] = layer.k.heads;
    out["d"] = layer.d();
    out["dv"] = layer.dv();
  }
  put("mask", layer.conditions.mask);
  put("bias", layer.conditions.bias);
  const RecurrenceTensors& gates = layer.conditions.recurrence;
  put("beta", gates.beta);
  put("log_decay", gates.log_decay);
  put("level_weights", gates.level_weights);
  for (const ImportedTensors& result : layer.imported) {
    const std::string prefix = result.name.empty() ? "" : result.name + ".";
    put(prefix + "z", result.z);
    put(prefix + "lse", result.lse);
    if (result.p.bytes != layer.attention.bytes || result.p.begin != layer.attention.begin)
      put(prefix + "p", result.p);
    for (const auto& [name, tensor] : gradients_of(result)) put(prefix + name, *tensor);
    if (result.kept.present()) tensors[prefix + "kept"] = selection_json(result.kept);
  }
  out["tensors"] = tensors;
  const LayerConditions& its = layer.conditions;
  Document conditions = Document::object();
  for_conditions([&](const auto& condition) {
    if (const auto& value = its.*condition.member) conditions[condition.id] = *value;
  });
  if (!its.alibi.empty()) conditions["alibi"] = its.alibi;
  if (!its.sinks.empty()) conditions["sinks"] = its.sinks;
  if (!its.documents.empty()) conditions["segments"] = its.documents;
  if (its.compressed)
    conditions["compressed"] = {{"tokens", its.compressed->tokens},
                                {"entries", its.compressed->count()},
                                {"chosen_for_each_query", its.chosen_entries.present()}};
  if (gates.present()) conditions["recurrence"] = gates.has_delta_rule() ? "delta" : "linear";
  out["conditions"] = conditions;
  return out;
}

Document info_json(const Source& source) {
  Document out{{"name", source.name}, {"path", source.path}, {"kind", source.kind}};
  out["content"] = source.content;
  out["order"] = source.order;
  out["layout"] = source.layout;
  out["layout_guessed"] = source.layout_guessed;
  out["scale"] = source.scale ? Document(*source.scale) : Document(nullptr);
  out["causal"] = source.causal ? Document(*source.causal) : Document(nullptr);
  out["layers"] = Document::array();
  for (const Layer& layer : source.layers) out["layers"].push_back(layer_json(layer));
  out["tokens"] = source.sequence.tokens;
  if (const auto& grid = source.sequence.grid)
    out["image"] = {{"grid", {grid->rows, grid->cols}}, {"prefix", grid->prefix}};
  out["metadata"] = source.metadata;
  out["notes"] = source.notes;
  return out;
}

std::string tokens_text(const Sequence& sequence) {
  if (sequence.tokens.empty()) return "";
  std::string text = plural(sequence.tokens.size(), "token") + ":";
  std::size_t shown = 0;
  for (; shown < sequence.tokens.size() && text.size() < 90; ++shown)
    text += " " + sequence.tokens[shown];
  return shown < sequence.tokens.size() ? text + " ..." : text;
}

std::string shape_and_type(const HeadTensor& tensor) {
  if (!tensor.present()) return "";
  return std::to_string(tensor.heads) + " x " + std::to_string(tensor.rows) + " x " +
         std::to_string(tensor.cols) + " " + to_text(tensor.type);
}

/// "results z lse, flash: z p, mine: kept (lists of keys)"; empty if the file holds none.
std::string text_of_results(const Layer& layer) {
  std::string text;
  for (const ImportedTensors& result : layer.imported) {
    text += text.empty() ? "results" : ",";
    if (!result.name.empty()) text += " " + result.name + ":";
    for (const auto& [name, tensor] :
         {std::pair{"z", &result.z}, std::pair{"lse", &result.lse}, std::pair{"p", &result.p}})
      if (tensor->present()) text += std::string(" ") + name;
    for (const auto& [name, tensor] : gradients_of(result))
      if (tensor->present()) text += std::string(" ") + name;
    if (result.kept.present()) text += " kept (" + result.kept.text() + ")";
  }
  return text;
}

/// The statements for this layer alone, and its conditions.
std::string text_of_conditions(const Source& source, const Layer& layer) {
  std::string text;
  if (const auto& causal = layer.conditions.causal; causal && causal != source.causal)
    text = *causal ? "causal" : "bidirectional";
  if (const auto& scale = layer.conditions.scale; scale && scale != source.scale)
    text += (text.empty() ? "scale " : ", scale ") + format_plain(*scale);
  for (const std::string& more : {layer.conditions.text(), text_of_results(layer)})
    if (!more.empty()) add_item(text, more);
  return text;
}

/// "341", or "7 × 24" if numbers of queries and keys differ.
std::string length_text(Lengths lengths) {
  const std::string keys = std::to_string(lengths.keys);
  return lengths.equal() ? keys : std::to_string(lengths.queries) + " × " + keys;
}

void print_layers(std::ostream& out, const Source& source) {
  const bool conditions = std::ranges::any_of(source.layers, [&](const Layer& layer) {
    return !text_of_conditions(source, layer).empty();
  });
  const auto any = [&](const auto& tensor) {
    return std::ranges::any_of(
        source.layers, [&](const Layer& layer) { return !shape_and_type(layer.*tensor).empty(); });
  };
  TextTable table{{"layer", "<name", "heads", "n"}, {}};
  std::vector<HeadTensor Layer::*> tensors;
  for (const auto& [title, tensor] :
       {std::pair("<q", &Layer::q), std::pair("<k", &Layer::k), std::pair("<v", &Layer::v),
        std::pair("<attention", &Layer::attention)}) {
    if (!any(tensor)) continue;
    table.header.emplace_back(title);
    tensors.push_back(tensor);
  }
  if (conditions) table.header.push_back("<also");
  for (std::size_t l = 0; l < source.layers.size(); ++l) {
    const Layer& layer = source.layers[l];
    table.rows.push_back({std::to_string(l), layer.name, std::to_string(layer.heads()),
                          length_text(layer.lengths())});
    for (const auto tensor : tensors) table.rows.back().push_back(shape_and_type(layer.*tensor));
    if (conditions) table.rows.back().push_back(text_of_conditions(source, layer));
  }
  print(out, table);
}

void print_info(std::ostream& out, const Source& source) {
  const auto& grid = source.sequence.grid;
  const Layer& first = source.layers.front();
  const std::optional<bool> causal = stated_causal(source, 0);
  const bool grouped = first.has_qk() && first.k.heads != first.heads();
  out << source.name << '\n';
  print_facts(
      out,
      {{"path", source.path},
       {"kind", source.kind},
       {"Q, K, V", source.content},
       {"order", source.order},
       {"layout",
        source.layout.empty()
            ? ""
            : source.layout + (source.layout_guessed ? "  GUESSED: state it with --layout" : "")},
       {"scale", source.scale     ? format_plain(*source.scale)
                 : first.has_qk() ? "1/sqrt(d), as none is stated"
                                  : ""},
       {"mask", causal                           ? (*causal ? "causal" : "bidirectional")
                : !first.has_qk()                ? ""
                : first.conditions.mask.rows > 1 ? "as the mask of pairs says"
                                                 : "bidirectional, as none is stated"},
       {"grouped", grouped ? plural(first.k.heads, "key/value head") + " for " +
                                 plural(first.heads(), "query head")
                           : ""},
       {"sequence", tokens_text(source.sequence)},
       {"image", grid ? std::to_string(grid->rows) + " x " + std::to_string(grid->cols) +
                            " patches" +
                            (grid->prefix ? " after " + plural(grid->prefix, "token") : "")
                      : ""}});
  out << '\n';
  print_layers(out, source);
  if (!source.notes.empty()) out << '\n';
  print_notes(out, source.notes, 2);
}

void list_devices(const InfoOptions& options, const Console& console) {
  const DevicesReport report = report_devices(
      SelfTests::of_this_program(), options.test_again, [&](const std::string& precision) {
        console.err << "fovea: testing " << precision << " on the GPU" << std::endl;
      });
  if (options.json)
    print(console.out, devices_json(report));
  else
    print(console.out, report);
}

}  // namespace

void add_info_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand("info", "List what a source holds, as Fovea reads it");
  auto options = std::make_shared<InfoOptions>();
  options->source.add_to(*command, false);
  command->add_flag("--json", options->json, "One JSON document on standard output");
  auto* devices = command->add_flag("--devices", options->devices,
                                    "List what this machine computes on instead, and hold its GPU "
                                    "against the CPU if that was not done yet");
  command
      ->add_flag("--test-again", options->test_again,
                 "With --devices: repeat the self-test of the GPU")
      ->needs(devices);
  devices->excludes(command->get_option("SOURCE"));
  command->callback([&chosen, options] {
    if (!options->devices && options->source.what.empty()) throw CLI::RequiredError("SOURCE");
    chosen = [options](const Console& console) {
      if (options->devices) return list_devices(*options, console);
      const Source source = options->source.load(console.stop);
      if (options->json)
        print(console.out, info_json(source));
      else
        print_info(console.out, source);
    };
  });
}

}  // namespace fovea
