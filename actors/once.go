package actors

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
)

// onceFor is how long the answer to an Idempotency-Key is kept.
const onceFor = 24 * time.Hour

// onceRow is one Idempotency-Key of a credential.
type onceRow struct {
	ID          string        `json:"id"`
	WorkspaceID string        `json:"workspace_id"`
	Boot        string        `json:"boot"` // the process in which it runs or ran
	At          time.Time     `json:"at"`
	Reply       ask.OnceReply `json:"reply"`
	Done        bool          `json:"done"`
}

// Key names the row.
func (o *onceRow) Key() domain.Key {
	return domain.Key{Kind: "once", Workspace: o.WorkspaceID, ID: o.ID}
}

// Indexes: all, for the sweep.
func (o *onceRow) Indexes() []string { return []string{"all"} }

// Sort is by age.
func (o *onceRow) Sort() string { return o.At.UTC().Format("20060102T150405.000") + o.ID }

func onceOf(p domain.Principal, k ask.OnceKey) *onceRow {
	sum := sha256.Sum256([]byte(strings.Join([]string{p.KeyID + p.ClientID, p.UserID, string(p.Environment), k.Method, k.Path, k.Key}, "\n")))
	return &onceRow{ID: hex.EncodeToString(sum[:]), WorkspaceID: p.WorkspaceID}
}

// Reserve takes a key for a request, or answers the reply of an earlier one.
func (d *Desk) Reserve(ctx context.Context, p domain.Principal, k ask.OnceKey) (*ask.OnceReply, error) {
	for range tries {
		row := onceOf(p, k)
		version, err := d.store.Get(ctx, row)
		if err != nil && !errors.Is(err, domain.ErrNotFound) {
			return nil, storeErr(err)
		}
		if err == nil && time.Since(row.At) < onceFor {
			switch {
			case row.Done:
				return &row.Reply, nil
			case row.Boot == d.node.boot:
				return nil, domain.Errorf(domain.CodeIdempotencyConflict, "a request with this Idempotency-Key is still running")
			}
			return nil, domain.Errorf(domain.CodeIdempotencyConflict,
				"the service ended while a request with this Idempotency-Key ran; see whether it took effect, then use another key")
		}
		fresh := onceOf(p, k)
		fresh.Boot, fresh.At = d.node.boot, stamp()
		_, err = d.store.Apply(ctx, commit.Change{
			Workspace: p.WorkspaceID, Guards: []commit.Guard{{Key: fresh.Key(), Version: version}}, Puts: []domain.Record{fresh},
		})
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		return nil, storeErr(err)
	}
	return nil, domain.Errorf(domain.CodeIdempotencyConflict, "a request with this Idempotency-Key is still running")
}

// Keep stores the reply of a request that ran.
func (d *Desk) Keep(ctx context.Context, p domain.Principal, k ask.OnceKey, r ask.OnceReply) error {
	row := onceOf(p, k)
	row.Boot, row.At, row.Done, row.Reply = d.node.boot, stamp(), true, r
	_, err := d.store.Apply(ctx, commit.Change{Workspace: p.WorkspaceID, Puts: []domain.Record{row}})
	return err
}

// Release gives a key back whose request had no effect.
func (d *Desk) Release(ctx context.Context, p domain.Principal, k ask.OnceKey) error {
	_, err := d.store.Apply(ctx, commit.Change{Workspace: p.WorkspaceID, Deletes: []domain.Key{onceOf(p, k).Key()}})
	return err
}

// sweepOnce deletes keys past their time, a bounded number per visit.
func (d *Desk) sweepOnce(ctx context.Context, workspaceID string) error {
	var old []domain.Key
	before := (&onceRow{At: time.Now().Add(-onceFor)}).Sort()
	q := commit.Query{Kind: "once", Workspace: workspaceID, Index: "all", Oldest: true, Limit: 1000, To: before}
	_, err := d.store.List(ctx, q, func() domain.Record { return &onceRow{} }, func(r domain.Record) error {
		old = append(old, r.Key())
		return nil
	})
	if err != nil || len(old) == 0 {
		return err
	}
	_, err = d.store.Apply(ctx, commit.Change{Workspace: workspaceID, Deletes: old})
	return err
}
