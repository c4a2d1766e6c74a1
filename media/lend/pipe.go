package lend

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// pipe is one end of a link: what both ends of it do alike.
type pipe struct {
	conn  net.Conn
	in    *reader
	out   *outbox
	beat  time.Duration
	done  chan struct{} // closed at the end
	once  sync.Once
	err   error // once done
	heard atomic.Bool
	pulse pulse
}

func newPipe(conn net.Conn, in *reader, beat time.Duration) *pipe {
	_ = conn.SetDeadline(time.Time{}) // a connection that is gone is found by its beats
	in.most = frameMost
	return &pipe{conn: conn, in: in, out: newOutbox(), beat: beat, done: make(chan struct{})}
}

// end closes the connection, as often as it is called, and does not wait for that.
func (p *pipe) end(why error) {
	p.once.Do(func() {
		p.err = why
		close(p.done)
		p.out.end()
		go func() { _ = p.conn.Close() }() // TLS may want to say goodbye
	})
}

// over says whether it has ended.
func (p *pipe) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// write sends what is put out, until the end.
func (p *pipe) write() {
	if err := p.out.write(p.conn, quietMost*p.beat, p.done); err != nil {
		p.end(err)
	}
}

// read hands each frame on, until the end.
func (p *pipe) read(take func(f frame) error) {
	for !p.over() {
		f, err := p.in.next()
		if err == nil {
			if !p.heard.Load() {
				p.heard.Store(true)
			}
			err = take(f)
		}
		if err != nil {
			p.end(err)
			return
		}
	}
}

// beats is called once a beat.
func (p *pipe) beats(active bool) {
	say, err := p.pulse.tick(active, p.heard.Swap(false), p.out.waits())
	if err != nil {
		p.end(err)
		return
	}
	if say {
		p.out.put(kindBeat, 0, nil, nil, soon)
	}
}

// pulse decides at each beat whether to say that we live, and whether the other end does. It counts beats and not time: a
// process that stood still has not been deserted meanwhile.
type pulse struct {
	n, quiet, full int
	active         bool
}

func (p *pulse) tick(active, heard bool, waits int) (say bool, err error) {
	most := quietMost
	if !active {
		most *= idleBeats
	}
	if heard || active && !p.active {
		p.quiet = 0
	} else {
		p.quiet++
	}
	say = active || p.n%idleBeats == 0
	p.n, p.active = p.n+1, active
	if p.quiet >= most {
		return false, errSilent
	}
	if waits <= soundMost {
		p.full = 0
	} else if p.full++; p.full >= quietMost || waits > waitMost {
		return false, errFull
	}
	return say, nil
}
