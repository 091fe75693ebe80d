package envarium

# What the policy reads of resources, so that secrets there are noticed.
fields_read := {
	"policy", "assume_role_policy", "inline_policy", "policy_arn", "policy_arns", "managed_policy_arn", "managed_policy_arns",
}

# Where policies of identities are; those of resources, such as keys, are meant to name every action.
policy_fields := {
	"aws_iam_policy": ["policy"],
	"aws_iam_role_policy": ["policy"],
	"aws_iam_user_policy": ["policy"],
	"aws_iam_group_policy": ["policy"],
	"aws_iam_role": ["assume_role_policy"],
	"aws_ssoadmin_permission_set_inline_policy": ["inline_policy"],
}

policies contains {"change": change, "text": change.change.after[field], "field": field} if {
	some change in changed
	some field in policy_fields[change.type]
}

policies contains {"change": change, "text": block.policy, "field": "inline_policy"} if {
	some change in changed
	change.type == "aws_iam_role"
	some block in blocks(change.change.after, "inline_policy")
}

# `*`, `s3:*`, `*:*`, `s3:?*`, `s?:Get`: every action of a service, or actions of several services.
is_wildcard(action) if not contains(action, ":")

is_wildcard(action) if regex.match(`[*?]`, split(action, ":")[0])

is_wildcard(action) if regex.match(`^[*?]+$`, split(action, ":")[1])

is_wildcard(action) if {
	setting("forbidPartialWildcards", false) == true
	regex.match(`[*?]`, action)
}

deny contains message if {
	some found in policies
	some statement in as_list(document(found.text).Statement)
	statement.Effect == "Allow"
	some action in as_list(statement.Action)
	is_wildcard(action)
	message := sprintf("%s: %s allows %q; name the actions that are needed", [found.change.address, found.field, action])
}

deny contains message if {
	some found in policies
	some statement in as_list(document(found.text).Statement)
	statement.Effect == "Allow"
	statement.NotAction
	message := sprintf("%s: %s allows everything but %s (NotAction); name the actions that are needed", [found.change.address, found.field, quoted(as_list(statement.NotAction))])
}

# Policies of AWS that contain such actions.
wide_policies := {"AdministratorAccess", "PowerUserAccess"}

attachments contains {"address": change.address, "arn": arn} if {
	some change in changed
	some field in ["policy_arn", "policy_arns", "managed_policy_arn", "managed_policy_arns"]
	startswith(change.type, "aws_")
	some arn in as_list(value_of(change.change.after, field, []))
}

deny contains message if {
	some found in attachments
	regex.match(`^arn:aws[a-z-]*:iam::aws:policy/`, found.arn)
	path := split(found.arn, "/")
	name := path[count(path) - 1]
	name in wide_policies
	message := sprintf("%s: AWS's policy %s allows actions by wildcards; attach one with the actions that are needed", [found.address, name])
}

unclear contains message if {
	some change in changed
	some field in policy_fields[change.type]
	is_unknown(change, [field])
	is_set(change, field)
	message := sprintf("%s: the plan does not tell its %s", [change.address, field])
}

unclear contains message if {
	some change in changed
	change.type == "aws_iam_role"
	walk(object.get(change.change.after_unknown, "inline_policy", []), [path, true])
	is_set(change, "inline_policy")
	path[count(path) - 1] == "policy"
	message := sprintf("%s: the plan does not tell its inline_policy", [change.address])
}

# What cannot be read as JSON cannot be judged.
unclear contains message if {
	some found in policies
	is_string(found.text)
	found.text != ""
	not document(found.text)
	message := sprintf("%s: %s is no JSON", [found.change.address, found.field])
}
