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

// newSeenMessage returns the database row that records the receipt of a carrier's message, so that a repetition of the
// message is recognized.
func newSeenMessage(workspaceID, carrierID, key string) *domain.InboundMessageKey {
	sum := sha256.Sum256([]byte(carrierID + "\x00" + key))
	return &domain.InboundMessageKey{WorkspaceID: workspaceID, ID: mailbox.NewID(domain.PrefixMessage), Digest: hex.EncodeToString(sum[:])}
}

// seenRetention is how long repetitions of a received message are recognized.
const seenRetention = 24 * time.Hour

// DeleteSeenMessages deletes the rows of messages that were received more than seenRetention ago.
func (svc *Service) DeleteSeenMessages(ctx context.Context, workspaceID string, now time.Time) error {
	q := commit.Query{Kind: "sms_seen", Workspace: workspaceID, Index: "all", Oldest: true, Limit: batchSize, To: domain.FirstIDAt(domain.PrefixMessage, now.Add(-seenRetention))}
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
