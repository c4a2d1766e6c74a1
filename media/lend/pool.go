package lend

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// How a pool keeps its links.
const (
	joinLimit   = 5 * time.Second // for a link to begin
	joinAgain   = 250 * time.Millisecond
	joinAgainIn = 15 * time.Second // at most, between two attempts
)

// PoolConfig of a Pool.
type PoolConfig struct {
	Dial func(ctx context.Context, addr string) (net.Conn, error) // to whoever lends at a node
	Own  func() Load                                              // of this node; must not block
	Mine *Lender                                                  // who has sound here for others; nil: nobody
	Beat time.Duration                                            // see LinkConfig
	Log  *slog.Logger                                             // nil: silent
}

// Pool are the links to all other nodes, and which of them has the sound of a
// next call.
type Pool struct {
	cfg  PoolConfig
	ctx  context.Context //nolint:containedctx // ends with the pool
	end  context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	places map[string]*place // by address
	minds  map[*Link]*minds  // who wants to know when a node is to stop
}

// place is one other node.
type place struct {
	leave context.CancelFunc
	link  *Link // nil: there is none now
}

// NewPool makes one that knows nobody.
func NewPool(cfg PoolConfig) *Pool {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	p := &Pool{cfg: cfg, places: make(map[string]*place), minds: make(map[*Link]*minds)}
	p.ctx, p.end = context.WithCancel(context.Background())
	return p
}

// Nodes says who lives besides this node, by the addresses of their doors. Links
// to others begin; one to a node that is gone ends by itself.
func (p *Pool) Nodes(addrs []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return
	}
	for addr, at := range p.places {
		if !slices.Contains(addrs, addr) {
			at.leave()
			delete(p.places, addr)
		}
	}
	for _, addr := range addrs {
		if p.places[addr] != nil {
			continue
		}
		ctx, cancel := context.WithCancel(p.ctx)
		at := &place{leave: cancel}
		p.places[addr] = at
		p.work.Go(func() { p.keep(ctx, addr, at) })
	}
}

// keep has a link to a node while it lives, and as long afterwards as there is
// sound of ours at it.
func (p *Pool) keep(ctx context.Context, addr string, at *place) {
	for pause := joinAgain; ctx.Err() == nil; pause = min(2*pause, joinAgainIn) {
		link, err := p.join(ctx, addr)
		if err == nil {
			pause = joinAgain
			p.set(at, link)
			select {
			case <-link.Done():
			case <-ctx.Done():
				p.set(at, nil)
				p.outlive(link)
				return
			}
			p.set(at, nil)
		} else {
			p.cfg.Log.Debug("another node has no sound for calls of this node", slog.String("node_addr", addr), slog.Any("error", err))
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
		}
	}
}

func (p *Pool) join(ctx context.Context, addr string) (*Link, error) {
	bound, cancel := context.WithTimeout(ctx, joinLimit)
	defer cancel()
	conn, err := p.cfg.Dial(bound, addr)
	if err != nil {
		return nil, err
	}
	again := func(ctx context.Context) (net.Conn, error) { return p.cfg.Dial(ctx, addr) }
	var link atomic.Pointer[Link]
	changed := func() {
		if l := link.Load(); l != nil {
			p.changed(l)
		}
	}
	l, err := Join(bound, conn, LinkConfig{Again: again, Changed: changed, Beat: p.cfg.Beat, Log: p.cfg.Log.With(slog.String("node_addr", addr))})
	if err != nil {
		return nil, err
	}
	link.Store(l)
	return l, nil
}

// minds are those who want to know when a node is to stop.
type minds struct {
	all    map[*func()]bool
	leaves bool // as it said last
}

// Leaves has f called each time that a node which has sound of ours says that it
// is to stop, and now where it has said so; stop ends that. f must not block.
func (p *Pool) Leaves(l *Link, f func()) (stop func()) {
	if p == nil {
		return func() {}
	}
	p.mu.Lock()
	m := p.minds[l]
	if m == nil {
		m = &minds{all: make(map[*func()]bool)}
		p.minds[l] = m
	}
	m.all[&f] = true
	p.mu.Unlock()
	if l.Load().Leaving {
		f()
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(m.all, &f)
		if len(m.all) == 0 && p.minds[l] == m {
			delete(p.minds, l)
		}
	}
}

// changed tells who wants to know.
func (p *Pool) changed(l *Link) {
	leaves := l.Load().Leaving
	var all []*func()
	p.mu.Lock()
	if m := p.minds[l]; m != nil {
		if leaves && !m.leaves {
			all = slices.Collect(maps.Keys(m.all))
		}
		m.leaves = leaves
	}
	p.mu.Unlock()
	for _, f := range all {
		(*f)()
	}
}

// outlive keeps the link to a node that says it is gone until nothing of ours is
// there any more, or the pool ends.
func (p *Pool) outlive(link *Link) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for link.Live() > 0 && p.ctx.Err() == nil {
		select {
		case <-tick.C:
		case <-link.Done():
			return
		case <-p.ctx.Done():
		}
	}
	link.Close()
}

func (p *Pool) set(at *place, link *Link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at.link = link
}

// links are those that are up.
func (p *Pool) links() []*Link {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]*Link, 0, len(p.places))
	for _, addr := range slices.Sorted(maps.Keys(p.places)) {
		if l := p.places[addr].link; l != nil {
			all = append(all, l)
		}
	}
	return all
}

// Choose is the link to the node that is to have the sound of a next call; nil:
// this one is. Those in but were asked already.
func (p *Pool) Choose(but ...*Link) *Link {
	if p == nil {
		return nil
	}
	here := p.cfg.Own()
	if here.Free > 0 && here.full() < spreadFrom {
		return nil // nobody else is asked
	}
	links := slices.DeleteFunc(p.links(), func(l *Link) bool { return slices.Contains(but, l) })
	loads := make([]Load, len(links))
	for i, l := range links {
		loads[i] = l.Load()
	}
	if at := Choose(here, loads); at >= 0 {
		return links[at]
	}
	return nil
}

// Room is how many calls of this node other nodes have the sound of, and how many
// more they have pairs of ports for.
func (p *Pool) Room() (taken, free int) {
	if p == nil {
		return 0, 0
	}
	for _, l := range p.links() {
		taken += l.Live()
		if load := l.Load(); !load.Leaving {
			free += max(load.Free, 0)
		}
	}
	return taken, free
}

// Adopt puts a recording that a node which is gone has left here to path, if there
// is one of that name, and no other file.
func (p *Pool) Adopt(path string) {
	if p == nil || p.cfg.Mine == nil {
		return
	}
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		p.cfg.Mine.Adopt(filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path)), path)
	}
}

// Close ends all links, and the sessions at their far ends.
func (p *Pool) Close() {
	if p == nil {
		return
	}
	p.end()
	p.work.Wait()
}
