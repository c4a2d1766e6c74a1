package validation

// Limits that the JSON Schemas of requests also contain.
const (
	MaxTestName = 80  // characters of the caller's name in a test call
	MaxTestSays = 500 // characters that the caller of a test call says

	MaxCallerName       = 80
	CallerIDHeaderKinds = 3
	MaxACDSeconds       = 3600
	MaxShortSeconds     = 60
	MaxTrunkCalls       = 100_000
	MaxCallMinutes      = 24 * 60
	MinRate             = 0.5 // speaking rate
	MaxRate             = 2   // speaking rate
)
