package main_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A new table of single-node measurements must keep the cluster table on the page, and vice versa. Other text below a
// table must be removed.
func TestWritingOneBenchmarkTableKeepsTheOther(t *testing.T) {
	t.Parallel()
	both := replaceTable(replaceTable("", "| one |\n", false), "| nodes |\n", true)
	assert.Equal(t, 1, strings.Count(both, "| one |"))
	for _, cluster := range []bool{false, true} {
		again := replaceTable(both, "| new |\n", cluster)
		assert.Equal(t, cluster, strings.Contains(again, "| one |"))
		assert.Equal(t, !cluster, strings.Contains(again, "| nodes |"))
		assert.Equal(t, again, replaceTable(again, "| new |\n", cluster))
	}
	assert.NotContains(t, replaceTable(both+"\nBy hand.\n", "| new |\n", true), "By hand.")
}
