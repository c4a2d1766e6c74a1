package mailbox

import (
	"context"
	"log/slog"
)

// warningHandler drops log records of protoactor below warning level. The supervision strategies of this package log
// failures themselves, and dead letters are normal after an actor has stopped.
type warningHandler struct{ slog.Handler }

// Enabled implements slog.Handler.
func (q warningHandler) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && q.Handler.Enabled(ctx, l)
}

// WithAttrs implements slog.Handler.
func (q warningHandler) WithAttrs(a []slog.Attr) slog.Handler {
	return warningHandler{q.Handler.WithAttrs(a)}
}

// WithGroup implements slog.Handler.
func (q warningHandler) WithGroup(name string) slog.Handler {
	return warningHandler{q.Handler.WithGroup(name)}
}
