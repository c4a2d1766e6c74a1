package actors

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
)

// scrubber says whether a number is on the lists that hold for a campaign. It
// answers nearly every number from memory; an error means that nobody knows.
func (d *Desk) scrubber(c *domain.Campaign) func(ctx context.Context, e164 string) (listed bool, err error) {
	scrub := dnc.ScrubOf(c)
	return func(ctx context.Context, e164 string) (bool, error) {
		hit, err := d.node.dnc.Check(ctx, c.WorkspaceID, scrub, e164)
		return hit != nil, storeErr(err)
	}
}
