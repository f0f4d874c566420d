#include "report/head_pages.h"

#include <QCryptographicHash>
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "analysis/measures.h"
#include "data/address.h"
#include "data/layer_conditions.h"
#include "data/number_text.h"
#include "data/text.h"
#include "data/utf8.h"
#include "drawing/colour_scale.h"
#include "figure/figure.h"
#include "variants/described_variant.h"
#include "views/views.h"

namespace fovea {
namespace {

constexpr std::size_t columns_a_figure = 4;

/// The measures of the table, in its order.
constexpr std::array table_measures{"output_rel_fro", "row_rel_error_p90", "attention_tv",
                                    "mass_kept",      "ratio_to_exact",    "bytes",
                                    "total_ms",       "total_speed_up"};

const Measure& measure_named(const std::string& id) {
  return *std::ranges::find(measures(), id, &Measure::id);
}

std::string scale_text(const HeadPagesRequest& request) {
  const double scale = request.problem.scale;
  const bool stated = stated_scale(request.source, request.layer) == scale;
  const bool standard = format_plain(scale) == format_plain(1 / std::sqrt(request.problem.d()));
  return format_plain(scale) + (stated     ? ", " + statement_text(request.source)
                                : standard ? ", 1/√d"
                                           : ", as chosen");
}

std::string mask_text(const HeadPagesRequest& request) {
  const auto stated = stated_causal(request.source, request.layer);
  const std::string how =
      stated == request.problem.is_causal()            ? ", " + statement_text(request.source)
      : stated                                         ? ", as chosen"
      : mask_is_assumed(request.source, request.layer) ? ", not stated by the file"
                                                       : "";
  return (request.problem.is_causal() ? "causal" : "bidirectional") + how +
         conditions_text(request.problem);
}

std::string place(Index number, Index count) {
  return std::to_string(number) + " of 0 to " + std::to_string(count - 1);
}

/// The words with which a text begins, on one line.
std::string first_words(const std::string& text) {
  constexpr std::size_t most = 300;  // bytes
  std::string words = text.substr(0, most);
  for (char& c : words)
    if (c == '\n' || c == '\t' || c == '\r') c = ' ';
  if (words.size() == text.size()) return "“" + words + "”";
  words.resize(std::min(words.rfind(' '), words.size()));
  while (!words.empty() && !is_utf8(words)) words.pop_back();
  return "“" + words + " …”";
}

/// A model is named with what it reads, and not by its address, which holds all of a text.
Facts::Rows facts_of_source(const std::string& path, const std::string& content_hash) {
  if (const std::string_view order = order_in(path); !order.empty()) {
    Facts::Rows rows = facts_of_source(std::string(in_own_order(path)), content_hash);
    rows.emplace_back("Order of tokens", order);
    return rows;
  }
  if (!is_model_address(path)) return {{"Source", path}, {"SHA-256 of its content", content_hash}};
  const ModelAddress address = parse_model_address(path);
  Facts::Rows rows{{"Model", address.folder}};
  if (address.input) rows.emplace_back("Input", *address.input);
  rows.emplace_back(address.input ? "SHA-256 of input and model" : "SHA-256 of the model",
                    content_hash);
  const auto add_text = [&](const std::string& what, const std::optional<std::string>& text) {
    if (!text) return;
    const auto hash =
        QCryptographicHash::hash(QByteArray::fromStdString(*text), QCryptographicHash::Sha256);
    rows.emplace_back(what, first_words(*text));
    rows.emplace_back("SHA-256 of it", hash.toHex().toStdString());
  };
  add_text("Text", address.text);
  add_text("Text of the decoder", address.decoder_text);
  return rows;
}

class HeadPages {
 public:
  HeadPages(const HeadPagesRequest& request, Run& run) : in_(request), run_(run) {}

  Pages pages() {
    pages_.title = "Attention of " +
                   named(in_.source.name,
                         layer_label(in_.source, in_.layer) + ", head " + std::to_string(in_.head));
    pages_.recipe = in_.recipe;
    add_input();
    add_columns();
    add_structure();
    add_numbers();
    add_methods();
    add_again();
    return std::move(pages_);
  }

 private:
  void add(Block block) { pages_.blocks.push_back(std::move(block)); }

  void add_input() {
    const Problem& p = in_.problem;
    Facts facts;
    facts.rows = facts_of_source(in_.path, in_.content_hash);
    const Facts::Rows more{
        {"Queries, keys and values", in_.source.content},
        {"Head", layer_label(in_.source, in_.layer) + " (number " +
                     place(in_.layer, std::ssize(in_.source.layers)) + "), head " +
                     place(in_.head, layer().heads())},
        {"Shape", p.lengths().text() + ", d = " + std::to_string(p.d()) + ", " +
                      (p.has_values() ? "values " + std::to_string(p.dv()) : "no values")},
        {"Mask", mask_text(in_)},
        {"Scale", scale_text(in_)},
        {"Computed by",
         "Fovea " FOVEA_VERSION ", on " + in_.backend.device() + ", " + in_.backend.precision()}};
    facts.rows.insert(facts.rows.end(), more.begin(), more.end());
    for (const auto& notes : {in_.notes, in_.grid.notes()})
      for (const std::string& note : notes) facts.rows.emplace_back("Note", note);
    add(std::move(facts));
  }

