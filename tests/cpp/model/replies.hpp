// Panels of raters who abstain in some cases.
#ifndef FALLIBLE_TESTS_MODEL_REPLIES_HPP
#define FALLIBLE_TESTS_MODEL_REPLIES_HPP

#include <sstream>
#include <string>
#include <vector>

#include "core/model/latent_rows.hpp"

// Combinations of replies with their counts, as text. One character per rater: digits are
// categories, '?' is an abstention, and '.' means that the rater was not asked.
struct Replies {
  Replies(const std::string& text, int categories) : categories_(categories) {
    std::istringstream in(text);
    double n = 0;
    for (std::string row; in >> row >> n; weight.push_back(n)) {
      raters_ = static_cast<int>(row.size());
      for (int j = 0; j < raters_; ++j) {
        if (row[j] == '?') abstained_.push_back(j + 1);
        if (row[j] < '1' || row[j] > '9') continue;
        rater_.push_back(j + 1);
        category_.push_back(row[j] - '0');
      }
      start_.push_back(static_cast<int>(rater_.size()));
      abstained_start_.push_back(static_cast<int>(abstained_.size()));
    }
  }

  fallible::LatentRows rows() const {
    fallible::PatternView view;
    view.patterns = static_cast<int>(weight.size());
    view.raters = raters_;
    view.categories = categories_;
    view.start = start_.data();
    view.rater = rater_.data();
    view.category = category_.data();
    view.abstained_start = abstained_start_.data();
    view.abstained = abstained_.data();
    return fallible::latent_rows(view, weight, -1, {});
  }

  std::vector<double> weight;

 private:
  int categories_, raters_ = 0;
  std::vector<int> start_{0}, rater_, category_, abstained_start_{0}, abstained_;
};

// Three diagnostic tests. Category 1 is "-", 2 is "+".
inline Replies three_tests() {
  return Replies(
      "111 95 211 9 ?11 8 121 8 221 6 ?21 1 1?1 4 2?1 1 ??1 1 112 12 212 4 ?12 2 122 5 222 20 ?22 "
      "6 "
      "1?2 1 2?2 6 ??2 2 11? 6 21? 2 ?1? 1 12? 1 22? 7 ?2? 3 1?? 1 2?? 3 ??? 2",
      2);
}

inline Replies four_sources() {
  return Replies(
      "???? 150 1??? 40 ?1?? 35 11?? 22 ??2? 30 ???2 45 ??22 26 1?2? 6 ?1?2 8 11?2 3 1?22 2", 2);
}

#endif
