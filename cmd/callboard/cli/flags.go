package cli

import (
	"time"

	"github.com/spf13/cobra"
)

// moment reads a time that may be missing.
func moment(flag, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // nothing was said
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, Misuse("%s must be a time such as 2027-01-31T00:00:00Z", flag)
	}
	return &t, nil
}

func limitFlag(cmd *cobra.Command, most *int) {
	cmd.Flags().IntVar(most, "limit", 50, "how many are shown; 0: all")
}

// given is a pointer to what was said; nil: nothing was.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
