package sip_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/textmessage"
)

func newTextMessage(name string) *textmessage.Message {
	return &textmessage.Message{
		Name: name, Target: resolve.Target{Host: "127.0.0.1", Port: 5070, Transport: "udp"}, To: "+15550001", From: "+15559999",
		ContentType: "text/plain;charset=utf-8", Body: []byte("Grüße"),
	}
}

// sendText sends a MESSAGE from a new goroutine and returns a channel with its result.
func (s *stage) sendText(t *textmessage.Message) <-chan outcome.Final {
	out := make(chan outcome.Final, 1)
	go func() {
		f, err := textmessage.NewClient(s.ua).Send(context.Background(), t)
		assert.NoError(s.t, err)
		out <- f
	}()
	return out
}

func TestMessageIsSentAndItsResponseReturned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, nil)
		defer s.stop()
		got := s.sendText(newTextMessage("msg_1 1"))
		m := s.peer.expect("MESSAGE sip:+15550001@127.0.0.1:5070 SIP/2.0")
		assert.Equal(t, "text/plain;charset=utf-8", m.get("Content-Type"))
		assert.True(t, strings.HasSuffix(m.text, "\r\n\r\nGrüße"), m.text)
		assert.Empty(t, m.get("Contact"), "a MESSAGE has no Contact (RFC 3428 §4)")
		again := s.peer.expect("MESSAGE")
		assert.Equal(t, m.text, again.text, "an unanswered MESSAGE is retransmitted")
		s.peer.send(m.reply(202, "p"), s.localAddr())
		f := <-got
		assert.Equal(t, 202, f.Code)
		s.peer.expectNothing(time.Minute)
	})
}

func TestMessageIsAuthenticatedRefusedAndTimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, nil)
		defer s.stop()
		order := newTextMessage("msg_1 1")
		order.Credentials = &auth.Credentials{Username: "me", Password: "it"}
		got := s.sendText(order)
		m := s.peer.expect("MESSAGE")
		s.peer.send(m.reply(407, "p", `Proxy-Authenticate: Digest realm="x", nonce="n", algorithm=MD5, qop="auth"`), s.localAddr())
		m = s.peer.expect("MESSAGE")
		assert.Contains(t, m.get("Proxy-Authorization"), `username="me"`)
		assert.Equal(t, "2 MESSAGE", m.get("CSeq"))
		s.peer.send(m.reply(503, "p", "Retry-After: 7"), s.localAddr())
		f := <-got
		assert.Equal(t, 503, f.Code)
		assert.Equal(t, 7*time.Second, f.RetryAfter)
		assert.True(t, f.Sent)

		got = s.sendText(newTextMessage("msg_2 1"))
		s.peer.expect("MESSAGE")
		began := time.Now()
		f = <-got
		assert.Equal(t, 32*time.Second, time.Since(began).Round(time.Second))
		assert.True(t, f.NoResponse)
		assert.Zero(t, f.Code)
	})
}

// After a crash the message is sent again with the same identifiers, so that the remote party treats it as a
// retransmission.
func TestMessageHasSameIdentifiersAfterRestart(t *testing.T) {
	t.Parallel()
	names := func() (out []string) {
		synctest.Test(t, func(t *testing.T) {
			s := newStage(t, nil)
			defer s.stop()
			got := s.sendText(newTextMessage("msg_1 1"))
			m := s.peer.expect("MESSAGE")
			out = []string{m.get("Via"), m.get("From"), m.get("Call-ID"), m.get("CSeq")}
			s.peer.send(m.reply(200, "p"), s.localAddr())
			<-got
		})
		return out
	}
	first := names()
	assert.Equal(t, first, names())
	assert.NotEmpty(t, first[2])
}

func incomingMessageRequest(cseq int, branch string) string {
	return strings.Join([]string{
		"MESSAGE sip:+15559999@" + localAddr + " SIP/2.0", "Via: SIP/2.0/UDP " + peerAddr + ";rport;branch=z9hG4bK" + branch,
		"From: <sip:+15550001@127.0.0.1>;tag=a", "To: <sip:+15559999@127.0.0.1>", "Call-ID: text@peer", fmt.Sprintf("CSeq: %d MESSAGE", cseq),
		"Max-Forwards: 70", "Content-Type: text/plain", "Content-Length: 5", "", "hello",
	}, "\r\n")
}

func TestIncomingMessageIsReportedOnceAndAnsweredByOwner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in := make(chan *sip.IncomingMessage, 4)
		s := newStage(t, func(ua *sip.UserAgent) { ua.OnMessage(func(m *sip.IncomingMessage) { in <- m }) })
		defer s.stop()
		s.peer.send(incomingMessageRequest(1, "a"), s.localAddr())
		m := <-in
		assert.Equal(t, []string{"+15550001", "+15559999", "hello", "text/plain"}, []string{m.From, m.To, string(m.Body), m.ContentType})
		s.peer.send(incomingMessageRequest(1, "a"), s.localAddr())
		s.peer.expectNothing(10 * time.Second)
		m.Reply(200, 0)
		m.Reply(500, 0)
		answer := s.peer.expect("SIP/2.0 200")
		assert.Contains(t, answer.get("To"), "tag=")
		s.peer.send(incomingMessageRequest(1, "a"), s.localAddr())
		assert.Equal(t, answer.text, s.peer.expect("SIP/2.0 200").text, "a retransmission gets the same response")
		assert.Empty(t, in)

		s.peer.send(incomingMessageRequest(2, "b"), s.localAddr())
		(<-in).Reply(503, 9*time.Second)
		assert.Equal(t, "9", s.peer.expect("SIP/2.0 503").get("Retry-After"))
		time.Sleep(time.Minute)
		s.peer.send(incomingMessageRequest(2, "b"), s.localAddr())
		next := <-in
		assert.Equal(t, "text@peer a 2", next.Key, "the transaction has expired, and the key is the same")
		next.Reply(200, 0)
		s.peer.expect("SIP/2.0 200")
	})
}

func TestIncomingMessageWithinDialogOrWithoutBodyIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStage(t, func(ua *sip.UserAgent) {
			ua.OnMessage(func(m *sip.IncomingMessage) { m.Reply(200, 0) })
		})
		defer s.stop()
		_, inv, _ := s.establishCall()
		s.peer.send(s.request(inv, "MESSAGE", 1, "Content-Type: text/plain\n\nhello"), s.localAddr())
		s.peer.expect("SIP/2.0 403")
		empty := strings.Replace(strings.TrimSuffix(incomingMessageRequest(1, "c"), "hello"), "Content-Length: 5", "Content-Length: 0", 1)
		s.peer.send(empty, s.localAddr())
		assert.Contains(t, s.peer.expect("SIP/2.0 415").get("Accept"), "message/cpim")
		require.NotZero(t, s.ua.Counters().Rejected)
	})
}
