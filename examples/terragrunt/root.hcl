# What all units have in common.
locals {
  owner = "the platform team"
}
