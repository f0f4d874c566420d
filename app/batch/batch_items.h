// BatchItems are the items of a plan for its sources: each is one setting of a variant with one
// seed on one head. They are numbered from 0, head after head, the same in every process.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "batch/batch_plan.h"
#include "data/error.h"
#include "data/source.h"

namespace fovea {

struct BatchHead {
  std::size_t source = 0;  // in the plan
  Index layer = 0, head = 0;
  std::string layer_name;  // as layer_label has it
  Index n = 0, d = 0, dv = 0;
  bool causal = false;
  std::size_t settings = 0;               // index of its list of settings, which heads may share
  std::size_t first_item = 0, items = 0;  // its items are numbered one after the other
};

struct BatchSetting {
  const Variant* variant = nullptr;
  Values values;
};

struct BatchItem {
  std::size_t number = 0, head = 0;  // the head's place in heads()
  const BatchSetting& setting;
  std::uint64_t seed = 0;
};

/// One of `of` equal shares of the heads; 1 of 1 has all heads.
struct Shard {
  std::size_t number = 1, of = 1;  // number: from 1

  bool has(std::size_t head) const { return head % of == number - 1; }
};
/// "2/8". Throws UsageError.
Shard shard_from(const std::string& text);

class BatchItems {
 public:
  /// Opens each source once. Throws InputError for sources that cannot be opened, and for layers
  /// and heads that they do not have, with the place in the plan; Cancelled.
  explicit BatchItems(BatchPlan plan, const std::stop_token& stop = {});

  const BatchPlan& plan() const { return plan_; }
  const std::vector<BatchHead>& heads() const { return heads_; }
  std::size_t size() const;
  BatchItem item(std::size_t number) const;
  /// "minilm-l6.safetensors layer0, head 3: hyper block=32 samples=32, seed 0".
  std::string text_of(std::size_t number) const;
  /// Opens the source again. Throws ChangedError if its files have changed since these items were
  /// made, and what open_source throws.
  Source open(std::size_t source, const std::stop_token& stop) const;
  /// The error of an item whose source changed while it was read. It says what to do in a sweep;
  /// the error of reading would say to open the source again.
  ChangedError changed(std::size_t source) const;
  /// Variants of groups that were left out of some head, as they have no form for it.
  const std::vector<const Variant*>& left_out() const { return left_out_; }

  /// A hash of all items, of the content of the sources, and of the way of measuring: 16
  /// hexadecimal digits. Reads the sources. Throws ChangedError if one has changed since it was
  /// opened, Cancelled.
  std::string fingerprint(const std::stop_token& stop = {}) const;

 private:
  void add_source(std::size_t source, const std::stop_token& stop);
  SourceFiles files_now(std::size_t source) const;
  void require_unchanged(std::size_t source, const SourceFiles& files, const char* advice) const;
  ChangedError change_of(std::size_t source, const char* advice) const;
  std::vector<Index> layers_of(const Source& source) const;
  std::size_t settings_for(Lengths lengths, bool causal);

  struct SettingList {
    Lengths lengths = {};
    bool causal = false;
    std::vector<BatchSetting> settings;
  };
  BatchPlan plan_;
  std::vector<SourceFiles> files_;  // of each source, not kept open
  std::vector<BatchHead> heads_;
  std::vector<SettingList> settings_;
  std::vector<const Variant*> left_out_;
};

}  // namespace fovea
