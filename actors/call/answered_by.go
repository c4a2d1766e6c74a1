package call

import (
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
)

// onAnswererDetected stores whether a person or a machine has answered the call, and commits the event about it.
func (c *call) onAnswererDetected(ctx actor.Context, m conversation.AnswererDetected) {
	if c.stage >= flushing || c.call.AnsweredBy == m.By {
		return
	}
	c.log.Info("call answered by", slog.String("answered_by", m.By))
	c.call.AnsweredBy = m.By
	c.commit(ctx, event.CallAnsweredBy, event.NewCallData(&c.call), nil)
}

// classifyMachine sets the outcome to voicemail if the pathway completed and a machine answered. It leaves all other
// outcomes unchanged.
func (r *result) classifyMachine(answeredBy string) {
	o := r.verdict.Outcome
	if (o == domain.OutcomeCompleted || o == domain.OutcomeVoicemail) && domain.AnsweredByMachine(answeredBy) {
		r.verdict.Outcome, r.verdict.RetryOn = domain.OutcomeVoicemail, string(domain.OutcomeVoicemail)
	}
}