  /// `first` is the column of the first panels.
  Figure figure_of(std::vector<std::vector<Panel>> rows, std::size_t across, std::size_t first) {
    FigureStyle style;
    style.width = page_text_width;
    style.captions = Captions::line;  // what they leave out is in the tables of the report
    style.settings = settings_;
    style.settings.ranges =
        with_moved_columns(settings_.ranges, [&](std::size_t column) -> std::optional<std::size_t> {
          if (column < first) return {};
          return column - first;
        });
    // A few panels get the size of those in a full row.
    style.width *= std::max(across, std::size_t(1)) / static_cast<double>(columns_a_figure);
    return {
        .rows = std::move(rows),
        .style = style,
        .sequence = std::make_shared<const Sequence>(sequence_of(in_.source, in_.layer)),
        .key_sequence = std::make_shared<const Sequence>(key_sequence_of(in_.source, in_.layer)),
        .strip_tops = strip_tops_};
  }

  void add_figure(std::vector<std::vector<Panel>> rows, const std::string& caption, int first = 0) {
    const std::size_t across = rows.front().size();
    add(Illustration{figure_of(std::move(rows), across, first),
                     "Figure " + std::to_string(++figures_) + ". " + caption});
  }

  /// Figures that share the panels of a row have the colours of one figure.
  void share_range(View view, const std::vector<Panel>& row) {
    std::vector<const Panel*> panels;
    for (const Panel& panel : row) panels.push_back(&panel);
    const auto shared = drawing::scales_of_row(view, panels, settings_).shared;
    if (shared && shared->is_amounts())
      settings_.choose_range({view, -1, shared->low, shared->high});
  }

  void add_columns() {
    add(Heading{"Weights, errors and masks"});
    std::vector<std::vector<Panel>> all;  // a row for each view
    for (const View view : {find_view("heatmap"), find_view("error"), find_view("mask")})
      share_range(view, all.emplace_back(in_.grid.row(view, run_)));
    strip_tops_ = strip_tops_of(all);
    const std::size_t count = in_.columns.size();
    for (std::size_t begin = 0; begin < count; begin += columns_a_figure) {
      std::vector<std::vector<Panel>> rows;
      for (std::vector<Panel>& its : all) {
        const auto from = its.begin() + std::ptrdiff_t(begin),
                   to = its.begin() + std::ptrdiff_t(std::min(count, begin + columns_a_figure));
        rows.emplace_back(std::move_iterator(from), std::move_iterator(to));
      }
      add_figure(std::move(rows),
                 begin == 0 ? "From above: the weights P, their error against exact attention, "
                              "and the pairs that are computed. Rows are queries, columns keys."
                            : "The same for the other variants.",
                 begin);
    }
  }

  /// Whether the panel shows something; else it says why there is nothing.
  static bool shows(const Panel& panel) { return !std::holds_alternative<Message>(panel.body); }

  void add_structure() {
    std::vector<Panel> panels;
    const auto take = [&](View view, std::size_t column) {
      Panel panel = in_.grid.panel(view, column, run_);
      if (shows(panel)) panels.push_back(std::move(panel));
    };
    take(find_view("rank"), 0);
    for (std::size_t c = 0; c < in_.columns.size(); ++c)
      if (computation(c).variant->tree_attention != TreeAttention::none) take(find_view("tree"), c);
    if (panels.empty()) return;
    panels.resize(std::min(panels.size(), columns_a_figure));
    add(Heading{"Ranks and leaves"});
    add_figure({std::move(panels)},
               "The numerical rank of the blocks of P, and how many tokens each leaf of a tree "
               "holds.");
  }

