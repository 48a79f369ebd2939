// Small data sets that several tests use.
#ifndef FALLIBLE_TESTS_PANEL_HPP
#define FALLIBLE_TESTS_PANEL_HPP

#include <string>
#include <vector>

#include "core/ratings/patterns.hpp"
#include "core/ratings/tallies.hpp"

// Ratings as letters: one string per rater or system, one character per case. '.' is a missing
// rating.
struct Panel {
  Panel(const std::vector<std::string>& raters, const std::vector<std::string>& systems,
        int categories)
      : raters_(raters.size()), categories_(categories) {
    for (const auto& text : raters) columns_.push_back(codes(text));
    for (const auto& text : systems) answers_.push_back(codes(text));
    cases_ = raters.front().size();
    fallible::Columns columns, answers;
    for (const auto& column : columns_) columns.push_back(column.data());
    for (const auto& answer : answers_) answers.push_back(answer.data());
    patterns = fallible::patterns_from_wide(columns, answers, cases_);
  }

  fallible::PatternView view() const {
    return patterns.view(static_cast<int>(raters_), categories_, static_cast<int>(answers_.size()));
  }

  std::vector<double> weights() const {
    return fallible::pattern_weights(patterns.index.data(), nullptr, cases_, view().patterns);
  }

  fallible::Tallies tallies() const { return fallible::make_tallies(view(), weights()); }

  fallible::Patterns patterns;

 private:
  static std::vector<int> codes(const std::string& text) {
    std::vector<int> out;
    for (const char c : text) out.push_back(c == '.' ? 0 : c - 'A' + 1);
    return out;
  }

  std::size_t raters_;
  int categories_;
  std::size_t cases_ = 0;
  std::vector<std::vector<int>> columns_, answers_;
};

// Table 2 of Lehner (2015).
inline Panel lehner() {
  return Panel({"CBCBACAADA", "DDCBBBADBD", "CCDDBDABAA", "CCCDBAACAB"}, {"ACCBBAACDB"}, 4);
}

// Ratings that mostly agree, with a system.
inline Panel three_raters() {
  return Panel({"ABCABCABBCABCABCABBC", "ABCABCACBAABCBBCABCC", "ABCBBCABCCABAABCABCC"},
               {"ABCABBABBCABCABCABBC"}, 3);
}

#endif
