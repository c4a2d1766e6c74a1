// Package actors grows the supervision tree and stops it (node.go), and is the
// desk at which the front door asks (desk*.go). It knows every actor, no HTTP
// and no disk: the store and the wire are handed in.
package actors

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/callboard/callboard/actors/webhook"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/jobs"
)

// Desk answers the front door. It commits plain records itself, guarded by
// the version it read, and asks the actors whatever they own.
type Desk struct {
	node      *Node
	store     *counting
	keys      *Keyring
	guests    *guests
	signers   signers
	audit     *auditor
	log       *slog.Logger
	uploads   uploads
	revising  turns // contacts
	booking   turns // by provider
	imports   numberImports
	searches  sync.Map // in transcripts, by workspace: one at a time
	logs      sync.Map // logEnd, by workspace
	scripts   recall[domain.Script]
	called    recall[*domain.PhoneNumber]
	inUse     recall[[]*domain.PhoneNumber] // the live numbers
	callerIDs recall[[]string]
	zones     *calendar.Shared
	plays     rehearsals
	messages  chore // what is to be done with text messages
	carriage  *carriage
	gateways  *webhook.Client // gives text messages to gateways
	asked     asked
	shelves   shelves
	readings  chore // sources of knowledge bases that are to be read
	meanings  chore // passages of knowledge bases that have no meaning yet
	analyses  chore // of calls that are over
	reminders chore // of appointments
	texting   chore // messages that agents answer
	writing   writing
	alarms    alarms
	jobs      *jobs.Runner
	waits     sync.Map   // *bulkStand of each bulk job that runs, by its id
	under     sync.Map   // keys of requests that run, by the id of their row
	founding  sync.Mutex // of workspaces
	// environments of campaigns, by their ids.
	environments recall[domain.Environment]
	// exporting has room for the exports that are written at once.
	exporting chan struct{}
	// dataSlots has room for the data requests that are carried out at once.
	dataSlots chan struct{}
}

// tries bounds how often an update is tried again after a conflict.
const tries = 8

// noun is a resource of a workspace.
type noun[T any] interface {
	*T
	domain.Record
	Base() *domain.Meta
}

// record is a noun that the store keeps.
type record[T any] interface {
	*T
	domain.Record
}

func missing(what string) error {
	return domain.Errorf(domain.CodeNotFound, "there is no such %s", what)
}

// fill sets what a new resource carries.
func fill(m *domain.Meta, object string, p domain.Principal, id string, now time.Time) {
	m.ID, m.Object, m.WorkspaceID, m.Environment = id, object, p.WorkspaceID, p.Environment
	m.CreatedAt, m.UpdatedAt = now, now
}

// stamp is now as records keep it: UTC, milliseconds.
func stamp() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// get reads one resource of the principal's workspace and environment.
func get[T any, R noun[T]](ctx context.Context, d *Desk, p domain.Principal, prefix domain.Prefix, id string) (R, uint64, error) {
	id, err := domain.ParseID(prefix, id)
	if err != nil {
		return nil, 0, missing(string(prefix))
	}
	r := R(new(T))
	r.Base().ID, r.Base().WorkspaceID = id, p.WorkspaceID
	version, err := d.store.Get(ctx, r)
	if errors.Is(err, domain.ErrNotFound) || (err == nil && r.Base().Environment != p.Environment) {
		return nil, 0, missing(string(prefix))
	}
	return r, version, storeErr(err)
}

