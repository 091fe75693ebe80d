include "root" {
  path   = find_in_parent_folders("root.hcl")
  expose = true
}

terraform {
  source = "../modules//network"
}

inputs = {
  cidr  = "10.0.0.0/16"
  owner = include.root.locals.owner
}
