# Matrices that convert colours to the colours that people without red cones (protanopia) or without
# green cones (deuteranopia) see: Machado, Oliveira and Fernandes (2009), severity 1, for linear
# RGB.
colour_blindness <- list(
  none = diag(3),
  protanopia = matrix(c(
    0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998
  ), 3, byrow = TRUE),
  deuteranopia = matrix(c(
    0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881
  ), 3, byrow = TRUE)
)

seen_as <- function(colours, kind) {
  rgb <- t(grDevices::col2rgb(colours)) / 255
  linear <- ifelse(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055)^2.4)
  perceived <- pmin(pmax(linear %*% t(colour_blindness[[kind]]), 0), 1)
  ifelse(perceived <= 0.0031308, 12.92 * perceived, 1.055 * perceived^(1 / 2.4) - 0.055)
}

# Smallest distance between two colours, in CIE Lab.
least_distance <- function(colours, kind) {
  min(stats::dist(grDevices::convertColor(seen_as(colours, kind), "sRGB", "Lab")))
}
