package envarium

# What the policy reads of resources, so that secrets there are noticed.
fields_read := {"limits"}

needed := setting("resources", ["cpu", "memory"])

# A limit of zero does not count as a limit.
has_limit(limits, resource) if {
	value := limits[resource]
	not value in ["", "0", 0, null]
}

# Attributes of resources spell it `resources { limits = … }`, manifests `resources: {limits: …}`.
limits_of(container) := limits if {
	some resources in blocks(container, "resources")
	some limits in blocks(resources, "limits")
} else := {}

kinds := {"container", "init_container", "containers", "initContainers", "ephemeralContainers"}

# Every container in a resource of Kubernetes, with the name of the field that it is in.
containers contains found if {
	some change in changed
	startswith(change.type, "kubernetes_")
	found := container_in(change, change.change.after)[_]
}

containers contains found if {
	some change in changed
	change.type == "kubectl_manifest"
	yaml.is_valid(change.change.after.yaml_body)
	found := container_in(change, yaml.unmarshal(change.change.after.yaml_body))[_]
}

container_in(change, document) := {found |
	walk(document, [path, value])
	path[count(path) - 1] in kinds
	some index, container in as_list(value)
	is_object(container)
	found := {"address": change.address, "name": value_of(container, "name", sprintf("%d", [index])), "container": container}
}

deny contains message if {
	some found in containers
	lacking := [resource | some resource in needed; not has_limit(limits_of(found.container), resource)]
	count(lacking) > 0
	message := sprintf("%s: container %q has no limit of %s; set resources.limits of it", [found.address, found.name, concat(" and ", lacking)])
}

# A task of ECS is limited as a whole, or each container of it.
deny contains message if {
	some change in changed
	change.type == "aws_ecs_task_definition"
	some container in document(change.change.after.container_definitions)
	lacking := [resource |
		some resource in needed
		not has_limit(change.change.after, resource)
		not has_limit(container, resource)
	]
	count(lacking) > 0
	message := sprintf("%s: container %q has no limit of %s; set it in container_definitions or for the whole task", [change.address, value_of(container, "name", ""), concat(" and ", lacking)])
}

unclear contains message if {
	some change in changed
	change.type == "aws_ecs_task_definition"
	is_unknown(change, ["container_definitions"])
	lacking := [resource | some resource in needed; not has_limit(change.change.after, resource)]
	count(lacking) > 0
	message := sprintf("%s: the plan does not tell its container_definitions", [change.address])
}

opaque := {"kubernetes_manifest": "manifest", "kubectl_manifest": "yaml_body"}

unclear contains message if {
	some change in changed
	field := opaque[change.type]
	is_unknown(change, [field])
	message := sprintf("%s: the plan does not tell its %s", [change.address, field])
}

# What a chart contains is not part of a plan.
unclear contains message if {
	some change in changed
	change.type == "helm_release"
	message := sprintf("%s: the plan does not tell which containers the chart has", [change.address])
}
