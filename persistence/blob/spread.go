package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/shelf"
)

const (
	farWithin = 5 * time.Second  // for another node to say whether it has a blob, or has deleted it
	muteAfter = time.Second      // of silence
	muteFor   = 30 * time.Second // nobody waits for one that is silent
)

// Spread keeps blobs in this node's folder, and finds those that other nodes have in
// theirs: those of workspaces that were there.
type Spread struct {
	own *Disk
	far shelf.Far
	log *slog.Logger

	mu     sync.Mutex
	lent   map[string]shelf.Node          // places that were read at another node: who writes one replaces it there
	looked map[string]map[shelf.Node]bool // by workspace: nodes that have nothing that was deleted while they were away
	owed   map[string]shelf.Node          // places at which nodes have something that was replaced here
	mute   map[shelf.Node]time.Time       // until when nodes are not asked
}

// NewSpread puts a folder before those of the others.
func NewSpread(own *Disk, far shelf.Far, log *slog.Logger) *Spread {
	return &Spread{own: own, far: far, log: log, lent: make(map[string]shelf.Node), looked: make(map[string]map[shelf.Node]bool), owed: make(map[string]shelf.Node), mute: make(map[shelf.Node]time.Time)}
}

// Shelf is what a folder of blobs gives other nodes.
func Shelf(dir string) shelf.Folder {
	return shelf.Folder{Dir: dir, Half: func(name string) bool { return filepath.Ext(name) == part }}
}

// Put keeps a blob here. It replaces one that was read at another node.
func (s *Spread) Put(ctx context.Context, workspace, name string, r io.Reader) (int64, error) {
	size, err := s.own.Put(ctx, workspace, name, r)
	if err != nil {
		return 0, err
	}
	place := workspace + "/" + name
	s.mu.Lock()
	n, other := s.lent[place]
	delete(s.lent, place)
	s.mu.Unlock()
	if other {
		s.pay(ctx, n, workspace, name)
	}
	return size, nil
}

// pay deletes what a node has of a blob that was replaced here, or notes that it is to
// be deleted there.
func (s *Spread) pay(ctx context.Context, n shelf.Node, workspace, name string) {
	bound, cancel := context.WithTimeout(ctx, farWithin)
	defer cancel()
	err := s.far.Delete(bound, n, workspace, name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.owed[workspace+"/"+name] = n
		return
	}
	delete(s.owed, workspace+"/"+name)
}

// found is what a node has of a blob.
type found struct {
	at   shelf.Node
	file *remote
	err  error
}

// Open reads a blob from wherever it lies, as Disk does. An error that is both
// domain.ErrNotFound and domain.ErrAway says that a node that is away may have it.
func (s *Spread) Open(ctx context.Context, workspace, name string) (io.ReadSeekCloser, int64, error) {
	r, size, err := s.own.Open(ctx, workspace, name)
	if !errors.Is(err, domain.ErrNotFound) {
		return r, size, err
	}
	one, err := s.find(ctx, workspace, name)
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %w", domain.Errorf(domain.CodeUnavailable, "it lies at a node that does not answer; try again").With("retry_after", int(farWithin/time.Second)), err)
	}
	far, err := open(ctx, s.own.seal, one.file, one.file.size, workspace, name)
	if err != nil {
		return nil, 0, errors.Join(err, one.file.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.lent) >= lentMost {
		clear(s.lent)
	}
	s.lent[workspace+"/"+name] = one.at
	return far, far.size, nil
}

// lentMost bounds what is known of blobs at other nodes: who replaces one has read
// it a moment ago.
const lentMost = 10_000

// find asks all nodes at once.
func (s *Spread) find(ctx context.Context, workspace, name string) (one found, err error) {
	bound, cancel := context.WithTimeout(ctx, farWithin)
	defer cancel()
	nodes := s.far.Others()
	all := make(chan found, len(nodes))
	for _, n := range nodes {
		go func() {
			its := found{at: n}
			its.file, its.err = newRemote(bound, func(ctx context.Context, from int64, into []byte, mark string) (piece, error) {
				p, why := s.far.Get(ctx, n, workspace, name, from, into, mark)
				return piece{p.Size, p.Mark, p.Got}, why
			})
			all <- its
		}()
	}
	err = fmt.Errorf("blob: %s: %w", name, domain.ErrNotFound)
	for i := range nodes {
		switch next := <-all; {
		case next.err == nil:
			go func() { // who else has it is late
				for range nodes[i+1:] {
					if late := <-all; late.err == nil {
						_ = late.file.Close()
					}
				}
			}()
			return next, nil
		case !errors.Is(next.err, domain.ErrNotFound):
			err = fmt.Errorf("%w: %w", err, next.err)
		}
	}
	if !errors.Is(err, domain.ErrAway) { // all that live have answered
		err = fmt.Errorf("%w: its node does not live: %w", err, domain.ErrAway)
	}
	return one, err
}

// Delete removes a blob from here and from all nodes that live. Others are looked at
// once they do, by Stray.
func (s *Spread) Delete(ctx context.Context, workspace, name string) error {
	if err := s.own.Delete(ctx, workspace, name); err != nil {
		return err
	}
	s.everywhere(ctx, workspace, name)
	return nil
}

