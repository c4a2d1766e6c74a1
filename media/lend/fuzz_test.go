package lend_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/lend"
)

// Whatever a borrower says, the lender lives, and is rid of its sessions once it is gone.
func FuzzBorrower(f *testing.F) {
	opening := lend.Frame(lend.KindOpen, 1, []byte("\x00\x00\x00\x01{}"))
	for kind := range byte(200) {
		f.Add(lend.Frame(kind, 1, []byte("\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x01\x00{}")))
	}
	f.Add(lend.Frame(lend.KindOpen, 2, []byte("\x00\x00\x00\x01{\"codecs\":\"////\",\"after\":{\"mark\":99,\"formats\":[{}]}}")))
	n := lends(f, engine(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		conn, err := n.dial(ctx)
		require.NoError(t, err)
		_, err = conn.Write(lend.Frame(lend.KindHello, 0, []byte(`{"protocol":1,"for":"sound","beat":50000000}`)))
		require.NoError(t, err)
		_, _ = conn.Write(opening)
		_, _ = conn.Write(b)
		_, err = io.ReadAtLeast(conn, make([]byte, 10), 10) // it is served
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		require.Eventually(t, func() bool { return n.lender.Live() == 0 }, time.Minute, time.Millisecond)
	})
}
