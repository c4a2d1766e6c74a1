package conversation

import (
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain/pathway"
)

// changeLanguage changes the language in which the agent speaks and in which speech is recognized.
func (c *Conversation) changeLanguage(ctx actor.Context, language string) {
	if c.base == nil {
		first := c.cfg.Script
		c.base = &first
	}
	c.cfg.Script = c.base.InLanguage(language)
	clear(c.prompts.prepared)
	if c.cfg.Recognizer == nil || !pathway.UsesSpeech(&c.cfg.Script.Pathway) || c.understandsLanguage() {
		return
	}
	c.cfg.Log.Warn("no speech recognizer supports the language; only keys are recognized", slog.String("language", language))
	ctx.Send(ctx.Parent(), Fault{Stage: "stt", Code: "language_not_heard", Message: "no speech recognizer supports " + language + "; only keys are recognized", Recovered: true})
}

// understandsLanguage reports whether the recognizer supports the current language.
func (c *Conversation) understandsLanguage() bool {
	return c.cfg.Recognizer.SupportsLanguage(c.cfg.Script.RecognitionLanguage())
}