// DeleteAll does so with all blobs of a workspace.
func (s *Spread) DeleteAll(ctx context.Context, workspace string) error {
	if err := s.own.DeleteAll(ctx, workspace); err != nil {
		return err
	}
	s.everywhere(ctx, workspace, "")
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.looked, workspace)
	return nil
}

// everywhere asks the others. Those that have not deleted it are looked at again.
func (s *Spread) everywhere(ctx context.Context, workspace, name string) {
	bound, cancel := context.WithTimeout(ctx, farWithin)
	defer cancel()
	done := map[shelf.Node]bool{{}: true} // here
	var wait sync.WaitGroup
	var mu sync.Mutex
	for _, n := range s.hearing() {
		wait.Go(func() {
			began := time.Now()
			if s.heard(n, began, s.far.Delete(bound, n, workspace, name)) == nil {
				mu.Lock()
				defer mu.Unlock()
				done[n] = true
			}
		})
	}
	wait.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.looked[workspace], func(n shelf.Node, _ bool) bool { return !done[n] })
}

// hearing are the others but those that were silent a moment ago: whoever deletes
// much does not wait for them each time.
func (s *Spread) hearing() (out []shelf.Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(s.mute, func(_ shelf.Node, until time.Time) bool { return now.After(until) })
	for _, n := range s.far.Others() {
		if s.mute[n].IsZero() {
			out = append(out, n)
		}
	}
	return out
}

// heard notes that a node was silent.
func (s *Spread) heard(n shelf.Node, began time.Time, err error) error {
	if err == nil || n == (shelf.Node{}) {
		return err
	}
	s.log.Debug("another node does not answer for its files", slog.String("node_addr", n.Addr), slog.Any("error", err))
	if time.Since(began) >= muteAfter {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.mute[n] = time.Now().Add(muteFor)
	}
	return err
}

// Stray looks once, for as long as they live and answer, at what each node has of a
// workspace, this one too, and deletes what was deleted while that node was away.
// wanted says whether a blob, which was written so long ago, is to be there still.
func (s *Spread) Stray(ctx context.Context, workspace string, wanted func(ctx context.Context, name string, age time.Duration) (bool, error)) error {
	if _, err := placeOf(workspace, "all"); err != nil {
		return err
	}
	s.mu.Lock()
	var owed []string
	for place := range s.owed {
		if ws, name, _ := strings.Cut(place, "/"); ws == workspace {
			owed = append(owed, name)
		}
	}
	s.mu.Unlock()
	for _, name := range owed {
		s.mu.Lock()
		n := s.owed[workspace+"/"+name]
		s.mu.Unlock()
		s.pay(ctx, n, workspace, name)
	}
	nodes := append(s.hearing(), shelf.Node{}) // and here
	var failed error
	if len(nodes) <= len(s.far.Others()) {
		failed = fmt.Errorf("blob: a node is silent: %w", domain.ErrAway)
	}
	s.mu.Lock()
	before := s.looked[workspace]
	now := make(map[shelf.Node]bool, len(nodes))
	var todo []shelf.Node
	for _, n := range nodes {
		if now[n] = true; !before[n] {
			todo = append(todo, n)
		}
	}
	s.looked[workspace] = now // what is deleted meanwhile takes a node out
	s.mu.Unlock()
	for _, n := range todo {
		began := time.Now()
		if err := s.stray(ctx, n, workspace, wanted); err != nil {
			if errors.Is(err, domain.ErrAway) {
				err = s.heard(n, began, err)
			}
			failed = errors.Join(failed, err)
			s.mu.Lock()
			delete(s.looked[workspace], n)
			s.mu.Unlock()
		}
	}
	return failed
}

func (s *Spread) stray(ctx context.Context, n shelf.Node, workspace string, wanted func(ctx context.Context, name string, age time.Duration) (bool, error)) error {
	var all []shelf.Entry
	var err error
	if n == (shelf.Node{}) {
		all, err = s.own.entries(workspace)
	} else {
		err = s.far.List(ctx, n, workspace, func(e shelf.Entry) error {
			all = append(all, e)
			return nil
		})
	}
	if err != nil {
		return err
	}
	for _, e := range all {
		keep, err := wanted(ctx, e.Name, e.Age)
		switch {
		case err != nil:
			return err
		case keep:
			continue
		case n == (shelf.Node{}):
			err = s.own.Delete(ctx, workspace, e.Name)
		default:
			bound, cancel := context.WithTimeout(ctx, farWithin)
			err = s.far.Delete(bound, n, workspace, e.Name)
			cancel()
		}
		if err != nil {
			return err
		}
		s.log.Info("a file was deleted that its node had missed the end of", slog.String("workspace_id", workspace), slog.String("name", e.Name), slog.String("node_addr", n.Addr))
	}
	return nil
}

// entries are the blobs of a workspace.
func (d *Disk) entries(workspace string) (all []shelf.Entry, err error) {
	files, err := os.ReadDir(filepath.Join(d.dir, workspace))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("blob: %w", err)
	}
	for _, f := range files {
		info, gone := f.Info()
		if _, err := placeOf(workspace, f.Name()); err == nil && gone == nil && info.Mode().IsRegular() {
			all = append(all, shelf.Entry{Name: f.Name(), Age: time.Since(info.ModTime())})
		}
	}
	return all, nil
}
