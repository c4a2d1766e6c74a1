package actors

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/callboard/callboard/actors/campaign"
	"github.com/callboard/callboard/actors/workspace"
	"github.com/callboard/callboard/domain"

	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// maxWorkspaces bounds the workspaces of an install: each has its actors.
const maxWorkspaces = 1000

// CreateWorkspace keeps a new workspace, grows it and makes its first key,
// whose text is shown this once.
func (d *Desk) CreateWorkspace(ctx context.Context, w *domain.Workspace) (made *domain.Workspace, key *domain.APIKey, text string, err error) {
	return d.createWorkspace(ctx, w)
}

// createWorkspace is CreateWorkspace; more adds to the commit that founds it.
func (d *Desk) createWorkspace(ctx context.Context, w *domain.Workspace, more ...func(*commit.Change)) (made *domain.Workspace, key *domain.APIKey, text string, err error) {
	d.founding.Lock()
	defer d.founding.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), growLimit) // half a workspace is no use to anybody
	defer cancel()
	id := d.node.workspaceID(ctx)
	before := d.node.Workspace(id)
	if before == nil && len(d.node.workspaces()) >= maxWorkspaces {
		return nil, nil, "", domain.Errorf(domain.CodeInvalidState, "there are %d workspaces, which is the most", maxWorkspaces)
	}
	if key, text, err = d.firstKey(ctx, w, id); err != nil || before != nil {
		return before, key, text, err
	}
	_, simulated := d.node.cfg.Simulator()
	err = found(ctx, d.store, w, simulated, more...)
	if t := record.KeyedRequestOf(ctx); errors.Is(err, domain.ErrConflict) && t != nil && t.Repeated {
		_, err = d.store.Get(ctx, w) // it was founded before, and did not grow
	}
	if err != nil {
		return nil, nil, "", record.StoreError(err)
	}
	run := d.node.Context()
	if err = d.node.grow(ctx, w); err != nil {
		d.node.RunInBackground(func() { d.growLate(run, w.ID) })
		return nil, nil, "", record.StoreError(err)
	}
	d.node.RunInBackground(func() { d.node.readLists(run, w.ID) })
	return w, key, text, nil
}

// workspaceID is the id of a workspace that is about to be founded: of one that
// would be this node's, and the same for whoever asks the same once more.
func (n *Node) workspaceID(ctx context.Context) string {
	id, at := record.NewID(ctx, domain.PrefixWorkspace), record.Now()
	if t := record.KeyedRequestOf(ctx); t != nil {
		at = t.At
	}
	for !n.owns(id) {
		sum := sha256.Sum256([]byte(id))
		id = domain.ID(domain.PrefixWorkspace, at, [10]byte(sum[:10]))
	}
	return id
}

// growLate grows a workspace that was founded and could not grow.
func (d *Desk) growLate(ctx context.Context, id string) {
	for wait := hatchEvery; record.Wait(ctx, wait) == nil; wait = min(2*wait, growLimit) {
		err := d.growOnce(ctx, id)
		if err == nil {
			d.node.readLists(ctx, id)
			return
		}
		d.log.Warn("a workspace could not grow yet", slog.String("workspace_id", id), slog.Any("error", err))
	}
}

