// Panels drawn from a latent class model, with the ratings missing that are missing in the data.
#ifndef FALLIBLE_CORE_LATENT_SAMPLE_HPP
#define FALLIBLE_CORE_LATENT_SAMPLE_HPP

#include <cstdint>
#include <vector>

#include "latent.hpp"
#include "random.hpp"

namespace fallible {

// How units answer in each class (category within stratum), and how frequent classes are. The
// probability of rating l by unit u in class c is probability[(u * categories + l) * classes + c].
struct AnswerLaw {
  int categories = 0;
  int classes = 0;
  std::vector<double> weight;
  std::vector<double> probability;
};

// Draws as many cases as the data have, each with raters of a case of the data. Weights must be
// whole numbers. Where the ways to answer are fewer than the cases, their numbers are drawn.
class RowSampler {
 public:
  RowSampler(const LatentRows& rows, const AnswerLaw& law);

  LatentRows draw(Stream& stream) const;

 private:
  struct Panel {  // cases rated by the same units
    std::vector<int> units;
    std::int64_t cases;
    std::vector<double> ways;  // probability of each way to answer; empty where they are too many
  };
  double probability(int unit, int category, int in_class) const;
  std::vector<double> ways(const std::vector<int>& units, std::size_t number) const;

  int raters_, units_;
  AnswerLaw law_;
  std::vector<double> cumulative_;  // of the answers of a unit within a class
  std::vector<Panel> panels_;
};

}  // namespace fallible

#endif
