// What the core asks of whoever calls it during long work, and the loop that asks.
#ifndef FALLIBLE_CORE_BASE_HOST_HPP
#define FALLIBLE_CORE_BASE_HOST_HPP

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
#include <vector>

namespace fallible {

struct Host {
  // Called on the main thread a few times a second with the number of finished items; returns
  // false to stop.
  std::function<bool(std::size_t)> tick = [](std::size_t) { return true; };
};

class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

// Calls work(item) for item = 0 ... items - 1 on so many threads. Whatever an item needs at random
// it must draw from a stream of its own number, and write only to a place of its own: then results
// do not depend on the number of threads. The error of the lowest item that failed is thrown.
template <class Work>
void for_each_item(std::size_t items, int threads, const Host& host, const Work& work) {
  using clock = std::chrono::steady_clock;
  constexpr auto patience = std::chrono::milliseconds(50);

  if (threads <= 1) {
    auto last = clock::now();
    for (std::size_t i = 0; i < items; ++i) {
      work(i);
      if (clock::now() - last > patience) {
        if (!host.tick(i + 1)) throw Interrupted();
        last = clock::now();
      }
    }
    return;
  }

  std::atomic<std::size_t> next{0}, done{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::condition_variable finished;
  int running = threads;
  std::size_t failed_item = items;
  std::exception_ptr failure;

  auto run = [&] {
    for (std::size_t i; !stop && (i = next++) < items; ++done) {
      try {
        work(i);
      } catch (...) {
        std::lock_guard<std::mutex> lock(mutex);
        if (i < failed_item) {
          failed_item = i;
          failure = std::current_exception();
        }
        stop = true;
      }
    }
    std::lock_guard<std::mutex> lock(mutex);
    --running;
    finished.notify_one();
  };

  std::vector<std::thread> workers;
  try {
    for (int t = 0; t < threads; ++t) workers.emplace_back(run);
  } catch (const std::system_error&) {  // the system gives no more threads
    if (workers.empty()) throw;
    std::lock_guard<std::mutex> lock(mutex);
    running -= threads - static_cast<int>(workers.size());
  }
  std::exception_ptr interruption;
  for (;;) {
    {
      std::unique_lock<std::mutex> lock(mutex);
      if (finished.wait_for(lock, patience, [&] { return running == 0; })) break;
    }
    if (interruption) continue;
    try {  // whatever the host throws must wait until the workers have stopped
      if (!host.tick(done)) throw Interrupted();
    } catch (...) {
      interruption = std::current_exception();
      stop = true;
    }
  }
  for (std::thread& worker : workers) worker.join();
  if (failure) std::rethrow_exception(failure);
  if (interruption) std::rethrow_exception(interruption);
}

}  // namespace fallible

#endif
