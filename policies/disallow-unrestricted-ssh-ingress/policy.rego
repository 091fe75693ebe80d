package envarium

# What the policy reads of resources, so that secrets there are noticed.
fields_read := {
	"ingress", "type", "cidr_blocks", "ipv6_cidr_blocks", "cidr_ipv4", "cidr_ipv6", "from_port", "to_port", "protocol", "ip_protocol",
	"entry", "cidr", "security_rule", "access", "direction", "destination_port_range", "destination_port_ranges",
	"source_address_prefix", "source_address_prefixes", "source_ranges", "allow", "disabled",
}

ports := setting("ports", [22])

# Everybody, or so large a part of the internet that two or three such blocks are everybody.
is_everybody(source) if lower(source) in {"*", "any", "internet", "0.0.0.0", "::"}

is_everybody(source) if {
	[address, length] := split(source, "/")
	to_number(length) < shortest(address)
}

shortest(address) := 16 if contains(address, ":")

shortest(address) := 8 if not contains(address, ":")

open_sources(lists) := {source | some list in lists; some source in list; is_string(source); is_everybody(source)}

# A protocol that carries TCP.
carries_tcp(protocol) if lower(sprintf("%v", [protocol])) in {"tcp", "6", "-1", "all", "*", ""}

is_any(protocol) if lower(sprintf("%v", [protocol])) in {"-1", "all"}

covered(first, last) := {port | some port in ports; to_number(first) <= port; port <= to_number(last)}

covered_by(protocol, _, _) := {port | some port in ports} if is_any(protocol)

covered_by(protocol, first, last) := covered(first, last) if {
	carries_tcp(protocol)
	not is_any(protocol)
}

port_text(found) := concat(", ", [sprintf("%v", [port]) | some port in sort(found)])

report(address, found, sources, where) := sprintf(
	"%s: port %s is open to %s; name the addresses that may connect in %s",
	[address, port_text(found), concat(", ", sort(sources)), where],
)

# AWS: rules inside security groups.
aws_groups := {"aws_security_group", "aws_default_security_group"}

deny contains message if {
	some change in changed
	change.type in aws_groups
	some rule in blocks(change.change.after, "ingress")
	found := covered_by(rule.protocol, rule.from_port, rule.to_port)
	count(found) > 0
	sources := open_sources([value_of(rule, "cidr_blocks", []), value_of(rule, "ipv6_cidr_blocks", [])])
	count(sources) > 0
	message := report(change.address, found, sources, "cidr_blocks of ingress")
}

unclear contains message if {
	some change in changed
	change.type in aws_groups
	some index, rule in blocks(change.change.after, "ingress")
	some field in ["cidr_blocks", "ipv6_cidr_blocks", "from_port", "to_port", "protocol"]
	is_unknown(change, ["ingress", index, field])
	count(possible(rule)) > 0
	message := sprintf("%s: the plan does not tell %s of an ingress block", [change.address, field])
}

unclear contains message if {
	some change in changed
	change.type in aws_groups
	is_unknown(change, ["ingress"])
	is_set(change, "ingress")
	message := sprintf("%s: the plan does not tell its ingress", [change.address])
}

# The ports that a rule may open, where parts of it are unknown.
possible(rule) := covered_by(value_of(rule, "protocol", "-1"), value_of(rule, "from_port", 0), value_of(rule, "to_port", 65535))

# AWS: rules as resources of their own.
deny contains message if {
	some change in changed
	change.type == "aws_security_group_rule"
	rule := change.change.after
	rule.type == "ingress"
	found := covered_by(rule.protocol, rule.from_port, rule.to_port)
	count(found) > 0
	sources := open_sources([value_of(rule, "cidr_blocks", []), value_of(rule, "ipv6_cidr_blocks", [])])
	count(sources) > 0
	message := report(change.address, found, sources, "cidr_blocks")
}

deny contains message if {
	some change in changed
	change.type == "aws_vpc_security_group_ingress_rule"
	rule := change.change.after
	found := covered_by(rule.ip_protocol, value_of(rule, "from_port", 0), value_of(rule, "to_port", 65535))
	count(found) > 0
	sources := open_sources([[value_of(rule, "cidr_ipv4", "")], [value_of(rule, "cidr_ipv6", "")]])
	count(sources) > 0
	message := report(change.address, found, sources, "cidr_ipv4 or cidr_ipv6")
}

