// Package record reads and writes the stored records of a workspace for all services. Updates are guarded by
// versions and tried again after a conflict. The package also stores responses by Idempotency-Key and runs background
// tasks for each workspace.
package record

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// MaxTries is how often a change is tried if commits of other requests change the same record.
const MaxTries = 8

// Resource is a record with an id, a workspace and an environment.
type Resource[T any] interface {
	*T
	domain.Record
	Base() *domain.Meta
}

// Pointer is a pointer to a record of type T.
type Pointer[T any] interface {
	*T
	domain.Record
}

// Now returns the current time as records store it: in UTC and in whole milliseconds.
func Now() time.Time { return domain.Timestamp(time.Now()) }

// Get reads a resource of the principal's workspace and environment. It also returns the version of the stored record,
// with which a commit can be guarded. Errors: not_found.
func Get[T any, R Resource[T]](ctx context.Context, store commit.Store, p domain.Principal, prefix domain.Prefix, id string) (R, uint64, error) {
	id, err := domain.ParseID(prefix, id)
	if err != nil {
		return nil, 0, domain.NotFound(string(prefix))
	}
	r := R(new(T))
	r.Base().ID, r.Base().WorkspaceID = id, p.WorkspaceID
	version, err := store.Get(ctx, r)
	if errors.Is(err, domain.ErrNotFound) || (err == nil && r.Base().Environment != p.Environment) {
		return nil, 0, domain.NotFound(string(prefix))
	}
	return r, version, commit.StoreError(err)
}

// Create commits a new resource. The functions in more may add changes to the commit.
func Create[R domain.Record](ctx context.Context, store commit.Store, r R, more ...func(*commit.Change)) error {
	c := commit.Change{Workspace: r.Key().Workspace, Guards: []commit.Guard{commit.Absent(r.Key())}, Puts: []domain.Record{r}}
	for _, f := range more {
		f(&c)
	}
	_, err := store.Apply(ctx, c)
	return commit.StoreError(err)
}

// CreateWithSecret commits a new resource with a secret that the API shows only once. If an earlier run of the same
// request has created the resource, the new one replaces it, because the client has not received the earlier secret.
func CreateWithSecret[R domain.Record](ctx context.Context, store commit.Store, r R) error {
	t := IdempotentRequestOf(ctx)
	if t == nil || !t.Repeated {
		return Create(ctx, store, r)
	}
	_, err := store.Apply(ctx, commit.Change{Workspace: r.Key().Workspace, Puts: []domain.Record{r}})
	return commit.StoreError(err)
}

// IsRetryable reports whether the same request may succeed when it is tried again.
func IsRetryable(err error) bool {
	return slices.Contains([]domain.Code{domain.CodeUnavailable, domain.CodeRateLimit, domain.CodeConcurrentLimit, ""}, domain.CodeOf(err))
}

// ErrUnchanged is returned by a function passed to Update if nothing has changed. Update then commits nothing.
var ErrUnchanged = errors.New("nothing has changed")

// ConflictError returns the error unavailable for a change that has failed MaxTries times because of other commits.
func ConflictError() error {
	return domain.Errorf(domain.CodeUnavailable, "other requests keep changing this record; try again").With("retry_after", 1)
}

// Update reads a resource, changes it and commits it. If another commit changes the resource meanwhile, it tries again.
// The functions in more may add changes to the commit, refuse it with an error, or return ErrUnchanged.
func Update[T any, R Resource[T]](
	ctx context.Context, store commit.Store, p domain.Principal, prefix domain.Prefix, id string,
	change func(R) error, more ...func(*commit.Change, R) error,
) (R, error) {
	for range MaxTries {
		r, version, err := Get[T, R](ctx, store, p, prefix, id)
		if err != nil {
			return nil, err
		}
		if change != nil {
			if err = change(r); err != nil {
				return nil, err
			}
		}
		was := r.Base().UpdatedAt
		r.Base().UpdatedAt = Now()
		c := commit.Change{Workspace: r.Key().Workspace, Guards: []commit.Guard{{Key: r.Key(), Version: version}}, Puts: []domain.Record{r}}
		for _, f := range more {
			err = f(&c, r)
			if errors.Is(err, ErrUnchanged) {
				r.Base().UpdatedAt = was
				return r, nil
			}
			if err != nil {
				return nil, err
			}
		}
		_, err = store.Apply(ctx, c)
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		return r, commit.StoreError(err)
	}
	return nil, ConflictError()
}

// Delete deletes a resource. The functions in more may add changes to the commit, or refuse it with an error.
func Delete[T any, R Resource[T]](
	ctx context.Context, store commit.Store, p domain.Principal, prefix domain.Prefix, id string, more ...func(*commit.Change, R) error,
) error {
	for range MaxTries {
		r, version, err := Get[T, R](ctx, store, p, prefix, id)
		if err != nil {
			return err
		}
		c := commit.Change{Workspace: r.Key().Workspace, Guards: []commit.Guard{{Key: r.Key(), Version: version}}, Deletes: []domain.Key{r.Key()}}
		for _, f := range more {
			if err = f(&c, r); err != nil {
				return err
			}
		}
		_, err = store.Apply(ctx, c)
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		return commit.StoreError(err)
	}
	return ConflictError()
}

// List reads one page of an index whose records are sorted by id. It skips records for which keep returns false, and
// reads on until the page is full.
func List[T any, R Pointer[T]](
	ctx context.Context, store commit.Store, workspace, index string, prefix domain.Prefix, page PageQuery, keep func(R) bool,
) (Page[R], error) {
	return ListLimited(ctx, store, workspace, index, prefix, page, keep, func() int { return page.Limit })
}

// ListLimited reads a page like List, for records that are expensive to check. left returns how many more records may be
// checked. If it returns 0, the page ends, and its cursor continues after the last checked record.
func ListLimited[T any, R Pointer[T]](
	ctx context.Context, store commit.Store, workspace, index string, prefix domain.Prefix, page PageQuery, keep func(R) bool, left func() int,
) (Page[R], error) {
	out := Page[R]{Data: []R{}, Next: page.Cursor}
	q := commit.Query{Kind: R(new(T)).Key().Kind, Workspace: workspace, Index: index}
	if !page.CreatedAfter.IsZero() {
		q.From = domain.FirstIDAt(prefix, page.CreatedAfter.Add(time.Millisecond))
	}
	if !page.CreatedBefore.IsZero() {
		q.To = domain.FirstIDAt(prefix, page.CreatedBefore)
	}
	for rounds := 0; len(out.Data) < page.Limit && left() > 0; rounds++ {
		q.Cursor, q.Limit = out.Next, min(page.Limit-len(out.Data), left())
		next, err := store.List(ctx, q, func() domain.Record { return R(new(T)) }, func(rec domain.Record) error {
			if r, ok := rec.(R); ok && (keep == nil || keep(r)) {
				out.Data = append(out.Data, r)
			}
			return nil
		})
		if err != nil {
			return out, commit.StoreError(err)
		}
		out.Next = next
		if next == "" || rounds == MaxPageReads {
			break
		}
	}
	return out, nil
}

// MaxPageReads is the maximum number of reads from the store for one filtered page. If the page is not full then, its
// cursor continues after the last record read.
const MaxPageReads = 50

// EnvironmentIndex returns the name of the index of all resources of the principal's environment.
func EnvironmentIndex(p domain.Principal) string { return "env=" + string(p.Environment) }

// Message returns the text of an API error without its code. For other errors it returns err.Error().
func Message(err error) string {
	if e, ok := errors.AsType[*domain.Error](err); ok {
		return e.Message
	}
	return err.Error()
}
