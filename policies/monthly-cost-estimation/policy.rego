package envarium

configuration := object.get(input, "policyConfiguration", {})

maximum := configuration.maxCostIncrease if {
	is_number(configuration.maxCostIncrease)
	configuration.maxCostIncrease >= 1
}

is_approved if count(object.get(input, "approvers", [])) > 0

is_destroy if startswith(input.deploymentRequest.type, "destroy")

# What the environment costs more each month; all of it where there is nothing to compare with.
increase := input.costEstimation.monthlyCostDiff if {
	is_number(input.costEstimation.monthlyCostDiff)
} else := input.costEstimation.totalMonthlyCost if {
	is_number(input.costEstimation.totalMonthlyCost)
}

deny contains message if {
	not maximum
	message := "The policy's configuration lacks maxCostIncrease: set it to a number of at least 1"
}

exceeding contains message if {
	increase > maximum
	not is_destroy
	message := sprintf("The deployment costs %v more each month, and %v is the maximum: reduce it, or ask for approval", [round(increase * 100) / 100, maximum])
}

deny contains message if {
	configuration.onExceed == "deny"
	some message in exceeding
}

pending contains message if {
	not is_approved
	some message in exceeding
}

pending contains message if {
	not is_approved
	not is_destroy
	maximum
	not has_estimate
	message := "There is no estimate of the deployment's costs: turn on includeCostEstimation in the project's policy, or approve without it"
}

has_estimate if is_number(increase)

allow contains message if {
	count(deny) == 0
	count(pending) == 0
	message := "The deployment's costs are within the maximum, or were approved"
}
