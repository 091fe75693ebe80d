package envarium

# What the policy reads of resources, so that secrets there are noticed.
fields_read := {"publicly_accessible"}

database_types := {"aws_db_instance", "aws_rds_cluster_instance", "aws_rds_cluster"}

deny contains message if {
	some change in changed
	change.type in database_types
	is_true(change.change.after.publicly_accessible)
	message := sprintf("%s: the database can be reached from the internet; set publicly_accessible = false", [change.address])
}

unclear contains message if {
	some change in changed
	change.type in database_types
	is_unknown(change, ["publicly_accessible"])
	is_set(change, "publicly_accessible")
	message := sprintf("%s: the plan does not tell its publicly_accessible", [change.address])
}

# AWS decides by the subnets where the code says nothing, and those of the default VPC are public.
unclear contains message if {
	some change in changed
	change.type == "aws_rds_cluster_instance"
	is_unknown(change, ["publicly_accessible"])
	not is_set(change, "publicly_accessible")
	message := sprintf("%s: AWS decides by its subnets whether it is public; set publicly_accessible = false", [change.address])
}
