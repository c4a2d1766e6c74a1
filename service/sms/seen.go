package sms

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// newSeen returns the row by which a message of a carrier is recognized when it comes
// again.
func newSeen(workspaceID, carrierID, key string) *domain.InboundMessageKey {
	sum := sha256.Sum256([]byte(carrierID + "\x00" + key))
	return &domain.InboundMessageKey{WorkspaceID: workspaceID, ID: mailbox.NewID(domain.PrefixMessage), Digest: hex.EncodeToString(sum[:])}
}

// seenFor is how long a received message is recognized.
const seenFor = 24 * time.Hour

// DeleteSeenMessages deletes the rows of messages received longer ago.
func (svc *Service) DeleteSeenMessages(ctx context.Context, workspaceID string, now time.Time) error {
	q := commit.Query{Kind: "sms_seen", Workspace: workspaceID, Index: "all", Oldest: true, Limit: batchSize, To: domain.FirstIDAt(domain.PrefixMessage, now.Add(-seenFor))}
	for n := batchSize; n == batchSize && ctx.Err() == nil; {
		c := commit.Change{Workspace: workspaceID}
		_, err := svc.store.List(ctx, q, func() domain.Record { return &domain.InboundMessageKey{} }, func(r domain.Record) error {
			c.Deletes = append(c.Deletes, r.Key())
			return nil
		})
		if n = len(c.Deletes); err != nil || n == 0 {
			return err
		}
		if _, err = svc.store.Apply(ctx, c); err != nil {
			return err
		}
	}
	return nil
}
