package envarium

# What the policy reads of resources, so that secrets there are noticed.
fields_read := {"subnet_id", "vpc_id", "db_subnet_group_name"}

default_types := {"aws_default_vpc", "aws_default_subnet"}

deny contains message if {
	some change in changed
	change.type in default_types
	message := sprintf("%s: it takes over a part of the default VPC; make an aws_vpc and subnets of your own", [change.address])
}

# Where AWS takes the default VPC when the code names no place.
place_fields := {
	"aws_instance": ["subnet_id", "network_interface", "primary_network_interface", "launch_template"],
	"aws_security_group": ["vpc_id"],
	"aws_db_instance": ["db_subnet_group_name", "replicate_source_db"],
	"aws_rds_cluster": ["db_subnet_group_name"],
	"aws_autoscaling_group": ["vpc_zone_identifier", "launch_template", "mixed_instances_policy"],
	"aws_lb_target_group": ["vpc_id"],
	"aws_default_security_group": ["vpc_id"],
	"aws_redshift_cluster": ["cluster_subnet_group_name"],
	"aws_elasticache_cluster": ["subnet_group_name", "replication_group_id"],
}

# Targets that are no addresses need no VPC.
needs_place(change) if change.type != "aws_lb_target_group"

needs_place(change) if value_of(change.change.after, "target_type", "instance") != "lambda"

names_place(change) if {
	some field in place_fields[change.type]
	not value_of(change.change.after, field, "") in ["", []]
}

names_place(change) if {
	some field in place_fields[change.type]
	is_set(change, field)
}

deny contains message if {
	some change in changed
	"create" in change.change.actions
	fields := place_fields[change.type]
	needs_place(change)
	not names_place(change)
	message := sprintf("%s: without %s it is made in the default VPC; set %s", [change.address, fields[0], fields[0]])
}

# The default VPC that code looks up.
deny contains message if {
	some plan in plans
	walk(plan.configuration.root_module, [_, resource])
	resource.mode == "data"
	resource.type in {"aws_vpc", "aws_subnet", "aws_subnets"}
	is_lookup_of_default(resource)
	message := sprintf("data.%s.%s: it looks up the default VPC; look up one of your own", [resource.type, resource.name])
}

is_lookup_of_default(resource) if {
	some field in ["default", "default_for_az"]
	is_true(resource.expressions[field].constant_value)
}

is_lookup_of_default(resource) if {
	some filter in as_list(resource.expressions.filter)
	filter.name.constant_value in {"isDefault", "is-default", "default-for-az", "defaultForAz"}
	some value in filter.values.constant_value
	is_true(value)
}

# The same, as it was read, where the code's own text does not tell.
deny contains message if {
	some plan in plans
	walk(plan.prior_state.values.root_module, [_, resource])
	resource.mode == "data"
	resource.type == "aws_vpc"
	resource.values.default == true
	message := sprintf("%s: it is the default VPC; look up one of your own", [resource.address])
}
