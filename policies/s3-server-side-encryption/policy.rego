package envarium

# What the policy reads of resources, so that secrets there are noticed.
fields_read := {"sse_algorithm"}

algorithms := setting("algorithms", ["AES256", "aws:kms", "aws:kms:dsse"])

settings_type := "aws_s3_bucket_server_side_encryption_configuration"

# Where rules of encryption are: in a resource of its own, or inside of the bucket in older code.
encryption_rules(change) := [rule | some rule in blocks(change.change.after, "rule")] if change.type == settings_type

encryption_rules(change) := [rule |
	some block in blocks(change.change.after, "server_side_encryption_configuration")
	some rule in blocks(block, "rule")
] if {
	change.type == "aws_s3_bucket"
}

deny contains message if {
	some change in changed
	change.type in {settings_type, "aws_s3_bucket"}
	some rule in encryption_rules(change)
	some applied in blocks(rule, "apply_server_side_encryption_by_default")
	algorithm := value_of(applied, "sse_algorithm", "")
	algorithm != ""
	not algorithm in algorithms
	message := sprintf("%s: sse_algorithm is %q; set one of %s", [change.address, algorithm, quoted(algorithms)])
}

names_algorithm(change) if {
	some rule in encryption_rules(change)
	some applied in blocks(rule, "apply_server_side_encryption_by_default")
	value_of(applied, "sse_algorithm", "") != ""
}

deny contains message if {
	some change in changed
	change.type == settings_type
	not names_algorithm(change)
	not hides_rules(change)
	message := sprintf("%s: no rule names an algorithm; add apply_server_side_encryption_by_default with sse_algorithm", [change.address])
}

# Some part of the rules is known after the deployment only.
hides_rules(change) if {
	walk(object.get(change.change.after_unknown, "rule", []), [path, true])
	not path[count(path) - 1] in {"kms_master_key_id", "bucket_key_enabled", "blocked_encryption_types"}
}

hides_rules(change) if {
	walk(object.get(change.change.after_unknown, "rule", []), [[], true])
}

unclear contains message if {
	some change in changed
	change.type == settings_type
	hides_rules(change)
	message := sprintf("%s: the plan does not tell its rules", [change.address])
}

is_encrypted(bucket) if names_algorithm(bucket)

is_encrypted(bucket) if bucket.change.after.bucket in named_buckets

is_encrypted(bucket) if {
	some change in referring[[unit_of(bucket), module_path(bucket), sprintf("%s.%s", [bucket.type, bucket.name])]]
	same_instance(change, bucket)
}

named_buckets contains change.change.after.bucket if {
	some change in kept
	change.type == settings_type
}

# Configurations by the bucket that their code refers to.
referring := {key: changes |
	some key in {reference_key(change) | some change in configurations}
	changes := {change | some change in configurations; reference_key(change) == key}
}

configurations contains change if {
	some change in kept
	change.type == settings_type
}

# One bucket has one configuration, which refers to it by one attribute.
reference_key(change) := [unit_of(change), module_path(change), reference] if {
	buckets := {reference | some reference in references(change, "bucket"); startswith(reference, "aws_s3_bucket.")}
	count(buckets) == 1
	some reference in buckets
}

# A configuration whose bucket the plan does not tell, as when a module receives the bucket's name.
stray_configurations contains change if {
	some change in kept
	change.type == settings_type
	is_unknown(change, ["bucket"])
	every reference in references(change, "bucket") {
		not startswith(reference, "aws_s3_bucket.")
	}
}

deny contains message if {
	some change in changed
	change.type == "aws_s3_bucket"
	not is_encrypted(change)
	count(stray_configurations) == 0
	message := sprintf("%s: the bucket has no rule of encryption; add an %s for it", [change.address, settings_type])
}

unclear contains message if {
	some change in changed
	change.type == "aws_s3_bucket"
	not is_encrypted(change)
	some stray in stray_configurations
	message := sprintf("%s: the plan does not tell whether %s is for this bucket", [change.address, stray.address])
}

unclear contains message if {
	some change in removed
	change.type == settings_type
	not bucket_is_removed(change)
	message := sprintf("%s: the rules of encryption are removed, and their bucket stays", [change.address])
}

bucket_is_removed(encryption) if {
	some bucket in removed
	bucket.type == "aws_s3_bucket"
	bucket.change.before.bucket == encryption.change.before.bucket
}
