//go:build race

package modeltest_test

// defaultScenarios is the number of scenarios when the race detector is on, which makes each about eight times slower.
// TestModelDetectsPlantedFaults runs more scenarios without the race detector.
const defaultScenarios = 40
