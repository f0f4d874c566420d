#include "study/background.h"

#include <QCoreApplication>
#include <QPointer>
#include <exception>
#include <new>
#include <thread>
#include <utility>

#include "data/retry.h"

#ifdef __linux__
#include <sys/resource.h>
#endif

namespace fovea {

BackgroundThread::~BackgroundThread() {
  end_.request_stop();
  pool_.waitForDone();
}

void BackgroundThread::run(std::function<void()> work, QObject* receiver, Done done) {
  run([work = std::move(work), receiver = QPointer(receiver), done = std::move(done),
       end = end_.get_token()] {
    const auto report = [&](const char* error) {
      retry_until_allocated(end, [&] {
        const auto deliver = [receiver, done, error = std::string(error)] {
          if (receiver)
            done(error);
          else if (!error.empty())
            qWarning("fovea: %s", error.c_str());
        };
        QMetaObject::invokeMethod(QCoreApplication::instance(), deliver, Qt::QueuedConnection);
      });
    };
    try {
      work();
    } catch (const std::bad_alloc&) {
      return report("not enough memory");
    } catch (const std::exception& problem) {
      return report(problem.what());
    }
    report("");
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
