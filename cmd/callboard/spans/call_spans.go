package spans

import (
	"context"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/engines/tracing"
)

// completedSpan is a span whose times are known.
type completedSpan struct {
	parent     trace.SpanContext // invalid: none
	own        trace.SpanContext // sampled
	name       string
	kind       trace.SpanKind
	start, end time.Time
	failure    string // description of the error status; "": no error
	attributes []attribute.KeyValue
}

type spanContextKey struct{}

// idGenerator gives a new span the trace and span ids that Recorder.add puts into its context.
type idGenerator struct{}

// NewIDs returns the trace and span ids for a span that has no parent.
func (idGenerator) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	own, _ := ctx.Value(spanContextKey{}).(trace.SpanContext)
	return own.TraceID(), own.SpanID()
}

// NewSpanID returns the span id for a span that has a parent.
func (g idGenerator) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	_, id := g.NewIDs(ctx)
	return id
}

// add creates the OpenTelemetry span that s describes and queues it for export.
func (r *Recorder) add(s *completedSpan) {
	ctx := trace.ContextWithSpanContext(context.WithValue(context.Background(), spanContextKey{}, s.own), s.parent)
	_, span := r.tracer.Start(ctx, s.name, trace.WithSpanKind(s.kind), trace.WithTimestamp(s.start))
	span.SetAttributes(withoutEmpty(s.attributes)...)
	if s.failure != "" {
		span.SetStatus(codes.Error, s.failure)
	}
	if s.end.Before(s.start) { // the clock was set back
		s.end = s.start
	}
	span.End(trace.WithTimestamp(s.end))
}

// recordCall adds the spans of an ended call: one each for the call, its SIP legs, the ringing, the conversation and
// its turns. No span contains a telephone number.
func (r *Recorder) recordCall(c *domain.Call) {
	t := callSpanBuilder{recorder: r, call: c, span: r.contexts.Call(c.ID, c.TraceParent)}
	if !t.span.IsSampled() || c.EndedAt == nil {
		return
	}
	root := rootSpan(c)
	root.own, root.parent = t.span, tracing.ParseTraceParent(c.TraceParent)
	r.add(&root)
	for i := range c.Legs {
		t.addLeg(&c.Legs[i], i)
	}
	if c.RingingAt != nil {
		end := *c.EndedAt
		if c.AnsweredAt != nil {
			end = *c.AnsweredAt
		}
		t.add("", completedSpan{name: "ringing", start: *c.RingingAt, end: end})
	}
	if c.AnsweredAt != nil {
		t.addConversation(*c.AnsweredAt)
	}
}

// rootSpan returns the span of a whole call.
func rootSpan(c *domain.Call) completedSpan {
	s := completedSpan{
		name: "call " + string(c.Direction), kind: trace.SpanKindClient,
		start: c.CreatedAt, end: *c.EndedAt,
		attributes: []attribute.KeyValue{
			attribute.String("callboard.call_id", c.ID), attribute.String("callboard.workspace_id", c.WorkspaceID),
			attribute.String("callboard.environment", string(c.Environment)), attribute.String("callboard.agent_id", c.AgentID),
			attribute.String("callboard.pathway_id", c.PathwayID), attribute.String("callboard.campaign_id", c.CampaignID),
			attribute.String("callboard.disposition", c.Disposition), attribute.String("callboard.ended_reason", string(c.EndedReason)),
			attribute.String("callboard.ended_by", c.EndedBy), attribute.String("callboard.answered_by", c.AnsweredBy),
			attribute.Int("callboard.attempt", c.Attempt), attribute.Int("callboard.seconds", c.DurationSeconds),
		},
	}
	if c.StartedAt != nil {
		s.start = *c.StartedAt
	}
	if c.Direction == domain.Inbound {
		s.kind = trace.SpanKindServer
	}
	if c.Status == domain.CallFailed {
		s.failure = string(c.EndedReason)
	}
	return s
}

// callSpanBuilder adds the child spans of a call's root span.
type callSpanBuilder struct {
	recorder *Recorder
	call     *domain.Call
	span     trace.SpanContext
}

// add adds a child span. Its id is derived from its name and ordinal, so children of the same name need different
// ordinals.
func (t *callSpanBuilder) add(ordinal string, s completedSpan) {
	s.parent, s.own = t.span, t.span.WithSpanID(domain.SpanID(t.call.ID, s.name, ordinal))
	t.recorder.add(&s)
}

// addLeg adds the span of a SIP leg of the call.
func (t *callSpanBuilder) addLeg(l *domain.Leg, index int) {
	s := completedSpan{
		name: "leg", kind: trace.SpanKindClient, start: l.StartedAt, end: *t.call.EndedAt,
		attributes: []attribute.KeyValue{
			attribute.String("callboard.trunk_id", l.TrunkID), attribute.String("network.peer.address", l.Target),
			attribute.String("callboard.role", l.Role), attribute.Int("sip.status_code", l.Code),
			attribute.Int("callboard.q850", l.Q850), attribute.Int64("callboard.pdd_ms", l.PDDMs),
			attribute.String("callboard.codec", l.Codec), attribute.String("sip.call_id", l.SIPCallID),
		},
	}
	if l.EndedAt != nil {
		s.end = *l.EndedAt
	}
	if l.Code >= 300 {
		s.failure = strings.TrimSpace(strconv.Itoa(l.Code) + " " + l.Reason)
	}
	t.add(strconv.Itoa(index), s)
}

// addConversation adds the span "talk", from the answer to the end of the call, and one span for each turn.
func (t *callSpanBuilder) addConversation(answered time.Time) {
	talk := completedSpan{name: "talk", start: answered, end: *t.call.EndedAt}
	if q := t.call.Quality; q != nil {
		talk.attributes = []attribute.KeyValue{
			attribute.String("callboard.codec", q.Codec), attribute.String("callboard.mos", strconv.FormatFloat(q.MOS, 'f', 2, 64)),
		}
	}
	t.add("", talk)
	if t.call.Latency == nil {
		return
	}
	for i, turn := range t.call.Latency.Turns {
		start := answered.Add(time.Duration(turn.AtMs) * time.Millisecond)
		t.add(strconv.Itoa(i), completedSpan{
			name: "turn", start: start, end: start.Add(time.Duration(turn.TotalMs) * time.Millisecond),
			attributes: []attribute.KeyValue{
				attribute.String("callboard.input", turn.Input), attribute.Int64("callboard.end_of_turn_ms", turn.EOUMs),
				attribute.Int64("callboard.stt_ms", turn.STTMs), attribute.Int64("callboard.llm_first_token_ms", turn.LLMFirstTokenMs),
				attribute.Int64("callboard.tts_first_audio_ms", turn.TTSFirstAudioMs), attribute.String("callboard.speculative", turn.Speculative),
			},
		})
	}
}

// withoutEmpty removes attributes with a zero value.
func withoutEmpty(all []attribute.KeyValue) []attribute.KeyValue {
	stored := all[:0]
	for _, a := range all {
		if a.Value.AsString() != "" || a.Value.AsInt64() != 0 {
			stored = append(stored, a)
		}
	}
	return stored
}
