package forward_test

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/httpapi/forward"
)

const rawRequest = "POST /3/x HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"

// newShardConnection connects a node to the listener of shard 3. It returns both ends of the connection.
func newShardConnection(t *testing.T) (node net.Conn, responses *bufio.Reader, accepted net.Conn, ln *forward.ShardListener) {
	t.Helper()
	m := newTestNode(t, &ownerMap{owners: map[int]string{}}, testTimeout)
	ln = m.router.Listen(3)
	arrived := make(chan net.Conn, 1)
	go func() {
		if c, err := ln.Accept(); err == nil {
			arrived <- c
		}
	}()
	cfg := forward.ConfigOf(credential(t, 1))
	cfg.ServerName = "s3.callboard.invalid"
	node, err := tls.Dial("tcp", m.addr, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = node.Close() })
	accepted = <-arrived
	setIdle(accepted, true)
	return node, bufio.NewReader(node), accepted, ln
}

// exchange sends a request over the connection and a response back.
func exchange(t *testing.T, node net.Conn, responses *bufio.Reader, accepted net.Conn) {
	t.Helper()
	_, err := io.WriteString(node, rawRequest)
	require.NoError(t, err)
	_, err = accepted.Read(make([]byte, 4096))
	require.NoError(t, err)
	setIdle(accepted, false)
	_, err = io.WriteString(accepted, "HTTP/1.1 204 No Content\r\n\r\n")
	require.NoError(t, err)
	setIdle(accepted, true)
	resp, err := http.ReadResponse(responses, nil)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
}

func requireCloseNotice(t *testing.T, answers *bufio.Reader) {
	t.Helper()
	resp, err := http.ReadResponse(answers, nil)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	assert.Equal(t, http.StatusRequestTimeout, resp.StatusCode)
	assert.Equal(t, "1", resp.Header.Get(forward.NotActive), "the header says that the request was not processed")
	assert.True(t, resp.Close)
}

// A request that is sent while the node closes its idle connection is never read. The client gets a close notice, so
// it can safely send the request to the next owner of the shard.
func TestRequestDuringConnectionCloseIsNotRead(t *testing.T) {
	t.Parallel()
	node, responses, accepted, ln := newShardConnection(t)
	exchange(t, node, responses, accepted)
	require.NoError(t, ln.Close())
	read := make(chan error, 1)
	go func() { // a server that waits for the next request
		_, err := accepted.Read(make([]byte, 4096))
		read <- err
	}()
	require.NoError(t, accepted.Close())
	_, _ = io.WriteString(node, rawRequest)
	requireCloseNotice(t, responses)
	ln.CloseConns()
	require.NoError(t, node.Close())
	require.Error(t, <-read, "the server does not read the request")
}

// A connection without data gets a close notice as soon as its listener closes. A server does not close such a
// connection, because it waits for the first request without a time limit.
func TestUnusedConnectionGetsCloseNoticeAtOnce(t *testing.T) {
	t.Parallel()
	_, responses, _, ln := newShardConnection(t)
	require.NoError(t, ln.Close())
	requireCloseNotice(t, responses)
}

// A connection is closed without a close notice in the middle of a response and after an upgrade. The peer would
// take the notice for a part of the response.
func TestInterruptedResponseGetsNoCloseNotice(t *testing.T) {
	t.Parallel()
	node, responses, accepted, ln := newShardConnection(t)
	_, err := io.WriteString(node, rawRequest)
	require.NoError(t, err)
	_, err = accepted.Read(make([]byte, 4096))
	require.NoError(t, err)
	setIdle(accepted, false)
	_, err = io.WriteString(accepted, "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\nhalf")
	require.NoError(t, err)
	require.NoError(t, ln.Close())
	require.NoError(t, accepted.Close())
	resp, err := http.ReadResponse(responses, nil)
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.Error(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, "half", string(text))
}

// setIdle reports to the connection whether its server waits for a request.
func setIdle(conn net.Conn, on bool) { conn.(forward.IdleTracker).SetIdle(on) }

