package envarium

# What the policy reads of resources, so that secrets there are noticed.
fields_read := {"encrypted"}

deny contains message if {
	some change in changed
	change.type == "aws_efs_file_system"
	not is_true(value_of(change.change.after, "encrypted", false))
	not is_hidden(change)
	message := sprintf("%s: the file system is not encrypted; set encrypted = true", [change.address])
}

is_hidden(change) if {
	is_unknown(change, ["encrypted"])
	is_set(change, "encrypted")
}

unclear contains message if {
	some change in changed
	change.type == "aws_efs_file_system"
	is_hidden(change)
	message := sprintf("%s: the plan does not tell whether it is encrypted", [change.address])
}
