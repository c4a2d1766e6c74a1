//go:build race

package modeltest_test

// usual is how many scenarios are played: the race detector sees in each what it
// sees in all, and makes one last eight times as long.
// TestTheModelFindsPlantedFaults plays more without it.
const usual = 40
