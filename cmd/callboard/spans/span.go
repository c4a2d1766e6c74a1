// Package spans tells a collector of OpenTelemetry what a call and a delivery
// went through, by the time they took. Everything is told from the rows that
// were committed anyway, once they are final: nothing is measured for it while a
// call is under way.
package spans

import (
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/callboard/callboard/domain"
)

// The kinds of a span (OTLP, Span.SpanKind).
const (
	internal = 1
	server   = 2
	client   = 3
)

// span is a piece of work that is over.
type span struct {
	trace  [16]byte
	id     [8]byte
	parent [8]byte // zero: it is the first of its trace
	name   string
	kind   int
	from   time.Time
	to     time.Time
	fault  string // why it failed; "": it did not
	about  []about
}

// about is an attribute: a text, or where that is empty a number.
type about struct {
	name   string
	text   string
	number int64
}

func text(name, s string) about         { return about{name: name, text: s} }
func number(name string, n int64) about { return about{name: name, number: n} }

// traceOf is the trace of what has an id: the 16 bytes of its ULID, so that who
// knows a call finds its trace. ok is false for an id of another shape.
func traceOf(id string) (trace [16]byte, ok bool) {
	_, tail, _ := strings.Cut(id, "_")
	u, err := ulid.ParseStrict(tail)
	return u, err == nil
}

// spanOf names a span, always the same for the same words.
func spanOf(words ...string) (id [8]byte) {
	h := fnv.New64a()
	for _, w := range words {
		_, _ = h.Write([]byte(w))
		_, _ = h.Write([]byte{0})
	}
	h.Sum(id[:0])
	id[0] |= 1 // never all zero
	return id
}

// ofCall are the spans of a call that is over: itself, each of its legs, its
// ringing, its talk, and each turn of that. Numbers of telephones are in none.
func ofCall(c *domain.Call) []span {
	trace, ok := traceOf(c.ID)
	if !ok || c.EndedAt == nil {
		return nil
	}
	begun := c.CreatedAt
	if c.StartedAt != nil {
		begun = *c.StartedAt
	}
	kind := client
	if c.Direction == domain.Inbound {
		kind = server
	}
	root := span{
		trace: trace, id: spanOf(c.ID), name: "call " + string(c.Direction), kind: kind, from: begun, to: *c.EndedAt,
		about: known(
			text("callboard.call_id", c.ID), text("callboard.workspace_id", c.WorkspaceID), text("callboard.environment", string(c.Environment)),
			text("callboard.agent_id", c.AgentID), text("callboard.pathway_id", c.PathwayID), text("callboard.campaign_id", c.CampaignID),
			text("callboard.disposition", c.Disposition), text("callboard.ended_reason", string(c.EndedReason)), text("callboard.ended_by", c.EndedBy),
			text("callboard.answered_by", c.AnsweredBy), number("callboard.attempt", int64(c.Attempt)), number("callboard.seconds", int64(c.DurationSeconds)),
		),
	}
	if c.Status == domain.CallFailed {
		root.fault = string(c.EndedReason)
	}
	all := []span{root}
	child := func(name string, kind int, from, to time.Time, words string, facts ...about) *span {
		if to.Before(from) { // a clock was set
			to = from
		}
		all = append(all, span{trace: trace, id: spanOf(c.ID, name, words), parent: root.id, name: name, kind: kind, from: from, to: to, about: known(facts...)})
		return &all[len(all)-1]
	}
	for i := range c.Legs {
		leg(child, &c.Legs[i], i, *c.EndedAt)
	}
	if c.RingingAt != nil {
		until := *c.EndedAt
		if c.AnsweredAt != nil {
			until = *c.AnsweredAt
		}
		child("ringing", internal, *c.RingingAt, until, "")
	}
	if c.AnsweredAt == nil {
		return all
	}
	var heard []about
	if q := c.Quality; q != nil {
		heard = []about{text("callboard.codec", q.Codec), text("callboard.mos", strconv.FormatFloat(q.MOS, 'f', 2, 64))}
	}
	child("talk", internal, *c.AnsweredAt, *c.EndedAt, "", heard...)
	if c.Latency != nil {
		for i, t := range c.Latency.Turns {
			from := c.AnsweredAt.Add(time.Duration(t.AtMs) * time.Millisecond)
			child("turn", internal, from, from.Add(time.Duration(t.TotalMs)*time.Millisecond), strconv.Itoa(i),
				text("callboard.input", t.Input), number("callboard.end_of_turn_ms", t.EOUMs), number("callboard.stt_ms", t.STTMs),
				number("callboard.llm_first_token_ms", t.LLMFirstTokenMs), number("callboard.tts_first_audio_ms", t.TTSFirstAudioMs),
				text("callboard.speculative", t.Speculative))
		}
	}
	return all
}

type childOf func(name string, kind int, from, to time.Time, words string, facts ...about) *span

func leg(child childOf, l *domain.Leg, place int, ended time.Time) {
	if l.EndedAt != nil {
		ended = *l.EndedAt
	}
	s := child("leg", client, l.StartedAt, ended, strconv.Itoa(place),
		text("callboard.trunk_id", l.TrunkID), text("network.peer.address", l.Target), text("callboard.role", l.Role),
		number("sip.status_code", int64(l.Code)), number("callboard.q850", int64(l.Q850)), number("callboard.pdd_ms", l.PDDMs),
		text("callboard.codec", l.Codec), text("sip.call_id", l.SIPCallID))
	if l.Code >= 300 {
		s.fault = strings.TrimSpace(strconv.Itoa(l.Code) + " " + l.Reason)
	}
}

// ofDelivery is an attempt of a webhook. It stands in the trace of the call that
// its event is about, or in one of its own.
func ofDelivery(d *domain.Delivery) []span {
	trace, ok := traceOf(ofWhat(d))
	if !ok || d.LastAttemptAt == nil {
		return nil
	}
	var parent [8]byte
	if ofWhat(d) == d.Subject {
		parent = spanOf(d.Subject)
	}
	s := span{
		trace: trace, parent: parent, id: spanOf(d.WebhookID, d.EventID, strconv.Itoa(d.Attempts)), name: "webhook " + d.EventType, kind: client,
		from: *d.LastAttemptAt, to: d.LastAttemptAt.Add(time.Duration(d.ResponseTimeMs) * time.Millisecond),
		about: known(
			text("callboard.workspace_id", d.WorkspaceID), text("callboard.webhook_id", d.WebhookID), text("callboard.event_id", d.EventID),
			number("callboard.attempt", int64(d.Attempts)), number("http.response.status_code", int64(d.ResponseStatus)), text("callboard.state", string(d.State)),
		),
	}
	if d.State != domain.DeliveryDelivered {
		if s.fault = d.Error; s.fault == "" {
			s.fault = "it answered " + strconv.Itoa(d.ResponseStatus)
		}
	}
	return []span{s}
}

// ofWhat is whose trace a delivery stands in: the call's that its event is
// about, or the event's own.
func ofWhat(d *domain.Delivery) string {
	if strings.HasPrefix(d.Subject, string(domain.PrefixCall)+"_") {
		return d.Subject
	}
	return d.EventID
}

// known leaves out what nobody knows.
func known(all ...about) []about {
	kept := all[:0]
	for _, a := range all {
		if a.text != "" || a.number != 0 {
			kept = append(kept, a)
		}
	}
	return kept
}
