include "root" {
  path   = find_in_parent_folders("root.hcl")
  expose = true
}

terraform {
  source = "../modules//note"
}

dependency "network" {
  config_path = "../network"

  # Plans before the network exists use this text. It is never applied.
  mock_outputs                            = { text = "a network that is planned" }
  mock_outputs_allowed_terraform_commands = ["plan", "init"]
}

inputs = {
  text  = "a server in ${dependency.network.outputs.text}"
  owner = include.root.locals.owner
}
