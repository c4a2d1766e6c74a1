package domain

// Codes of warnings in successful responses. A warning says that the resource needs attention.
const (
	// WarningSpendCap means that daily_spend_cap does not limit calls over a trunk that has no cost for some numbers.
	WarningSpendCap Code = "spend_cap_without_costs"
	// WarningTestEnvironment means that a test key created a resource that no call or message uses.
	WarningTestEnvironment Code = "test_environment"
)
