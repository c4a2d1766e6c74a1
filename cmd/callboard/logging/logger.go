// Package logging writes the log of the process. It masks secrets, and telephone
// numbers above level debug, in every line.
package logging

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/callboard/callboard/configs"
)

// New writes lines to the standard error, as the settings say, and takes what
// libraries write of their own accord. What must not stand in a log is hidden in
// every line, whoever wrote it and whatever text of a far end it repeats.
func New(cfg *configs.Config) *slog.Logger {
	log, _ := NewWithLevel(cfg)
	return log
}

// NewWithLevel is New, and the level of its lines, which may be changed.
func NewWithLevel(cfg *configs.Config) (*slog.Logger, *slog.LevelVar) {
	level := new(slog.LevelVar)
	level.Set(cfg.Log.Level)
	log := NewTo(os.Stderr, level, cfg.Log.Format == configs.LogJSON)
	slog.SetDefault(log)
	return log, level
}

// NewTo writes lines from a level on, as text or as JSON.
func NewTo(w io.Writer, level slog.Leveler, asJSON bool) *slog.Logger {
	hideAll, hideSecrets := newRedactor(true), newRedactor(false)
	hide := func(text string) string {
		if level.Level() > slog.LevelDebug {
			return hideAll(text)
		}
		return hideSecrets(text) // whoever looks for a fault wants to see numbers
	}
	o := &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr { return redactAttr(a, asJSON, hide) }}
	if asJSON {
		return slog.New(traceHandler{diskFullHandler{slog.NewJSONHandler(w, o)}})
	}
	return slog.New(traceHandler{diskFullHandler{slog.NewTextHandler(w, o)}})
}

// RedisLogger takes what the client of Redis has to say, for each connection
// that fails; the driver tells that Redis is away or back.
type RedisLogger struct{}

// Printf logs a message of the Redis client.
func (RedisLogger) Printf(ctx context.Context, format string, args ...any) {
	slog.Default().DebugContext(ctx, "the client of Redis", slog.String("says", fmt.Sprintf(format, args...)))
}
