// A SourceOpening reads a source on the engine's thread and finds the hash of its content: of words
// and pictures at once, of tensors later and in pieces, as it is long work for large files.
#pragma once

#include <QObject>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "input/content_hash.h"
#include "input/last_model.h"
#include "session/column_tree.h"
#include "study/requests.h"
#include "study/source_growth.h"
#include "study/subject.h"

namespace fovea {

/// A source that is to be opened.
struct SourceToOpen {
  std::string what;                // a path, or synthetic:
  std::optional<Session> session;  // to restore; nullopt: the standard one
  std::string expected_hash;       // of the content the session was made with; empty if unknown
  bool new_source = true;  // false: the same image in other patches, what the same model reads
                           // now, or a later step
  std::shared_ptr<const Source> source = {};  // it is there already; null if it is to be read
  /// Called instead of showing content that has another hash than the expected one. If it is
  /// null, the content is shown and the change is reported.
  std::function<void()> ask_for_other_content = {};
  std::vector<ColumnTree> trees = {};  // of the session
};

/// Whether both show the same source, and of an image the same patches.
inline bool same_content(const Session& a, const Session& b) {
  return a.source == b.source && a.patch == b.patch;
}

/// The Session of what another one shows, in the same patches, and with what is seen of them.
Session with_content_of(const Session& other, Session session);

/// Computes the layers of a model up to the one that is wanted, if there is such a layer. Other
/// sources have all layers.
void compute_layers(const Source& source, Index last, const Run& run);

/// How many layers of a model are there, and how many are expected; 0 if that is not known.
struct LayerCounts {
  std::atomic<Index> there = 0, expected = 0;
};

class SourceOpening : public QObject {
  Q_OBJECT

 public:
  explicit SourceOpening(Requests& requests) : requests_(requests) {}

  /// Replaces one that is still being opened. Other content of the source that is shown waits while
  /// a new source is being opened: it is forgotten once that is there, and opened if it fails.
  void open(SourceToOpen source);
  void cancel();
  void cancel_source();   // the new one
  void cancel_content();  // other content of the source that is shown
  /// Other content that the source that is shown will have: other patches, or what its model reads
  /// next.
  const std::optional<SourceToOpen>& content() const { return content_; }
  /// Meanwhile the Session that is shown has changed: that goes for both.
  void change_session(const Session& session) {
    content_->session = with_content_of(*content_->session, session);
  }
  /// Opens what is still pending again, after its request was lost.
  void restart();
  /// What is being opened.
  const std::optional<SourceToOpen>& pending() const { return source_ ? source_ : content_; }
  bool opens_source() const { return source_.has_value(); }

  /// The layers of the opened source that are still to come. Other content for the same model ends
  /// it; another source does once that is there.
  SourceGrowth& growth() { return growth_; }
  const SourceGrowth& growth() const { return growth_; }
  /// Those of the source that is being opened.
  const LayerCounts& layers() const { return *layers_; }

  /// The model that was opened last, which others may read from.
  const std::shared_ptr<LastModel>& last_model() const { return last_model_; }

  /// Finds the hash of the subject's source, unless it is known.
  void find_hash(const Subject& subject);
  /// SHA-256 that was found of the opened source, else the expected one; empty if not known yet, or
  /// the source has no file.
  const std::string& content_hash() const {
    return content_hash_.empty() ? expected_hash_ : content_hash_;
  }

 signals:
  void opened(std::shared_ptr<const fovea::Source> source, const fovea::SourceToOpen& as);
  /// Just before `opened`: the hash is still that of the source before.
  void about_to_open(const fovea::SourceToOpen& as);
  /// Without a message: it has other content, for which is asked.
  void failed(const fovea::SourceToOpen& as, const QString& message);
  /// The content has no hash, or not the expected one.
  void reported(const QString& message);

 private:
  void read_pending();
  void take(const std::shared_ptr<const Source>& source, const std::optional<ContentHash>& hash,
            RestOfSource rest, const SourceToOpen& as);
  void report_other_content(const std::string& path, const std::string& expected);

  Requests& requests_;
  std::optional<SourceToOpen> source_, content_;
  std::shared_ptr<LastModel> last_model_ = std::make_shared<LastModel>();
  std::shared_ptr<LayerCounts> layers_ = std::make_shared<LayerCounts>();
  SourceGrowth growth_;
  SourceFiles files_;  // that the hash is of
  std::string content_hash_, expected_hash_;
  bool hash_found_ = false;
};

}  // namespace fovea
