//go:build race

package modeltest_test

// defaultScenarios is the number of scenarios with the race detector, which makes each about eight times slower.
// TestModelDetectsPlantedFaults runs more scenarios without it.
const defaultScenarios = 40
