package testcarrier

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestContractNumbersAreDocumented(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/campaigns.md")
	require.NoError(t, err)
	for digits := range contractNumbers {
		assert.Contains(t, string(guide), "| `+1500555"+digits+"`")
	}
	for digits := range demoNumbers {
		assert.Contains(t, string(guide), "| `+1500555nn"+digits+"` |")
	}
}
