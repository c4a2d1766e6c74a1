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

const question = "POST /3/x HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n"

// parted is a connection of a node to a seat of shard 3, and the seat's end of it.
func parted(t *testing.T) (node net.Conn, answers *bufio.Reader, seat net.Conn, ln *forward.ShardListener) {
	t.Helper()
	m := newMachine(t, &board{has: map[int]string{}}, patience)
	ln = m.doors.Listen(3)
	came := make(chan net.Conn, 1)
	go func() {
		if c, err := ln.Accept(); err == nil {
			came <- c
		}
	}()
	cfg := forward.ConfigOf(credential(t, 1))
	cfg.ServerName = "s3.callboard.invalid"
	node, err := tls.Dial("tcp", m.at, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = node.Close() })
	seat = <-came
	idles(seat, true)
	return node, bufio.NewReader(node), seat, ln
}

// use lets a request and its answer pass.
func use(t *testing.T, node net.Conn, answers *bufio.Reader, seat net.Conn) {
	t.Helper()
	_, err := io.WriteString(node, question)
	require.NoError(t, err)
	_, err = seat.Read(make([]byte, 4096))
	require.NoError(t, err)
	idles(seat, false)
	_, err = io.WriteString(seat, "HTTP/1.1 204 No Content\r\n\r\n")
	require.NoError(t, err)
	idles(seat, true)
	resp, err := http.ReadResponse(answers, nil)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
}

func heardGoodbye(t *testing.T, answers *bufio.Reader) {
	t.Helper()
	resp, err := http.ReadResponse(answers, nil)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	assert.Equal(t, http.StatusRequestTimeout, resp.StatusCode)
	assert.Equal(t, "1", resp.Header.Get(forward.NotActive), "it says that nothing was done")
	assert.True(t, resp.Close)
}

// A request that crosses the end of a connection that lay idle is known not to
// have been read: it is sent to whoever has the shard next.
func TestRequestDuringCloseOfItsConnectionIsNotRead(t *testing.T) {
	t.Parallel()
	node, answers, seat, ln := parted(t)
	use(t, node, answers, seat)
	require.NoError(t, ln.Close())
	read := make(chan error, 1)
	go func() { // as a server waits for the next request
		_, err := seat.Read(make([]byte, 4096))
		read <- err
	}()
	require.NoError(t, seat.Close())
	_, _ = io.WriteString(node, question)
	heardGoodbye(t, answers)
	ln.CloseConns()
	require.NoError(t, node.Close())
	require.Error(t, <-read, "what has come is not read")
}

// A connection by which nothing has come yet hears it when its seat takes no more:
// servers wait for the first request however long.
func TestUnusedConnectionGetsCloseNoticeAtOnce(t *testing.T) {
	t.Parallel()
	_, answers, _, ln := parted(t)
	require.NoError(t, ln.Close())
	heardGoodbye(t, answers)
}

// What ends in the middle of an answer, or is no HTTP any more, is cut without a
// word: it would be taken for a part of that.
func TestInterruptedResponseGetsNoCloseNotice(t *testing.T) {
	t.Parallel()
	node, answers, seat, ln := parted(t)
	_, err := io.WriteString(node, question)
	require.NoError(t, err)
	_, err = seat.Read(make([]byte, 4096))
	require.NoError(t, err)
	idles(seat, false)
	_, err = io.WriteString(seat, "HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\nhalf")
	require.NoError(t, err)
	require.NoError(t, ln.Close())
	require.NoError(t, seat.Close())
	resp, err := http.ReadResponse(answers, nil)
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.Error(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, "half", string(text))
}

// idles is what a server tells of a connection.
func idles(seat net.Conn, on bool) { seat.(forward.IdleTracker).SetIdle(on) }

