package envarium

# What the policy reads of resources, so that secrets there are noticed.
fields_read := {"image", "image_uri", "image_identifier", "docker_image_name"}

registries := setting("registries", [])

deny contains message if {
	count(registries) == 0
	message := "The policy's configuration lacks registries: name at least one, such as \"ghcr.io/acme\""
}

# The registry and repository that an image's name stands for, as container runtimes read it.
full_name(image) := sprintf("%s/%s", [lower(host), rest]) if {
	[host, rest] := parts(image)
	is_host(host)
	not lower(host) in docker_hosts
}

full_name(image) := docker_name(rest) if {
	[host, rest] := parts(image)
	lower(host) in docker_hosts
}

full_name(image) := docker_name(image) if {
	[host, _] := parts(image)
	not is_host(host)
}

full_name(image) := docker_name(image) if not contains(image, "/")

docker_hosts := {"docker.io", "index.docker.io", "registry-1.docker.io", "registry.hub.docker.com"}

parts(image) := [substring(image, 0, slash), substring(image, slash + 1, -1)] if {
	slash := indexof(image, "/")
	slash > 0
}

is_host(text) if regex.match(`[.:]`, text)

is_host("localhost")

docker_name(path) := sprintf("docker.io/%s", [path]) if contains(path, "/")

docker_name(path) := sprintf("docker.io/library/%s", [path]) if not contains(path, "/")

# Without tag and digest, so that "ghcr.io/acme" does not cover "ghcr.io/acme:x" of somebody else.
bare(image) := regex.replace(regex.replace(image, `@.*$`, ""), `:[^:/]*$`, "")

is_covered(image) if {
	name := full_name(image)
	not contains(name, "/../")
	some registry in registries
	wanted := regex.replace(trim_suffix(lower(registry), "/"), `^https?://`, "")
	covers(wanted, bare(name))
}

covers(wanted, name) if name == wanted

covers(wanted, name) if startswith(name, sprintf("%s/", [wanted]))

kinds := {"container", "init_container", "containers", "initContainers", "ephemeralContainers"}

# Images of containers in attributes, in manifests and in texts of JSON and YAML.
images contains {"address": change.address, "image": image} if {
	some change in changed
	some image in images_in(change.change.after)
}

images contains {"address": change.address, "image": image} if {
	some change in changed
	change.type == "kubectl_manifest"
	yaml.is_valid(change.change.after.yaml_body)
	some image in images_in(yaml.unmarshal(change.change.after.yaml_body))
}

images contains {"address": change.address, "image": container.image} if {
	some change in changed
	change.type == "aws_ecs_task_definition"
	some container in document(change.change.after.container_definitions)
}

images contains {"address": change.address, "image": found} if {
	some change in changed
	change.type == "aws_batch_job_definition"
	some field in ["container_properties", "node_properties", "ecs_properties"]
	walk(document(change.change.after[field]), [path, found])
	path[count(path) - 1] == "image"
	is_string(found)
}

image_fields := {
	"aws_lambda_function": "image_uri",
	"docker_container": "image",
	"docker_image": "name",
}

images contains {"address": change.address, "image": image} if {
	some change in changed
	image := change.change.after[image_fields[change.type]]
	is_string(image)
	image != ""
}

images contains {"address": change.address, "image": image} if {
	some change in changed
	change.type in {"aws_apprunner_service", "azurerm_linux_web_app", "azurerm_linux_function_app"}
	walk(change.change.after, [path, image])
	path[count(path) - 1] in {"image_identifier", "docker_image_name"}
	is_string(image)
}

images_in(document) := {container.image |
	walk(document, [path, value])
	path[count(path) - 1] in kinds
	some container in as_list(value)
	is_string(container.image)
}

# In a text of JSON, as that of a task.
unclear contains message if {
	some found in images
	is_masked(found.image)
	message := sprintf("%s: an image is a secret, which the plan does not show", [found.address])
}

deny contains message if {
	count(registries) > 0
	some found in images
	not is_covered(found.image)
	message := sprintf("%s: image %q comes from %s; use one from %s", [found.address, found.image, split(full_name(found.image), "/")[0], quoted(registries)])
}

unclear contains message if {
	some change in changed
	walk(change.change.after_unknown, [path, true])
	path[count(path) - 1] == "image"
	some kind in kinds
	kind in path
	message := sprintf("%s: the plan does not tell the image of a container", [change.address])
}

opaque := {
	"aws_ecs_task_definition": "container_definitions",
	"aws_batch_job_definition": "container_properties",
	"aws_lambda_function": "image_uri",
	"docker_container": "image",
	"docker_image": "name",
	"kubernetes_manifest": "manifest",
	"kubectl_manifest": "yaml_body",
}

unclear contains message if {
	some change in changed
	field := opaque[change.type]
	is_unknown(change, [field])
	is_set(change, field)
	message := sprintf("%s: the plan does not tell its %s", [change.address, field])
}

# What a chart contains is not part of a plan.
unclear contains message if {
	some change in changed
	change.type == "helm_release"
	message := sprintf("%s: the plan does not tell which images the chart has", [change.address])
}
