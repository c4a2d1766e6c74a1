package call

import (
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
)

// answererIs notes who has answered, as far as the conversation knows.
func (c *call) answererIs(ctx actor.Context, m conversation.Answerer) {
	if c.stage >= flushing || c.call.AnsweredBy == m.By {
		return
	}
	c.log.Info("call answered by", slog.String("answered_by", m.By))
	c.call.AnsweredBy = m.By
	c.commit(ctx, "", nil, nil)
}

// toMachine: a call that nobody but a machine has heard has reached voicemail,
// unless the pathway came to more.
func (c *call) toMachine() {
	o := c.verdict.Outcome
	if (o == domain.OutcomeCompleted || o == domain.OutcomeVoicemail) && domain.AnsweredByMachine(c.call.AnsweredBy) {
		c.verdict.Outcome, c.verdict.RetryOn = domain.OutcomeVoicemail, string(domain.OutcomeVoicemail)
	}
}
