package actors

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
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

// turn is a request with an Idempotency-Key that may run. What it creates has
// ids that follow from it: where the process ends in between, the same request
// finds in the next one what it has created, and creates only what is missing.
type turn struct {
	row   string    // the id of the key's row
	at    time.Time // when the key was first seen
	again bool      // an earlier process may have done some of it
}

type turnKey struct{}

// turnOf is the turn of a request; nil without an Idempotency-Key.
func turnOf(ctx context.Context) *turn {
	t, _ := ctx.Value(turnKey{}).(*turn)
	return t
}

// id is that of the one resource of a kind that the request creates.
func (t *turn) id(prefix domain.Prefix) string {
	sum := sha256.Sum256([]byte(t.row + "\n" + t.at.Format(time.RFC3339Nano) + "\n" + string(prefix)))
	return domain.ID(prefix, t.at, [10]byte(sum[:10]))
}

// newID makes an identifier for the one resource of a kind that a request
// creates.
func newID(ctx context.Context, prefix domain.Prefix) string {
	if t := turnOf(ctx); t != nil {
		return t.id(prefix)
	}
	return mailbox.NewID(prefix)
}

// madeBefore is what the same request has created before the process ended;
// nil: nothing.
func madeBefore[T any, R noun[T]](ctx context.Context, d *Desk, p domain.Principal, prefix domain.Prefix) (R, error) {
	t := turnOf(ctx)
	if t == nil || !t.again {
		return nil, nil
	}
	r, _, err := get[T, R](ctx, d, p, prefix, t.id(prefix))
	if domain.CodeOf(err) == domain.CodeNotFound {
		return nil, nil
	}
	return r, err
}

// Reserve takes a key for a request, or answers the reply of an earlier one. A
// request that the end of a process cut off may run again under its key: the
// context leads it to what it has done already.
func (d *Desk) Reserve(ctx context.Context, p domain.Principal, k ask.OnceKey, digest string) (context.Context, *ask.OnceReply, error) {
	id := onceOf(p, k).ID
	if _, runs := d.under.LoadOrStore(id, struct{}{}); runs {
		row := onceOf(p, k) // another one may be reading the same reply just now
		if _, err := d.store.Get(ctx, row); err == nil && row.Done && time.Since(row.At) < onceFor {
			return ctx, &row.Reply, nil
		}
		return ctx, nil, errRunning()
	}
	ours, reply, err := d.reserve(ctx, p, k, digest)
	if reply != nil || err != nil {
		d.under.Delete(id)
	}
	return ours, reply, err
}

func errRunning() error {
	return domain.Errorf(domain.CodeIdempotencyConflict, "a request with this Idempotency-Key is still running")
}

// reserve is Reserve for the one request of this process that is under a key: a
// row without a reply is that of a request that has ended, and whose end could
// not be stored, or of another process.
func (d *Desk) reserve(ctx context.Context, p domain.Principal, k ask.OnceKey, digest string) (context.Context, *ask.OnceReply, error) {
	for range tries {
		row := onceOf(p, k)
		version, err := d.store.Get(ctx, row)
		if err != nil && !errors.Is(err, domain.ErrNotFound) {
			return ctx, nil, storeErr(err)
		}
		fresh := onceOf(p, k)
		fresh.At, fresh.Reply.Digest = stamp(), digest
		again := err == nil && time.Since(row.At) < onceFor
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
		_, err = d.store.Apply(ctx, commit.Change{
			Workspace: p.WorkspaceID, Guards: []commit.Guard{{Key: fresh.Key(), Version: version}}, Puts: []domain.Record{fresh},
		})
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		return context.WithValue(ctx, turnKey{}, &turn{row: fresh.ID, at: fresh.At, again: again}), nil, storeErr(err)
	}
	return ctx, nil, errRunning()
}

// Keep stores the reply of a request that ran.
func (d *Desk) Keep(ctx context.Context, p domain.Principal, k ask.OnceKey, r ask.OnceReply) error {
	row := onceOf(p, k)
	defer d.under.Delete(row.ID)
	row.At, row.Done, row.Reply = stamp(), true, r
	_, err := d.store.Apply(ctx, commit.Change{Workspace: p.WorkspaceID, Puts: []domain.Record{row}})
	return err
}

// Release gives a key back whose request had no effect. Where that is not known
// the key stays: the same request finds what may have been done.
func (d *Desk) Release(ctx context.Context, p domain.Principal, k ask.OnceKey, unknown bool) error {
	row := onceOf(p, k)
	defer d.under.Delete(row.ID)
	if t := turnOf(ctx); unknown || t != nil && t.again { // the time before it may have had one
		return nil
	}
	_, err := d.store.Apply(ctx, commit.Change{Workspace: p.WorkspaceID, Deletes: []domain.Key{row.Key()}})
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

// Turn writes down the turn of a request, for the node of the install that does
// it in place of this one. Without an Idempotency-Key it is one that no other
// request has. Either way it may be done once more.
func (d *Desk) Turn(ctx context.Context) string {
	t := turn{row: rand.Text(), at: stamp()}
	if own := turnOf(ctx); own != nil {
		t = *own
	}
	return t.row + "|" + t.at.Format(time.RFC3339Nano)
}

// InTurn is a context for a request that another node has let in, by its Turn.
func (d *Desk) InTurn(ctx context.Context, text string) (context.Context, error) {
	row, when, _ := strings.Cut(text, "|")
	at, err := time.Parse(time.RFC3339Nano, when)
	if err != nil || row == "" {
		return nil, errors.New("a request of another node has no turn")
	}
	return context.WithValue(ctx, turnKey{}, &turn{row: row, at: at, again: true}), nil
}
