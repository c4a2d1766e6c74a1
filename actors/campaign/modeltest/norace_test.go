//go:build !race

package modeltest_test

const usual = 300
