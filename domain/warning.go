package domain

// The codes of warnings: the request succeeded, and something about the resource
// needs attention.
const (
	// WarningSpendCap: daily_spend_cap does not limit calls over some trunk,
	// because the trunk has no cost for some numbers.
	WarningSpendCap Code = "spend_cap_without_costs"
	// WarningTestEnvironment: a test key created a resource that no call or message
	// uses.
	WarningTestEnvironment Code = "test_environment"
)
