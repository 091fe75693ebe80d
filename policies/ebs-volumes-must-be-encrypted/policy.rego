package envarium

# What the policy reads of resources, so that secrets there are noticed.
fields_read := {"encrypted", "enabled"}

# Resources that are a volume, or a copy of one.
volume_types := {"aws_ebs_volume", "aws_ebs_snapshot_copy", "aws_ami_copy"}

deny contains message if {
	some change in changed
	change.type in volume_types
	not is_true(value_of(change.change.after, "encrypted", false))
	not is_hidden(change, "encrypted")
	message := sprintf("%s: the volume is not encrypted; set encrypted = true", [change.address])
}

is_hidden(change, field) if {
	is_unknown(change, [field])
	is_set(change, field)
}

unclear contains message if {
	some change in changed
	change.type in volume_types
	is_hidden(change, "encrypted")
	message := sprintf("%s: the plan does not tell whether it is encrypted", [change.address])
}

# Volumes of instances.
instance_types := {"aws_instance", "aws_spot_instance_request", "aws_launch_configuration"}

deny contains message if {
	some change in changed
	change.type in instance_types
	some field in ["root_block_device", "ebs_block_device"]
	some index, block in blocks(change.change.after, field)
	not is_true(value_of(block, "encrypted", false))
	not is_said_in_block(change, [field, index, "encrypted"])
	message := sprintf("%s: %s is not encrypted; set encrypted = true in it", [change.address, field])
}

is_said_in_block(change, path) if {
	is_unknown(change, path)
	some block in as_list(expressions(change)[path[0]])
	block.encrypted
}

unclear contains message if {
	some change in changed
	change.type in instance_types
	some field in ["root_block_device", "ebs_block_device"]
	some index, _ in blocks(change.change.after, field)
	is_said_in_block(change, [field, index, "encrypted"])
	message := sprintf("%s: the plan does not tell whether %s is encrypted", [change.address, field])
}

# A root volume that the code does not mention is as the account has it, which is unencrypted unless set otherwise.
deny contains message if {
	some change in changed
	change.type in instance_types
	"create" in change.change.actions
	count(blocks(change.change.after, "root_block_device")) == 0
	count(blocks(change.change.after, "launch_template")) == 0
	not is_set(change, "root_block_device")
	message := sprintf("%s: nothing says that its root volume is encrypted; add root_block_device { encrypted = true }", [change.address])
}

# Volumes that templates make.
template_blocks contains {"address": change.address, "ebs": ebs} if {
	some change in changed
	change.type == "aws_launch_template"
	some mapping in blocks(change.change.after, "block_device_mappings")
	some ebs in blocks(mapping, "ebs")
}

template_blocks contains {"address": change.address, "ebs": ebs} if {
	some change in changed
	change.type == "aws_ami"
	some ebs in blocks(change.change.after, "ebs_block_device")
	value_of(ebs, "snapshot_id", "") == ""
}

deny contains message if {
	some found in template_blocks
	not is_true(value_of(found.ebs, "encrypted", false))
	message := sprintf("%s: a volume is not encrypted; set encrypted = true in its ebs block", [found.address])
}

deny contains message if {
	some change in changed
	change.type == "aws_ebs_encryption_by_default"
	object.get(change.change.after, "enabled", true) == false
	message := sprintf("%s: volumes of the account would no longer be encrypted by default; set enabled = true", [change.address])
}

unclear contains message if {
	some change in removed
	change.type == "aws_ebs_encryption_by_default"
	message := sprintf("%s: volumes of the account would no longer be encrypted by default", [change.address])
}
