# Who rates. What shared errors hide cannot be seen in ratings; what it typically is depends on
# who gave them.

kind_words <- c(
  expert = "experts", crowd = "a crowd", model = "language models", tool = "programs"
)
rater_kinds <- names(kind_words)
people_kinds <- rater_kinds[1:2]
machine_kinds <- rater_kinds[3:4]

# As given: one word for all raters, or words with raters or their groups as names.
check_rater_kind <- function(kind) {
  if (is.null(kind)) return(NULL)
  if (is.null(names(kind))) return(check_choice(kind, rater_kinds, "rater_kind"))
  known <- is.character(kind) & kind %in% rater_kinds
  abort_argument_if(!all(known), "rater_kind",
    "must be one of {.or {.val {rater_kinds}}}, for all raters or with raters or groups as names.",
    x = if (is.character(kind)) "Found {.val {unique(kind[!known])}}." else
      "It is {describe(kind)}.")
  kind
}

# One word where all are of one kind, otherwise a word per rater, with names.
settle_kinds <- function(kind, x) {
  if (is.null(names(kind))) return(kind)
  group <- x$rater_groups %||% x$raters
  at <- ifelse(x$raters %in% names(kind), x$raters, group)
  strange <- setdiff(names(kind), c(x$raters, group))
  lacking <- x$raters[!at %in% names(kind)]
  must <- "{.arg rater_kind} with names must name all raters, or their groups."
  check_named_raters(x, "rater_kind", must)
  abort_argument_if(length(strange) > 0L || length(lacking) > 0L, "rater_kind", must,
    x = if (length(strange) > 0L) "{.val {strange}} {?is/are} neither." else "It does not name
        {.val {lacking}}.", rater = c(strange, lacking))
  kind <- kind[at]
  if (length(unique(kind)) == 1L) kind[[1L]] else stats::setNames(kind, x$raters)
}

# A vote is of a kind if all who cast it are people, or all are machines; NA for none.
kinds_of_groups <- function(x, groups) {
  kind <- x$rater_kind
  if (is.null(names(kind))) return(kind)
  vapply(stats::setNames(nm = groups), function(group) {
    of <- kind[x$raters[x$rater_groups == group]]
    if (kind_of_panel(of) == "undeclared") NA_character_ else of[[1L]]
  }, "")
}

# Of ratings, a fit or an estimate: the kind of all raters, or of each; NULL if nobody said.
rater_kind <- function(of) {
  if (inherits(of, "accuracy_estimate")) of <- of$fit
  if (inherits(of, "rater_fit")) of <- of$x
  kind <- of$rater_kind
  if (is.null(names(kind))) kind else unname(kind[of$raters])
}

# "people" or "machines" rate, if that was said of all raters; otherwise, and where both do, it
# counts as not said: "undeclared".
panel_kind <- function(of) kind_of_panel(rater_kind(of))

kind_of_panel <- function(kind) {
  if (is.null(kind)) return("undeclared")
  if (all(kind %in% people_kinds)) return("people")
  if (all(kind %in% machine_kinds)) "machines" else "undeclared"
}

# Of ratings: who they are.
format_kinds <- function(x) {
  kind <- rater_kind(x)
  if (length(kind) == 0L) return(NULL)
  if (length(kind) == 1L) return(paste("Raters are", kind_words[[kind]]))
  of <- table(factor(kind, intersect(rater_kinds, kind)))
  paste0(
    "Raters: ", toString(paste0(kind_words[names(of)], " (", of, ")")),
    if (kind_of_panel(kind) == "undeclared") {
      "; such a mixture counts as if nothing had been declared"
    }
  )
}

machines_of <- function(x) {
  kinds <- c(model = "language models", tool = "programs")[sort_strings(unique(rater_kind(x)))]
  paste(kinds, collapse = " and ")
}

# ---- Names that look like those of machines -----------------------------------------------------

machine_names <- paste0("(^|[^a-z])(gpt|(", paste(c(
  "chatgpt", "claude", "gemini", "gemma", "llama", "mistral", "mixtral", "qwen", "deepseek",
  "grok", "vicuna", "falcon", "olmo", "phi-?[1-9]", "o[134]-(mini|preview)", "command-r", "bert",
  "roberta", "llm", "language.?model", "classifier"
), collapse = "|"), ")([^a-z]|$))|(qa|bot|detector)$|^lf_")

# Once in a session: intervals depend on whether machines rate, and no kind is declared. Names tell
# in most panels; two raters are asked about whatever their names are.
ask_who_rates <- function(x) {
  names <- named_raters(x)
  like <- if (length(names) == 2L) names else
    grep(machine_names, names, TRUE, value = TRUE, useBytes = TRUE)
  if (!is.null(x$rater_kind) || length(like) == 0L) return(invisible())
  some <- shorten(like, most = 3L)
  inform_once("rater_kind", c(
    verbatim("Are some raters language models or programs (", some,
      ")? If so, declare it with `rater_kind`."),
    "i" = "Intervals depend on it, because machines share errors that ratings do not show. For
           machines 90% intervals are .54 wide, and covered .91 of true accuracies in 20 public
           sources. If nothing is declared they are .29 wide, and covered .72.",
    "i" = "Kinds are {.val {rater_kinds}}, one for all raters or one for each, with raters as
           names."
  ))
}
