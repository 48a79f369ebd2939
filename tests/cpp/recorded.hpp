// Results that have no simple reference are compared with recorded sums, so that a change of any
// number is noticed. With the environment variable FALLIBLE_RECORD, the tests print the sums.
#ifndef FALLIBLE_TESTS_RECORDED_HPP
#define FALLIBLE_TESTS_RECORDED_HPP

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

// Compares weighted sums, one after the other, with the numbers in the list. add() adds values to
// the sum, and check() ends it.
class Recorded {
 public:
  explicit Recorded(std::vector<double> sums, double tolerance = 1e-7)
      : sums_(std::move(sums)), tolerance_(tolerance) {}
  ~Recorded() {
    if (!printed_) {
      CHECK(at_ == sums_.size());
      return;
    }
    std::printf("\n{");
    for (std::size_t i = 0; i < at_; ++i) std::printf(i == 0 ? "%.10g" : ", %.10g", found_[i]);
    std::printf("}\n");
  }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;

  void add(double value) {
    sum_ += (std::isfinite(value) ? value : 0.37) * (1 + count_ % 7 + 0.1 * (count_ % 11));
    ++count_;
  }
  template <class Values>
  void add_all(const Values& values) {
    for (const auto& value : values) add(static_cast<double>(value));
  }
  void check() {
    if (printed_) {
      found_.push_back(sum_);
    } else {
      REQUIRE(at_ < sums_.size());
      CAPTURE(at_);
      CHECK(sum_ == doctest::Approx(sums_[at_]).epsilon(tolerance_));
    }
    ++at_;
    sum_ = 0;
    count_ = 0;
  }

 private:
  std::vector<double> sums_, found_;
  double tolerance_;
  double sum_ = 0;
  int count_ = 0;
  std::size_t at_ = 0;
  bool printed_ = std::getenv("FALLIBLE_RECORD") != nullptr;
};

#endif
