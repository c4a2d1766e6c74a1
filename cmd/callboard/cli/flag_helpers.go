package cli

import (
	"time"

	"github.com/spf13/cobra"
)

// ParseTime parses the value of a flag as an RFC 3339 time. For an empty text it returns nil.
func ParseTime(flag, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // the flag is not set
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, UsageErrorf("%s must be a time such as 2027-01-31T00:00:00Z", flag)
	}
	return &t, nil
}

// AddLimitFlag adds the flag --limit, the maximum number of rows in a list.
func AddLimitFlag(cmd *cobra.Command, limit *int) {
	cmd.Flags().IntVar(limit, "limit", 50, "maximum number of rows; 0: all")
}

// OptionalString returns a pointer to text, or nil if text is empty.
func OptionalString(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
