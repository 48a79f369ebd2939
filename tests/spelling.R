# Words that no dictionary has are in inst/WORDLIST; spelling::update_wordlist() adds new ones,
# which are read before they are kept.
if (requireNamespace("spelling", quietly = TRUE)) {
  long_tests <- identical(Sys.getenv("FALLIBLE_EXTENDED_TESTS"), "true")
  spelling::spell_check_test(vignettes = TRUE, error = long_tests, skip_on_cran = !long_tests)
}
