variable "text" {
  type = string
}

variable "owner" {
  type = string
}

resource "terraform_data" "note" {
  input = "${var.text} (${var.owner})"
}

output "text" {
  value = terraform_data.note.output
}
