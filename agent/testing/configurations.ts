/** For tests: configurations of the terraform family. */

/** One resource is created immediately; then a command runs in the provisioner of the second one. */
export function firstThen(name: string, command: string): string {
  return `
resource "terraform_data" "first" {}
resource "terraform_data" "${name}" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" { command = ${JSON.stringify(command)} }
}`;
}
