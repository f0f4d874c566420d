// A ColourScale is how the numbers of one or several panels become colours, and the bar or legend
// that says so.
#pragma once

#include <optional>
#include <vector>

#include "figure/colormap.h"
#include "figure/ink.h"
#include "figure/legend.h"
#include "figure/special_colours.h"
#include "figure/ticks.h"

namespace fovea {

struct ColourScale : ValueColours, SpecialColours {
  std::vector<std::string> categories;
  QString label;               // quantity and norm
  bool whole_numbers = false;  // ranks and levels, not shares

  /// How many colours there are when the numbers are few whole ones; 0: a continuous scale.
  int steps() const;
};

/// What a panel's numbers are coloured by; nothing for panels without.
std::optional<ColourScale> colour_scale_of(const Panel& panel, const FigureStyle& style);

/// True when two panels can be read with one bar: same quantity, norm and palette.
bool same_kind(const ColourScale& a, const ColourScale& b);

/// Widens `scale` to cover `other`.
void widen(ColourScale& scale, const ColourScale& other);

/// Notes which values of the panel fall outside the scale.
void mark_outliers(ColourScale& scale, const Panel& panel);

/// A colour bar (or swatches) laid out: the label beside it when `wide`, else beneath.
class ColourBar {
 public:
  ColourBar(const ColourScale& scale, const Lettering& letters, double width, bool wide);
  double height() const { return height_; }
  void draw(Ink& ink, QPointF top_left) const;

 private:
  void lay_out_gradient(const Lettering& letters, double width, bool wide);
  void lay_out_legend(const Lettering& letters, double width, bool wide);
  void draw_gradient(Ink& ink) const;
  struct Number {
    QString text;
    double x = 0;  // of the tick
    QRectF box;
  };
  std::vector<Number> numbers(const Lettering& letters, const QRectF& bar) const;

  ColourScale scale_;
  double height_ = 0;
  QRectF bar_;  // empty: swatches only
  QRectF label_;
  QStringList label_lines_;
  Legend legend_;
  QPointF legend_at_;
};

}  // namespace fovea
