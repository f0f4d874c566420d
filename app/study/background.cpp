#include "study/background.h"

#include <QCoreApplication>
#include <QPointer>
#include <exception>
#include <thread>
#include <utility>

#ifdef __linux__
#include <sys/resource.h>
#endif

namespace fovea {

void BackgroundThread::run(std::function<void()> work, QObject* receiver, Done done) {
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

void lower_thread_priority() {
#ifdef __linux__
  setpriority(PRIO_PROCESS, 0, niceness);  // on Linux this is the thread alone
#endif
}

std::unique_ptr<Backend> make_low_priority_backend(const BackendChoice& choice,
                                                   std::vector<std::string>* notes) {
  std::unique_ptr<Backend> backend;
  std::exception_ptr error;
  std::jthread([&] {
    lower_thread_priority();
    try {
      backend = make_backend(choice, notes);
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  if (error) std::rethrow_exception(error);
  return backend;
}

}  // namespace fovea
