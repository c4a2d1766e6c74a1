package systemd_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/cmd/callboard/systemd"
)

// listenAsManager opens a notification socket as systemd does. The returned function returns the next notification.
func listenAsManager(t *testing.T, name string) func() string {
	t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return func() string {
		var b [4096]byte
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
		size, err := conn.Read(b[:])
		require.NoError(t, err)
		return string(b[:size])
	}
}

func TestNotificationsReachTheServiceManager(t *testing.T) {
	for _, name := range []string{filepath.Join(t.TempDir(), "notify"), "@callboard-test-" + strconv.Itoa(os.Getpid())} {
		next := listenAsManager(t, name)
		t.Setenv("NOTIFY_SOCKET", name)
		t.Setenv("WATCHDOG_USEC", "3000000")
		t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
		n, err := systemd.New()
		require.NoError(t, err)
		assert.Empty(t, os.Getenv("NOTIFY_SOCKET"), "no child process sends in our name")
		assert.Equal(t, 1500*time.Millisecond, n.WatchdogInterval())
		reloads := 0
		n.Reload(func() { reloads++ }) // sends nothing before the start
		n.Waiting("Redis is away", 2*time.Second)
		assert.Equal(t, "STATUS=Redis is away\nEXTEND_TIMEOUT_USEC=2000000", next())
		n.Ready()
		assert.Equal(t, "READY=1\nSTATUS=", next())
		n.Watchdog()
		assert.Equal(t, "WATCHDOG=1", next())
		n.Reload(func() { reloads++ })
		assert.Regexp(t, `^RELOADING=1\nMONOTONIC_USEC=\d+$`, next())
		assert.Equal(t, "READY=1", next())
		n.Stopping()
		assert.Equal(t, "STOPPING=1", next())
		n.Reload(func() { reloads++ }) // sends nothing while stopping
		n.Watchdog()
		assert.Equal(t, "WATCHDOG=1", next())
		assert.Equal(t, 3, reloads)
	}
}

func TestWatchdogOfAnotherProcessIsIgnored(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	listenAsManager(t, name)
	t.Setenv("NOTIFY_SOCKET", name)
	t.Setenv("WATCHDOG_USEC", "3000000")
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()+1))
	n, err := systemd.New()
	require.NoError(t, err)
	assert.Zero(t, n.WatchdogInterval())
}

func TestNotifierWithoutAServiceManagerSendsNothing(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	n, err := systemd.New()
	require.NoError(t, err)
	n.Ready()
	n.Stopping()
	assert.Zero(t, n.WatchdogInterval())
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "nothing"))
	_, err = systemd.New()
	require.ErrorContains(t, err, "NOTIFY_SOCKET")
}