  void add_numbers() {
    NumberTable table{.header = {"attention"}, .rows = {}, .caption = {}};
    Facts definitions;
    std::vector<const Measure*> shown;
    for (const char* id : table_measures)
      if (const Measure& measure = measure_named(id);
          in_.problem.has_values() || !measure.of_outputs)
        shown.push_back(&measure);
    for (const Measure* measure : shown) {
      table.header.push_back(measure->label);
      definitions.rows.emplace_back(measure->label, measure->definition);
    }
    bool few = false, slow = false, cold = false, speed_ups = false;
    int samples = 0;
    const bool of_window = !in_.times.empty();
    const auto times = of_window ? in_.times : in_.grid.times(run_);
    for (std::size_t c = 0; c < in_.columns.size(); ++c) {
      const auto& time = times[c];
      run_.check();
      if (time) {
        few |= time->timing.few_samples();
        slow |= time->slow;
        cold |= time->cold;
        speed_ups |= time->total_speed_up.has_value();
        samples = std::max(samples, time->timing.total.samples);
      }
      const Evaluation evaluation = numbers_of(in_.grid.evaluated(c), time);
      table.rows.push_back({in_.grid.title_of(c)});
      for (const Measure* measure : shown) {
        const auto found = measure->of(evaluation);
        table.rows.back().push_back(found ? to_text(*measure, *found) : "–");
      }
    }
    table.caption = std::string("Times") +
                    (of_window ? ", which were measured in the window," : "") +
                    " are medians of up to " + std::to_string(samples) +
                    " rounds after a warm-up, in each of which every attention runs once" +
                    (cold ? "; what takes several seconds has its first, cold run alone" : "") +
                    (few ? "; some of few rounds" : "") +
                    (slow ? "; the machine was slowed down during some of them" : "") + ".";
    if (speed_ups) table.caption += std::string(" ") + speed_ups_note;
    add(Heading{"Errors, cost and time"});
    add(std::move(table));
    add(std::move(definitions));
  }

  void add_methods() {
    add(Heading{"Methods"});
    const auto& recurrence = in_.problem.recurrence;
    add(Paragraph{
        (recurrence
             ? "Every variant is compared with what the head itself computes, a recurrence (" +
                   recurrence->name() + "): Z = P V."
             : std::string("Every variant is compared with exact attention of the same scale "
                           "and mask: Z = P V, P = softmax(S), S = s Q Kᵀ.")) +
        " Exact attention and all entries that are shown are computed in fp32."});
    for (std::size_t c = 0; c < in_.columns.size(); ++c) {
      const Computation& its = computation(c);
      const Variant& variant = *its.variant;
      const Variant& described = described_variant(variant, &its.op->problem());
      Facts facts{in_.grid.title_of(c) + ": " + described.paper,
                  {{"Formula", described.formula},
                   {"Parameters", parameters_text(variant, its.values, in_.columns[c].seed,
                                                  its.op->problem().recurrence.get())},
                   {"Cost", cost_text(its.cost)}}};
      for (const std::string& note : its.op->plan().notes) facts.rows.emplace_back("Note", note);
      const std::vector<Diagnostic>& figures = in_.grid.evaluated(c).diagnostics;
      for (const std::string& sentence : sentences_of(figures))
        facts.rows.emplace_back("Note", sentence);
      facts.rows.emplace_back("Its own numbers", figures_text(figures));
      add(std::move(facts));
    }
  }

  const Computation& computation(std::size_t column) const {
    return *in_.grid.evaluated(column).computation;
  }

  static std::string parameters_text(const Variant& variant, const Values& values,
                                     std::uint64_t seed, const Recurrence* recurrence) {
    const std::size_t first = first_parameter(variant, recurrence);
    std::string text = first > 0 ? "gates of the head" : "";
    for (std::size_t i = first; i < variant.schema.size(); ++i) {
      const std::string value = to_text(values[i]);
      if (value.empty() || !is_used(variant.schema[i], variant.schema, values)) continue;
      add_item(text, variant.schema[i].id + " = " + value);
    }
    return text.empty() ? text : text + ", seed = " + std::to_string(seed);
  }

  static std::string figures_text(const std::vector<Diagnostic>& figures) {
    std::string text;
    for (const Diagnostic& figure : figures)
      if (!figure.left_out && figure.words.empty())
        add_item(text, figure.label + ": " + to_text(figure), "; ");
    return text;
  }

  static std::string cost_text(const Cost& cost) {
    return format_count(cost.pairs) + " pairs, " + format_count(cost.multiply_adds) +
           " multiply-adds";
  }

  void add_again() {
    if (in_.recipe.command.empty()) return;
    add(Heading{"To make this report again"});
    add(Verbatim{in_.recipe.command});
  }

  const Layer& layer() const { return in_.source.layers[in_.layer]; }

  const HeadPagesRequest& in_;
  Run& run_;
  Pages pages_;
  ViewSettings settings_ = in_.settings;
  StripTops strip_tops_;  // of all figures
  int figures_ = 0;
};

}  // namespace

std::vector<Column> with_exact_first(std::vector<Column> columns) {
  std::erase_if(columns, [](const Column& column) { return is_reference(column.variant); });
  columns.insert(columns.begin(), {reference_variant().id, {}, 0});
  return columns;
}

Pages head_pages(const HeadPagesRequest& request, Run& run) {
  return HeadPages(request, run).pages();
}

}  // namespace fovea
