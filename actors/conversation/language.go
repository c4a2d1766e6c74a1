package conversation

import (
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain/pathway"
)

// changeLanguage changes the language of voice and recognizer.
func (c *Conversation) changeLanguage(ctx actor.Context, language string) {
	if c.base == nil {
		first := c.cfg.Script
		c.base = &first
	}
	c.cfg.Script = c.base.In(language)
	clear(c.prompts.prepared)
	if c.cfg.Recognizer == nil || !pathway.Listens(&c.cfg.Script.Pathway) || c.understandsLanguage() {
		return
	}
	c.cfg.Log.Warn("nobody here understands the language: words are not heard, keys are", slog.String("language", language))
	ctx.Send(ctx.Parent(), Fault{Stage: "stt", Code: "language_not_heard", Message: "nobody here understands " + language + ": words are not heard in it, keys are", Recovered: true})
}

// understandsLanguage says whether words are recognized in the language that is spoken now.
func (c *Conversation) understandsLanguage() bool {
	return c.cfg.Recognizer.SupportsLanguage(c.cfg.Script.Hearing())
}
