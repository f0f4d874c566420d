#include "study/source_opening.h"

#include <utility>

#include "data/error.h"
#include "input/open_source.h"
#include "input/session_file.h"

namespace fovea {
namespace {

std::shared_ptr<const Source> read(const SourceOpening::Order& order) {
  OpenOptions options;
  if (order.session) options.patch = order.session->patch;
  auto source = std::make_shared<const Source>(open_source(order.what, options));
  if (source->layers.empty()) throw InputError(order.what, "no layer in it: at least one expected");
  if (order.session) check_session(*order.session, *source);
  return source;
}

}  // namespace

void SourceOpening::open(Order order) {
  requests_.cancel_all();
  order_ = std::move(order);
  const std::uint64_t number = ++order_number_;
  const auto source = std::make_shared<std::shared_ptr<const Source>>();
  requests_.start(
      {RequestKind::open}, number,
      [source, order = *order_](const Backend&, Run&) {
        *source = read(order);
        return false;
      },
      [this, number, source](const std::string& error) {
        if (!order_ || number != order_number_) return;  // cancelled, or a newer one was given
        const Order done = *std::exchange(order_, {});
        if (!error.empty()) return reported(QString::fromStdString(error));
        content_hash_.clear();
        hash_found_ = false;
        expected_hash_ = done.expected_hash;
        emit opened(std::move(*source), done);
      });
}

void SourceOpening::restart() {
  if (order_) open(*std::exchange(order_, {}));
}

// Also while paused, so that a session that is saved then has it, too.
void SourceOpening::find_hash(const Subject& subject) {
  if (hash_found_ || order_) return;
  const auto hash = std::make_shared<std::string>();
  requests_.start(
      {RequestKind::hash}, subject.source_number,
      [hash, path = subject.source->path](const Backend&, Run&) {
        *hash = content_hash_of(path);
        return false;
      },
      [this, hash, &subject, path = subject.source->path,
       number = subject.source_number](const std::string& error) {
        if (number != subject.source_number) return;
        hash_found_ = true;  // an error is not tried again
        if (!error.empty()) return reported(QString::fromStdString(error));
        take_hash(path, *hash);
      });
}

void SourceOpening::take_hash(const std::string& path, const std::string& hash) {
  content_hash_ = hash;
  const std::string expected = std::exchange(expected_hash_, {});
  if (expected.empty() || hash == expected) return;
  emit reported(QString::fromStdString(path) +
                ": its content has changed since the session was saved (found SHA-256 " +
                QString::fromStdString(hash).left(12) + "…, expected " +
                QString::fromStdString(expected).left(12) + "…)");
}

}  // namespace fovea
