// An EffectGrid has a cell for each head of a model, a row for each layer. Heads are chosen by
// painting cells, layers by their numbers; the cells are coloured by what was measured.
#pragma once

#include <QWidget>
#include <optional>
#include <span>

#include "study/effect_run.h"

namespace fovea {

class EffectGrid : public QWidget {
  Q_OBJECT

 public:
  /// What cells are coloured by.
  enum class Colours { chosen, change, policy };

  explicit EffectGrid(EffectRun& run);
  void set_colours(Colours colours);
  /// What the colours mean.
  QString scale() const;
  /// The middle of a cell, for tests.
  QPoint centre_of(Index layer, Index head) const;

  QSize sizeHint() const override { return {230, 190}; }
  QSize minimumSizeHint() const override { return {120, 96}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  /// A head, or all heads of a layer if the pointer is on its number.
  struct Place {
    Index layer = 0;
    std::optional<Index> head;
  };
  QSizeF cell() const;
  double left() const;
  QRectF box_of(Index layer, Index head) const;
  std::optional<Place> place_at(QPointF at) const;
  void paint_over(const Place& place, bool chosen);
  bool has(const Place& place) const;
  QColor colour_of(Index layer, Index head) const;
  /// The estimate of a head that is not measured yet.
  std::optional<double> estimate_of(Index layer, Index head) const;
  const UnitEffect* effect_of(Index layer, Index head) const;
  /// The best policy so far where one is or was looked for, else what was measured last.
  std::span<const ReplacedPart> policy_parts() const;
  const ReplacedPart* part_of(Index layer, Index head, std::size_t* number = nullptr) const;
  QString words(const Place& place) const;

  EffectRun& run_;
  Colours colours_ = Colours::chosen;
  bool painted_as_ = true;  // what the drag that began does
  Place current_;           // of the keyboard
  double largest_ = 0;      // change of a head alone
  double largest_estimate_ = 0;
};

}  // namespace fovea
