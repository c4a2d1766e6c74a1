package domain

// Codes of warnings. The request succeeded, but the resource needs attention.
const (
	// WarningSpendCap: daily_spend_cap does not limit calls over a trunk that has no cost for some numbers.
	WarningSpendCap Code = "spend_cap_without_costs"
	// WarningTestEnvironment: a test key created a resource that no call or message uses.
	WarningTestEnvironment Code = "test_environment"
)
