// Errors in common: how much of what an estimate owes to the assumption that a system's errors are
// its own is taken back. Agreement cannot tell; two things let one believe it.
#ifndef FALLIBLE_CORE_ACCURACY_COMMON_HPP
#define FALLIBLE_CORE_ACCURACY_COMMON_HPP

namespace fallible {

// What somebody assumes: what panels typically have in common, or a stated share of the distance
// from an estimate with errors of its own (0) to the shared one (1).
struct Common {
  bool typical = true;
  double share = 0;
};

// From 0, where the data speak for models without a sign of errors in common, to 1. Models in which
// raters are at chance cannot vouch for anything. `categories` are those that raters used.
double suspicion(double independence_weight, double rater_error, int categories);

// The typical share: how probable it is that two wrong answers are the same one. Were they spread
// over the other categories this would be 1 / (N - 1), but wrong answers have favourites. NaN for
// one category.
double typical_share(double suspicion, int categories);

// From the independent end of the range the share `back` of the way to the shared one. Exactly the
// independent end where nothing is taken back.
double between_ends(double independent, double shared, double back);

}  // namespace fallible

#endif
