# nolint start
# Read by roxygen2 before it begins: the tags of standards beside the code.
local({
  source(file.path("tools", "standards.R"), local = TRUE)
  standards_register()
  list()
})
# nolint end
