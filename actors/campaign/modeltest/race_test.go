//go:build race

package modeltest_test

const raced = true
