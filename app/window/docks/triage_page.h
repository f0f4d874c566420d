// A TriagePage shows which pattern of sparse prefill each head takes under a budget of pairs.
#pragma once

#include "study/triage_run.h"
#include "window/docks/measuring_page.h"

class QDoubleSpinBox;
class QLabel;
class QModelIndex;
class QPushButton;

namespace fovea {

class SortedRows;
class TriageModel;
struct TriagedHeadRow;

class TriagePage : public MeasuringPage {
  Q_OBJECT

 public:
  explicit TriagePage(Study& study);
  ~TriagePage() override;

  QTableView& table() override { return *view_; }
  void measure(bool on) override;
  MeasuringFooter::State state() const override;
  std::string csv() const override;
  std::string json() const override;
  std::pair<QString, QString> words_of_export() const override {
    return {"Export the pattern of each head", "triage.json"};
  }
  const TriageRun& run() const { return run_; }
  /// What MInference reads as config_path. The run is complete, and its heads are causal.
  std::string config() const;

 signals:
  /// A head is to be opened, and its pattern shown as a column.
  void pattern_chosen(const std::pair<fovea::Index, fovea::Index>& head,
                      const fovea::OwnSetting& setting);
  void config_wanted();

 private:
  TriageRule rule() const;
  void follow_study();
  void refresh();
  void choose(const QModelIndex& index);
  QString summary(const std::vector<TriagedHeadRow>& rows, bool for_minference) const;
  /// Why MInference cannot run the rows that were found; empty if it can.
  QString why_no_config(const std::vector<TriagedHeadRow>& rows) const;

  Study& study_;
  TriageRun run_;
  bool on_ = false;
  bool fits_complete_ = false;  // the widths of the table's columns suit all rows
  QDoubleSpinBox *budget_, *keep_;
  QLabel* summary_;
  QPushButton *stop_, *config_;
  TriageModel* model_;
  SortedRows* sorted_;
  QTableView* view_;
};

}  // namespace fovea
