# How policies of the catalogue read a plan, and how they decide.
#
# It becomes a file of each policy without an `allow` rule when the service reads the catalogue.
# A policy writes what it refuses into `deny`, and what the plan does not tell into `unclear`.
package envarium

setting(name, otherwise) := object.get(object.get(input, "policyConfiguration", {}), name, otherwise)

# Resources that the deployment creates, changes or replaces. Others are left as they are and are not judged.
changed contains change if {
	some change in input.plan.resource_changes
	object.get(change, "mode", "managed") == "managed"
	some action in change.change.actions
	action in {"create", "update"}
}

# Resources that exist after the deployment, unchanged ones included.
kept contains change if {
	some change in input.plan.resource_changes
	object.get(change, "mode", "managed") == "managed"
	is_object(change.change.after)
}

# Resources that do not exist after the deployment, or that it loses sight of.
removed contains change if {
	some change in input.plan.resource_changes
	object.get(change, "mode", "managed") == "managed"
	change.change.actions in [["delete"], ["forget"]]
}

# A block of a configuration: providers describe it as a list or as an object.
as_list(value) := value if is_array(value)

as_list(value) := [value] if {
	not is_array(value)
	value != null
}

as_list(null) := []

# The value of an attribute or block, `otherwise` where the plan has none or null.
value_of(parent, name, otherwise) := value if {
	value := object.get(parent, name, otherwise)
	value != null
} else := otherwise

blocks(parent, name) := as_list(value_of(parent, name, []))

# Providers describe some booleans as texts.
is_true(true)

is_true("true")

# The plan does not tell the value at this path: it is known after the deployment only, or secret.
is_unknown(change, path) if {
	some kind in ["after_unknown", "after_sensitive"]
	marks := change.change[kind]
	is_object(marks)
	some length in numbers.range(1, count(path))
	object.get(marks, array.slice(path, 0, length), false) == true
}

# The whole plans: of several units of Terragrunt, that of each.
plans := [input.plan] if not input.plan.units

plans := [plan | some plan in input.plan.units] if input.plan.units

plan_of(change) := input.plan.units[change.unit]

plan_of(change) := input.plan if not change.unit

# Where the configuration of the resource's module is in the plan.
module_path(change) := [] if not change.module_address

module_path(change) := [key |
	address := change.module_address
	names := regex.replace(address, `\[(?:\d+|"(?:[^"\\]|\\.)*")\]`, "")
	some position, name in split(names, ".")
	position % 2 == 1
	some key in ["module_calls", name, "module"]
]

unit_of(change) := object.get(change, "unit", "")

# The code of all modules that resources of the plan are in, read once.
code := {[unit_of(place), path, resource.type, resource.name]: object.get(resource, "expressions", {}) |
	some place in places
	path := module_path(place)
	module := object.get(plan_of(place).configuration.root_module, path, {})
	some resource in module.resources
	resource.mode == "managed"
}

places contains place if {
	some change in input.plan.resource_changes
	place := object.filter(change, ["unit", "module_address"])
}

# What the code says about a resource, before providers fill in what is left out.
expressions(change) := code[[unit_of(change), module_path(change), change.type, change.name]]

# The code says something about this attribute or block.
is_set(change, name) if expressions(change)[name]

# The resources that an attribute refers to in the code, as `aws_s3_bucket.logs`.
references(change, name) := {target |
	some reference in expressions(change)[name].references
	target := concat(".", array.slice(split(regex.replace(reference, `\[.*`, ""), "."), 0, 2))
}

# An attribute of one resource names another one: the same value, or a reference to it in the same module.
refers(change, name, target) if {
	some attribute in ["id", "bucket", "name", "arn"]
	value := change.change.after[name]
	value == target.change.after[attribute]
	is_string(value)
}

refers(change, name, target) if {
	object.get(change, "unit", "") == object.get(target, "unit", "")
	module_path(change) == module_path(target)
	sprintf("%s.%s", [target.type, target.name]) in references(change, name)
	same_instance(change, target)
}

# Instances of `count` and `for_each` belong together by their index; without one on both sides, all do.
same_instance(change, target) if not both_indexed(change, target)

same_instance(change, target) if change.index == target.index

both_indexed(change, target) if {
	_ := change.index
	_ := target.index
}

# A text with JSON in it, as policies and definitions of containers are.
document(text) := json.unmarshal(text) if {
	is_string(text)
	json.is_valid(text)
}

quoted(values) := concat(", ", [sprintf("%q", [sprintf("%v", [value])]) | some value in values])

readable if {
	count(plans) > 0
	every plan in plans {
		is_string(plan.format_version)
	}
}

unclear contains message if {
	not readable
	message := "This is no whole plan of OpenTofu, Terraform or Terragrunt, which are the plans that this policy can read: look at it yourself"
}

# Secrets are replaced by such texts before a policy sees a plan; what is behind them may be anything.
is_masked(value) if value == "(sensitive)"

is_masked(value) if contains(value, "***")

unclear contains message if {
	some change in changed
	walk(change.change.after, [path, value])
	is_string(value)
	is_masked(value)
	some field in path
	field in fields_read
	message := sprintf("%s: %s is a secret, which the plan does not show", [change.address, field])
}

is_approved if count(object.get(input, "approvers", [])) > 0

pending contains message if {
	not is_approved
	some message in unclear
}

pending contains message if {
	not is_approved
	setting("requireApproval", false) == true
	message := "The policy's setting requireApproval asks for a person's approval of each plan"
}

allow contains message if {
	count(deny) == 0
	count(pending) == 0
	message := "Nothing in the plan is against the policy"
}
