// Loop over items on several threads, which reports progress and can be interrupted. The core does
// not know R: it asks a Host, an object of the calling program, whether to continue.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace fallible {

// Callback of the program that calls the core.
struct Host {
  // The core calls `tick` on the main thread, up to 20 times a second, with the number of finished
  // items. The calling program may show progress in this function. The function returns false to
  // stop the computation.
  std::function<bool(std::size_t)> tick = [](std::size_t) { return true; };
};

// Thrown if the calling program has stopped the computation.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

// Makes it possible to stop long work on the current thread. While a Watch exists, Watch::check()
// throws Interrupted if the function `is_wanted` returns false. If a thread has several watches,
// check() calls the functions of all of them. Long work that is not a loop over items must call
// check() now and then.
class Watch {
 public:
  explicit Watch(std::function<bool()> is_wanted)
      : is_wanted_(std::move(is_wanted)), outer_(current()) {
    current() = this;
  }
  ~Watch() { current() = outer_; }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  static void check() {
    for (const Watch* watch = current(); watch; watch = watch->outer_) {
      if (!watch->is_wanted_()) throw Interrupted();
    }
  }

 private:
  static Watch*& current() {
    thread_local Watch* innermost = nullptr;
    return innermost;
  }

  std::function<bool()> is_wanted_;
  Watch* outer_;
};

// Counts steps of work, each of about a microsecond. After every 256 steps it calls Watch::check(),
// so that an interrupt takes effect within a millisecond at little cost.
inline void count_steps(unsigned steps) {
  thread_local unsigned steps_since_check = 0;
  steps_since_check += steps;
  if (steps_since_check < 256) return;
  steps_since_check = 0;
  Watch::check();
}

// Limits how often a slow check is made. has_elapsed() returns true if 50 ms have passed since it
// last returned true (or since the start).
class IntervalTimer {
 public:
  bool has_elapsed() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_time_ <= least_interval) return false;
    last_time_ = now;
    return true;
  }

  static constexpr auto least_interval = std::chrono::milliseconds(50);

 private:
  std::chrono::steady_clock::time_point last_time_ = std::chrono::steady_clock::now();
};

// Calls work(item) for item = 0 ... items - 1 on `threads` threads. Each item must draw random
// numbers from a stream with the item's number, and write only to memory of this item. Then results
// do not depend on the number of threads. If several items throw, rethrows the exception of the
// item with the lowest number. Throws Interrupted if the host stops the computation.
template <class Work>
void for_each_item(std::size_t items, int threads, const Host& host, const Work& work) {
  if (threads <= 1) {
    std::size_t i = 0;
    IntervalTimer timer;
    const Watch watch([&] { return !timer.has_elapsed() || host.tick(i); });
    while (i < items) {
      work(i++);
      if (timer.has_elapsed() && !host.tick(i)) throw Interrupted();
    }
    return;
  }

  std::atomic<std::size_t> next_item{0}, n_finished{0};
  std::atomic<bool> must_stop{false}, is_cancelled{false};
  std::mutex mutex;
  std::condition_variable finished;
  int n_running = threads;
  std::size_t failed_item = items;
  std::exception_ptr failure;

  auto run = [&] {
    const Watch watch([&] { return !is_cancelled; });
    for (std::size_t i; !must_stop && (i = next_item++) < items; ++n_finished) {
      try {
        work(i);
      } catch (...) {
        if (is_cancelled) break;
        std::lock_guard<std::mutex> lock(mutex);
        if (i < failed_item) {
          failed_item = i;
          failure = std::current_exception();
        }
        must_stop = true;
      }
    }
    std::lock_guard<std::mutex> lock(mutex);
    --n_running;
    finished.notify_one();
  };

  std::vector<std::thread> workers;
  try {
    for (int t = 0; t < threads; ++t) workers.emplace_back(run);
    // If the operating system provides no more threads, continues with the threads that started.
  } catch (const std::system_error&) {
    if (workers.empty()) throw;
    std::lock_guard<std::mutex> lock(mutex);
    n_running -= threads - static_cast<int>(workers.size());
  }
  std::exception_ptr interruption;
  for (;;) {
    {
      std::unique_lock<std::mutex> lock(mutex);
      if (finished.wait_for(lock, IntervalTimer::least_interval, [&] { return n_running == 0; }))
        break;
    }
    if (interruption) continue;
    // The exception is stored, and rethrown after all threads have ended, because these threads use
    // variables of this function.
    try {
      if (!host.tick(n_finished)) throw Interrupted();
      Watch::check();
    } catch (...) {
      interruption = std::current_exception();
      must_stop = is_cancelled = true;
    }
  }
  for (std::thread& worker : workers) worker.join();
  if (failure) std::rethrow_exception(failure);
  if (interruption) std::rethrow_exception(interruption);
}

}  // namespace fallible
