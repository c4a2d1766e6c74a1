package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/cmd/callboard/systemd"
)

func TestWatchdogIsNotifiedOnlyWhileActorsRespond(t *testing.T) {
	at := filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: at, Net: "unixgram"})
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	next := func() string {
		var b [256]byte
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
		n, err := conn.Read(b[:])
		require.NoError(t, err)
		return string(b[:n])
	}
	t.Setenv("NOTIFY_SOCKET", at)
	t.Setenv("WATCHDOG_USEC", "20000")
	p := &Process{Log: slog.New(slog.DiscardHandler)}
	p.ServiceManager, err = systemd.New()
	require.NoError(t, err)
	requests, answers := make(chan struct{}), make(chan error)
	defer p.startWatchdog(func(ctx context.Context) error {
		select {
		case requests <- struct{}{}:
			return <-answers
		case <-ctx.Done():
			return ctx.Err()
		}
	})()
	answer := func(err error) { <-requests; answers <- err }
	assert.Equal(t, "READY=1\nSTATUS=", next())
	answer(nil)
	assert.Equal(t, "WATCHDOG=1", next())
	answer(errors.New("silent"))
	answer(errors.New("silent"))
	<-requests
	p.ServiceManager.Stopping() // must be the first further notification
	assert.Equal(t, "STOPPING=1", next())
	answers <- nil
	assert.Equal(t, "WATCHDOG=1", next())
}
