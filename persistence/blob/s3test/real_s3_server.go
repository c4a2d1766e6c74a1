package s3test

import (
	"bytes"
	"context"
	"go/build"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Credentials and region of the S3 server that Gateway starts.
const (
	GatewayID     = "tester"
	GatewaySecret = "hush-hush"
	GatewayRegion = "us-east-1"
)

// Gateway starts versitygw, an S3 server that checks requests strictly, with one empty bucket. It stops when the
// test ends.
func Gateway(t testing.TB, bucket string) (url string) {
	t.Helper()
	program := filepath.Join(build.Default.GOPATH, "bin", "versitygw")
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "root", bucket), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "side"), 0o700))
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	at := ln.Addr().String()
	require.NoError(t, ln.Close())
	cmd := exec.CommandContext(context.Background(), program, "--port", at, "--access", GatewayID, "--secret", GatewaySecret, "--region", GatewayRegion, //nolint:gosec,forbidigo // ours, started by tests
		"posix", "--sidecar", filepath.Join(dir, "side"), filepath.Join(dir, "root"))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Start(), "versitygw must be installed: make tools")
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	require.Eventually(t, func() bool {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", at)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, 20*time.Second, 10*time.Millisecond, "the store does not answer")
	return "http://" + at
}
