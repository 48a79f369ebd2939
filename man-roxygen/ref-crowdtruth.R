#' @references Aroyo, L. and Welty, C. (2014). The three sides of CrowdTruth. *Human Computation*,
#'   1(1), 31--44. \doi{10.15346/hc.v1i1.3}. <%= where %>.
