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

// WatchStore returns a store that passes all operations to s and updates the metrics after each commit.
func (m *Registry) WatchStore(s storecache.Backend) storecache.Backend { return watchedStore{s, m} }

type watchedStore struct {
	storecache.Backend
	registry *Registry
}

// Apply commits a change to the store and records the result, the duration and the contents in the metrics.
func (w watchedStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	begun := time.Now()
	events, err := w.Backend.Apply(ctx, c)
	w.registry.commits.WithLabelValues(commitResult(err)).Inc()
	if err == nil {
		w.registry.commitDuration.Observe(time.Since(begun).Seconds())
		w.registry.observeChange(&c)
	}
	return events, err
}

func commitResult(err error) string {
	switch {
	case err == nil:
		return "committed"
	case errors.Is(err, domain.ErrConflict):
		return "conflict"
	case errors.Is(err, domain.ErrFenced):
		return "fenced"
	}
	return "failed"
}

// observeChange updates the metrics of calls, call attempts, events and webhook deliveries from a committed change.
func (m *Registry) observeChange(c *commit.Change) {
	var ended map[string]bool
	for i := range c.Events {
		e := &c.Events[i]
		m.events.WithLabelValues(string(e.Type)).Inc()
		switch d := e.Data.(type) {
		case event.CallEndedData:
			m.callsEnded.WithLabelValues(string(d.Direction), d.Disposition).Inc()
			if d.EndedReason == domain.ReasonAgentUnavailable {
				m.callsAgentUnavailable.Inc()
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
				m.observeCall(r)
			}
		case *domain.Delivery:
			m.observeDelivery(r)
		}
	}
}

// observeCall updates the metrics of SIP legs, call duration, media quality and response latency from an ended call.
func (m *Registry) observeCall(c *domain.Call) {
	for i := range c.Legs {
		l := &c.Legs[i]
		m.legs.WithLabelValues(statusClass(l.Code)).Inc()
		if l.PDDMs > 0 {
			m.postDialDelay.Observe(float64(l.PDDMs) / 1000)
		}
	}
	if c.AnsweredAt == nil {
		return
	}
	m.callDuration.Observe(float64(c.DurationSeconds))
	if q := c.Quality; q != nil && q.PacketsReceived > 0 {
		m.mos.Observe(q.MOS)
		m.packetLoss.Observe(q.LossPercent)
	}
	if c.SlowestTurnMs > 0 {
		m.slowestTurn.Observe(float64(c.SlowestTurnMs) / 1000)
	}
	if c.Latency != nil {
		m.observeTurns(c.Latency.Turns)
	}
}

// observeTurns updates the latency metrics of the agent's responses. A response to a key press has no speech
// recognition stages, and only some responses use a language model.
func (m *Registry) observeTurns(turns []domain.TurnLatency) {
	for i := range turns {
		t := &turns[i]
		durations := [...]int64{t.EOUMs, t.STTMs, t.LLMFirstTokenMs, t.TTSFirstAudioMs, t.TotalMs}
		spoken := t.Input == domain.InputSpeech
		present := [...]bool{spoken, spoken, t.LLMFirstTokenMs > 0, true, true}
		for s, name := range stages {
			if present[s] {
				m.turnStages.WithLabelValues(name).Observe(float64(durations[s]) / 1000)
			}
		}
	}
}

// observeDelivery counts an attempt to deliver a webhook, and records the receiver's response time.
func (m *Registry) observeDelivery(d *domain.Delivery) {
	if d.Attempts == 0 {
		return
	}
	m.deliveries.WithLabelValues(string(d.State)).Inc()
	if d.ResponseStatus > 0 {
		m.webhookResponse.Observe(float64(d.ResponseTimeMs) / 1000)
	}
}
