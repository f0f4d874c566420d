#include "study/background.h"

#include <QCoreApplication>
#include <QPointer>
#include <utility>

namespace fovea {

Background::Background() {
  pool_.setMaxThreadCount(1);
}

Background::~Background() {
  pool_.waitForDone();
}

void Background::run(std::function<void()> work) {
  pool_.start(std::move(work));
}

void Background::run(std::function<void()> work, QObject* receiver, Done done) {
  run([work = std::move(work), receiver = QPointer(receiver), done = std::move(done)] {
    std::string error;
    try {
      work();
    } catch (const std::exception& problem) {
      error = problem.what();
    }
    const auto deliver = [receiver, done, error] {
      if (receiver)
        done(error);
      else if (!error.empty())
        qWarning("fovea: %s", error.c_str());
    };
    QMetaObject::invokeMethod(QCoreApplication::instance(), deliver, Qt::QueuedConnection);
  });
}

}  // namespace fovea