// If the server closes an idle connection just as a request arrives, the connection stays open until the response is
// sent.
func TestRequestJustBeforeCloseIsAnswered(t *testing.T) {
	t.Parallel()
	node, responses, accepted, ln := newShardConnection(t)
	exchange(t, node, responses, accepted)
	require.NoError(t, ln.Close())
	_, err := io.WriteString(node, rawRequest)
	require.NoError(t, err)
	_, err = accepted.Read(make([]byte, 4096))
	require.NoError(t, err)
	require.NoError(t, accepted.Close()) // the server closes the connection, because it takes it for idle
	setIdle(accepted, false)
	_, err = io.WriteString(accepted, "HTTP/1.1 204 No Content\r\n\r\n")
	require.NoError(t, err)
	setIdle(accepted, true)
	require.NoError(t, accepted.Close()) // the server closes the connection after the response
	resp, err := http.ReadResponse(responses, nil)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusNoContent, resp.StatusCode)
	requireCloseNotice(t, responses)
}

// A peer that connects and sends a request during Close gets a close notice. Close returns only after the notice is
// sent.
func TestConnectionDuringCloseGetsCloseNotice(t *testing.T) {
	t.Parallel()
	m := newTestNode(t, &ownerMap{owners: map[int]string{}}, testTimeout)
	raw, err := new(net.Dialer).DialContext(t.Context(), "tcp", m.addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = raw.Close() })
	require.Eventually(t, func() bool { return m.router.Closing() == 1 }, testTimeout, time.Millisecond, "the connection was accepted")
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		m.router.Close()
	}()
	require.Eventually(t, func() bool { // the router is closing
		c, err := net.Dial("tcp", m.addr)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	}, testTimeout, time.Millisecond)
	cfg := forward.ConfigOf(credential(t, 1))
	cfg.ServerName = "s3.callboard.invalid"
	node := tls.Client(raw, cfg)
	_, err = io.WriteString(node, rawRequest)
	require.NoError(t, err)
	requireCloseNotice(t, bufio.NewReader(node))
	require.NoError(t, node.Close())
	<-closed
}

// lateListener returns one connection from Accept after its Close, like a connection that the operating system had
// already accepted.
type lateListener struct {
	net.Listener

	late       net.Conn
	accepting  chan struct{} // closed when Accept is called
	release    chan struct{} // closed when Accept may return
	isAccepted atomic.Bool
}

func (l *lateListener) Accept() (net.Conn, error) {
	if !l.isAccepted.CompareAndSwap(false, true) {
		return nil, net.ErrClosed
	}
	close(l.accepting)
	<-l.release
	return l.late, nil
}

func (*lateListener) Close() error { return nil }

// A peer whose connection is accepted while the router closes gets a close notice before Close returns.
func TestConnectionAcceptedDuringCloseGetsCloseNotice(t *testing.T) {
	t.Parallel()
	router := forward.NewConnRouter(credential(t, 1), nil)
	accepts, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	client, err := net.Dial("tcp", accepts.Addr().String())
	require.NoError(t, err)
	server, err := accepts.Accept()
	require.NoError(t, errors.Join(err, accepts.Close()))
	ln := &lateListener{late: server, accepting: make(chan struct{}), release: make(chan struct{})}
	go func() { _ = router.Serve(ln) }()
	<-ln.accepting
	cfg := forward.ConfigOf(credential(t, 1))
	cfg.ServerName = "s3.callboard.invalid"
	notice := make(chan string, 1)
	go func() {
		node := tls.Client(client, cfg)
		_, _ = io.WriteString(node, rawRequest)
		resp, err := http.ReadResponse(bufio.NewReader(node), nil)
		if err != nil {
			notice <- err.Error()
			return
		}
		_ = resp.Body.Close()
		notice <- resp.Header.Get(forward.NotActive)
		_ = node.Close()
	}()
	closed := make(chan struct{})
	go func() {
		router.Close()
		close(closed)
	}()
	select {
	case <-closed:
		require.Fail(t, "Close returned while a connection may still be accepted")
	case <-time.After(100 * time.Millisecond):
	}
	close(ln.release)
	<-closed
	select {
	case mark := <-notice:
		assert.Equal(t, "1", mark)
	default:
		require.Fail(t, "Close returned before the accepted connection got its close notice")
	}
	_, _ = client.Close(), server.Close()
}
