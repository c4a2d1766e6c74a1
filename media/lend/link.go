package lend

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/media"
)

// LinkConfig is what a borrower's end of a link needs. The zero value works, but for recordings.
type LinkConfig struct {
	Again   func(ctx context.Context) (net.Conn, error) // a further connection to the same lender, to fetch recordings
	Changed func()                                      // Load changed, or the link has ended; must not block. nil: nobody cares
	Beat    time.Duration                               // how often each end says that it lives; zero: 250 ms
	Log     *slog.Logger                                // nil: silent
}

// Link is the borrower's end of a connection to a lender. Its methods may be called from anywhere.
type Link struct {
	*pipe
	cfg   LinkConfig
	fetch *fetcher
	live  atomic.Int32

	mu       sync.RWMutex
	load     Load
	sessions map[uint32]*Session // open ones, and closed ones whose recording is not complete
	last     uint32
	bridges  uint32

	asking   sync.Mutex
	requests map[uint32]request
	asked    uint32

	lending sync.Mutex
	shelf   *shelf

	leaving  sync.Mutex
	asksLeft time.Time       // when the lender was asked for what is left there; zero: never
	left     map[string]bool // of which workspaces it has recordings
}

// request waits for a reply.
type request struct {
	of    *Session
	reply chan reply // of room for one
}

// Join makes a link of a connection, which belongs to it from now on, also where that fails. It returns once the lender has
// said its Load.
func Join(ctx context.Context, conn net.Conn, cfg LinkConfig) (*Link, error) {
	if cfg.Beat <= 0 {
		cfg.Beat = defaultBeat
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	in := newReader(conn)
	load, err := greet(ctx, conn, in, hello{Protocol: protocol, For: forSound, Beat: cfg.Beat})
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	l := &Link{
		pipe: newPipe(conn, in, cfg.Beat), cfg: cfg, load: load, sessions: make(map[uint32]*Session),
		requests: make(map[uint32]request), shelf: newShelf(), fetch: newFetcher(cfg.Again, cfg.Log),
	}
	go l.write()
	go l.tick()
	go func() {
		l.read(l.take)
		l.finish()
	}()
	return l, nil
}

// greet says what a connection is for, and hears what the lender has.
func greet(ctx context.Context, conn net.Conn, in *reader, m hello) (Load, error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	var theirs hello
	err := send(conn, kindHello, &m, helloLimit)
	if err == nil {
		err = expect(conn, in, kindHello, &theirs, helloLimit)
	}
	if ctx.Err() != nil {
		return Load{}, fmt.Errorf("lend: %w", ctx.Err())
	}
	if err != nil {
		return Load{}, fmt.Errorf("lend: no lender: %w", err)
	}
	if err = sameProtocol(theirs.Protocol); err != nil {
		return Load{}, err
	}
	if theirs.Load == nil {
		return Load{}, nil
	}
	return *theirs.Load, nil
}

// Load is what the lender has told last.
func (l *Link) Load() Load {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.load
}

// Live counts the sessions of ours that are open there.
func (l *Link) Live() int { return int(l.live.Load()) }

// Done is closed when the link has ended.
func (l *Link) Done() <-chan struct{} { return l.done }

// Err is why it has ended, ErrLost or media.ErrClosed; nil before.
func (l *Link) Err() error {
	if !l.over() {
		return nil
	}
	if errors.Is(l.err, media.ErrClosed) {
		return media.ErrClosed
	}
	return lost(l.err)
}

// Close ends the link and all sessions there.
func (l *Link) Close() { l.end(media.ErrClosed) }

// Open opens a session there; it waits for that, a second at most. Errors: media.ErrNoPorts, media.ErrConfidential,
// media.ErrClosed where the lender leaves, ErrName, ErrLost.
func (l *Link) Open(o media.Options) (*Session, error) {
	if l.over() {
		return nil, ErrLost
	}
	if l.Load().Leaving {
		return nil, media.ErrClosed
	}
	m := openingOf(&o)
	body, err := json.Marshal(&m)
	if err != nil {
		return nil, fmt.Errorf("lend: %w", err)
	}
	s := &Session{link: l, notify: o.Notify, path: o.RecordPath, onward: o.After != nil, feeds: make(map[uint32]*fed), done: make(chan media.Recording, 1)}
	l.mu.Lock()
	l.last++
	s.number = l.last
	l.sessions[s.number] = s
	l.mu.Unlock()
	l.live.Add(1)
	r, err := l.ask(s, kindOpen, body)
	if err == nil {
		err = r.Failed.err()
	}
	if err != nil {
		l.forget(s)
		l.live.Add(-1)
		return nil, err
	}
	return s, nil
}

// forget drops a session of which nothing will be told any more.
func (l *Link) forget(s *Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.sessions, s.number)
}

