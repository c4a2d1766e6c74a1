package redis

import (
	"context"

	"github.com/callboard/callboard/persistence/lease"
)

// Unheard is New without notices.
func Unheard(url string, o Options) (*lease.Heartbeat, error) {
	w, err := connect(url, &o)
	if err != nil {
		return nil, err
	}
	return lease.NewHeartbeat(unheard{w}, o.Options), nil
}

type unheard struct{ *store }

func (unheard) Notices(ctx context.Context, _ func()) error {
	<-ctx.Done()
	return ctx.Err()
}
