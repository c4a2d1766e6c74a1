package outbox

import (
	"crypto/rand"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/callboard/callboard/domain"
)

// LogPosition is the position in a workspace's event log up to which deliveries were queued. The commit that queues
// deliveries also stores the new position.
type LogPosition struct {
	WorkspaceID string `json:"workspace_id"`
	Offset      uint64 `json:"offset"`  // offset of the last event whose deliveries are queued
	LastID      string `json:"last_id"` // ID of the last queued delivery; the next ID must sort after it
}

// Key returns the key of the row. Each workspace has one such row.
func (p *LogPosition) Key() domain.Key {
	return domain.Key{Kind: "outbox", Workspace: p.WorkspaceID, ID: "place"}
}

// Indexes implements domain.Record. It returns none, because the row belongs to no index.
func (p *LogPosition) Indexes() []string { return nil }

// Sort implements domain.Record. It returns an empty key, because the row belongs to no list.
func (p *LogPosition) Sort() string { return "" }

// nextID returns the ID of a new delivery. The ID sorts after last even if the clock was set back, because
// endpoints read their deliveries in the order of the IDs.
func nextID(last string, now time.Time) string {
	u, err := ulid.ParseStrict(strings.TrimPrefix(last, string(domain.PrefixDelivery)+"_"))
	if ms := ulid.Timestamp(now); err != nil || u.Time() < ms {
		return string(domain.PrefixDelivery) + "_" + ulid.MustNew(ms, rand.Reader).String()
	}
	for i := len(u) - 1; i >= 0; i-- { // increment the random part of the last ID
		u[i]++
		if u[i] != 0 {
			break
		}
	}
	return string(domain.PrefixDelivery) + "_" + u.String()
}
