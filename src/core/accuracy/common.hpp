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

// The typical share. Two independent wrong answers coincide with probability 1 / (N - 1), so that
// errors in common leave a surplus of coinciding wrong answers in the share (N - 2) / (N - 1) of
// joint errors: with many categories independence can fail visibly, with two it never does. NaN for
// one category.
double typical_share(double suspicion, int categories);

// From the independent end of the range the share `back` of the way to the shared one. Exactly the
// independent end where nothing is taken back.
double between_ends(double independent, double shared, double back);

// By how much raters are more often wrong than `rater_error`, an estimate that takes their errors
// for independent, if they err together as models do: those that share training data and methods
// agree on wrong answers, which looks like accuracy. What agrees with them looks too good as well
// if it is of their kind, and too bad if it is not.
double error_of_models(double rater_error, int categories);

// Share of wrong ratings e of raters who agree in the share `agreement`, if their being right has
// this correlation, and the surplus of joint errors that this makes coincides:
// agreement = (1 - e)^2 + e^2 / (N - 1) + 2 correlation e (1 - e); no more than that of guesses.
double error_together(double agreement, double correlation, int categories);

}  // namespace fallible

#endif
