package logging

import (
	"context"
	"errors"
	"log/slog"

	"github.com/callboard/callboard/domain"
)

// diskFullHandler lowers the level of errors about a full disk to debug. The store already logs when the disk becomes
// full and when space is available again.
type diskFullHandler struct{ slog.Handler }

// Handle logs the record, at level debug if an attribute is an error about a full disk.
func (h diskFullHandler) Handle(ctx context.Context, r slog.Record) error {
	isFull := false
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		isFull = ok && errors.Is(err, domain.ErrStoreFull)
		return !isFull
	})
	if isFull {
		r.Level = slog.LevelDebug
		if !h.Enabled(ctx, r.Level) {
			return nil
		}
	}
	return h.Handler.Handle(ctx, r) //nolint:wrapcheck // error of the next handler
}

// WithAttrs implements slog.Handler.
func (h diskFullHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return diskFullHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h diskFullHandler) WithGroup(name string) slog.Handler {
	return diskFullHandler{h.Handler.WithGroup(name)}
}
