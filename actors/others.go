package actors

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// How a node keeps up with what other nodes of the install do: othersFor is how
// old what it knows of their workspaces may be, diallingEvery how often it looks
// whether an operator has stopped all dialling, and othersWithin how long the
// store may take.
const (
	othersFor     = 5 * time.Second
	diallingEvery = 500 * time.Millisecond
	othersWithin  = 2 * time.Second
)

// others are the workspaces that other nodes of the install have, as they were
// a moment ago. The zero value is ready.
type others struct {
	mu   sync.Mutex
	at   time.Time
	all  []*domain.Workspace
	read bool // once at least
}

// own are the workspaces of this node.
func (n *Node) own(ctx context.Context) (all []*domain.Workspace, err error) {
	err = commit.Each(ctx, n.cfg.Store, "workspace", "", "all", func(w *domain.Workspace) {
		if n.OwnsWorkspace(w.ID) {
			all = append(all, w)
		}
	})
	return all, err
}

// OwnsWorkspace says whether a workspace of this id runs, or would run, on this node.
func (n *Node) OwnsWorkspace(workspaceID string) bool {
	return n.cfg.Mine == nil || n.cfg.Mine(workspaceID)
}

// alone says whether no other node shares the process.
func (n *Node) alone() bool { return n.cfg.Mine == nil }

// may says whether this node still has the work.
func (n *Node) may() bool { return n.cfg.May == nil || n.cfg.May() }

// OtherWorkspaces returns the workspaces of other shards, at most othersFor old. If they
// cannot be read the last ones are returned; known is false until they were read once.
func (n *Node) OtherWorkspaces() (all []*domain.Workspace, known bool) {
	if n.alone() {
		return nil, true
	}
	o := &n.rest
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.at) < othersFor {
		return o.all, o.read
	}
	ctx, cancel := context.WithTimeout(context.Background(), othersWithin)
	defer cancel()
	err := commit.Each(ctx, n.cfg.Store, "workspace", "", "all", func(w *domain.Workspace) {
		if !n.OwnsWorkspace(w.ID) {
			all = append(all, w)
		}
	})
	if err != nil {
		n.cfg.Log.Warn("the workspaces of other nodes cannot be read", slog.Any("error", err))
	} else {
		o.all, o.read = all, true
	}
	o.at = time.Now()
	return o.all, o.read
}

// WorkspaceExists reports whether there is such a workspace in the installation.
func (n *Node) WorkspaceExists(ctx context.Context, workspaceID string) bool {
	if n.Workspace(workspaceID) != nil {
		return true
	}
	if n.alone() || n.OwnsWorkspace(workspaceID) {
		return false
	}
	_, err := n.cfg.Store.Get(ctx, &domain.Workspace{Meta: domain.Meta{ID: workspaceID}})
	return err == nil
}

// followDialling does what an operator has said to another node: that nobody is
// rung any more, or that people may be.
func (n *Node) followDialling(ctx context.Context) {
	t := time.NewTicker(diallingEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			n.lookDialling(ctx)
		}
	}
}

func (n *Node) lookDialling(ctx context.Context) {
	h := &n.halts
	h.changing.Lock()
	before := h.moved
	h.changing.Unlock()
	row, err := n.dialling(ctx)
	if err != nil {
		return
	}
	h.changing.Lock()
	defer h.changing.Unlock()
	known := h.stopped.Load()
	switch {
	case h.moved != before: // what was read is older than what was said here
		return
	case row.Stopped && known == nil:
		h.stopped.Store(row)
		n.cfg.Log.Warn("an operator has stopped all dialling", slog.String("actor", row.By.ID))
	case !row.Stopped && known != nil && !known.Since.IsZero():
		h.stopped.Store(nil)
		n.cfg.Log.Warn("an operator lets people be rung again", slog.String("actor", row.By.ID))
	default:
		return
	}
	n.holdCalls(row.Stopped)
	n.WakeCampaigns()
}

// dialling is what is stored of a stop; the zero row: nobody has ever said one.
func (n *Node) dialling(ctx context.Context) (*domain.Dialling, error) {
	bound, cancel := context.WithTimeout(ctx, othersWithin)
	defer cancel()
	row := &domain.Dialling{}
	if _, err := n.cfg.Store.Get(bound, row); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return nil, err
	}
	return row, nil
}

// stillStopped says whether a stop that this node knows of is stored still:
// another node may have taken it back just now.
func (n *Node) stillStopped(ctx context.Context) bool {
	if n.alone() {
		return true
	}
	row, err := n.dialling(ctx)
	return err == nil && row.Stopped
}
