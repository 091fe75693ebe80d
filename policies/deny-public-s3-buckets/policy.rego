package envarium

# What the policy reads of resources, so that secrets there are noticed.
fields_read := {
	"acl", "grant", "access_control_policy", "policy", "public_access_block_configuration",
	"block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets",
}

public_acls := {"public-read", "public-read-write", "authenticated-read"}

everybody := {
	"http://acs.amazonaws.com/groups/global/AllUsers",
	"http://acs.amazonaws.com/groups/global/AuthenticatedUsers",
}

# Lists of access. New ones are resources of their own; older code has them in the bucket.
acl_types := {"aws_s3_bucket", "aws_s3_bucket_acl", "aws_s3_object", "aws_s3_bucket_object", "aws_s3_object_copy"}

deny contains message if {
	some change in changed
	change.type in acl_types
	acl := change.change.after.acl
	acl in public_acls
	message := sprintf("%s: acl = %q is access for everybody; set acl = \"private\"", [change.address, acl])
}

grants(after) := array.concat(blocks(after, "grant"), [grant |
	some policy in blocks(after, "access_control_policy")
	some grant in blocks(policy, "grant")
])

deny contains message if {
	some change in changed
	change.type in acl_types
	some grant in grants(change.change.after)
	some grantee in array.concat([grant], blocks(grant, "grantee"))
	grantee.uri in everybody
	message := sprintf("%s: a grant to %s is access for everybody; remove it", [change.address, grantee.uri])
}

# Blocks of public access.
flags := ["block_public_acls", "block_public_policy", "ignore_public_acls", "restrict_public_buckets"]

access_blocks contains {"address": change.address, "change": change, "path": [], "block": change.change.after} if {
	some change in changed
	change.type in {"aws_s3_bucket_public_access_block", "aws_s3_account_public_access_block"}
}

access_blocks contains {"address": change.address, "change": change, "path": ["public_access_block_configuration", index], "block": block} if {
	some change in changed
	change.type in {"aws_s3_access_point", "aws_s3control_multi_region_access_point"}
	some index, block in blocks(change.change.after, "public_access_block_configuration")
}

deny contains message if {
	some found in access_blocks
	some flag in flags
	not is_true(value_of(found.block, flag, false))
	not is_unknown(found.change, array.concat(found.path, [flag]))
	message := sprintf("%s: %s is not true; set %s = true", [found.address, flag, flag])
}

unclear contains message if {
	some found in access_blocks
	some flag in flags
	is_unknown(found.change, array.concat(found.path, [flag]))
	message := sprintf("%s: the plan does not tell its %s", [found.address, flag])
}

unclear contains message if {
	some change in removed
	change.type in {"aws_s3_bucket_public_access_block", "aws_s3_account_public_access_block"}
	not bucket_is_removed(change)
	message := sprintf("%s: the block of public access is removed, and its bucket stays", [change.address])
}

bucket_is_removed(block) if {
	some bucket in removed
	bucket.type == "aws_s3_bucket"
	bucket.change.before.bucket == block.change.before.bucket
}

# Policies of buckets.
policy_types := {
	"aws_s3_bucket_policy": "policy",
	"aws_s3_bucket": "policy",
	"aws_s3_access_point": "policy",
	"aws_s3control_access_point_policy": "policy",
}

deny contains message if {
	some change in changed
	field := policy_types[change.type]
	some statement in as_list(document(change.change.after[field]).Statement)
	statement.Effect == "Allow"
	is_for_everybody(statement)
	not is_restricted(statement)
	message := sprintf("%s: statement %q of the policy is for everybody; name accounts or roles in Principal, or add a Condition on them", [change.address, value_of(statement, "Sid", "")])
}

is_for_everybody(statement) if {
	some principal in as_list(statement.Principal)
	principal == "*"
}

is_for_everybody(statement) if {
	some principal in as_list(statement.Principal.AWS)
	principal == "*"
}

# Everybody but those.
is_for_everybody(statement) if statement.NotPrincipal

# Conditions with which AWS itself takes a policy for one that is not public.
fixed_keys := {
	"aws:sourceaccount", "aws:sourcearn", "aws:sourceip", "aws:sourceorgid", "aws:sourceowner", "aws:sourcevpc",
	"aws:sourcevpce", "aws:principalaccount", "aws:principalarn", "aws:principalorgid", "aws:principalorgpaths", "aws:userid",
	"s3:dataaccesspointaccount", "s3:dataaccesspointarn",
}

fixed_operators := {"stringequals", "stringequalsignorecase", "stringlike", "arnequals", "arnlike", "ipaddress"}

is_restricted(statement) if {
	some operator, keys in statement.Condition
	lower(regex.replace(operator, `^ForAnyValue:`, "")) in fixed_operators
	some key, values in keys
	lower(key) in fixed_keys
	every value in as_list(values) {
		is_narrow(lower(key), value)
	}
}

is_narrow("aws:sourceip", value) if {
	[address, length] := split(value, "/")
	to_number(length) >= shortest(address)
}

is_narrow("aws:sourceip", value) if not contains(value, "/")

# The account of an ARN is what tells whose it is.
is_narrow(key, value) if {
	key in {"aws:sourcearn", "aws:principalarn", "s3:dataaccesspointarn"}
	account := split(value, ":")[4]
	account != ""
	not contains(account, "*")
	not contains(account, "?")
}

is_narrow(key, value) if {
	not key in {"aws:sourceip", "aws:sourcearn", "aws:principalarn", "s3:dataaccesspointarn"}
	not contains(value, "*")
	not contains(value, "?")
}

shortest(address) := 16 if contains(address, ":")

shortest(address) := 8 if not contains(address, ":")

unclear contains message if {
	some change in changed
	field := policy_types[change.type]
	is_unknown(change, [field])
	is_set(change, field)
	message := sprintf("%s: the plan does not tell its policy", [change.address])
}
