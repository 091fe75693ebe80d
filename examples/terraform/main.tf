variable "greeting" {
  type    = string
  default = "hello"
}

variable "token" {
  type      = string
  sensitive = true
}

resource "terraform_data" "network" {
  input = "10.0.0.0/16"
}

resource "terraform_data" "server" {
  count            = 2
  input            = "${var.greeting} from server ${count.index} in ${terraform_data.network.output}"
  triggers_replace = [var.greeting]
}

output "messages" {
  value = terraform_data.server[*].output
}

output "token" {
  value     = var.token
  sensitive = true
}
