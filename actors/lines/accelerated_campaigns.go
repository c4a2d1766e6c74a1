package lines

import (
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// fast are the senders whose clocks go faster than ours, and whose turn it is:
// each has the ceiling of a minute of its own clock for itself.
type fast struct {
	all  []*sender // whose turn comes first
	last bool      // they had the last turn that others wanted, too
}

// enrol puts a sender into the row where its clock belongs.
func (l *Lines) enrol(s *sender, speed int) {
	l.strike(s)
	s.speed, s.pace = speed, pace{}
	if speed > 1 {
		l.fast.all = append(l.fast.all, s)
	} else {
		l.row.all = append(l.row.all, s)
	}
}

// strike takes a sender out of its row.
func (l *Lines) strike(s *sender) {
	same := func(o *sender) bool { return o == s }
	l.row.all, l.fast.all = slices.DeleteFunc(l.row.all, same), slices.DeleteFunc(l.fast.all, same)
}

// widen lets another ceiling per minute hold at once.
func (l *Lines) widen(now time.Time, perMinute int) {
	l.pace.widen(now, perMinute)
	for _, s := range l.fast.all {
		s.pace.widen(now, perMinute*s.speed)
	}
}

// turn is whose turn it is; nil: nobody's before then, by the ceilings. Those by
// our clock and those by others take turns where both wait.
func (l *Lines) turn(now time.Time) (s *sender, look time.Time) {
	ours := false
	if slices.ContainsFunc(l.row.all, func(s *sender) bool { return s.count > 0 }) {
		free := l.freeForCampaigns(now)
		if ours = !free.After(now); !ours {
			look = free.Add(grain / 5) // a wide pace gets some places at once
		}
	}
	at := -1
	for i, f := range l.fast.all {
		switch free := f.pace.free(); {
		case f.count == 0:
		case l.cfg.PerMinute > 0 && free.After(now):
			look = earlier(look, free.Add(grain/5))
		case at < 0:
			at = i
		}
	}
	if ours && (at < 0 || l.fast.last) {
		l.fast.last = false
		return l.row.next(), look
	}
	if at < 0 {
		return nil, look
	}
	l.fast.last = ours
	s = l.fast.all[at]
	l.fast.all = append(slices.Delete(l.fast.all, at, at+1), s)
	s.count--
	s.granted++
	s.retries = min(s.retries, s.count)
	return s, look
}

// send grants a line to a sender whose turn it is.
func (l *Lines) send(ctx actor.Context, now time.Time, s *sender) {
	quick := s.speed > 1
	if quick {
		s.pace.take(now, l.cfg.PerMinute*s.speed)
	} else {
		l.pace.take(now, l.cfg.PerMinute)
	}
	p := l.grant(now, &permit{campaign: true, fast: quick})
	p.Generation = s.generation
	ctx.Send(s.pid, p)
}

// unlease counts a line as leased no more.
func (l *Lines) unlease(p *permit) {
	if l.leased[p.id] == nil {
		return
	}
	delete(l.leased, p.id)
	if p.fast {
		l.quick--
	}
}