// ask sends a request and waits for the reply.
func (l *Link) ask(s *Session, kind byte, body []byte) (reply, error) {
	w := request{s, make(chan reply, 1)}
	l.asking.Lock()
	l.asked++
	n := l.asked
	l.requests[n] = w
	l.asking.Unlock()
	var head numbers
	l.out.put(kind, s.number, head.u32(n).bytes(), body, now)
	timer := time.NewTimer(answerLimit * 4 / 5)
	defer timer.Stop()
	select {
	case r := <-w.reply:
		return r, nil
	case <-timer.C:
		timer.Reset(answerLimit / 5) // where this process stood still the answer may lie here unread
		select {
		case r := <-w.reply:
			return r, nil
		case <-timer.C:
			l.end(fmt.Errorf("%w: no answer within %v", ErrLost, answerLimit))
		case <-l.done:
		}
	case <-l.done:
	}
	l.asking.Lock()
	_, unanswered := l.requests[n]
	delete(l.requests, n)
	l.asking.Unlock()
	if unanswered {
		return reply{}, ErrLost
	}
	return <-w.reply, nil // it has come just before
}

// Bridge is media.Bridge for two sessions of this link; with any others it does nothing.
func (l *Link) Bridge(a, b *Session) (undo func()) { return l.connect(a, b, 0) }

// Preview is media.Preview, as Bridge is media.Bridge.
func (l *Link) Preview(held, early *Session) (undo func()) { return l.connect(held, early, 1) }

func (l *Link) connect(a, b *Session, preview byte) (undo func()) {
	if a == nil || b == nil || a.link != l || b.link != l {
		return func() {}
	}
	l.mu.Lock()
	l.bridges++
	n := l.bridges
	l.mu.Unlock()
	var head numbers
	l.out.put(kindBridge, a.number, head.u32(n).u32(b.number).u8(preview).bytes(), nil, soon)
	return sync.OnceFunc(func() {
		var head numbers
		l.out.put(kindUndo, 0, head.u32(n).bytes(), nil, soon)
	})
}

// tick says that we live, and finds out whether the lender does.
func (l *Link) tick() {
	t := time.NewTicker(l.beat)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			l.beats(l.Live() > 0)
		case <-l.done:
			return
		}
	}
}

// take takes what the lender says. What is told of sessions that are not known any more is ignored.
func (l *Link) take(f frame) error {
	in := fields{rest: f.payload}
	switch f.kind {
	case kindBeat:
		return nil
	case kindLoad:
		var load Load
		if err := json.Unmarshal(f.payload, &load); err != nil {
			return fmt.Errorf("%w: %w", ErrProtocol, err)
		}
		l.mu.Lock()
		l.load = load
		l.mu.Unlock()
		l.changed()
		return nil
	case kindMarks:
		for now := time.Now(); len(in.rest) > 0 && !in.short; {
			if s := l.session(in.u32()); s != nil {
				s.marked(time.Duration(in.u64()), true, now) //nolint:gosec // never so long
			} else {
				in.u64()
			}
		}
	case kindReply:
		return l.answered(f)
	case kindHeard, kindTapped, kindTapEnd, kindEvent, kindStats, kindFed, kindRecorded:
		if s := l.session(f.session); s != nil {
			return l.guarded(s, f)
		}
		return nil
	default:
		return fmt.Errorf("%w: kind %d", ErrProtocol, f.kind)
	}
	if in.short {
		return fmt.Errorf("%w: a short frame of kind %d", ErrProtocol, f.kind)
	}
	return nil
}

// guarded hands a frame to its session; an owner that panics loses that session only.
func (l *Link) guarded(s *Session, f frame) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			l.cfg.Log.Error("the owner of a lent session broke", slog.String("cause", fmt.Sprint(cause)), slog.String("stack", string(debug.Stack())))
			go s.broke()
		}
	}()
	return s.take(f)
}

// answered takes a reply: what it says of the session holds before anything that is told after it.
func (l *Link) answered(f frame) error {
	if len(f.payload) < 4 {
		return fmt.Errorf("%w: a short reply", ErrProtocol)
	}
	n := binary.BigEndian.Uint32(f.payload)
	l.asking.Lock()
	w, ok := l.requests[n]
	delete(l.requests, n)
	l.asking.Unlock()
	if !ok {
		return nil
	}
	var r reply
	if err := json.Unmarshal(f.payload[4:], &r); err != nil {
		err = fmt.Errorf("%w: %w", ErrProtocol, err)
		w.reply <- reply{Failed: failed(err)}
		return err
	}
	w.of.answered(&r)
	w.reply <- r
	return nil
}

func (l *Link) session(number uint32) *Session {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.sessions[number]
}

func (l *Link) changed() {
	if l.cfg.Changed != nil {
		l.cfg.Changed()
	}
}

// finish tells everybody that the link has ended. Nobody else tells anything any more.
func (l *Link) finish() {
	l.mu.Lock()
	all := l.sessions
	l.sessions = make(map[uint32]*Session)
	l.mu.Unlock()
	if live := l.Live(); live > 0 || !errors.Is(l.err, media.ErrClosed) {
		l.cfg.Log.Warn("a link to a node that lends sound has ended", slog.Any("cause", l.err), slog.Int("sessions", live))
	}
	for _, s := range all {
		s.lose()
	}
	l.changed()
}
