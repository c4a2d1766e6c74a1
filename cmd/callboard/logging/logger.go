// Package logging writes the log of the process. It masks secrets in every line. Above level debug it also masks
// telephone numbers.
package logging

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/callboard/callboard/configs"
)

// New returns a logger that writes to standard error in the configured format and level. It also becomes slog's
// default logger, so that messages of libraries are masked too.
func New(cfg *configs.Config) *slog.Logger {
	log, _ := NewWithLevel(cfg)
	return log
}

// NewWithLevel returns the same logger as New, and its level, which the caller may change at run time.
func NewWithLevel(cfg *configs.Config) (*slog.Logger, *slog.LevelVar) {
	level := new(slog.LevelVar)
	level.Set(cfg.Log.Level)
	log := NewTo(os.Stderr, level, cfg.Log.Format == configs.LogJSON)
	slog.SetDefault(log)
	return log, level
}

// NewTo returns a logger that writes lines of at least the given level to w, as text or as JSON, with secrets masked.
func NewTo(w io.Writer, level slog.Leveler, asJSON bool) *slog.Logger {
	hideAll, hideSecrets := newRedactor(true), newRedactor(false)
	hide := func(text string) string {
		if level.Level() > slog.LevelDebug {
			return hideAll(text)
		}
		return hideSecrets(text) // at level debug the numbers help to find a fault
	}
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { return redactAttr(a, asJSON, hide) }}
	if asJSON {
		return slog.New(traceHandler{diskFullHandler{slog.NewJSONHandler(w, o)}})
	}
	return slog.New(traceHandler{diskFullHandler{slog.NewTextHandler(w, o)}})
}

// RedisLogger logs messages of the Redis client at level debug. The store itself logs when Redis is unavailable and
// when it is back.
type RedisLogger struct{}

// Printf logs a message of the Redis client.
func (RedisLogger) Printf(ctx context.Context, format string, args ...any) {
	slog.Default().DebugContext(ctx, "message of the Redis client", slog.String("message", fmt.Sprintf(format, args...)))
}
