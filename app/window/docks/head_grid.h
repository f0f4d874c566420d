// A HeadGrid has a cell for each head: a row for each layer, or one cell after the other.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "window/docks/head_bars.h"

namespace fovea {

class HeadGrid : public QAbstractTableModel {
 public:
  using Head = HeadCards::Head;

  /// `bars`: what they show is a part of the captions.
  HeadGrid(Study& study, HeadBars& bars, QObject* parent)
      : QAbstractTableModel(parent), study_(study), bars_(bars) {}
  /// The heads of a source, row by row, before `rows_to_come` rows without heads.
  void lay_out(std::shared_ptr<const Source> source, std::vector<Head> heads, int columns,
               int rows_to_come = 0);
  const std::shared_ptr<const Source>& source() const { return source_; }
  const std::vector<Head>& heads() const { return heads_; }
  QModelIndex cell(int place) const { return index(place / columns_, place % columns_); }
  /// Invalid: it is not shown.
  QModelIndex cell_of(const Head& head) const;
  /// Empty: the last row ends before it.
  std::optional<Head> head_in(const QModelIndex& cell) const;
  /// The number in a layer's name, where it tells the layers apart.
  QString number_of(Index layer) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& cell, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& cell) const override;

 private:
  QString caption(const Head& head) const;

  Study& study_;
  HeadBars& bars_;
  std::shared_ptr<const Source> source_;
  std::vector<Head> heads_;
  int columns_ = 1, rows_to_come_ = 0;
  QStringList numbers_;  // of layers
};

}  // namespace fovea
