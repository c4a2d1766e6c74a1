package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDestructiveCommandsAskOnTerminals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args     []string
		answer   string
		terminal bool
		runs     bool
		asks     bool
	}{
		"yes":             {[]string{"delete", "trunk_1"}, "y\n", true, true, true},
		"no":              {[]string{"delete", "trunk_1"}, "n\n", true, false, true},
		"no answer":       {[]string{"delete", "trunk_1"}, "", true, false, true},
		"with --yes":      {[]string{"delete", "trunk_1", "--yes"}, "", true, true, false},
		"in a script":     {[]string{"delete", "trunk_1"}, "", false, true, false},
		"another command": {[]string{"list"}, "", true, true, false},
	} {
		ran := false
		run := func(*cobra.Command, []string) error {
			ran = true
			return nil
		}
		root := &cobra.Command{Use: "callboard", SilenceErrors: true, SilenceUsage: true}
		trunks := &cobra.Command{Use: "trunks"}
		trunks.AddCommand(&cobra.Command{Use: "delete TRUNK...", Short: "Delete trunks", RunE: run}, &cobra.Command{Use: "list", RunE: run})
		root.AddCommand(trunks)
		askBefore(root, func() bool { return c.terminal })
		var asked bytes.Buffer
		root.SetErr(&asked)
		root.SetIn(strings.NewReader(c.answer))
		root.SetArgs(append([]string{"trunks"}, c.args...))
		err := root.Execute()
		assert.Equal(t, c.runs, ran, name)
		if c.runs {
			require.NoError(t, err, name)
		} else {
			require.ErrorIs(t, err, errNotConfirmed, name)
		}
		if c.asks {
			assert.Equal(t, "trunks delete trunk_1: Delete trunks? [y/N] ", asked.String(), name)
		} else {
			assert.Empty(t, asked.String(), name)
		}
	}
}
