#include "study/source_opening.h"

#include <algorithm>
#include <utility>

#include "data/address.h"
#include "data/error.h"
#include "input/bundled_models.h"
#include "input/model_place.h"
#include "input/open_source.h"
#include "input/session_file.h"
#include "worker/hosted_model.h"

namespace fovea {
namespace {

struct OpenedSource {
  std::shared_ptr<const Source> source;
  std::optional<ContentHash> hash;  // of words and pictures, which a session elsewhere shows by it
  RestOfSource rest;
};

/// Whether it is quickly found: of words and pictures, also with the weights of a bundled model.
bool has_quick_hash(const Source& source) {
  if (source.kind == "text" || source.kind == "image") return true;
  const std::string_view path = innermost(source.path);
  if (!is_model_address(path)) return false;
  const ModelAddress address = parse_model_address(path);
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

/// The last layer that a session shows; without one, the first layer.
Index last_layer_of(const SourceToOpen& from) {
  Index last = from.session ? from.session->layer : 0;
  for (const Column& column : from.session ? from.session->columns : std::vector<Column>())
    if (column.held && column.held->source.empty()) last = std::max(last, column.held->layer);
  return last;
}

OpenedSource read(const SourceToOpen& from, LastModel& last_model, LayerCounts& layers,
                  const Backend& backend, const Run& run) {
  RestOfSource rest;
  OpenOptions options{.threads = backend.threads(),
                      .last_model = &last_model,
                      .stop = run.stop,
                      .reached = [&run](double share) { run.reached(share); }};
  options.enough = last_layer_of(from);
  options.take_rest = [&rest](Index expected, MoreLayers more) {
    rest = {expected, std::move(more)};
  };
  options.reached_layers = [&layers](Index there, Index expected) {
    layers.there = there;
    layers.expected = expected;
  };
  if (from.session) options.patch = from.session->patch;
  auto source =
      from.source ? from.source : std::make_shared<const Source>(open_source(from.what, options));
  if (source->layers.empty()) throw InputError(from.what, "found no layer, expected at least one");
  if (from.session) check_session(*from.session, *source);
  // What is shown until then stays on screen.
  compute_layers(*source, from.session ? from.session->layer : 0, run);
  return {source, hash_at_once(*source, from.ask_for_other_content != nullptr, run),
          std::move(rest)};
}

bool is_same_model(const std::string& a, const std::string& b) {
  return is_model_address(a) && is_model_address(b) &&
         parse_model_address(a).folder == parse_model_address(b).folder;
}

}  // namespace

void compute_layers(const Source& source, Index last, const Run& run) {
  const Index count = std::min(last + 1, std::ssize(source.layers));
  for (Index i = 0; i < count; ++i) {
    const Layer& layer = source.layers[i];
    if (layer.has_qk()) layer.q.bytes->prepare(run.stop);
    run.reached(static_cast<double>(i + 1) / static_cast<double>(count));
  }
}

Session with_content_of(const Session& other, Session session) {
  session.source = other.source;
  session.patch = other.patch;
  session.viewport = other.viewport;
  session.pinned_query = other.pinned_query;
  session.spans = other.spans;
  return session;
}

void SourceOpening::open(SourceToOpen next) {
  const bool waits = !next.new_source && source_;
  if (!next.new_source || is_same_model(next.what, growth_.path()))
    growth_.stop();  // its model is to read something else
  (next.new_source ? source_ : content_) = std::move(next);
  if (!waits) read_pending();
}

void SourceOpening::read_pending() {
  layers_ = std::make_shared<LayerCounts>();
  requests_.cancel_all();
  requests_.start(
      {RequestKind::open}, 0,
      [from = *pending(), last_model = last_model_, layers = layers_](const Backend& backend,
                                                                      Run& run) {
        return read(from, *last_model, *layers, backend, run);
      },
      [this](const auto& result, const std::string& error) {
        auto& read = source_ ? source_ : content_;
        const SourceToOpen done = std::move(read.value());
        read.reset();
        const bool other_content = result && done.ask_for_other_content &&
                                   !(result->hash && result->hash->is(done.expected_hash));
        if (!result || other_content) {
          if (content_) read_pending();
          emit failed(done, QString::fromStdString(error));
          return other_content ? done.ask_for_other_content() : void();
        }
        take(result->source, result->hash, result->rest, done);
      });
}

void SourceOpening::take(const std::shared_ptr<const Source>& source,
                         const std::optional<ContentHash>& hash, RestOfSource rest,
                         const SourceToOpen& as) {
  emit about_to_open(as);
  content_.reset();  // of the source before
  if (!is_model_address(innermost(source->path))) {
    last_model_->forget();
    forget_hosted_model();
  }
  const bool same_files = !as.new_source && !source->files.empty() && source->files == files_;
  files_ = source->files;
  if (!same_files) {
    content_hash_ = hash ? hash->text() : "";
    hash_found_ = hash.has_value();
    expected_hash_ = as.expected_hash;
  }
  const bool is_other = hash && !as.expected_hash.empty() && !hash->is(as.expected_hash);
  SourceToOpen shown = as;
  if (is_other) shown.trees.clear();  // they were learned on the other content
  growth_.stop();
  if (rest.more) growth_.start(source, std::move(rest));
  emit opened(source, shown);
  if (is_other) report_other_content(source->path, as.expected_hash);
}

void SourceOpening::cancel() {
  requests_.cancel({RequestKind::open});
  source_.reset();
  content_.reset();
}

void SourceOpening::cancel_source() {
  if (!source_) return;
  requests_.cancel({RequestKind::open});
  source_.reset();
  if (content_) read_pending();
}

void SourceOpening::cancel_content() {
  if (!content_) return;
  if (!source_) requests_.cancel({RequestKind::open});
  content_.reset();
}

void SourceOpening::restart() {
  if (pending()) read_pending();
}

// Also while paused, so that a session that is saved then has it, too.
void SourceOpening::find_hash(const Subject& subject) {
  if (hash_found_ || pending() || requests_.is_pending({RequestKind::hash}, subject.source_number))
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
  emit reported(QString::fromStdString(readable_source(path)) +
                ": its content has changed since the session was saved (found SHA-256 " +
                QString::fromStdString(content_hash_).left(12) + "…, expected " +
                QString::fromStdString(expected).left(12) + "…)");
}

}  // namespace fovea

#include "moc_source_opening.cpp"