// A connection that is closed as idle when a request has just come lives until
// that is answered.
func TestRequestJustBeforeCloseIsAnswered(t *testing.T) {
	t.Parallel()
	node, answers, seat, ln := parted(t)
	use(t, node, answers, seat)
	require.NoError(t, ln.Close())
	_, err := io.WriteString(node, question)
	require.NoError(t, err)
	_, err = seat.Read(make([]byte, 4096))
	require.NoError(t, err)
	require.NoError(t, seat.Close()) // by who thinks that it is idle
	idles(seat, false)
	_, err = io.WriteString(seat, "HTTP/1.1 204 No Content\r\n\r\n")
	require.NoError(t, err)
	idles(seat, true)
	require.NoError(t, seat.Close()) // by who has answered
	resp, err := http.ReadResponse(answers, nil)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusNoContent, resp.StatusCode)
	heardGoodbye(t, answers)
}

// A node that ends tells who has just come, and has asked already, that nobody
// reads it; it does not end before.
func TestConnectionDuringCloseGetsCloseNotice(t *testing.T) {
	t.Parallel()
	m := newMachine(t, &board{has: map[int]string{}}, patience)
	raw, err := new(net.Dialer).DialContext(t.Context(), "tcp", m.at)
	require.NoError(t, err)
	t.Cleanup(func() { _ = raw.Close() })
	require.Eventually(t, func() bool { return m.doors.Closing() == 1 }, patience, time.Millisecond, "it has come in")
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		m.doors.Close()
	}()
	require.Eventually(t, func() bool { // the doors are shut
		c, err := net.Dial("tcp", m.at)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	}, patience, time.Millisecond)
	cfg := forward.ConfigOf(credential(t, 1))
	cfg.ServerName = "s3.callboard.invalid"
	node := tls.Client(raw, cfg)
	_, err = io.WriteString(node, question)
	require.NoError(t, err)
	heardGoodbye(t, bufio.NewReader(node))
	require.NoError(t, node.Close())
	<-closed
}

// lateListener gives a connection once it is closed: one that the system had
// accepted just before.
type lateListener struct {
	net.Listener

	late  net.Conn
	begun chan struct{} // closed: somebody accepts
	gives chan struct{} // closed: it gives it
	given atomic.Bool
}

func (l *lateListener) Accept() (net.Conn, error) {
	if !l.given.CompareAndSwap(false, true) {
		return nil, net.ErrClosed
	}
	close(l.begun)
	<-l.gives
	return l.late, nil
}

func (*lateListener) Close() error { return nil }

// Who was accepted as the doors closed is told that nobody reads what he sends,
// before the process may end.
func TestConnectionAcceptedDuringCloseGetsCloseNotice(t *testing.T) {
	t.Parallel()
	doors := forward.NewConnRouter(credential(t, 1), nil)
	accepts, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	near, err := net.Dial("tcp", accepts.Addr().String())
	require.NoError(t, err)
	far, err := accepts.Accept()
	require.NoError(t, errors.Join(err, accepts.Close()))
	ln := &lateListener{late: far, begun: make(chan struct{}), gives: make(chan struct{})}
	go func() { _ = doors.Serve(ln) }()
	<-ln.begun
	cfg := forward.ConfigOf(credential(t, 1))
	cfg.ServerName = "s3.callboard.invalid"
	said := make(chan string, 1)
	go func() {
		node := tls.Client(near, cfg)
		_, _ = io.WriteString(node, question)
		resp, err := http.ReadResponse(bufio.NewReader(node), nil)
		if err != nil {
			said <- err.Error()
			return
		}
		_ = resp.Body.Close()
		said <- resp.Header.Get(forward.NotActive)
		_ = node.Close()
	}()
	closed := make(chan struct{})
	go func() {
		doors.Close()
		close(closed)
	}()
	select {
	case <-closed:
		require.Fail(t, "somebody may be accepted yet")
	case <-time.After(100 * time.Millisecond):
	}
	close(ln.gives)
	<-closed
	select {
	case mark := <-said:
		assert.Equal(t, "1", mark)
	default:
		require.Fail(t, "who was accepted has not heard it yet")
	}
	_, _ = near.Close(), far.Close()
}
