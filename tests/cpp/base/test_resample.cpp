#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "core/base/resample.hpp"

using namespace fallible;
using doctest::Approx;

TEST_CASE("resamples have the same number of cases, and no cases of weight zero") {
  const Resampler resampler({3, 0, 5, 2}, {}, {});
  double mean = 0;
  for (int i = 0; i < 400; ++i) {
    Stream stream(1, i);
    const auto drawn = resampler.draw(stream);
    CHECK(std::accumulate(drawn.begin(), drawn.end(), 0.0) == 10);
    CHECK(drawn[1] == 0);
    mean += drawn[2] / 400;
    Stream again(1, i);
    const auto few = resampler.draw(again, 4);
    CHECK(std::accumulate(few.begin(), few.end(), 0.0) == 4);
  }
  CHECK(mean == Approx(5).epsilon(0.05));
}

TEST_CASE("clusters of one case are resampled like cases, larger clusters as a whole") {
  const std::vector<double> cases{2, 1, 3};
  const std::vector<int> pattern{0, 0, 1, 2, 2, 2}, cell{0, 1, 2};
  const std::vector<double> once(6, 1.0);
  const Resampler plain(cases, {}, {}), single(cases, cell, {pattern, once, {9, 4, 1, 7, 2, 3}}),
      pairs(cases, cell, {pattern, once, {1, 2, 1, 2, 3, 3}}),
      renamed(cases, cell, {{2, 2, 1, 0, 0, 2}, once, {8, 8, 5, 5, 6, 6}});
  for (int i = 0; i < 50; ++i) {
    Stream a(2, i), b(2, i), c(2, i), d(2, i);
    CHECK(plain.draw(a) == single.draw(b));
    const auto drawn = pairs.draw(c);
    CHECK(std::accumulate(drawn.begin(), drawn.end(), 0.0) == 6);
    CHECK(drawn == renamed.draw(d));
    // Clusters are the cells {0, 1}, {0, 2} and {2, 2}. So cell 1 is drawn only with cell 0, and
    // remaining cases of cell 2 are drawn in pairs.
    CHECK(drawn[0] >= drawn[1]);
    CHECK((drawn[2] - (drawn[0] - drawn[1])) / 2 ==
          static_cast<int>((drawn[2] - (drawn[0] - drawn[1])) / 2));
  }
  // Cells without cases, clusters with only such cells, and cases with weight 0 are never drawn.
  const Resampler some({2, 0, 3}, cell, {pattern, {1, 1, 1, 1, 1, 0}, {1, 2, 3, 4, 4, 1}});
  for (int i = 0; i < 50; ++i) {
    Stream stream(3, i);
    const auto drawn = some.draw(stream);
    CHECK(drawn[1] == 0);
    // Two clusters have a case in cell 0, one has two in cell 2.
    CHECK(drawn[0] + drawn[2] / 2 == 3);
  }
}

TEST_CASE("a resample is a multinomial draw of cells or of kinds of clusters") {
  const std::vector<double> cases{3, 0, 5, 2};
  const Resampler resampler(cases, {}, {});
  // Two clusters have two cases in cell 0 and one in cell 2; one cluster has two cases in cell 3.
  const std::vector<int> pattern{0, 2, 3, 0, 2};
  const Resampler clusters({4, 0, 2, 2}, {0, 1, 2, 3}, {pattern, {2, 1, 2, 2, 1}, {5, 5, 8, 9, 9}});
  for (int i = 0; i < 20; ++i) {
    Stream a(6, i), b(6, i), c(7, i), d(7, i);
    std::vector<double> count;
    multinomial(a, 10, {3, 5, 2}, count);
    CHECK(resampler.draw(b) == std::vector<double>{count[0], 0, count[1], count[2]});
    multinomial(c, 3, {2, 1}, count);
    CHECK(clusters.draw(d) == std::vector<double>{2 * count[0], 0, count[0], 2 * count[1]});
  }
}
