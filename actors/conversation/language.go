package conversation

import (
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain/pathway"
)

// speaks goes over to another language: voice and recogniser follow.
func (c *Conversation) speaks(ctx actor.Context, language string) {
	if c.home == nil {
		first := c.cfg.Script
		c.home = &first
	}
	c.cfg.Script = c.home.In(language)
	clear(c.prepared)
	if c.cfg.Ears == nil || !pathway.Listens(&c.cfg.Script.Pathway) || c.hearsLanguage() {
		return
	}
	c.cfg.Log.Warn("nobody here understands the language: words are not heard, keys are", slog.String("language", language))
	ctx.Send(ctx.Parent(), Fault{Stage: "stt", Code: "language_not_heard", Message: "nobody here understands " + language + ": words are not heard in it, keys are", Recovered: true})
}

// hearsLanguage says whether words are understood in the language that is spoken now.
func (c *Conversation) hearsLanguage() bool { return c.cfg.Ears.Hears(c.cfg.Script.Hearing()) }
