#include "study/source_opening.h"

#include <utility>

#include "data/error.h"
#include "data/model_address.h"
#include "input/bundled_models.h"
#include "input/content_hash.h"
#include "input/open_source.h"
#include "input/session_file.h"

namespace fovea {
namespace {

struct OpenedSource {
  std::shared_ptr<const Source> source;
  std::optional<ContentHash> hash;  // of words and pictures, which a session elsewhere shows by it
};

/// Whether it is quickly found: of words and pictures, also with the weights of a bundled model.
bool has_quick_hash(const Source& source) {
  if (source.kind == "text" || source.kind == "image") return true;
  if (!is_model_address(source.path)) return false;
  const ModelAddress address = parse_model_address(source.path);
  return is_bundled(address.folder) && address.input;
}

/// `asked`: somebody waits for it.
std::optional<ContentHash> hash_at_once(const Source& source, bool asked, const Run& run) {
  if (!asked && !has_quick_hash(source)) return {};
  try {
    return content_hash_of(source.files, run.stop);
  } catch (const ChangedError&) {
    return {};
  }
}

OpenedSource read(const SourceToOpen& from, const Run& run) {
  OpenOptions options{.stop = run.stop, .reached = [&run](double share) { run.reached(share); }};
  if (from.session) options.patch = from.session->patch;
  auto source =
      from.source ? from.source : std::make_shared<const Source>(open_source(from.what, options));
  if (source->layers.empty()) throw InputError(from.what, "found no layer, expected at least one");
  if (from.session) check_session(*from.session, *source);
  return {source, hash_at_once(*source, from.ask_for_other_content != nullptr, run)};
}

}  // namespace

Session with_content_of(const Session& other, Session session) {
  session.source = other.source;
  session.patch = other.patch;
  session.viewport = other.viewport;
  session.pinned_query = other.pinned_query;
  session.spans = other.spans;
  return session;
}

void SourceOpening::open(SourceToOpen source) {
  requests_.cancel_all();
  pending_ = std::move(source);
  requests_.start(
      {RequestKind::open}, 0,
      [from = *pending_](const Backend&, Run& run) { return read(from, run); },
      [this](const auto& result, const std::string& error) {
        const SourceToOpen done = std::move(pending_.value());
        pending_.reset();
        if (!result) return failed(done, QString::fromStdString(error));
        const auto& hash = result->hash;
        if (done.ask_for_other_content && !(hash && hash->is(done.expected_hash))) {
          emit failed(done, {});
          return done.ask_for_other_content();
        }
        emit about_to_open(done);
        content_hash_ = hash ? hash->text() : "";
        hash_found_ = hash.has_value();
        expected_hash_ = done.expected_hash;
        emit opened(result->source, done);
        if (hash && !done.expected_hash.empty() && !hash->is(done.expected_hash))
          report_other_content(result->source->path, done.expected_hash);
      });
}

void SourceOpening::cancel() {
  requests_.cancel({RequestKind::open});
  pending_.reset();
}

void SourceOpening::restart() {
  if (!pending_) return;
  SourceToOpen again = std::move(*pending_);
  pending_.reset();
  open(std::move(again));
}

// Also while paused, so that a session that is saved then has it, too.
void SourceOpening::find_hash(const Subject& subject) {
  if (hash_found_ || pending_ || requests_.is_pending({RequestKind::hash}, subject.source_number))
    return;
  const std::string path = subject.source->path;
  const auto hash = std::make_shared<ContentHash>(subject.source->files);
  requests_.start_pieces(
      {RequestKind::hash}, subject.source_number,
      [hash](const Backend&, Run&) { return hash->advance(); },
      [this, hash, path](const std::string& error) {
        hash_found_ = true;  // an error is not tried again
        const std::string expected = std::exchange(expected_hash_, {});
        if (!error.empty())
          return reported(QString::fromStdString(error) +
                          ". What is saved has no hash of its content.");
        content_hash_ = hash->text();
        if (!expected.empty() && !hash->is(expected)) report_other_content(path, expected);
      });
}

void SourceOpening::report_other_content(const std::string& path, const std::string& expected) {
  emit reported(QString::fromStdString(path) +
                ": its content has changed since the session was saved (found SHA-256 " +
                QString::fromStdString(content_hash_).left(12) + "…, expected " +
                QString::fromStdString(expected).left(12) + "…)");
}

}  // namespace fovea

#include "moc_source_opening.cpp"
