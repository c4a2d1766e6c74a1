package call

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/media"
	"github.com/callboard/callboard/sip"
)

// The sound of a call that another node has goes on elsewhere where that node
// dies, or is to stop: the far end is told within the dialog where it is now, and
// what was being said is said again.

type (
	// resounded: the far end has answered where its sound is to go from now on.
	resounded struct {
		try    int
		by     Session
		answer sip.Reanswer
		err    error // nobody was asked
	}
	// unsounded: it has not answered in time.
	unsounded struct{ try int }
	// followOn tries again what nothing was lost by.
	followOn struct{}
)

const (
	resoundAgain = 5 * time.Second
	resoundsMost = 2 // attempts in vain of a call that has lost its sound
)

// Control admits it always.
func (followOn) Control() {}

var errUnanswered = errors.New("call: the far end has not answered in time")

// Control admits it always.
func (resounded) Control() {}

// Control admits it always.
func (unsounded) Control() {}

// resounding is what a call knows of its sound's way to another place.
type resounding struct {
	try  int // counts them
	on   bool
	lost bool // there is no way back
	over int  // the one that has found a place last
	vain int  // that found none since
}

// resound moves the sound; false: that cannot be. lost: it is gone from where it
// was.
func (c *call) resound(ctx actor.Context, lost bool) bool {
	r := &c.resounding
	l, is := c.session.(*lent)
	d := c.vessel.line()
	if !is || d == nil || !c.alone() {
		return false
	}
	r.lost = r.lost || lost
	if r.on {
		return true
	}
	r.try++
	r.on = true
	root, self, sound, o, try := ctx.ActorSystem().Root, ctx.Self(), c.cfg.Sound, l.successor(), r.try
	mailbox.Work(ctx, dialLimit, func(context.Context) any {
		m, asked := resound(l, sound, d, o, func(m resounded) {
			m.try = try
			root.Send(self, m)
		})
		if asked {
			return nil
		}
		m.try = try
		return m
	})
	c.after(ctx, reviveLimit, unsounded{r.try})
	return true
}

// follow moves the sound if its node is gone, or wants to be rid of it.
func (c *call) follow(ctx actor.Context) {
	l, is := c.session.(*lent)
	switch {
	case !is || c.stage != talking:
	case l.lost():
		if !c.resound(ctx, true) {
			c.loseSound(ctx)
		}
	case l.leaving():
		c.resound(ctx, false)
	}
}

// soundMoves hears what came of it.
func (c *call) soundMoves(ctx actor.Context, m any) {
	switch m := m.(type) {
	case resounded:
		c.resounded(ctx, m)
	case unsounded:
		c.unsounded(ctx, m)
	case followOn:
		c.follow(ctx)
	}
}

// alone says whether the call has one far end, which lives.
func (c *call) alone() bool {
	return c.stage == talking && c.byeReason == "" && c.transfer == nil && c.away&^awayHeld == 0
}

// resound opens the sound elsewhere and asks the far end, whose answer is heard;
// false: it was not asked.
func resound(l *lent, sound Sound, d Dialog, o media.Options, heard func(resounded)) (m resounded, asked bool) {
	defer func() {
		if v := recover(); v != nil {
			m = resounded{err: fmt.Errorf("call: moving the sound panicked: %v", v)}
			asked = false
		}
	}()
	s, body, err := described(sound, o, nil)
	if err != nil {
		return resounded{err: err}, false
	}
	if !l.awaits(s) {
		return resounded{err: media.ErrClosed}, false
	}
	d.Reoffer(body, func(a sip.Reanswer) { heard(resounded{by: s, answer: a}) })
	return resounded{}, true
}

func (c *call) resounded(ctx actor.Context, m resounded) {
	r := &c.resounding
	l, is := c.session.(*lent)
	if !is || !r.on || m.try != r.try { // too late; whoever gave up has closed it
		if is && m.answer.Code == sipOK && !r.on && r.over != m.try {
			c.deafened(ctx)
		}
		return
	}
	if m.err == nil && m.answer.Err == nil && m.answer.Code != sipOK {
		m.err = fmt.Errorf("the far end answered %d", m.answer.Code)
	}
	if m.err == nil {
		m.err = m.answer.Err
	}
	if m.err == nil {
		if m.err = m.by.Accept(m.answer.Body); m.err != nil {
			r.lost = true // the far end has gone there
			c.mediaRefused(m.err)
		}
	}
	if m.err != nil {
		c.unsound(ctx, m.err)
		return
	}
	r.on, r.lost, r.over, r.vain = false, false, m.try, 0
	l.replace()
	c.log.Info("the sound of a call goes on elsewhere", slog.Int("times", r.try))
	c.record().Codec = c.session.Stats().Codec
	c.commit(ctx, "", nil, nil)
}

func (c *call) unsounded(ctx actor.Context, m unsounded) {
	if c.resounding.on && c.resounding.try == m.try {
		c.unsound(ctx, errUnanswered)
	}
}

// deafened: the far end has gone where nobody is any more.
func (c *call) deafened(ctx actor.Context) {
	if !c.resound(ctx, true) {
		c.loseSound(ctx)
	}
}

// unsound: the sound did not find another place. It stays where it is, if it can,
// and looks for one again; if it cannot, a few times at once.
func (c *call) unsound(ctx actor.Context, why error) {
	r := &c.resounding
	r.on = false
	r.vain++
	if l, is := c.session.(*lent); is {
		l.awaits(nil)
	}
	c.log.Warn("the sound of a call cannot go on elsewhere", slogErr(why))
	switch {
	case !r.lost:
		c.after(ctx, resoundAgain, followOn{})
	case r.vain >= resoundsMost || !c.resound(ctx, true):
		c.loseSound(ctx)
	}
}
