package envarium

# What the policy reads of resources, so that secrets there are noticed.
fields_read := type_fields | {"size"}

allowed := setting("allowedTypes", [])

forbidden := setting("forbiddenTypes", default_forbidden)

# Machines of AWS from 4xlarge on, without an operating system of theirs below, and with accelerators; large ones of others.
default_forbidden := [
	"*.metal*", "*.{4,6,8,9,10,12,16,18,24,32,48,56,96,112,224}xlarge", "{p,g,trn,inf,u-,dl,vt}[0-9]*",
	"*-{16,22,30,32,36,44,48,56,60,64,72,80,88,90,96,112,128,160,176,180,208,224,240,360,416}", "{a2,a3,a4,g2,g4,m1,m2,m3,x4}-*",
	"Standard_{N,M}*", "Standard_[A-Z]*{16,20,32,48,64,72,80,96,104,112,120,128,144,176,192,208,416}[a-z]*_v[0-9]*",
	"Standard_[A-Z]*{16,20,32,48,64,72,80,96,104,112,120,128,144,176,192,208,416}_v[0-9]*",
]

# Attributes that name a type of machine, at any depth of a resource.
type_fields := {"instance_type", "instance_types", "instance_class", "db_cluster_instance_class", "node_type", "machine_type", "vm_size", "sku_name_vm"}

clouds := ["aws_", "google_", "azurerm_"]

of_cloud(change) if {
	some cloud in clouds
	startswith(change.type, cloud)
}

machines contains {"address": change.address, "type": machine} if {
	some change in changed
	of_cloud(change)
	walk(change.change.after, [path, value])
	path[count(path) - 1] in type_fields
	some machine in as_list(value)
	is_string(machine)
	machine != ""
}

machines contains {"address": change.address, "type": change.change.after.size} if {
	some change in changed
	change.type in {"azurerm_linux_virtual_machine", "azurerm_windows_virtual_machine"}
}

# Databases and caches put a word in front, search and notebooks put words around: db.r5.large, ml.m5.large, r5.large.search.
bare(machine) := regex.replace(regex.replace(machine, `^(db|cache|ml|dms|kafka)\.`, ""), `\.(search|elasticsearch)$`, "")

matches(patterns, machine) if {
	some pattern in patterns
	some name in [machine, bare(machine)]
	glob.match(lower(pattern), null, lower(name))
}

is_refused(machine) if {
	count(allowed) > 0
	not matches(allowed, machine)
}

is_refused(machine) if {
	count(allowed) == 0
	matches(forbidden, machine)
}

remedy := sprintf("use one of %s", [quoted(allowed)]) if count(allowed) > 0

remedy := "choose a smaller one" if count(allowed) == 0

deny contains message if {
	some found in machines
	is_refused(found.type)
	message := sprintf("%s: type %q is too expensive; %s", [found.address, found.type, remedy])
}

unclear contains message if {
	some change in changed
	of_cloud(change)
	walk(change.change.after_unknown, [path, true])
	path[count(path) - 1] in type_fields
	is_set(change, path[0])
	message := sprintf("%s: the plan does not tell its %s", [change.address, path[count(path) - 1]])
}

# AWS chooses among all types that fit.
unclear contains message if {
	some change in changed
	startswith(change.type, "aws_")
	walk(change.change.after, [path, value])
	path[count(path) - 1] == "instance_requirements"
	some block in as_list(value)
	is_object(block)
	message := sprintf("%s: instance_requirements leave it to AWS which types are used; name types instead", [change.address])
}
