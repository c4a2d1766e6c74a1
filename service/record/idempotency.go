package record

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// keepReplies is how long the reply to an Idempotency-Key is kept.
const keepReplies = 24 * time.Hour

// idempotencyRow is one Idempotency-Key of a credential.
type idempotencyRow struct {
	ID          string      `json:"id"`
	WorkspaceID string      `json:"workspace_id"`
	At          time.Time   `json:"at"`
	Reply       StoredReply `json:"reply"`
	Done        bool        `json:"done"`
}

// Key names the row.
func (o *idempotencyRow) Key() domain.Key {
	return domain.Key{Kind: "once", Workspace: o.WorkspaceID, ID: o.ID}
}

// Indexes: all, for the sweep.
func (o *idempotencyRow) Indexes() []string { return []string{"all"} }

// Sort is by age.
func (o *idempotencyRow) Sort() string { return o.At.UTC().Format("20060102T150405.000") + o.ID }

func idempotencyRowOf(p domain.Principal, k IdempotencyKey) *idempotencyRow {
	sum := sha256.Sum256([]byte(strings.Join([]string{p.KeyID + p.ClientID, p.UserID, string(p.Environment), k.Method, k.Path, k.Key}, "\n")))
	return &idempotencyRow{ID: hex.EncodeToString(sum[:]), WorkspaceID: p.WorkspaceID}
}

// IdempotentRequest is a running request with an Idempotency-Key. The ids of what it
// creates follow from it: if the process ends in between, the same request finds
// in the next process what exists already and creates only what is missing.
type IdempotentRequest struct {
	row      string    // the id of the key's row
	At       time.Time // when the key was first seen
	Repeated bool      // an earlier process may have done some of it
}

type idempotentRequestKey struct{}

// IdempotentRequestOf returns the request of a context; nil without an Idempotency-Key.
func IdempotentRequestOf(ctx context.Context) *IdempotentRequest {
	t, _ := ctx.Value(idempotentRequestKey{}).(*IdempotentRequest)
	return t
}

// ID returns the id of the one resource of a kind that the request creates.
func (t *IdempotentRequest) ID(prefix domain.Prefix) string {
	sum := sha256.Sum256([]byte(t.row + "\n" + t.At.Format(time.RFC3339Nano) + "\n" + string(prefix)))
	return domain.ID(prefix, t.At, [10]byte(sum[:10]))
}

// RequestResourceID returns the id of the one resource of a kind that a request
// creates. A repeated request with an Idempotency-Key gets the same id; without a key
// each id is new.
func RequestResourceID(ctx context.Context, prefix domain.Prefix) string {
	if t := IdempotentRequestOf(ctx); t != nil {
		return t.ID(prefix)
	}
	return mailbox.NewID(prefix)
}

// CreatedBySameRequest returns what the same request created before its process
// ended; nil if nothing.
func CreatedBySameRequest[T any, R Resource[T]](ctx context.Context, store commit.Store, p domain.Principal, prefix domain.Prefix) (R, error) {
	t := IdempotentRequestOf(ctx)
	if t == nil || !t.Repeated {
		return nil, nil
	}
	r, _, err := Get[T, R](ctx, store, p, prefix, t.ID(prefix))
	if domain.CodeOf(err) == domain.CodeNotFound {
		return nil, nil
	}
	return r, err
}

// Idempotency lets each request with an Idempotency-Key run once.
type Idempotency struct {
	store   commit.Store
	running sync.Map // ids of the rows whose requests run in this process
}

// NewIdempotency returns an Idempotency that keeps its rows in a store.
func NewIdempotency(store commit.Store) *Idempotency { return &Idempotency{store: store} }

// Reserve reserves a key for a request, or returns the reply of an earlier one. A
// request that was interrupted by the end of its process may run again: the
// returned context has its IdempotentRequest.
func (i *Idempotency) Reserve(ctx context.Context, p domain.Principal, k IdempotencyKey, digest string) (context.Context, *StoredReply, error) {
	id := idempotencyRowOf(p, k).ID
	if _, runs := i.running.LoadOrStore(id, struct{}{}); runs {
		row := idempotencyRowOf(p, k) // another one may be reading the same reply just now
		if _, err := i.store.Get(ctx, row); err == nil && row.Done && time.Since(row.At) < keepReplies {
			return ctx, &row.Reply, nil
		}
		return ctx, nil, errRunning()
	}
	ours, reply, err := i.reserve(ctx, p, k, digest)
	if reply != nil || err != nil {
		i.running.Delete(id)
	}
	return ours, reply, err
}

