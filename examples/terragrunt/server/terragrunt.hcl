dependency "network" {
  config_path = "../network"

  # Plans before the network exists use this text. It is never applied.
  mock_outputs                            = { name = "a network that is planned" }
  mock_outputs_allowed_terraform_commands = ["plan", "init"]
}

inputs = {
  network = dependency.network.outputs.name
}
