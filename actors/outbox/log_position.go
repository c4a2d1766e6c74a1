package outbox

import (
	"crypto/rand"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/callboard/callboard/domain"
)

// LogPosition is how far a workspace's events have been fanned out. It is committed
// together with the deliveries of the events before it.
type LogPosition struct {
	WorkspaceID string `json:"workspace_id"`
	Offset      uint64 `json:"offset"`  // of the last event that was fanned out
	LastID      string `json:"last_id"` // of the last delivery: the next one sorts behind it
}

// Key names the row.
func (p *LogPosition) Key() domain.Key {
	return domain.Key{Kind: "outbox", Workspace: p.WorkspaceID, ID: "place"}
}

// Indexes: none.
func (p *LogPosition) Indexes() []string { return nil }

// Sort is of no use.
func (p *LogPosition) Sort() string { return "" }

// nextID makes the identifier of a delivery, which sorts behind the last one
// even when the clock was set back: endpoints read their queue forwards.
func nextID(last string, now time.Time) string {
	u, err := ulid.ParseStrict(strings.TrimPrefix(last, string(domain.PrefixDelivery)+"_"))
	if ms := ulid.Timestamp(now); err != nil || u.Time() < ms {
		return string(domain.PrefixDelivery) + "_" + ulid.MustNew(ms, rand.Reader).String()
	}
	for i := len(u) - 1; i >= 0; i-- { // the next number
		u[i]++
		if u[i] != 0 {
			break
		}
	}
	return string(domain.PrefixDelivery) + "_" + u.String()
}
