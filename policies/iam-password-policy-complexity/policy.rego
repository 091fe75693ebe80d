package envarium

# What the policy reads of resources, so that secrets there are noticed.
fields_read := {
	"require_lowercase_characters", "require_uppercase_characters", "require_numbers", "require_symbols",
	"minimum_password_length", "password_reuse_prevention", "max_password_age",
}

minimum_length := setting("minimumLength", 14)

remembered := setting("rememberedPasswords", 24)

maximum_age := setting("maximumAge", 90)

passwords contains change if {
	some change in changed
	change.type == "aws_iam_account_password_policy"
}

# Left out in the code means that AWS's own value holds, which asks for less.
is_hidden(change, field) if {
	is_unknown(change, [field])
	is_set(change, field)
}

number(change, field) := value_of(change.change.after, field, 0)

deny contains message if {
	some change in passwords
	some field in ["require_lowercase_characters", "require_uppercase_characters", "require_numbers", "require_symbols"]
	not is_true(value_of(change.change.after, field, false))
	not is_hidden(change, field)
	message := sprintf("%s: passwords need not be complex; set %s = true", [change.address, field])
}

deny contains message if {
	some change in passwords
	not is_hidden(change, "minimum_password_length")
	number(change, "minimum_password_length") < minimum_length
	message := sprintf("%s: passwords may be shorter than %d characters; set minimum_password_length = %d", [change.address, minimum_length, minimum_length])
}

deny contains message if {
	some change in passwords
	not is_hidden(change, "password_reuse_prevention")
	number(change, "password_reuse_prevention") < remembered
	message := sprintf("%s: old passwords may be used again too soon; set password_reuse_prevention = %d", [change.address, remembered])
}

# An age of zero is none.
deny contains message if {
	maximum_age > 0
	some change in passwords
	not is_hidden(change, "max_password_age")
	not number(change, "max_password_age") in numbers.range(1, maximum_age)
	message := sprintf("%s: passwords may be older than %d days; set max_password_age = %d", [change.address, maximum_age, maximum_age])
}

unclear contains message if {
	some change in passwords
	some field in ["require_lowercase_characters", "require_uppercase_characters", "require_numbers", "require_symbols", "minimum_password_length", "password_reuse_prevention", "max_password_age"]
	is_hidden(change, field)
	message := sprintf("%s: the plan does not tell its %s", [change.address, field])
}

unclear contains message if {
	some change in removed
	change.type == "aws_iam_account_password_policy"
	message := sprintf("%s: without it the account's passwords may be weak", [change.address])
}
