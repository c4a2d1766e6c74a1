package domain

// WarnSpendCap is the code of a warning: the daily_spend_cap does not hold for
// calls over some trunk.
const WarnSpendCap Code = "spend_cap_without_costs"
