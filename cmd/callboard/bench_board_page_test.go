package main_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Either table is written without the other one, and without what was said of
// several nodes.
func TestATableOfMeasurementsLeavesTheOtherOne(t *testing.T) {
	t.Parallel()
	both := page(page("", "| one |\n", false), "| nodes |\n", true)
	assert.Equal(t, 1, strings.Count(both, "| one |"))
	said := both + "\nOther work ran beside.\n"
	for _, cluster := range []bool{false, true} {
		again := page(said, "| new |\n", cluster)
		assert.Equal(t, cluster, strings.Contains(again, "| one |"))
		assert.Equal(t, !cluster, strings.Contains(again, "| nodes |"))
		assert.True(t, strings.HasSuffix(again, clusterEnd+"\nOther work ran beside.\n"), again)
		assert.Equal(t, again, page(again, "| new |\n", cluster))
	}
}
