// What keeps classes from changing names.
#ifndef FALLIBLE_CORE_POSTERIOR_CLASS_ORDER_HPP
#define FALLIBLE_CORE_POSTERIOR_CLASS_ORDER_HPP

namespace fallible {

// Truths x answers, in which each answer is likelier under its own truth than under any other.
inline bool dominates(const double* matrix, int K) {
  for (int l = 0; l < K; ++l) {
    for (int k = 0; k < K; ++k) {
      if (k != l && matrix[k * K + l] >= matrix[l * K + l]) return false;
    }
  }
  return true;
}

// Would two classes fit the average rater better under each other's names?
inline bool has_switched(const double* base, const double* mean, int K) {
  const auto worth = [&](int k, int l) { return base[k] * mean[k * K + l]; };
  for (int k = 0; k < K; ++k) {
    for (int l = 0; l < k; ++l) {
      if (worth(k, l) + worth(l, k) > worth(k, k) + worth(l, l)) return true;
    }
  }
  return false;
}

}  // namespace fallible

#endif