// storeErr is a fault of the store as the front door should see it.
func storeErr(err error) error {
	if err == nil || domain.CodeOf(err) != "" {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.Is(err, domain.ErrStoreFull) {
		return fmt.Errorf("%w: %w", domain.StoreFull(), err)
	}
	return fmt.Errorf("%w: %w", domain.Errorf(domain.CodeUnavailable, "the store cannot be reached; try again").With("retry_after", 1), err)
}

// create keeps a new resource that must not exist yet.
func create[R domain.Record](ctx context.Context, d *Desk, r R, more ...func(*commit.Change)) error {
	c := commit.Change{Workspace: r.Key().Workspace, Guards: []commit.Guard{commit.Absent(r.Key())}, Puts: []domain.Record{r}}
	for _, f := range more {
		f(&c)
	}
	_, err := d.store.Apply(ctx, c)
	return storeErr(err)
}

// createAnew is create for what holds a secret that is shown once: where the
// same request has created it before the process ended, nobody has seen that
// secret, and another takes its place.
func createAnew[R domain.Record](ctx context.Context, d *Desk, r R) error {
	t := turnOf(ctx)
	if t == nil || !t.again {
		return create(ctx, d, r)
	}
	_, err := d.store.Apply(ctx, commit.Change{Workspace: r.Key().Workspace, Puts: []domain.Record{r}})
	return storeErr(err)
}

// errSame says that a change leaves a resource as it is: nothing is kept.
var errSame = errors.New("nothing has changed")

// errBusy is what comes of as many conflicts as one request bears.
func errBusy() error {
	return domain.Errorf(domain.CodeUnavailable, "others keep changing this record; try again").With("retry_after", 1)
}

// update changes a fresh copy and keeps it, again after a conflict. more adds
// to the commit and may refuse it, or say with errSame that there is nothing to
// keep.
func update[T any, R noun[T]](
	ctx context.Context, d *Desk, p domain.Principal, prefix domain.Prefix, id string,
	change func(R) error, more ...func(*commit.Change, R) error,
) (R, error) {
	for range tries {
		r, version, err := get[T, R](ctx, d, p, prefix, id)
		if err != nil {
			return nil, err
		}
		if change != nil {
			if err = change(r); err != nil {
				return nil, err
			}
		}
		was := r.Base().UpdatedAt
		r.Base().UpdatedAt = stamp()
		c := commit.Change{Workspace: r.Key().Workspace, Guards: []commit.Guard{{Key: r.Key(), Version: version}}, Puts: []domain.Record{r}}
		for _, f := range more {
			err = f(&c, r)
			if errors.Is(err, errSame) {
				r.Base().UpdatedAt = was
				return r, nil
			}
			if err != nil {
				return nil, err
			}
		}
		_, err = d.store.Apply(ctx, c)
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		return r, storeErr(err)
	}
	return nil, errBusy()
}

// remove deletes a resource that is as it was read.
func remove[T any, R noun[T]](
	ctx context.Context, d *Desk, p domain.Principal, prefix domain.Prefix, id string, more ...func(*commit.Change, R) error,
) error {
	for range tries {
		r, version, err := get[T, R](ctx, d, p, prefix, id)
		if err != nil {
			return err
		}
		c := commit.Change{Workspace: r.Key().Workspace, Guards: []commit.Guard{{Key: r.Key(), Version: version}}, Deletes: []domain.Key{r.Key()}}
		for _, f := range more {
			if err = f(&c, r); err != nil {
				return err
			}
		}
		_, err = d.store.Apply(ctx, c)
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		return storeErr(err)
	}
	return errBusy()
}

// list reads one page of an index whose rows sort by id. keep drops rows that
// a filter without an index of its own excludes; pages are filled up.
func list[T any, R record[T]](
	ctx context.Context, d *Desk, workspace, index string, prefix domain.Prefix, page ask.Page, keep func(R) bool,
) (ask.List[R], error) {
	return listWithin(ctx, d, workspace, index, prefix, page, keep, func() int { return page.Limit })
}

// listWithin is list for rows that are dear to look at: left is how many may be
// looked at still; behind the last the page ends, and its cursor goes on there.
func listWithin[T any, R record[T]](
	ctx context.Context, d *Desk, workspace, index string, prefix domain.Prefix, page ask.Page, keep func(R) bool, left func() int,
) (ask.List[R], error) {
	out := ask.List[R]{Data: []R{}, Next: page.Cursor}
	q := commit.Query{Kind: R(new(T)).Key().Kind, Workspace: workspace, Index: index}
	if !page.CreatedAfter.IsZero() {
		q.From = sortAt(prefix, page.CreatedAfter.Add(time.Millisecond))
	}
	if !page.CreatedBefore.IsZero() {
		q.To = sortAt(prefix, page.CreatedBefore)
	}
	for rounds := 0; len(out.Data) < page.Limit && left() > 0; rounds++ {
		q.Cursor, q.Limit = out.Next, min(page.Limit-len(out.Data), left())
		next, err := d.store.List(ctx, q, func() domain.Record { return R(new(T)) }, func(rec domain.Record) error {
			if r, ok := rec.(R); ok && (keep == nil || keep(r)) {
				out.Data = append(out.Data, r)
			}
			return nil
		})
		if err != nil {
			return out, storeErr(err)
		}
		out.Next = next
		if next == "" || rounds == filterRounds {
			break
		}
	}
	return out, nil
}

// filterRounds bounds what one filtered page may read; the next cursor goes on
// from there.
const filterRounds = 50

// sortAt is the first id of a prefix at a time.
func sortAt(prefix domain.Prefix, t time.Time) string {
	var u ulid.ULID
	_ = u.SetTime(ulid.Timestamp(t)) // fails only past the year 10889
	return string(prefix) + "_" + u.String()
}

func envOf(p domain.Principal) string { return "env=" + string(p.Environment) }

// problem is one problem of one field, as an error.
func problem(param string, code domain.Code, text string) error {
	var ps domain.Problems
	ps.Add(param, code, "%s", text)
	return ps.Err()
}
