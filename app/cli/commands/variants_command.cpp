// fovea variants: lists every variant of the table with its parameters.
#include <algorithm>
#include <iterator>

#include "cli/commands/commands.h"
#include "cli/options/variant_options.h"
#include "data/text.h"
#include "report/json_output.h"
#include "report/text_table.h"
#include "variants/variant.h"

namespace fovea {
namespace {

std::string mask_text(Mask mask) {
  switch (mask) {
    case Mask::either:
      return "causal or bidirectional";
    case Mask::causal_in_paper:
      return "causal in the paper; bidirectional offered";
    case Mask::bidirectional_in_paper:
      return "bidirectional in the paper; causal offered";
    case Mask::causal_only:
      return "causal; there is no other form";
    case Mask::bidirectional_only:
      return "bidirectional; there is no causal form";
  }
  return "";
}

std::string type_text(const TensorField& field) {
  return field.element == Element::real ? "real" : "integer";
}

std::string shapes_text(const TensorField& field) {
  return join(
      field.shapes, [](const SymbolicShape& shape) { return shape_text(shape); }, " or ");
}

Document variant_json(const Variant& variant) {
  Document parameters = Document::array(), structure = Document::array();
  for (const Field& field : variant.schema) parameters.push_back(field_json(field));
  for (const TensorField& field : variant.structure)
    structure.push_back({{"name", field.name},
                         {"type", type_text(field)},
                         {"shapes", field.shapes},
                         {"meaning", field.meaning}});
  Document out{{"id", variant.id},
               {"label", variant.label},
               {"group", kind_of(variant.group).id},
               {"paper", variant.paper},
               {"formula", variant.formula},
               {"summary", variant.summary},
               {"mask", mask_text(variant.mask)},
               {"rows_sum_to_one", variant.rows_sum_to_one},
               {"signed_entries", variant.signed_entries},
               {"parameters", parameters},
               {"structure", structure}};
  if (!variant.other_sums_with.empty())
    out["rows_need_not_sum_to_one_with"] = variant.other_sums_with;
  return out;
}

std::string range_text(const Field& field) {
  if (!field.choices.empty()) return join(field.choices, {}, " | ");
  if (std::holds_alternative<std::string>(field.standard)) return "text";
  const bool whole = std::holds_alternative<std::int64_t>(field.standard);
  const auto number = [&](double x) {
    return whole ? std::to_string(static_cast<std::int64_t>(x)) : format_plain(x);
  };
  const std::string text = number(field.min) + " .. " + number(field.max);
  return field.must_be_even ? text + ", even" : text;
}

std::string standard_text(const Field& field, Index n) {
  const std::string text = to_text(value_for_length(field, n));
  return text.empty() ? "-" : text;
}

std::string condition_text(const Field& field) {
  if (!field.only_with) return {};
  return "With " + field.only_with->first + " = " + field.only_with->second + ": ";
}

std::string rows_text(const Variant& variant) {
  std::string sum = variant.rows_sum_to_one ? "sum to 1" : "need not sum to 1";
  if (!variant.other_sums_with.empty()) sum += ", but need not with " + variant.other_sums_with;
  return sum + (variant.signed_entries ? "; entries may be negative" : "");
}

void print_variant(std::ostream& out, const Variant& variant) {
  out << variant.id << "  " << variant.label << "  (" << variant.paper << ")\n";
  print_facts(out, {{"keeps", variant.summary},
                    {"formula", variant.formula},
                    {"mask", mask_text(variant.mask)},
                    {"rows of P", rows_text(variant)}});
  if (variant.schema.empty()) return;
  TextTable table{{"<parameter", "<default", "<of 512", "<unit", "<range", "<meaning"}, {}};
  for (const Field& field : variant.schema)
    table.rows.push_back({field.id, standard_text(field, default_length), standard_text(field, 512),
                          field.unit, range_text(field), condition_text(field) + field.meaning});
  out << '\n';
  print(out, table);
  if (variant.structure.empty()) return;
  TextTable tensors{{"<tensor of --structure", "<type", "<shape a head", "<meaning"}, {}};
  for (const TensorField& field : variant.structure)
    tensors.rows.push_back({field.name, type_text(field), shapes_text(field), field.meaning});
  out << '\n';
  print(out, tensors);
}

/// Each group that has some of them, under its heading.
void print_groups(std::ostream& out, const std::vector<const Variant*>& listed) {
  bool first = true;
  for (const GroupKind& kind : groups()) {
    std::vector<const Variant*> its;
    std::ranges::copy_if(listed, std::back_inserter(its),
                         [&](const Variant* variant) { return variant->group == kind.group; });
    if (its.empty()) continue;
    out << (first ? "" : "\n") << kind.id << ": " << kind.meaning << '\n';
    first = false;
    for (const Variant* variant : its) print_variant(out << '\n', *variant);
  }
}

}  // namespace

void add_variants_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand("variants", "List every variant and its parameters");
  auto ids = std::make_shared<std::vector<std::string>>();
  command->add_option("VARIANT", *ids,
                      "Ids of variants, or " + words_for_groups() + " (default: all)");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "One JSON document on standard output");
  command->callback([&chosen, ids, json] {
    chosen = [ids, json](const Console& console) {
      const auto listed = variants_named(ids->empty() ? std::vector<std::string>{"all"} : *ids);
      if (*json) {
        Document document = Document::array();
        for (const Variant* variant : listed) document.push_back(variant_json(*variant));
        print(console.out, Document{{"variants", document}});
        return;
      }
      print_groups(console.out, listed);
      console.out
          << "\nDefaults are for heads of 4096 tokens and more. For shorter heads they would "
             "cover all of\nexact attention, so every command uses smaller sizes, as the window "
             "does, and says which;\n\"of 512\" are those for a head of 512 tokens.\n";
    };
  });
}

}  // namespace fovea