// growOnce grows a workspace that nobody has grown or deleted meanwhile.
func (d *Desk) growOnce(ctx context.Context, id string) error {
	d.founding.Lock()
	defer d.founding.Unlock()
	if d.node.Workspace(id) != nil {
		return nil
	}
	w := &domain.Workspace{Meta: domain.Meta{ID: id}}
	_, err := d.store.Get(ctx, w)
	if errors.Is(err, domain.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	bound, cancel := context.WithTimeout(ctx, growLimit)
	defer cancel()
	return d.node.grow(bound, w)
}

// firstKey makes the first key of a workspace that is about to be found, and
// names it.
func (d *Desk) firstKey(ctx context.Context, w *domain.Workspace, id string) (*domain.APIKey, string, error) {
	now := record.Now()
	w.Meta = domain.Meta{ID: id, Object: "workspace", WorkspaceID: id, Environment: domain.Live, CreatedAt: now, UpdatedAt: now, Metadata: w.Metadata}
	return d.keyring.Create(ctx, record.Author{}, &domain.APIKey{
		Meta: domain.Meta{WorkspaceID: id, Environment: domain.Live}, Name: "first", Permissions: []domain.Permission{domain.AllRead, domain.AllWrite},
	})
}

// found keeps a workspace with its trunks to the built-in carrier.
func found(ctx context.Context, store commit.Store, w *domain.Workspace, simulated bool, more ...func(*commit.Change)) error {
	c := commit.Change{Workspace: w.ID, Guards: []commit.Guard{commit.Absent(w.Key())}, Puts: []domain.Record{w}}
	if simulated {
		for _, env := range []domain.Environment{domain.Live, domain.Test} {
			c.Puts = append(c.Puts, simulatorTrunk(w.ID, env))
		}
	}
	for _, f := range more {
		f(&c)
	}
	_, err := store.Apply(ctx, c)
	return err
}

// AnyWorkspace reads one of the install.
func (d *Desk) AnyWorkspace(_ context.Context, id string) (*domain.Workspace, error) {
	id, err := domain.ParseID(domain.PrefixWorkspace, id)
	if err == nil {
		if w := d.node.Workspace(id); w != nil {
			return w, nil
		}
	}
	return nil, d.node.WorkspaceNotFound()
}

// ListWorkspaces reads a page of those of the install.
func (d *Desk) ListWorkspaces(ctx context.Context, q record.PageQuery) (record.Page[*domain.Workspace], error) {
	return record.List[domain.Workspace](ctx, d.store, "", "all", domain.PrefixWorkspace, q, nil)
}

// DeleteWorkspace ends a workspace: from the return on its credentials are
// refused, its calls hang up, and nothing of it is found. What it was made of
// goes in the background, also across the end of the process.
func (d *Desk) DeleteWorkspace(ctx context.Context, p domain.Principal, id string) error {
	return d.deleteWorkspace(ctx, p, id)
}

// deleteWorkspace is DeleteWorkspace; more adds to the commit that ends it.
func (d *Desk) deleteWorkspace(ctx context.Context, p domain.Principal, id string, more ...func(*commit.Change)) error {
	w, err := d.AnyWorkspace(ctx, id)
	if err != nil {
		return err
	}
	if w.ID == p.WorkspaceID {
		return domain.Errorf(domain.CodeInvalidState, "the key that asks belongs to this workspace; use an operator key of another one")
	}
	for range record.MaxTries {
		now := &domain.Workspace{Meta: domain.Meta{ID: w.ID}}
		version, err := d.store.Get(ctx, now)
		if errors.Is(err, domain.ErrNotFound) {
			return d.deleteAgain(ctx, w.ID)
		}
		if err != nil {
			return record.StoreError(err)
		}
		err = d.end(ctx, now, version, more...)
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		if err != nil {
			return record.StoreError(err)
		}
		d.log.Info("a workspace was deleted", slog.String("workspace_id", w.ID))
		d.dismiss(w.ID)
		return nil
	}
	return record.StoreError(domain.ErrConflict)
}

// end is the commit after which a workspace is no more.
func (d *Desk) end(ctx context.Context, w *domain.Workspace, version uint64, more ...func(*commit.Change)) error {
	c := commit.Change{
		Guards: []commit.Guard{{Key: w.Key(), Version: version}}, Puts: []domain.Record{&domain.GoneWorkspace{ID: w.ID, At: record.Now()}}, Deletes: []domain.Key{w.Key()},
	}
	for _, f := range more {
		f(&c)
	}
	_, err := d.store.Apply(ctx, c)
	return err
}

// deleteAgain goes on with a deletion whose commit was not known to have been
// made.
func (d *Desk) deleteAgain(ctx context.Context, id string) error {
	_, err := d.store.Get(ctx, &domain.GoneWorkspace{ID: id})
	if errors.Is(err, domain.ErrNotFound) {
		return record.NotFound("workspace")
	}
	if err != nil {
		return record.StoreError(err)
	}
	d.log.Info("a workspace was deleted", slog.String("workspace_id", id))
	d.dismiss(id)
	return nil
}

// dismiss makes a workspace that is gone unknown, and begins to remove what it
// was made of.
func (d *Desk) dismiss(id string) {
	d.node.mu.Lock()
	t := d.node.spaces[id]
	delete(d.node.spaces, id)
	d.node.mu.Unlock()
	d.keyring.DeleteWorkspace(id)
	d.clients.DeleteWorkspace(id)
	d.users.DeleteWorkspace(id)
	d.jobs.Begin(d.node.Context(), "workspace "+id, func(ctx context.Context) error {
		if t != nil {
			d.node.disband(ctx, id, t)
			t = nil
		}
		return d.eraseWorkspace(ctx, id)
	})
}

// disband hangs up the calls of a workspace and ends its actors.
func (n *Node) disband(ctx context.Context, id string, t *tree) {
	n.sys.Root.Send(t.campaigns, workspace.Tell{Message: campaign.Drain{}})
	at, cancel := context.WithCancel(ctx)
	cancel()
	n.drainCalls(at, t)
	n.gone(id)
}

// eraseWorkspace removes all rows, files and events of a workspace that is
// gone. Nobody else writes to it any more.
func (d *Desk) eraseWorkspace(ctx context.Context, id string) error {
	d.jobs.StopAll(id + "/")
	d.store.dismiss(id)
	d.ForgetWorkspace(id)
	d.Logs.Delete(id)
	d.store.work.Delete(id)
	d.node.book.Set(ctx, d.node.book.Turn(), id, nil)
	d.node.phones.Set(id, nil)
	if err := d.yield(ctx, id); err != nil {
		return err
	}
	if err := d.store.Erase(ctx, id); err != nil {
		return err
	}
	if err := d.node.cfg.Blobs.DeleteAll(ctx, id); err != nil {
		return err
	}
	if spool := d.node.cfg.SpoolDir; spool != "" {
		if err := os.RemoveAll(filepath.Join(spool, filepath.Base(id))); err != nil {
			return err
		}
	}
	d.ForgetWorkspace(id) // nothing is left of which another could be built
	_, err := d.store.Apply(ctx, commit.Change{Deletes: []domain.Key{(&domain.GoneWorkspace{ID: id}).Key()}})
	return err
}

// yield gives back the numbers and user names of a workspace that is gone. What
// others have taken since is theirs.
func (d *Desk) yield(ctx context.Context, id string) error {
	var numbers []*domain.NumberClaim
	var names []*domain.UsernameClaim
	for _, env := range []domain.Environment{domain.Live, domain.Test} {
		index := "env=" + string(env)
		err := commit.Each(ctx, d.store, "number", id, index, func(n *domain.PhoneNumber) { numbers = append(numbers, n.Claim()) })
		if err == nil {
			err = commit.Each(ctx, d.store, "phone", id, index, func(x *domain.Phone) { names = append(names, x.UsernameClaim()) })
		}
		if err == nil {
			err = commit.Each(ctx, d.store, "dnc_list", id, index, func(l *domain.DNCList) { d.node.dnc.Forget(id, l.ID) })
		}
		if err != nil {
			return err
		}
	}
	c := commit.Change{}
	for _, n := range numbers {
		if err := d.gives(ctx, &c, n, func() bool { return n.WorkspaceID == id }); err != nil {
			return err
		}
	}
	for _, x := range names {
		if err := d.gives(ctx, &c, x, func() bool { return x.WorkspaceID == id }); err != nil {
			return err
		}
	}
	if len(c.Deletes) == 0 {
		return nil
	}
	_, err := d.store.Apply(ctx, c)
	return err
}

// gives adds the end of a claim to a change, if it is ours as it is stored now.
func (d *Desk) gives(ctx context.Context, c *commit.Change, claim domain.Record, ours func() bool) error {
	version, err := d.store.Get(ctx, claim)
	if errors.Is(err, domain.ErrNotFound) || err == nil && !ours() {
		return nil
	}
	c.Guards = append(c.Guards, commit.Guard{Key: claim.Key(), Version: version})
	c.Deletes = append(c.Deletes, claim.Key())
	return err
}

// resumeGone goes on removing what an earlier process had begun to.
func (d *Desk) resumeGone(ctx context.Context) error {
	if d.node.Quarantined() { // recordings may lie in a bucket that another service uses
		return nil
	}
	return commit.Each(ctx, d.store, "gone_workspace", "", "all", func(g *domain.GoneWorkspace) {
		if d.node.owns(g.ID) {
			d.dismiss(g.ID)
		}
	})
}

// workspaces are the ids of all that live.
func (n *Node) workspaces() []string {
	n.mu.RLock()
	defer n.mu.RUnlock()
	ids := make([]string, 0, len(n.spaces))
	for id := range n.spaces {
		ids = append(ids, id)
	}
	return ids
}

// blobsOf are the blobs of workspaces that are not gone.
type blobsOf struct {
	Blobs
	gone func(workspace string) bool
}

// Put keeps nothing of a workspace that is gone, or goes meanwhile.
func (b blobsOf) Put(ctx context.Context, workspace, name string, r io.Reader) (int64, error) {
	if b.gone(workspace) {
		return 0, domain.ErrFenced
	}
	size, err := b.Blobs.Put(ctx, workspace, name, r)
	if b.gone(workspace) {
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return 0, errors.Join(domain.ErrFenced, b.DeleteAll(bound, workspace))
	}
	return size, err
}
