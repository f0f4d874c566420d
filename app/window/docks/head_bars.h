// HeadBars show a measure of each head as a small bar over its picture.
#pragma once

#include <QPainter>
#include <memory>
#include <optional>

#include "study/study.h"

namespace fovea {

class HeadBars {
 public:
  using Head = HeadCards::Head;

  explicit HeadBars(Study& study) : study_(study) {}
  /// A place in head_measures(), or nothing if there are to be no bars.
  void choose(std::optional<std::size_t> measure);
  bool chosen() const { return measure_.has_value(); }
  /// Whether they are seen: heads are measured, in the background, only then.
  void show(bool on);
  /// To be called when the study has measured more heads.
  void refresh();
  /// Within the cell of a head, along its upper edge.
  void draw(QPainter& painter, const QRect& cell, const Head& head);
  /// "induction 0.43"; why there is none; empty if it is not measured yet.
  QString text(const Head& head);

 private:
  const HeadValue* value(const Head& head);
  void want();

  Study& study_;
  std::optional<std::size_t> measure_;
  bool shown_ = false;
  std::shared_ptr<const void> measuring_;          // null: not wanted
  std::shared_ptr<const MeasuredHead> last_read_;  // keeps value() alive
  double top_ = 1;                                 // this value has a whole bar
};

}  // namespace fovea
