package mailbox

import (
	"context"
	"log/slog"
)

// quiet lets only warnings of the library through: supervision is logged by
// our strategies, dead letters are expected after a stop.
type quiet struct{ slog.Handler }

// Enabled is slog's.
func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && q.Handler.Enabled(ctx, l)
}

// WithAttrs is slog's.
func (q quiet) WithAttrs(a []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(a)} }

// WithGroup is slog's.
func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.Handler.WithGroup(name)} }
