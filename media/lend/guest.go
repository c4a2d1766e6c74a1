package lend

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/media"
)

// guest is a borrower, at the lender: one link of it.
type guest struct {
	*pipe
	lender *Lender
	copies *copies
	opened atomic.Int32  // sessions that are open
	busy   chan struct{} // there is one now

	mu       sync.Mutex
	gone     bool
	sessions map[uint32]*lent
	bridges  map[uint32]func() // what undoes them
}

func newGuest(l *Lender) *guest {
	return &guest{
		lender: l, copies: newCopies(), busy: make(chan struct{}, 1), sessions: make(map[uint32]*lent), bridges: make(map[uint32]func()),
	}
}

// run serves the borrower until the link ends, and then closes its sessions.
func (g *guest) run(p *pipe) {
	g.lender.mu.Lock()
	g.pipe = p // announce looks at it
	g.lender.mu.Unlock()
	var beside sync.WaitGroup
	beside.Go(g.write)
	beside.Go(g.tick)
	g.read(g.guarded)
	beside.Wait()
	g.mu.Lock()
	g.gone = true
	all := g.sessions
	g.sessions = make(map[uint32]*lent)
	g.mu.Unlock()
	g.lender.cfg.Log.Info("a link of a node that borrows sound has ended", slog.Any("cause", g.err), slog.Int("sessions", len(all)))
	for _, s := range all {
		g.end(s)
	}
	g.lender.part(g)
}

func (g *guest) live() int { return int(g.opened.Load()) }

// tellLoad is called under the lender's lock; false: it is not there yet.
func (g *guest) tellLoad(load Load) bool {
	if g.pipe == nil {
		return false
	}
	if b, err := json.Marshal(&load); err == nil {
		g.out.put(kindLoad, 0, nil, b, now)
	}
	return true
}

// guarded takes a frame; one that makes the process panic ends its link only.
func (g *guest) guarded(f frame) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			g.lender.cfg.Log.Error("a frame of a node that borrows sound broke its link", slog.String("cause", fmt.Sprint(cause)), slog.String("stack", string(debug.Stack())))
			err = fmt.Errorf("%w: kind %d broke", ErrProtocol, f.kind)
		}
	}()
	return g.take(f)
}

// take does what a frame orders. What is ordered of sessions that are not known is ignored.
func (g *guest) take(f frame) error {
	in := fields{rest: f.payload}
	switch f.kind {
	case kindBeat:
	case kindOpen:
		return g.open(f.session, in)
	case kindClip:
		number, total := in.u32(), in.u32()
		return g.copies.add(number, total, in.rest)
	case kindForget:
		g.copies.forget(in.u32())
	case kindUndo:
		g.unbridge(in.u32())
	default:
		if f.kind < kindOpen || f.kind > kindSay {
			return fmt.Errorf("%w: kind %d", ErrProtocol, f.kind)
		}
		s := g.session(f.session)
		if s == nil {
			return g.unknown(f.kind, f.session, in)
		}
		s.take(f.kind, &in)
	}
	if in.short {
		return fmt.Errorf("%w: a short frame of kind %d", ErrProtocol, f.kind)
	}
	return nil
}

// unknown answers whoever asks something of a session that is not there.
func (g *guest) unknown(kind byte, session uint32, in fields) error {
	if kind <= kindClose {
		g.reply(session, in.u32(), &reply{Failed: failed(media.ErrClosed)})
	}
	return nil
}

func (g *guest) session(number uint32) *lent {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.sessions[number]
}

func (g *guest) reply(session, request uint32, r *reply) {
	b, err := json.Marshal(r)
	if err != nil {
		b, _ = json.Marshal(&reply{Failed: failed(err)})
	}
	var head numbers
	g.out.put(kindReply, session, head.u32(request).bytes(), b, now)
}

