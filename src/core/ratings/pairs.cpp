#include "pairs.hpp"

namespace fallible {

PairCounts pair_counts(const PatternView& x, const std::vector<double>& weight, const int* judge_of,
                       int judges) {
  PairCounts out;
  out.judges = judges + x.systems;
  const std::size_t U = out.judges;
  out.pairs.assign(U * U, 0.0);
  out.agreeing.assign(U * U, 0.0);
  struct Answer {
    std::size_t judge;
    int category;
  };
  std::vector<Answer> answers;
  for (int p = 0; p < x.patterns; ++p) {
    if (weight[p] == 0) continue;
    answers.clear();
    for (const int r : x.places(p)) {
      const int judge = judge_of[x.rater[r] - 1];
      if (judge >= 1) answers.push_back({static_cast<std::size_t>(judge) - 1, x.category[r]});
    }
    for (int s = 0; s < x.systems; ++s) {
      const int answer = x.answer_of(p, s);
      if (answer >= 1) answers.push_back({static_cast<std::size_t>(judges) + s, answer});
    }
    for (std::size_t a = 0; a < answers.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (answers[a].judge == answers[b].judge) continue;
        const std::size_t ab = answers[a].judge * U + answers[b].judge;
        const std::size_t ba = answers[b].judge * U + answers[a].judge;
        const double agree = answers[a].category == answers[b].category ? weight[p] : 0;
        out.pairs[ab] += weight[p];
        out.pairs[ba] += weight[p];
        out.agreeing[ab] += agree;
        out.agreeing[ba] += agree;
      }
    }
  }
  return out;
}

RaterCounts rater_counts(const PatternView& x, const std::vector<double>& weight) {
  RaterCounts out;
  out.ratings.assign(x.raters, 0.0);
  out.pairs.assign(x.raters, 0.0);
  out.agreeing.assign(x.raters, 0.0);
  std::vector<int> of_category(x.categories + 1, 0);
  for (int p = 0; p < x.patterns; ++p) {
    const int begin = x.start[p], end = x.start[p + 1];
    for (int r = begin; r < end; ++r) ++of_category[x.category[r]];
    for (int i = begin; i < end;) {  // runs of one rater
      int j = i;
      while (j < end && x.rater[j] == x.rater[i]) ++j;
      for (int r = i; r < j; ++r) --of_category[x.category[r]];  // others only
      const int rater = x.rater[i] - 1;
      for (int r = i; r < j; ++r) {
        out.ratings[rater] += weight[p];
        out.pairs[rater] += weight[p] * (end - begin - (j - i));
        out.agreeing[rater] += weight[p] * of_category[x.category[r]];
      }
      for (int r = i; r < j; ++r) ++of_category[x.category[r]];
      i = j;
    }
    for (int r = begin; r < end; ++r) --of_category[x.category[r]];
  }
  return out;
}

}  // namespace fallible
