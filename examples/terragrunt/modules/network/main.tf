variable "cidr" {
  type = string
}

variable "owner" {
  type = string
}

resource "terraform_data" "network" {
  input = "${var.cidr} of ${var.owner}"
}

output "name" {
  value = terraform_data.network.output
}
