// How sure judges say they are, which depends on whether they are right.
#pragma once

#include <vector>

namespace fallible {

// Probabilities of levels with an answer, the same for all judges and categories. Those of
// wrong answers have logits against the lowest; those of right ones have these plus a sum of
// steps that are positive: the more sure, the more often right. Parameters: the logits, then the
// logarithms of the steps.
class LevelLaw {
 public:
  LevelLaw(const double* parameters, int levels);

  static int size(int levels) { return levels > 0 ? 2 * (levels - 1) : 0; }
  double of(bool right, int level) const { return (right ? right_ : wrong_)[level]; }

  // Calls put(parameter, slope of the log probability of a level).
  template <class Put>
  void score(bool right, int level, const Put& put) const {
    const int steps = static_cast<int>(step_.size());
    double reached = 1;  // a step moves all levels from its own on
    for (int j = 1; j <= steps; ++j) {
      put(j - 1, (j == level) - of(right, j));
      reached -= right_[j - 1];
      if (right) put(steps + j - 1, step_[j - 1] * ((level >= j) - reached));
    }
  }

  // Where to begin, given how often each level was seen with wrong and right answers.
  static void start(const std::vector<double>& seen, double* parameters);

 private:
  std::vector<double> step_, right_, wrong_;
};

}  // namespace fallible