unclear contains message if {
	some change in changed
	change.type in {"aws_security_group_rule", "aws_vpc_security_group_ingress_rule"}
	rule := change.change.after
	object.get(rule, "type", "ingress") == "ingress"
	some field in ["cidr_blocks", "ipv6_cidr_blocks", "cidr_ipv4", "cidr_ipv6", "from_port", "to_port", "protocol", "ip_protocol"]
	is_unknown(change, [field])
	is_set(change, field)
	count(possible(object.union({"protocol": value_of(rule, "ip_protocol", "-1")}, rule))) > 0
	message := sprintf("%s: the plan does not tell its %s", [change.address, field])
}

# A list of prefixes that rules can name instead of addresses.
deny contains message if {
	some change in changed
	change.type in {"aws_ec2_managed_prefix_list", "aws_ec2_managed_prefix_list_entry"}
	some entry in array.concat(blocks(change.change.after, "entry"), [change.change.after])
	is_everybody(entry.cidr)
	message := sprintf("%s: the prefix list contains %s, which opens every rule that uses the list; name narrower addresses", [change.address, entry.cidr])
}

# Azure.
azure_rules contains {"address": change.address, "rule": change.change.after} if {
	some change in changed
	change.type == "azurerm_network_security_rule"
}

azure_rules contains {"address": change.address, "rule": rule} if {
	some change in changed
	change.type == "azurerm_network_security_group"
	some rule in blocks(change.change.after, "security_rule")
}

azure_ranges(rule) := array.concat([value_of(rule, "destination_port_range", "")], value_of(rule, "destination_port_ranges", []))

azure_covered(rule) := {port |
	some range in azure_ranges(rule)
	some port in covered_range(range)
}

covered_range("*") := {port | some port in ports}

covered_range(range) := covered(ends[0], ends[count(ends) - 1]) if {
	not range in {"*", ""}
	ends := split(replace(range, " ", ""), "-")
}

deny contains message if {
	some found in azure_rules
	rule := found.rule
	lower(rule.access) == "allow"
	lower(rule.direction) == "inbound"
	carries_tcp(rule.protocol)
	opened := azure_covered(rule)
	count(opened) > 0
	sources := open_sources([[value_of(rule, "source_address_prefix", "")], value_of(rule, "source_address_prefixes", [])])
	count(sources) > 0
	message := report(found.address, opened, sources, "source_address_prefix")
}

unclear contains message if {
	some change in changed
	change.type in {"azurerm_network_security_rule", "azurerm_network_security_group"}
	some field in ["security_rule", "source_address_prefix", "source_address_prefixes", "destination_port_range", "destination_port_ranges"]
	is_unknown(change, [field])
	is_set(change, field)
	message := sprintf("%s: the plan does not tell its %s", [change.address, field])
}

# Google Cloud: a rule without any source is for everybody.
gcp_sources(rule) := open_sources([ranges]) if {
	ranges := value_of(rule, "source_ranges", [])
	count(ranges) > 0
}

gcp_sources(rule) := {"0.0.0.0/0"} if {
	every field in ["source_ranges", "source_tags", "source_service_accounts"] {
		count(value_of(rule, field, [])) == 0
	}
}

gcp_covered(block) := {port | some port in ports} if count(value_of(block, "ports", [])) == 0

gcp_covered(block) := {port | some range in block.ports; some port in covered_range(range)} if count(value_of(block, "ports", [])) > 0

deny contains message if {
	some change in changed
	change.type == "google_compute_firewall"
	rule := change.change.after
	upper(value_of(rule, "direction", "INGRESS")) == "INGRESS"
	value_of(rule, "disabled", false) == false
	not is_unknown(change, ["source_ranges"])
	some block in blocks(rule, "allow")
	carries_tcp(block.protocol)
	opened := gcp_covered(block)
	count(opened) > 0
	sources := gcp_sources(rule)
	count(sources) > 0
	message := report(change.address, opened, sources, "source_ranges")
}

deny contains message if {
	some change in changed
	change.type == "google_compute_firewall"
	is_unknown(change, ["source_ranges"])
	not is_set(change, "source_ranges")
	count(value_of(change.change.after, "source_tags", [])) == 0
	count(value_of(change.change.after, "source_service_accounts", [])) == 0
	upper(value_of(change.change.after, "direction", "INGRESS")) == "INGRESS"
	value_of(change.change.after, "disabled", false) == false
	some block in blocks(change.change.after, "allow")
	carries_tcp(block.protocol)
	opened := gcp_covered(block)
	count(opened) > 0
	message := report(change.address, opened, {"0.0.0.0/0"}, "source_ranges")
}

unclear contains message if {
	some change in changed
	change.type == "google_compute_firewall"
	some field in ["source_ranges", "allow"]
	is_unknown(change, [field])
	is_set(change, field)
	message := sprintf("%s: the plan does not tell its %s", [change.address, field])
}