// open opens a session. Where another one still writes a recording of that name it is closed first, beside everything else.
func (g *guest) open(number uint32, in fields) error {
	request := in.u32()
	var m opening
	if in.short {
		return fmt.Errorf("%w: a short frame", ErrProtocol)
	}
	if err := json.Unmarshal(in.rest, &m); err != nil {
		return fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	o, err := m.options()
	if err == nil && m.Record != "" {
		err = checkName(m.Record)
	}
	switch {
	case err != nil:
	case g.lender.leaves():
		err = media.ErrClosed
	case g.live() >= sessionsMost:
		err = media.ErrNoPorts
	case g.session(number) != nil:
		return fmt.Errorf("%w: session %d is open", ErrProtocol, number)
	}
	if err != nil {
		g.reply(number, request, &reply{Failed: failed(err)})
		return nil
	}
	s := &lent{guest: g, number: number, name: m.Record}
	o.Notify = s.told
	if host := g.lender.cfg.Host; host != nil && o.Far.IsValid() {
		o.Address = host(o.Far)
	}
	wait := g.lender.spool.occupied(m.Record)
	if wait == nil {
		g.begin(s, o, request)
		return nil
	}
	g.lender.work.Go(func() {
		if wait(answerLimit * 3 / 4) {
			g.begin(s, o, request)
			return
		}
		g.reply(number, request, &reply{Failed: &failure{Text: "lend: the recording is still being written"}})
	})
	return nil
}

// begin opens a session whose recording nobody else writes.
func (g *guest) begin(s *lent, o media.Options, request uint32) {
	if s.name != "" {
		var err error
		if o.RecordPath, s.token, err = g.lender.spool.take(s.name, s.evict); err != nil {
			g.reply(s.number, request, &reply{Failed: failed(err)})
			return
		}
	}
	m, err := g.lender.cfg.Engine.Open(o)
	if err != nil {
		g.lender.spool.giveBack(s.name, s.token)
		g.reply(s.number, request, &reply{Failed: failed(err)})
		return
	}
	s.mu.Lock()
	s.media = m
	s.mu.Unlock()
	g.mu.Lock()
	gone := g.gone || g.sessions[s.number] != nil
	if !gone {
		g.sessions[s.number] = s
		g.opened.Add(1)
	}
	g.mu.Unlock()
	if gone {
		_, done := s.media.Close()
		g.keep(s, done)
		return
	}
	select {
	case g.busy <- struct{}{}:
	default:
	}
	memo := s.media.Memo()
	g.reply(s.number, request, &reply{Token: s.token, Memo: &memo, Mark: memo.Mark})
}

// end closes a session that is not listed any more.
func (g *guest) end(s *lent) media.Stats {
	g.opened.Add(-1)
	g.mu.Lock()
	for _, n := range s.bridges {
		delete(g.bridges, n)
	}
	g.mu.Unlock()
	stats, done := s.media.Close()
	g.keep(s, done)
	return stats
}

// keep waits for the recording of a session, notes what became of it and tells the borrower.
func (g *guest) keep(s *lent, done <-chan media.Recording) {
	if s.name == "" {
		return
	}
	s.kept.Do(func() {
		g.lender.attend(done, func(r media.Recording) {
			m := recordedOf(r)
			g.lender.spool.complete(s.name, s.token, m)
			if b, err := json.Marshal(&m); err == nil {
				g.out.put(kindRecorded, s.number, nil, b, soon)
			}
		})
	})
}

func (g *guest) bridge(number uint32, a, b *lent, preview bool) {
	how := media.Bridge
	if preview {
		how = media.Preview
	}
	g.mu.Lock()
	_, known := g.bridges[number]
	g.mu.Unlock()
	if known {
		return
	}
	undo := how(a.media, b.media)
	g.mu.Lock()
	g.bridges[number] = undo
	a.bridges, b.bridges = append(a.bridges, number), append(b.bridges, number)
	g.mu.Unlock()
}

func (g *guest) unbridge(number uint32) {
	g.mu.Lock()
	undo := g.bridges[number]
	delete(g.bridges, number)
	g.mu.Unlock()
	if undo != nil {
		undo()
	}
}

// tick tells from time to time what sounds, and that we live.
func (g *guest) tick() {
	each := min(tickEvery, g.beat)
	timer := time.NewTimer(g.beat)
	defer timer.Stop()
	beat, marks := time.Now(), time.Now()
	for n := 0; ; n++ {
		select {
		case <-timer.C:
		case <-g.busy:
		case <-g.done:
			return
		}
		now := time.Now()
		if live := g.live(); live > 0 {
			timer.Reset(each)
			g.report(n, int(statsEvery/each), now.Sub(marks) >= marksEvery)
		} else {
			timer.Reset(g.beat)
		}
		if now.Sub(marks) >= marksEvery {
			marks = now
		}
		if now.Sub(beat) >= g.beat {
			beat = now
			g.beats(g.live() > 0)
		}
	}
}

// report tells how much of feeds was heard, now and then the figures of some sessions, and once in a while all marks.
func (g *guest) report(n, turns int, all bool) {
	g.mu.Lock()
	sessions := make([]*lent, 0, len(g.sessions))
	for _, s := range g.sessions {
		sessions = append(sessions, s)
	}
	g.mu.Unlock()
	var marks []byte
	for _, s := range sessions {
		s.tellFed()
		if int(s.number)%turns == n%turns {
			s.tellStats()
		}
		if all && s.runs.Load() {
			marks = s.appendMark(marks)
		}
		if len(marks) > readRoom/2 {
			g.out.put(kindMarks, 0, nil, marks, soon)
			marks = marks[:0]
		}
	}
	if len(marks) > 0 {
		g.out.put(kindMarks, 0, nil, marks, soon)
	}
}
