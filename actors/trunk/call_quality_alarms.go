package trunk

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/routing"
)

const (
	alarmLimit  = 10 * time.Second
	alarmRepeat = 15 * time.Minute // an alarm that is raised again within this time is not sent
)

// Alarm reports that a trunk performs worse than its settings allow, or that it has recovered.
type Alarm struct {
	Trunk     domain.Trunk // without its credentials
	Measure   string       // asr, acd, short_call_share, or a reason of refusal
	Value     float64
	Bound     float64
	Calls     int
	Message   string
	Recovered bool
}

// trunkAlarms raises an alarm when a quality measure of a trunk exceeds its bound, and clears it afterwards.
type trunkAlarms struct {
	send   func(ctx context.Context, a Alarm) // nil: alarms are not sent
	sentAt map[string]time.Time               // by trunk and measure
}

// check raises the alarms of a trunk whose bounds are exceeded and clears alarms whose bounds hold again.
func (l *trunkAlarms) check(ctx actor.Context, b *trunkState, now time.Time) {
	a := b.trunk.Alarms
	if a.MinASR <= 0 && a.MinACDSeconds <= 0 && a.MaxShortCallShare <= 0 && len(b.raisedAlarms) == 0 {
		return
	}
	breaches := routing.FindBreaches(b.statistics.Totals(now), a)
	on := make(map[string]bool, len(breaches))
	for _, x := range breaches {
		on[string(x.Measure)] = true
		l.raise(ctx, b, Alarm{
			Measure: string(x.Measure), Value: roundToThousandths(x.Value), Bound: x.Bound, Calls: x.Calls,
			Message: fmt.Sprintf("%s of trunk %s is %.3g over its last %d calls; its bound is %.3g", x.Measure, b.trunk.Name, x.Value, x.Calls, x.Bound),
		}, now)
	}
	for _, m := range []routing.Measure{routing.ASR, routing.ACD, routing.ShortCalls} {
		if _, was := b.raisedAlarms[string(m)]; was && !on[string(m)] {
			l.lower(ctx, b, string(m))
		}
	}
}

func roundToThousandths(v float64) float64 { return math.Round(v*1000) / 1000 }

func (l *trunkAlarms) raise(ctx actor.Context, b *trunkState, a Alarm, now time.Time) {
	if _, on := b.raisedAlarms[a.Measure]; on {
		return
	}
	b.raisedAlarms[a.Measure] = now
	if last, sent := l.sentAt[b.trunk.ID+a.Measure]; sent && now.Sub(last) < alarmRepeat {
		return
	}
	l.sentAt[b.trunk.ID+a.Measure] = now
	l.publish(ctx, b, a)
}

func (l *trunkAlarms) lower(ctx actor.Context, b *trunkState, measure string) {
	if _, on := b.raisedAlarms[measure]; !on {
		return
	}
	delete(b.raisedAlarms, measure)
	l.publish(ctx, b, Alarm{Measure: measure, Recovered: true, Message: fmt.Sprintf("trunk %s has recovered: %s", b.trunk.Name, measure)})
}

// publish sends an alarm in a background goroutine, so that the actor does not wait.
func (l *trunkAlarms) publish(ctx actor.Context, b *trunkState, a Alarm) {
	if l.send == nil {
		return
	}
	a.Trunk = *b.trunk.Public()
	send := l.send
	mailbox.RunTask(ctx, alarmLimit, func(bound context.Context) any {
		send(bound, a)
		return nil
	})
}
