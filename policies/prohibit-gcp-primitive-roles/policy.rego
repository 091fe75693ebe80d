package envarium

# What the policy reads of resources, so that secrets there are noticed.
fields_read := {"role", "policy_data"}

primitive_roles := {"roles/owner", "roles/editor", "roles/viewer", "roles/admin", "roles/writer", "roles/reader"}

grants contains {"address": change.address, "role": change.change.after.role} if {
	some change in changed
	regex.match(`^google_.*_iam_(member|binding)$`, change.type)
}

# A policy as a whole, whose bindings are in a text.
grants contains {"address": change.address, "role": binding.role} if {
	some change in changed
	regex.match(`^google_.*_iam_policy$`, change.type)
	some binding in document(change.change.after.policy_data).bindings
}

deny contains message if {
	some grant in grants
	grant.role in primitive_roles
	message := sprintf("%s: %s is a basic role, which covers nearly all services; grant predefined or custom roles", [grant.address, grant.role])
}

unclear contains message if {
	some change in changed
	regex.match(`^google_.*_iam_(member|binding|policy)$`, change.type)
	some field in ["role", "policy_data"]
	is_unknown(change, [field])
	message := sprintf("%s: the plan does not tell its %s", [change.address, field])
}
