package logging

import (
	"context"
	"errors"
	"log/slog"

	"github.com/callboard/callboard/domain"
)

// diskFullHandler writes what fails because the disk of the store is full at level
// debug only: the store itself logs when the disk becomes full and when there is room
// again.
type diskFullHandler struct{ slog.Handler }

// Handle writes a record.
func (h diskFullHandler) Handle(ctx context.Context, r slog.Record) error {
	full := false
	r.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		full = ok && errors.Is(err, domain.ErrStoreFull)
		return !full
	})
	if full {
		r.Level = slog.LevelDebug
		if !h.Enabled(ctx, r.Level) {
			return nil
		}
	}
	return h.Handler.Handle(ctx, r) //nolint:wrapcheck // it is the next handler's
}

// WithAttrs is a handler whose records have these attributes too.
func (h diskFullHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return diskFullHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup is a handler whose attributes stand in a group.
func (h diskFullHandler) WithGroup(name string) slog.Handler {
	return diskFullHandler{h.Handler.WithGroup(name)}
}
