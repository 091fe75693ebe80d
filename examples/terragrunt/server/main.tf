variable "network" {
  type = string
}

variable "servers" {
  type    = number
  default = 1
}

resource "terraform_data" "server" {
  count = var.servers
  input = "server ${count.index} in ${var.network}"
}

output "servers" {
  value = terraform_data.server[*].output
}
