package redis

import (
	"context"

	"github.com/callboard/callboard/persistence/lease"
)

// NewWithoutNotices returns an engine that does not subscribe to notices of changes.
func NewWithoutNotices(url string, o Options) (*lease.Heartbeat, error) {
	w, err := connect(url, &o)
	if err != nil {
		return nil, err
	}
	return lease.NewHeartbeat(storeWithoutNotices{w}, o.Options), nil
}

type storeWithoutNotices struct{ *store }

func (storeWithoutNotices) Notices(ctx context.Context, _ func()) error {
	<-ctx.Done()
	return ctx.Err()
}