func errRunning() error {
	return domain.Errorf(domain.CodeIdempotencyConflict, "a request with this Idempotency-Key is still running")
}

// reserve is Reserve for the only request of this process with the key. A row
// without a reply is of a request whose reply could not be stored, or of another
// process.
func (i *Idempotency) reserve(ctx context.Context, p domain.Principal, k IdempotencyKey, digest string) (context.Context, *StoredReply, error) {
	for range MaxTries {
		row := idempotencyRowOf(p, k)
		version, err := i.store.Get(ctx, row)
		if err != nil && !errors.Is(err, domain.ErrNotFound) {
			return ctx, nil, commit.StoreError(err)
		}
		fresh := idempotencyRowOf(p, k)
		fresh.At, fresh.Reply.Digest = Now(), digest
		again := err == nil && time.Since(row.At) < keepReplies
		if again {
			before := row.Reply.Digest
			switch {
			case row.Done:
				return ctx, &row.Reply, nil
			case before != "" && digest != "" && before != digest:
				return ctx, nil, domain.Errorf(domain.CodeIdempotencyMismatch, "This Idempotency-Key came with another body or query before.")
			}
			fresh.At = row.At
		}
		_, err = i.store.Apply(ctx, commit.Change{
			Workspace: p.WorkspaceID, Guards: []commit.Guard{{Key: fresh.Key(), Version: version}}, Puts: []domain.Record{fresh},
		})
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		return context.WithValue(ctx, idempotentRequestKey{}, &IdempotentRequest{row: fresh.ID, At: fresh.At, Repeated: again}), nil, commit.StoreError(err)
	}
	return ctx, nil, errRunning()
}

// Keep stores the reply of a request that ran.
func (i *Idempotency) Keep(ctx context.Context, p domain.Principal, k IdempotencyKey, r StoredReply) error {
	row := idempotencyRowOf(p, k)
	defer i.running.Delete(row.ID)
	row.At, row.Done, row.Reply = Now(), true, r
	_, err := i.store.Apply(ctx, commit.Change{Workspace: p.WorkspaceID, Puts: []domain.Record{row}})
	return err
}

// Release deletes the key of a request that had no effect. If unknown is set it
// may have had one, and the key stays.
func (i *Idempotency) Release(ctx context.Context, p domain.Principal, k IdempotencyKey, unknown bool) error {
	row := idempotencyRowOf(p, k)
	defer i.running.Delete(row.ID)
	if t := IdempotentRequestOf(ctx); unknown || t != nil && t.Repeated { // the time before it may have had one
		return nil
	}
	_, err := i.store.Apply(ctx, commit.Change{Workspace: p.WorkspaceID, Deletes: []domain.Key{row.Key()}})
	return err
}

// SweepReplies deletes up to 1,000 expired keys of a workspace.
func (i *Idempotency) SweepReplies(ctx context.Context, workspaceID string) error {
	before := (&idempotencyRow{At: time.Now().Add(-keepReplies)}).Sort()
	_, err := DeleteBefore[idempotencyRow](ctx, i.store, workspaceID, "once", before)
	return err
}

// Turn encodes the IdempotentRequest of ctx for another node that carries the request
// out. A request without an Idempotency-Key gets a random one.
func (i *Idempotency) Turn(ctx context.Context) string {
	t := IdempotentRequest{row: rand.Text(), At: Now()}
	if own := IdempotentRequestOf(ctx); own != nil {
		t = *own
	}
	return t.row + "|" + t.At.Format(time.RFC3339Nano)
}

// InTurn returns a context with the IdempotentRequest that another node encoded with
// Turn.
func (i *Idempotency) InTurn(ctx context.Context, text string) (context.Context, error) {
	row, when, _ := strings.Cut(text, "|")
	at, err := time.Parse(time.RFC3339Nano, when)
	if err != nil || row == "" {
		return nil, errors.New("a request of another node has no turn")
	}
	return context.WithValue(ctx, idempotentRequestKey{}, &IdempotentRequest{row: row, At: at, Repeated: true}), nil
}
