package lend

import (
	"log/slog"
	"time"

	"github.com/callboard/callboard/media"
)

// AppendEvent and ReadEvent are how events go over.
var (
	AppendEvent = appendEvent
	ReadEvent   = readEvent
)

// Frame writes a frame.
func Frame(kind byte, session uint32, payload []byte) []byte {
	return appendFrame(nil, kind, session, nil, payload)
}

// What tests say and hear.
const (
	KindHello  = kindHello
	KindBeat   = kindBeat
	KindOpen   = kindOpen
	KindOffer  = kindOffer
	KindClip   = kindClip
	KindForget = kindForget
	KindPlay   = kindPlay
	KindHear   = kindHear
	KindSay    = kindSay
	KindBegin  = kindBegin
	KindReply  = kindReply
	KindFed    = kindFed
	KindMarks  = kindMarks
	KindEvent  = kindEvent
	KindTap    = kindTap
	KindDigits = kindDigits
	FrameMost  = frameMost
	SoundMost  = soundMost
	ClipsMost  = clipsMost
	Protocol   = protocol
)

// Outbox is the one of a link.
type Outbox struct{ *outbox }

// NewOutbox makes one that nobody empties.
func NewOutbox() Outbox { return Outbox{newOutbox()} }

// Sound puts sound in, Event something else; Waits are bytes.
func (o Outbox) Sound(b []byte) bool { return o.put(kindHeard, 1, nil, b, droppable) }

// Event puts something in that is never dropped.
func (o Outbox) Event(b []byte) bool { return o.put(kindEvent, 1, nil, b, soon) }

// Waits counts bytes.
func (o Outbox) Waits() int { return o.waits() }

// Shelf is the borrower's list of clips.
type Shelf struct{ *shelf }

// NewShelf is empty.
func NewShelf() Shelf { return Shelf{newShelf()} }

// Take names a clip.
func (s Shelf) Take(clip media.Clip) (number uint32, forget []uint32, fresh bool) {
	number, _, forget, fresh = s.take(clip)
	return number, forget, fresh
}

// Pulse decides at beats.
type Pulse struct{ pulse }

// Tick is one.
func (p *Pulse) Tick(active, heard bool, waits int) (bool, error) {
	return p.tick(active, heard, waits)
}

// Hand is a media clock's.
type Hand struct{ hand }

// Tell and At are its.
func (h *Hand) Tell(mark time.Duration, runs bool, now time.Time) { h.tell(mark, runs, now) }

// At says where it stands.
func (h *Hand) At(now time.Time) time.Duration { return h.at(now) }

// Sweep removes what was written last before a time.
func (l *Lender) Sweep(before time.Time) { l.spool.sweep(before) }

// Empty forgets what waits.
func (o Outbox) Empty() { o.buf = o.buf[:0] }

// Break plants a panic in the next frame of a borrower's session.
func (l *Lender) Break(number uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for g := range l.guests {
		if s := g.session(number); s != nil {
			s.media.Hear(func([]byte) { panic("planted") })
		}
	}
}

// Spool is a lender's.
type Spool struct{ *spool }

// NewSpool is one in a folder.
func NewSpool(dir string) Spool { return Spool{newSpool(dir, slog.New(slog.DiscardHandler))} }

// Take gives a recording to a session; what follows is its, too.
func (p Spool) Take(name string, evict func()) (string, uint64, error) { return p.take(name, evict) }

// Occupied is its.
func (p Spool) Occupied(name string) func(time.Duration) bool { return p.occupied(name) }

// Complete says that all of it is there.
func (p Spool) Complete(name string, token uint64) { p.complete(name, token, recorded{}) }

// GiveBack is its.
func (p Spool) GiveBack(name string, token uint64) { p.giveBack(name, token) }

// Remove is its.
func (p Spool) Remove(name string, token uint64) error { return p.remove(wanted{name, token}) }

// Look says whether it can be fetched, or never will be.
func (p Spool) Look(name string, token uint64) (fetchable, gone bool) {
	what := p.look(wanted{name, token})
	return what.Size > 0, what.None
}
