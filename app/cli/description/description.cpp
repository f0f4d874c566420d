#include "cli/description/description.h"

#include <algorithm>

#include "figure/preset.h"
#include "papers/paper_figure.h"
#include "session/session.h"
#include "variants/variant.h"
#include "views/views.h"

namespace fovea {
namespace {

/// Values that are looked up in tables, not by the command line itself.
std::vector<std::string> listed_values(const std::string& command, const std::string& option) {
  std::vector<std::string> values;
  if (option == "--variant" || option == "VARIANT")
    for (const Variant& variant : variants())
      if (command != "fit" || variant.tree_attention != TreeAttention::none)
        values.push_back(variant.id);
  if (option == "--view")
    for (const View view : all_views()) values.push_back(to_text(view));
  if (option == "--preset")
    for (const Preset& preset : presets()) values.push_back(preset.id);
  if (option == "NAME" && command == "paper")
    for (const PaperFigure& figure : paper_figures()) values.push_back(figure.id);
  if (option == "--preset" || option == "NAME") values.emplace_back("list");
  return values;
}

/// CLI11 writes "TEXT:{auto,cpu,cuda}", "MATRIX:{attention->0,error->3}" and
/// "INT:INT in [0 - 1024]".
void read_type(const std::string& type, OptionDescription& option) {
  option.value = type.substr(0, type.find(':'));
  const std::size_t open = type.find('{'), close = type.find('}'), range = type.find(" in [");
  if (open != std::string::npos && close != std::string::npos && open < close)
    for (const std::string& choice :
         CLI::detail::split(type.substr(open + 1, close - open - 1), ','))
      option.choices.push_back(choice.substr(0, choice.find("->")));
  if (range != std::string::npos && type.ends_with(']'))
    option.range = type.substr(range + 5, type.size() - range - 6);
}

OptionDescription describe(const CLI::Option& option, const std::string& command) {
  OptionDescription out;
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  const bool positional = out.names.empty();
  if (positional) out.names.push_back(option.get_name(true));
  if (option.get_items_expected_max() > 0) read_type(option.get_type_name(), out);
  const bool number =
      out.value == "INT" || out.value == "UINT" || out.value == "FLOAT" || !out.range.empty();
  if (out.choices.empty()) out.choices = listed_values(command, out.names.back());
  out.file = (positional || !out.value.empty()) && out.choices.empty() && !number;
  if (positional) out.value.clear();
  out.standard = option.get_default_str();
  out.text = option.get_description();
  out.group = option.get_group();
  for (const CLI::Option* other : option.get_excludes())
    out.excludes.push_back(other->get_name(other->get_positional()));
  out.required = option.get_required();
  out.repeated = option.get_expected_max() >= CLI::detail::expected_max_vector_size;
  return out;
}

CommandDescription describe(const CLI::App& app, bool with_help) {
  CommandDescription out{.name = app.get_name(), .text = app.get_description()};
  for (const CLI::Option* option : app.get_options()) {
    const bool help = option == app.get_help_ptr() || option == app.get_help_all_ptr();
    if (option->get_group().empty() || (help && !with_help)) continue;
    (option->get_positional() ? out.positionals : out.options)
        .push_back(describe(*option, out.name));
  }
  return out;
}

}  // namespace

Description describe(const CLI::App& program, const std::string& version) {
  Description out{.version = version, .program = describe(program, true)};
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) out.commands.push_back(describe(*command, false));
  out.footer = program.get_footer();
  std::ranges::replace(out.footer, '\n', ' ');
  return out;
}

std::string brief(const std::string& text) {
  std::size_t end = text.size();
  for (const char* mark : {"; ", ": ", " (", ". "}) end = std::min(end, text.find(mark));
  return text.substr(0, end);
}

}  // namespace fovea
