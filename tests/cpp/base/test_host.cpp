#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "core/base/host.hpp"

using namespace fallible;

TEST_CASE("every item is done once, on any number of threads") {
  for (const int threads : {1, 2, 8}) {
    std::vector<int> done(1000, 0);
    for_each_item(done.size(), threads, Host(), [&](std::size_t i) { ++done[i]; });
    CHECK(std::count(done.begin(), done.end(), 1) == 1000);
  }
}

TEST_CASE("the error of the first failed item is thrown") {
  for (const int threads : {1, 4}) {
    CAPTURE(threads);
    std::string message;
    try {
      for_each_item(100, threads, Host(), [](std::size_t i) {
        if (i >= 3) throw std::runtime_error("item " + std::to_string(i));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      });
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    CHECK(message == "item 3");
  }
}

TEST_CASE("the computation stops when the host requests it") {
  for (const int threads : {1, 2}) {
    Host host;
    std::size_t reported = 0;
    host.tick = [&](std::size_t done) {
      reported = done;
      return false;
    };
    std::atomic<int> started{0};
    CHECK_THROWS_AS(for_each_item(10000, threads, host,
                                  [&](std::size_t) {
                                    ++started;
                                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                  }),
                    Interrupted);
    CHECK(started < 10000);
    CHECK(reported > 0);
  }
}

TEST_CASE("an exception of the host is rethrown after all threads have stopped") {
  for (const int threads : {1, 2}) {
    Host host;
    host.tick = [](std::size_t) -> bool { throw std::domain_error("host"); };
    CHECK_THROWS_AS(for_each_item(10000, threads, host,
                                  [](std::size_t) {
                                    std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                  }),
                    std::domain_error);
  }
}

TEST_CASE("zero items finish at once") {
  for (const int threads : {1, 4}) {
    bool called = false;
    for_each_item(0, threads, Host(), [&](std::size_t) { called = true; });
    CHECK(!called);
  }
}

TEST_CASE("a long computation within an item stops when it is cancelled") {
  for (const int threads : {1, 2}) {
    const auto begin = std::chrono::steady_clock::now();
    Host host;
    host.tick = [&](std::size_t) {
      return std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(100);
    };
    CHECK_THROWS_AS(for_each_item(2, threads, host,
                                  [](std::size_t) {
                                    for (;;) count_steps(16);
                                  }),
                    Interrupted);
  }
}

TEST_CASE("the host of a nested computation is asked within it, and its exception is thrown") {
  for (const int threads : {1, 2}) {
    const Watch watch([]() -> bool { throw std::domain_error("outer"); });
    CHECK_THROWS_AS(for_each_item(2, threads, Host(),
                                  [](std::size_t) {
                                    for (;;) count_steps(16);
                                  }),
                    std::domain_error);
  }
  count_steps(1000);  // there is no user to ask
}
