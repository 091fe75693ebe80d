package envarium

# What the policy reads of resources, so that secrets there are noticed.
fields_read := {"protocol", "ssl_policy"}

listener_types := {"aws_lb_listener", "aws_alb_listener"}

rule_types := {"aws_lb_listener_rule", "aws_alb_listener_rule"}

# Names of AWS's own sets of ciphers that accept TLS 1.2 and later only.
secure_prefixes := ["ELBSecurityPolicy-TLS-1-2-", "ELBSecurityPolicy-TLS13-1-2-", "ELBSecurityPolicy-TLS13-1-3-", "ELBSecurityPolicy-FS-1-2-"]

is_secure(name) if {
	some prefix in secure_prefixes
	startswith(name, prefix)
}

is_secure(name) if name in setting("securityPolicies", [])

protocol(change) := upper(value_of(change.change.after, "protocol", ""))

leads_to_https(action) if {
	action.type == "redirect"
	some redirect in blocks(action, "redirect")
	upper(redirect.protocol) == "HTTPS"
}

deny contains message if {
	some change in changed
	change.type in listener_types
	protocol(change) == "HTTP"
	some action in blocks(change.change.after, "default_action")
	not leads_to_https(action)
	message := sprintf("%s: the listener answers in plain HTTP; redirect to HTTPS in default_action, or set protocol = \"HTTPS\"", [change.address])
}

# A rule answers before the listener's own action does.
deny contains message if {
	some change in changed
	change.type in rule_types
	some listener in kept
	listener.type in listener_types
	protocol(listener) == "HTTP"
	of_listener(change, listener)
	some action in blocks(change.change.after, "action")
	not leads_to_https(action)
	message := sprintf("%s: the rule answers in plain HTTP, because %s is an HTTP listener; attach it to an HTTPS listener", [change.address, listener.address])
}

of_listener(rule, listener) if {
	rule.change.after.listener_arn == listener.change.after.arn
}

of_listener(rule, listener) if refers(rule, "listener_arn", listener)

deny contains message if {
	some change in changed
	change.type in listener_types
	protocol(change) in {"HTTPS", "TLS"}
	not is_unsaid(change)
	name := value_of(change.change.after, "ssl_policy", "")
	not is_secure(name)
	message := sprintf("%s: ssl_policy %q accepts TLS versions before 1.2; set ssl_policy = \"ELBSecurityPolicy-TLS13-1-2-2021-06\"", [change.address, name])
}

is_unsaid(change) if {
	is_unknown(change, ["ssl_policy"])
	is_set(change, "ssl_policy")
}

unclear contains message if {
	some change in changed
	change.type in listener_types
	is_unsaid(change)
	message := sprintf("%s: the plan does not tell its ssl_policy", [change.address])
}

unclear contains message if {
	some change in changed
	change.type in listener_types
	is_unknown(change, ["protocol"])
	is_set(change, "protocol")
	message := sprintf("%s: the plan does not tell its protocol", [change.address])
}
