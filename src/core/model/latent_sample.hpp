// Panels drawn from a latent class model, with the ratings missing that are missing in the data.
#pragma once

#include <cstdint>
#include <vector>

#include "../base/random.hpp"
#include "latent.hpp"

namespace fallible {

// Draws as many cases as the data have, each with raters of a case of the data. Weights must be
// whole numbers. Where the ways to answer are fewer than the cases, their numbers are drawn.
class RowSampler {
 public:
  RowSampler(const LatentRows& rows, const AnswerLaw& law);

  LatentRows draw(Stream& stream) const;

 private:
  struct Panel {  // cases rated by the same judges
    std::vector<int> judges;
    std::int64_t cases;
    std::vector<double> ways;  // probability of each way to answer; empty where they are too many
  };
  std::vector<double> ways(const std::vector<int>& judges, std::size_t number) const;

  int raters_, judges_;
  AnswerLaw law_;
  std::vector<double> cumulative_;  // of the answers of a judge within a class
  std::vector<Panel> panels_;
};

}  // namespace fallible
