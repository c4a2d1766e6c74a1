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

// keepReplies is how long the response to a request with an Idempotency-Key is stored.
const keepReplies = 24 * time.Hour

// idempotencyRow is the stored state of one Idempotency-Key that a credential has used for a method and path.
type idempotencyRow struct {
	ID          string      `json:"id"`
	WorkspaceID string      `json:"workspace_id"`
	At          time.Time   `json:"at"`
	Reply       StoredReply `json:"reply"`
	Done        bool        `json:"done"`
}

// Key returns the key of the row in the store.
func (r *idempotencyRow) Key() domain.Key {
	return domain.Key{Kind: "once", Workspace: r.WorkspaceID, ID: r.ID}
}

// Indexes returns the index "all", from which SweepReplies deletes expired rows.
func (r *idempotencyRow) Indexes() []string { return []string{"all"} }

// Sort orders the rows by age, the oldest first.
func (r *idempotencyRow) Sort() string { return r.At.UTC().Format("20060102T150405.000") + r.ID }

func idempotencyRowOf(p domain.Principal, k IdempotencyKey) *idempotencyRow {
	sum := sha256.Sum256([]byte(strings.Join([]string{p.KeyID + p.ClientID, p.UserID, string(p.Environment), k.Method, k.Path, k.Key}, "\n")))
	return &idempotencyRow{ID: hex.EncodeToString(sum[:]), WorkspaceID: p.WorkspaceID}
}

// IdempotentRequest is a running request with an Idempotency-Key. The ids of the resources that the request creates
// are derived from the key. If the process ends during the request, the client repeats the request. The second run then
// finds the resources that exist already and creates only the missing ones.
type IdempotentRequest struct {
	row      string    // id of the idempotencyRow
	At       time.Time // time of the first request with the key
	Repeated bool      // an earlier run of the request may have had effects
}

type idempotentRequestKey struct{}

// IdempotentRequestOf returns the request that ctx carries. It returns nil if the request has no Idempotency-Key.
func IdempotentRequestOf(ctx context.Context) *IdempotentRequest {
	t, _ := ctx.Value(idempotentRequestKey{}).(*IdempotentRequest)
	return t
}

// ID returns the id of the resource that the request creates with this id prefix. A request creates at most one
// resource of each prefix.
func (t *IdempotentRequest) ID(prefix domain.Prefix) string {
	sum := sha256.Sum256([]byte(t.row + "\n" + t.At.Format(time.RFC3339Nano) + "\n" + string(prefix)))
	return domain.ID(prefix, t.At, [10]byte(sum[:10]))
}

// RequestResourceID returns the id of the resource that the request of ctx creates with this id prefix. A repeated
// request with an Idempotency-Key gets the same id. Without a key each id is new.
func RequestResourceID(ctx context.Context, prefix domain.Prefix) string {
	if t := IdempotentRequestOf(ctx); t != nil {
		return t.ID(prefix)
	}
	return mailbox.NewID(prefix)
}

// CreatedBySameRequest returns the resource that an earlier run of the same request created before the process ended. It
// returns nil if there is no such resource.
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

// Idempotency ensures that a repeated request with the same Idempotency-Key has its effects only once.
type Idempotency struct {
	store   commit.Store
	running sync.Map // ids of the idempotencyRows whose requests run in this process
}

// NewIdempotency returns an Idempotency that stores its rows in store.
func NewIdempotency(store commit.Store) *Idempotency { return &Idempotency{store: store} }

// Reserve reserves an Idempotency-Key for a request, or returns the stored response to an earlier request with the same
// key. digest is the SHA-256 of the request body. The returned context carries the IdempotentRequest. A request may run
// again if its process ended before the response. Errors: idempotency_conflict while the same request runs,
// idempotency_mismatch if an earlier request had another body.
func (i *Idempotency) Reserve(ctx context.Context, p domain.Principal, k IdempotencyKey, digest string) (context.Context, *StoredReply, error) {
	id := idempotencyRowOf(p, k).ID
	if _, isRunning := i.running.LoadOrStore(id, struct{}{}); isRunning {
		row := idempotencyRowOf(p, k) // a concurrent Reserve may be returning the stored reply at this moment
		if _, err := i.store.Get(ctx, row); err == nil && row.Done && time.Since(row.At) < keepReplies {
			return ctx, &row.Reply, nil
		}
		return ctx, nil, errRunning()
	}
	requestCtx, reply, err := i.reserve(ctx, p, k, digest)
	if reply != nil || err != nil {
		i.running.Delete(id)
	}
	return requestCtx, reply, err
}

