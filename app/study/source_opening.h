// A SourceOpening reads a source on the engine's thread and finds the hash of its content.
#pragma once

#include <QObject>
#include <memory>
#include <optional>
#include <string>

#include "study/requests.h"
#include "study/subject.h"

namespace fovea {

class SourceOpening : public QObject {
  Q_OBJECT

 public:
  struct Order {
    std::string what;                // a path, or synthetic:
    std::optional<Session> session;  // to take up; nullopt: the standard one
    std::string expected_hash;       // of the content the session was made with; empty: unknown
    bool new_source = true;          // false: the same image in other patches
  };

  explicit SourceOpening(Requests& requests) : requests_(requests) {}

  /// Replaces an order that has not ended yet.
  void open(Order order);
  void cancel() { order_.reset(); }
  /// Starts an order that has not ended yet again, after its request was lost.
  void restart();
  const std::optional<Order>& order() const { return order_; }

  /// Finds the hash of the subject's source, unless it is known.
  void find_hash(const Subject& subject);
  /// SHA-256; empty: not known yet, or the source has no file.
  const std::string& content_hash() const { return content_hash_; }
  /// Of the opened source, as far as anything is known of it.
  const std::string& expected_hash() const {
    return content_hash_.empty() ? expected_hash_ : content_hash_;
  }

 signals:
  void opened(std::shared_ptr<const fovea::Source> source,
              const fovea::SourceOpening::Order& order);
  /// The source could not be opened, or its content is not the expected one.
  void reported(const QString& message);

 private:
  void take_hash(const std::string& path, const std::string& hash);

  Requests& requests_;
  std::optional<Order> order_;
  std::uint64_t order_number_ = 0;
  std::string content_hash_, expected_hash_;
  bool hash_found_ = false;
};

}  // namespace fovea
