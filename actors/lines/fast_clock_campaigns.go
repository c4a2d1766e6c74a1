package lines

import (
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// acceleratedRequesters are test campaigns whose clocks run faster than real time. Each of them has its own limit of calls
// per minute, measured by its own clock.
type acceleratedRequesters struct {
	requesters  []*requester // next turn first
	hadLastTurn bool         // the last turn went to them although others were waiting
}

// addRequester adds a campaign to the queue of accelerated or normal campaigns, depending on its clock speed.
func (l *Lines) addRequester(s *requester, speed int) {
	l.removeRequester(s)
	s.clockSpeed, s.pacer = speed, pacer{}
	if speed > 1 {
		l.accelerated.requesters = append(l.accelerated.requesters, s)
	} else {
		l.queue.requesters = append(l.queue.requesters, s)
	}
}

// removeRequester removes a campaign from the queue in which it waits.
func (l *Lines) removeRequester(s *requester) {
	same := func(o *requester) bool { return o == s }
	l.queue.requesters, l.accelerated.requesters = slices.DeleteFunc(l.queue.requesters, same), slices.DeleteFunc(l.accelerated.requesters, same)
}

// applyRateLimit applies a new limit of calls per minute.
func (l *Lines) applyRateLimit(now time.Time, perMinute int) {
	l.pacer.applyLimit(now, perMinute)
	for _, s := range l.accelerated.requesters {
		s.pacer.applyLimit(now, perMinute*s.clockSpeed)
	}
}

// nextTurn returns the campaign that gets the next permit and counts the permit. If no campaign may start a call now, s is
// nil and look is the time of the next try. If accelerated and normal campaigns wait, they take turns.
func (l *Lines) nextTurn(now time.Time) (s *requester, look time.Time) {
	ours := false
	if slices.ContainsFunc(l.queue.requesters, func(s *requester) bool { return s.waiting > 0 }) {
		free := l.nextCampaignStartTime(now)
		if ours = !free.After(now); !ours {
			look = free.Add(burstTime / 5) // wakes up later, so that several calls may start at once
		}
	}
	at := -1
	for i, f := range l.accelerated.requesters {
		switch free := f.pacer.earliestStart(); {
		case f.waiting == 0:
		case l.cfg.PerMinute > 0 && free.After(now):
			look = earliest(look, free.Add(burstTime/5))
		case at < 0:
			at = i
		}
	}
	if ours && (at < 0 || l.accelerated.hadLastTurn) {
		l.accelerated.hadLastTurn = false
		return l.queue.nextRequester(), look
	}
	if at < 0 {
		return nil, look
	}
	l.accelerated.hadLastTurn = ours
	s = l.accelerated.requesters[at]
	l.accelerated.requesters = append(slices.Delete(l.accelerated.requesters, at, at+1), s)
	s.waiting--
	s.granted++
	s.retries = min(s.retries, s.waiting)
	return s, look
}

// grantToRequester grants a permit to a campaign and counts it in the campaign's rate limit.
func (l *Lines) grantToRequester(ctx actor.Context, now time.Time, s *requester) {
	quick := s.clockSpeed > 1
	if quick {
		s.pacer.useInterval(now, l.cfg.PerMinute*s.clockSpeed)
	} else {
		l.pacer.useInterval(now, l.cfg.PerMinute)
	}
	p := l.grantPermit(now, &permit{forCampaign: true, accelerated: quick})
	p.Generation = s.generation
	ctx.Send(s.pid, p)
}

// endLease removes a permit from the leased permits, which are not bound to a call yet.
func (l *Lines) endLease(p *permit) {
	if l.leased[p.id] == nil {
		return
	}
	delete(l.leased, p.id)
	if p.accelerated {
		l.acceleratedLeases--
	}
}
