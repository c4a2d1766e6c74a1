//go:build !race

package modeltest_test

const defaultScenarios = 300
