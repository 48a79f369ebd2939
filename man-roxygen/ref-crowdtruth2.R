#' @references Dumitrache, A., Inel, O., Aroyo, L., Timmermans, B. and Welty, C. (2018). CrowdTruth
#'   2.0: Quality metrics for crowdsourcing with disagreement. \doi{10.48550/arXiv.1808.06080}.
