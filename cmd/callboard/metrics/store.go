package metrics

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// Store is a store whose commits are watched.
func (m *Meters) Store(s storecache.Backend) storecache.Backend { return watched{s, m} }

type watched struct {
	storecache.Backend
	m *Meters
}

// Apply is the store's.
func (w watched) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	begun := time.Now()
	events, err := w.Backend.Apply(ctx, c)
	w.m.commits.WithLabelValues(result(err)).Inc()
	if err == nil {
		w.m.commit.Observe(time.Since(begun).Seconds())
		w.m.watch(&c)
	}
	return events, err
}

func result(err error) string {
	switch {
	case err == nil:
		return "kept"
	case errors.Is(err, domain.ErrConflict):
		return "conflict"
	case errors.Is(err, domain.ErrFenced):
		return "fenced"
	}
	return "failed"
}

// watch looks at what was committed.
func (m *Meters) watch(c *commit.Change) {
	var ended map[string]bool
	for i := range c.Events {
		e := &c.Events[i]
		m.events.WithLabelValues(string(e.Type)).Inc()
		switch d := e.Data.(type) {
		case event.CallEndedData:
			m.calls.WithLabelValues(string(d.Direction), d.Disposition).Inc()
			if d.EndedReason == domain.ReasonAgent {
				m.mute.Inc()
			}
			if ended == nil {
				ended = make(map[string]bool)
			}
			ended[d.CallID] = true
		case event.CampaignCallData:
			m.attempts.WithLabelValues(string(d.Outcome)).Inc()
		}
	}
	for _, r := range c.Puts {
		switch r := r.(type) {
		case *domain.Call:
			if ended[r.ID] {
				m.ended(r)
			}
		case *domain.Delivery:
			m.delivered(r)
		}
	}
}

// ended notes a call that is over.
func (m *Meters) ended(c *domain.Call) {
	for i := range c.Legs {
		l := &c.Legs[i]
		m.legs.WithLabelValues(class(l.Code)).Inc()
		if l.PDDMs > 0 {
			m.delay.Observe(float64(l.PDDMs) / 1000)
		}
	}
	if c.AnsweredAt == nil {
		return
	}
	m.talked.Observe(float64(c.DurationSeconds))
	if q := c.Quality; q != nil && q.PacketsReceived > 0 {
		m.mos.Observe(q.MOS)
		m.loss.Observe(q.LossPercent)
	}
	if c.SlowestTurnMs > 0 {
		m.turn.Observe(float64(c.SlowestTurnMs) / 1000)
	}
	if c.Latency != nil {
		m.answers(c.Latency.Turns)
	}
}

// answers notes what their stages took. A key has no words to be understood,
// and a model has a part in some answers only.
func (m *Meters) answers(turns []domain.TurnLatency) {
	for i := range turns {
		t := &turns[i]
		took := [...]int64{t.EOUMs, t.STTMs, t.LLMFirstTokenMs, t.TTSFirstAudioMs, t.TotalMs}
		spoken := t.Input == domain.InputSpeech
		was := [...]bool{spoken, spoken, t.LLMFirstTokenMs > 0, true, true}
		for s, name := range stages {
			if was[s] {
				m.stages.WithLabelValues(name).Observe(float64(took[s]) / 1000)
			}
		}
	}
}

// delivered notes an attempt of a delivery.
func (m *Meters) delivered(d *domain.Delivery) {
	if d.Attempts == 0 {
		return
	}
	m.deliveries.WithLabelValues(string(d.State)).Inc()
	if d.ResponseStatus > 0 {
		m.answered.Observe(float64(d.ResponseTimeMs) / 1000)
	}
}
