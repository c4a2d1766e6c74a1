package redis

import (
	"context"

	"github.com/callboard/callboard/persistence/lease"
)

// Unheard is New without notices.
func Unheard(url string, o Options) (*lease.Beat, error) {
	w, err := dial(url, &o)
	if err != nil {
		return nil, err
	}
	return lease.NewBeat(unheard{w}, o.Options), nil
}

type unheard struct{ *wire }

func (unheard) Notices(ctx context.Context, _ func()) error {
	<-ctx.Done()
	return ctx.Err()
}