func errRunning() error {
	return domain.Errorf(domain.CodeIdempotencyConflict, "a request with this Idempotency-Key is still running")
}

// reserve implements Reserve for a key that no other request of this process uses. A stored row without a response
// belongs to a request of another process, or to a request whose response could not be stored.
func (i *Idempotency) reserve(ctx context.Context, p domain.Principal, k IdempotencyKey, digest string) (context.Context, *StoredReply, error) {
	for range MaxTries {
		row := idempotencyRowOf(p, k)
		version, err := i.store.Get(ctx, row)
		if err != nil && !errors.Is(err, domain.ErrNotFound) {
			return ctx, nil, commit.StoreError(err)
		}
		fresh := idempotencyRowOf(p, k)
		fresh.At, fresh.Reply.Digest = Now(), digest
		isRepeated := err == nil && time.Since(row.At) < keepReplies
		if isRepeated {
			before := row.Reply.Digest
			switch {
			case row.Done:
				return ctx, &row.Reply, nil
			case before != "" && digest != "" && before != digest:
				return ctx, nil, domain.Errorf(domain.CodeIdempotencyMismatch, "This Idempotency-Key belongs to a request with another body or query; use a new key")
			}
			fresh.At = row.At
		}
		_, err = i.store.Apply(ctx, commit.Change{
			Workspace: p.WorkspaceID, Guards: []commit.Guard{{Key: fresh.Key(), Version: version}}, Puts: []domain.Record{fresh},
		})
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		return context.WithValue(ctx, idempotentRequestKey{}, &IdempotentRequest{row: fresh.ID, At: fresh.At, Repeated: isRepeated}), nil, commit.StoreError(err)
	}
	return ctx, nil, errRunning()
}

// StoreReply stores the response to a request that has run.
func (i *Idempotency) StoreReply(ctx context.Context, p domain.Principal, k IdempotencyKey, r StoredReply) error {
	row := idempotencyRowOf(p, k)
	defer i.running.Delete(row.ID)
	row.At, row.Done, row.Reply = Now(), true, r
	_, err := i.store.Apply(ctx, commit.Change{Workspace: p.WorkspaceID, Puts: []domain.Record{row}})
	return err
}

// Release deletes the stored key of a request that had no effect, so that the client may use the key again. If
// mayHaveEffect is set, or if the request is a repeated one, the key stays.
func (i *Idempotency) Release(ctx context.Context, p domain.Principal, k IdempotencyKey, mayHaveEffect bool) error {
	row := idempotencyRowOf(p, k)
	defer i.running.Delete(row.ID)
	if t := IdempotentRequestOf(ctx); mayHaveEffect || t != nil && t.Repeated { // an earlier run of the request may have had an effect
		return nil
	}
	_, err := i.store.Apply(ctx, commit.Change{Workspace: p.WorkspaceID, Deletes: []domain.Key{row.Key()}})
	return err
}

// SweepReplies deletes up to 1,000 expired idempotency rows of a workspace.
func (i *Idempotency) SweepReplies(ctx context.Context, workspaceID string) error {
	before := (&idempotencyRow{At: time.Now().Add(-keepReplies)}).Sort()
	_, err := DeleteBefore[idempotencyRow](ctx, i.store, workspaceID, "once", before)
	return err
}

// EncodeRequest encodes the IdempotentRequest of ctx, so that another node can handle the request. If the request has no
// Idempotency-Key, the encoding contains a random one.
func (i *Idempotency) EncodeRequest(ctx context.Context) string {
	t := IdempotentRequest{row: rand.Text(), At: Now()}
	if own := IdempotentRequestOf(ctx); own != nil {
		t = *own
	}
	return t.row + "|" + t.At.Format(time.RFC3339Nano)
}

// DecodeRequest returns a context with the IdempotentRequest that another node encoded with EncodeRequest.
func (i *Idempotency) DecodeRequest(ctx context.Context, text string) (context.Context, error) {
	row, when, _ := strings.Cut(text, "|")
	at, err := time.Parse(time.RFC3339Nano, when)
	if err != nil || row == "" {
		return nil, errors.New("the request of another node carries no valid idempotency header")
	}
	return context.WithValue(ctx, idempotentRequestKey{}, &IdempotentRequest{row: row, At: at, Repeated: true}), nil
}
